//! The page that shows what the measured paths are made of, `docs/measured/kernel-paths.md`: group by group, and instruction by
//! instruction where a path is longer than the project wanted.
//!
//! A group is a function or, in the entry code, a label. What it is for is the first sentence of its own comment in the sources.

use super::follow::{Instruction, Path, Paths};
use super::guest::machine;
use super::history::Entry;
use super::page::PEERS;
use object::{Object, ObjectSection};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path as File;
use tactus_bench_book::Series;
use tactus_machine::build::Programs;
use tactus_machine::failure::Failure;
use tactus_machine::place;
use tactus_machine::symbols::{labels, plain};

/// Where the sources of what has this in its name lie; the first that fits. The kernel's labels have nothing of it.
const SOURCES: [(&str, &str); 10] = [
    ("tactus_entries", "os/rt/src"),
    ("tactus_service_", "os/rt/src"),
    ("tactus_rt", "os/rt/src"),
    (": _start", "os/rt/src"),
    (": tactus_", "os/rt/src"),
    ("tactus_policy", "crates/policy/src"),
    ("tactus_sched::", "os/sched/src"),
    ("sched-bench", "os/components/sched-bench/src"),
    ("bench", "os/components/bench/src"),
    ("", "os/kernel/src"),
];

/// Whose paths are shown: by the figure's name, the series.
const SHOWN: [(&str, Series); 20] = [
    ("null call", Series::Null),
    ("call and return", Series::Invoke),
    ("call and return, ten words each way", Series::InvokeTen),
    ("brand, trigger to upcall", Series::Wake),
    ("tick to upcall in another domain", Series::TickUpcall),
    ("lock and release", Series::Lock),
    ("switch, same domain", Series::Switch),
    ("library: block to next thread", Series::LibraryBlock),
    ("library: block to next thread, with accounting", Series::LibraryBlockCounted),
    ("library: block asked for by a user thread, to the next one in its own component", Series::UserBlock),
    ("switch, other domain, timer set", Series::Resumed),
    ("interrupted thread to scheduler (upcall entry)", Series::Upcall),
    ("fault to scheduler", Series::Fault),
    ("inter-core event (two cores, serialised)", Series::InterCore),
    ("timer expiry to woken periodic thread, partitioned-edf, 10 tasks", Series::Woken),
    ("end of job to next task's job, partitioned-edf, 10 tasks", Series::NextJob),
    ("interrupt to released task, partitioned-edf", Series::Released),
    ("message to released task, partitioned-edf", Series::Received),
    ("critical section, entered and left, ceiling", Series::Section),
    ("critical section, handed over, inheritance", Series::HandOver),
];

/// Writes the page. `followed`: of one core, of two, under the root scheduler, through the library, and of what is not periodic.
pub fn write(folder: &File, entry: &Entry, followed: &[Paths; 5], programs: &Programs) -> Result<(), Failure> {
    let names = Names::read(programs)?;
    let mut text = format!(
        "# What the paths are made of\n\n\
         Made by `./tactus bench kernel --keep` on {}, commit {}, {}, from the run in which the machine is followed \
         instruction by instruction (see [kernel.md](kernel.md)). Each path is the most frequent one of its kind, from one \
         reading of the counter in user mode to the next, those of the reading itself included. A group is a function or a label \
         of the entry code (functions that the compiler put into others count there); what it is for is its own comment in the \
         sources. A path that is longer than its bar is shown in full.\n",
        entry.date, entry.commit, entry.machine
    );
    for (name, series) in SHOWN {
        let of = match series {
            Series::InterCore => &followed[1],
            Series::Woken | Series::NextJob => &followed[2],
            Series::Released | Series::Received | Series::Section | Series::HandOver => &followed[4],
            Series::LibraryBlock | Series::LibraryBlockCounted | Series::UserBlock => &followed[3],
            _ => &followed[0],
        };
        let (Some(path), Some(figure)) = (of.get(&series), entry.figures.iter().find(|it| it.name == name)) else {
            continue;
        };
        let bar = PEERS.iter().find(|it| it.0 == name).and_then(|it| it.3.replace(',', "").parse::<u64>().ok());
        show(&mut text, name, path, (figure.median, bar), &names);
    }
    fs::write(folder.join("kernel-paths.md"), text).map_err(machine)
}

