//! Where components and the kernel were stopped, in their sources.

use crate::boot::Assembled;
use crate::source_lines::{function_at, place_of};
use std::path::Path;
use tactus_record::EventKind;
use tactus_report::Stop;
use tactus_trace::Trace;

/// What the kernel says of a fault of its own, before the address.
const OF_KERNEL: &str = "tactus: kernel fault";
/// What it says of a fault of the root scheduler's.
const OF_ROOT: &str = "tactus: the root scheduler";

/// The places of all faults of a run, and of what components said when they panicked; each once.
pub fn of_run(built: &Assembled, trace: &Trace, panics: &[(u32, String)]) -> Vec<Stop> {
    let mut stops: Vec<Stop> = Vec::new();
    let mut add = |component: u32, at: String, source: Option<String>| {
        let Some(source) = source else { return };
        let stop = Stop { component, at, source };
        if !stops.contains(&stop) {
            stops.push(stop);
        }
    };
    for record in trace.cores.iter().flatten().filter(|record| record.kind == EventKind::Fault) {
        let (Some(at), Some(program)) = (record.stopped_at(), built.program(record.job)) else { continue };
        add(record.job, format!("{at:#x}"), place_of(program, at).map(|place| place.to_string()));
    }
    for (component, said) in panics {
        let (Some((file, line)), Some(program)) = (told(said), built.program(*component)) else { continue };
        add(*component, format!("{file}:{line}"), function_at(program, file, line));
    }
    stops
}

/// Where a panic says that it was: the file and the line of `src/main.rs:41: index out of bounds`.
fn told(said: &str) -> Option<(&str, u32)> {
    let (place, _) = said.split_once(": ").unwrap_or((said, ""));
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

/// Behind each line in which the kernel tells of a fault of its own or of the root scheduler's, where that is in the sources.
pub fn explained(words: &str, built: &Assembled) -> String {
    let mut text = String::new();
    for line in words.lines() {
        text.push_str(line);
        text.push('\n');
        if let Some(place) = named(line, &built.kernel, built.program(0)) {
            text += &format!("tactus: that is in {place}\n");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn named(line: &str, kernel: &Path, root: Option<&Path>) -> Option<String> {
    let (program, rest) = match (line.split_once(OF_KERNEL), line.split_once(OF_ROOT)) {
        (Some((_, rest)), _) => (kernel, rest.split_once(" at 0x")?.1),
        (_, Some((_, rest))) => (root?, rest.split_once("instruction 0x")?.1),
        (None, None) => return None,
    };
    let digits = rest.split(|c: char| !c.is_ascii_hexdigit()).next()?;
    let address = u64::from_str_radix(digits, 16).ok()?;
    place_of(program, address).map(|place| place.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn where_it_faults() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn a_fault_of_the_kernel_and_one_of_the_root_scheduler_are_named_by_their_instruction() {
        let program = std::env::current_exe().expect("a program");
        let labels = crate::symbols::labels(&std::fs::read(&program).expect("its file")).expect("symbols");
        let (address, _) =
            labels.iter().find(|(_, name)| name.contains("where_it_faults")).expect("the function above");
        assert_eq!(where_it_faults(), 7);
        let of_kernel = format!("tactus: kernel fault 14 (error 0x2) at {address:#x}, address 0x7, core 0");
        let of_root =
            format!("tactus: the root scheduler \"own\" faulted: Write at 0x7, instruction {address:#x}, core 1");
        let nowhere = Path::new("/nowhere");
        for (line, kernel, root) in [(&of_kernel, &*program, nowhere), (&of_root, nowhere, &*program)] {
            let place = named(line, kernel, Some(root)).expect("it is in a function");
            assert!(place.contains("where_it_faults"), "{place}");
        }
        assert_eq!(named("tactus: 4 cores", &program, Some(&program)), None);
    }

    #[test]
    fn a_panics_words_begin_with_its_place() {
        assert_eq!(told("src/main.rs:41: index out of bounds: the len is 3"), Some(("src/main.rs", 41)));
        assert_eq!(told("?:0: no"), Some(("?", 0)));
        assert_eq!(told("no place"), None);
    }
}
