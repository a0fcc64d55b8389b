//! A boot in steps: the most critical partition runs before the others' components are loaded, which is done in their own windows.

use tactus_record::EventKind;
use tactus_scenarios::{file, Finished, Scratch};
use tactus_time::TaskId;

const FRAME: u64 = 20_000_000;
/// Levels, the frames in which they start, the starts and lengths of their windows (ms), and their heaps.
const PARTITIONS: [(&str, u64, u64, u64, &str); 3] =
    [("A", 0, 0, 5, "64 KiB"), ("C", 4, 5, 5, "2 MiB"), ("E", 6, 10, 10, "8 MiB")];

fn system(load: &str) -> String {
    let tame = file("tests/scenarios/wild");
    let mut text = String::from(
        "[system]\ncores = 1\nduration = '300 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\nmajor-frame = '20 ms'\n",
    );
    for (n, (level, frame, start, length, heap)) in PARTITIONS.iter().enumerate() {
        let load = if *frame > 0 { load } else { "first" };
        text += &format!(
            "[[component]]\nname = 'tame{n}'\ncrate = '{}'\nheap = '{heap}'\n\
             [[partition]]\nname = 'p{n}'\ncriticality = '{level}'\npolicy = 'partitioned-fp'\nstart-frame = {frame}\nload = '{load}'\n\
             windows = [{{ core = 0, start = '{start} ms', length = '{length} ms' }}]\n\
             [[task]]\nname = 't{n}'\npartition = 'p{n}'\ncomponent = 'tame{n}'\npriority = 1\nperiod = '20 ms'\nexecution = '300 us'\n",
            tame.display()
        );
    }
    text
}

/// How many instructions the kernel has executed from reset until the machine is set up, as it says itself.
fn set_up(run: &Finished) -> u64 {
    let mut lines = run.log.lines();
    let line = lines.find(|line| line.contains("ticks since reset")).expect("the kernel says so");
    let (before, _) = line.split_once(" ticks since reset").expect("it is there");
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn later_levels_are_loaded_in_their_windows_before_they_start() {
    let scratch = Scratch::new("late");
    let [first, late] = ["first", "late"].map(|load| {
        let run = Finished::run(&scratch.write(&format!("{load}.toml"), &system(load)), &[]);
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        run
    });
    let (whole, part) = (set_up(&first), set_up(&late));
    println!("set up after {whole} instructions, {part} without what is loaded late");
    // A word of each page of 10 MiB is cleared in an instruction.
    assert!(whole > part + 10 * 256 * 512, "{whole} and {part}");
    let trace = late.trace();
    let loaded: Vec<u64> = trace.cores[0]
        .iter()
        .filter(|r| r.kind == EventKind::Restarted && r.level == 2)
        .map(|r| r.time.as_nanos())
        .collect();
    assert_eq!(loaded.len(), 2, "{loaded:?}");
    for (n, (level, frame, start, length, _)) in PARTITIONS.iter().enumerate() {
        let mut own = trace.cores[0].iter().filter(|r| r.task == Some(TaskId(n as u16)));
        let begun = own.find(|r| r.kind == EventKind::Dispatch).expect("it runs").time.as_nanos();
        // Its first job begins with its first window, an entry of the scheduler later.
        let opens = frame * FRAME + start * 1_000_000;
        assert!((opens..opens + 5_000).contains(&begun), "level {level} begins at {begun}");
        if let Some(at) = n.checked_sub(1).map(|n| loaded[n]) {
            println!("level {level} is loaded at {at} ns and begins at {begun} ns");
            assert!(at < frame * FRAME && (start * 1_000_000..(start + length) * 1_000_000).contains(&(at % FRAME)));
        }
    }
    // What is promised is the same, and kept, whenever the others are loaded.
    for n in 0..3 {
        let name = format!("t{n}");
        assert!(late.summary.task(&name).worst_over_bound().is_some_and(|share| share <= 1.0), "{name}");
        assert_eq!(late.summary.task(&name).completed(), first.summary.task(&name).completed(), "{name}");
    }
}