/// What a path is made of, group by group.
pub fn told(path: &Path, programs: &Programs) -> Result<String, Failure> {
    let names = Names::read(programs)?;
    let mut text = String::new();
    for group in groups(path, &names) {
        let _ = writeln!(text, "{:>6}  {}", group.steps.len(), group.name);
    }
    Ok(text)
}

fn show(text: &mut String, name: &str, path: &Path, (median, bar): (u64, Option<u64>), names: &Names) {
    let groups = groups(path, names);
    let counted = &path.counted;
    let against = bar.map_or(String::new(), |bar| format!(", bar {bar}"));
    let _ = writeln!(
        text,
        "\n## {name}\n\nMedian {median}{against}. Followed: {} instructions, {} bytes of code in {} lines; taken {} times of {}.\n",
        counted.followed, counted.code_bytes, counted.code_lines, path.taken.0, path.taken.1
    );
    text.push_str("| group | instructions | what for |\n|---|--:|---|\n");
    for group in &groups {
        let _ = writeln!(text, "| {} | {} | {} |", group.name, group.steps.len(), names.purpose(&group.name));
    }
    if bar.is_some_and(|bar| median > bar) {
        text.push_str("\n```\n");
        for group in &groups {
            let _ = writeln!(text, "{}:", group.name);
            for step in &group.steps {
                let _ = writeln!(text, "    {}", step.text);
            }
        }
        text.push_str("```\n");
    }
}

/// Instructions one after another in one function or under one label.
struct Group<'a> {
    name: String,
    steps: Vec<&'a Instruction>,
}

fn groups<'a>(path: &'a Path, names: &Names) -> Vec<Group<'a>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut program = None;
    for step in &path.steps {
        let name = if step.label.is_empty() {
            program = names.program(step, program);
            program.map_or("component".to_string(), |it| names.user(it, step.at))
        } else {
            plain(&step.label)
        };
        match groups.last_mut() {
            Some(last) if last.name == name => last.steps.push(step),
            _ => groups.push(Group { name, steps: vec![step] }),
        }
    }
    groups
}

/// One program: its code and its functions.
struct Program {
    name: String,
    code: Vec<(u64, Vec<u8>)>,
    functions: BTreeMap<u64, String>,
}

/// What is known of names: programs, and the comments of the sources.
struct Names {
    programs: Vec<Program>,
    purposes: BTreeMap<String, String>,
}

impl Names {
    fn read(programs: &Programs) -> Result<Names, Failure> {
        let mut read = Vec::new();
        for (name, file) in programs {
            let bytes = fs::read(file).map_err(machine)?;
            let elf = object::File::parse(&*bytes).map_err(machine)?;
            let code = elf
                .sections()
                .filter(|section| section.kind() == object::SectionKind::Text)
                .filter_map(|section| Some((section.address(), section.data().ok()?.to_vec())))
                .collect();
            let functions = labels(&bytes).map_err(machine)?.into_iter().map(|(at, name)| (at, plain(&name))).collect();
            read.push(Program { name: name.clone(), code, functions });
        }
        let mut purposes = BTreeMap::new();
        for (_, folder) in SOURCES {
            comments(&place::root()?.join(folder), folder, &mut purposes);
        }
        Ok(Names { programs: read, purposes })
    }

    /// The program that has this instruction at this place: the one before, if it has.
    fn program(&self, step: &Instruction, before: Option<usize>) -> Option<usize> {
        let has = |program: &Program| {
            program.code.iter().any(|(at, bytes)| {
                step.at.checked_sub(*at).and_then(|from| bytes.get(from as usize..from as usize + step.bytes.len()))
                    == Some(&step.bytes[..])
            })
        };
        before.filter(|it| has(&self.programs[*it])).or_else(|| self.programs.iter().position(has))
    }

    fn user(&self, program: usize, at: u64) -> String {
        let program = &self.programs[program];
        let function = program.functions.range(..=at).next_back().map_or("", |it| it.1);
        format!("{}: {function}", program.name)
    }

    /// The first sentence of the comment that stands before the function or label.
    fn purpose(&self, name: &str) -> &str {
        // Other crates have functions of the same names.
        let function = name.split_once(": ").map_or(name, |it| it.1);
        let function = function.trim_start_matches('<');
        if function.starts_with("bench_") || function.starts_with("sched_bench::") {
            return "The measuring component's own.";
        }
        if function.contains("tactus_entries::") {
            return "An entry that the component declares.";
        }
        let parts: Vec<&str> = name.rsplit([':', ' ', '<', '>']).filter(|it| !it.is_empty()).collect();
        let (last, modules) = parts.split_first().map_or((name, &[][..]), |(last, modules)| (*last, modules));
        if last.strip_prefix("trap_").is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit())) {
            return "The interrupt's vector and error code.";
        }
        let folder = SOURCES.iter().find(|it| name.contains(it.0)).map_or("", |it| it.1);
        // Of functions with one name, the one in the module's file.
        let root = (modules.len() == 2).then_some("lib");
        let mut within = modules.iter().copied().chain(root);
        let within = within.find_map(|part| self.purposes.get(&format!("{folder} {part} {last}")));
        let found = within.or_else(|| self.purposes.get(&format!("{folder} {last}")));
        found.map_or(if name.contains("bench") { "The measuring component's own." } else { "" }, String::as_str)
    }
}

/// The first sentences of comments before functions and labels, by the last part of their names.
fn comments(folder: &File, under: &str, into: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            comments(&path, under, into);
        } else if path.extension().is_some_and(|it| it == "rs" || it == "s") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let mut comment = String::new();
            for line in text.lines().map(str::trim) {
                if let Some(words) = line.strip_prefix("///").or_else(|| line.strip_prefix("# ")) {
                    comment.push_str(words.trim());
                    comment.push(' ');
                } else if line != "#" && !line.starts_with("#[") && !line.starts_with(".global") {
                    if let Some(name) = named(line).filter(|_| !comment.is_empty()) {
                        let end = comment.find(". ").map_or(comment.len(), |at| at + 1);
                        let purpose = comment[..end].trim().replace('|', "/");
                        into.entry(format!("{under} {name}")).or_insert_with(|| purpose.clone());
                        into.entry(format!("{under} {stem} {name}")).or_insert(purpose);
                    }
                    comment.clear();
                }
            }
        }
    }
}

/// The function or label that begins on this line.
fn named(line: &str) -> Option<&str> {
    if let Some(label) = line.strip_suffix(':') {
        return label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_').then_some(label);
    }
    let rest = line.split_once("fn ").filter(|(before, _)| before.is_empty() || before.ends_with(' '))?.1;
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_measuring_component_has_of_its_own_is_not_explained_by_others() {
        let purposes = [("os/rt/src run".to_string(), "Runs an executor.".to_string())].into();
        let names = Names { programs: Vec::new(), purposes };
        assert_eq!(names.purpose("bench-server: bench_server::tactus_rt::run"), "The measuring component's own.");
        assert_eq!(names.purpose("bench-server: tactus_rt::executor::run"), "Runs an executor.");
    }

    #[test]
    fn functions_and_labels_are_told_from_other_lines() {
        assert_eq!(named("pub(crate) fn settle(&mut self) {"), Some("settle"));
        assert_eq!(named("extern \"C\" fn kernel_trap() {"), Some("kernel_trap"));
        assert_eq!(named("switch_timer:"), Some("switch_timer"));
        assert_eq!(named("let a = b;"), None);
    }
}
