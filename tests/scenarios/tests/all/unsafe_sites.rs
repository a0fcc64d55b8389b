//! Why each `unsafe` in the kernel and what runs beside it is sound: every one must say so.
//!
//! The table in `docs/measured/unsafe.md` is made by
//!
//! ```text
//! export TACTUS_STRETCHES=/tmp/stretches.txt TACTUS_FOLLOW_KERNEL=1
//! cargo test --release -p tactus-scenarios
//! cargo test --release -p tactus-scenarios --test all unsafe_sites:: -- --ignored
//! ```
//!
//! Of the longest stretches with interrupts off the table has those that the tests noted in the file that the variable names
//! (`tactus_scenarios::stretches`); without it, those that the page has stay.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tactus_scenarios::stretches::{self, Stretch};
use tactus_scenarios::{file, root};

/// What is counted, from the kernel outwards.
const PARTS: [(&str, &str); 7] = [
    ("kernel", "os/kernel/src"),
    ("the monitor below a kernel", "os/sandbox/src"),
    ("what kernel and components share", "os/abi/src"),
    ("what every component is linked with", "os/rt/src"),
    ("scheduler library", "os/sched/src"),
    ("components: schedulers, drivers, services, tests of the kernel", "os/components"),
    ("policies", "crates/policy/src"),
];

/// Of these parts: those that may have sites at all.
const MAY_BE_UNSAFE: [&str; 3] = ["os/kernel/src", "os/sandbox/src", "os/rt/src"];

/// What makes a site sound: the first kind one of whose words is in its reason.
const KINDS: [(&str, &[&str]); 8] = [
    ("promised by the caller", &["promised"]),
    ("taken by one exchange, so that no other core has it", &["`take`", "taken", "has it alone", "given to this core"]),
    (
        "before anything runs, or written only then",
        &["runs yet", "set-up", "start-up", "once", "set up", "no core but"],
    ),
    ("one word that any core may change: an atomic", &["atomic"]),
    (
        "the core's own: block, running thread, region",
        &["this core", "own", "entry", "was running", "region", "core's"],
    ),
    ("a place in bounds of a table that never moves", &["in bounds", "place", "table", "entries", "entry", "array"]),
    (
        "what the processor does: registers, ports, instructions",
        &["regist", "port", "cpuid", "reading", "interrupt", "stops", "nothing"],
    ),
    (
        "memory that nobody else has, or that is only read",
        &["frame", "page", "memory", "mapped", "module", "read-only", "read"],
    ),
];

/// One use of `unsafe` that must say why it is sound.
struct Site {
    place: String,
    /// Nothing if it does not say.
    reason: Option<String>,
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|it| it == "rs" || it == "s") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Whether a site begins in this line of code: a block, an `impl` or a function.
fn begins(code: &str) -> Option<&'static str> {
    let (_, after) = code.split_once("unsafe ")?;
    ["{", "impl", "fn", "extern"].into_iter().find(|kind| after.trim_start().starts_with(kind))
}

/// The words of the comment from this line on.
fn comment(lines: &[&str], from: usize, mark: &str) -> String {
    let first = lines[from].split_once(mark).map_or("", |(_, rest)| rest);
    let more = lines[from + 1..].iter().map(|line| line.trim()).take_while(|line| line.starts_with("//"));
    let more = more.map(|line| line.trim_start_matches('/').trim());
    std::iter::once(first.trim()).chain(more).collect::<Vec<_>>().join(" ")
}

/// All sites of a file. A block says why in a comment above its statement, a function under the heading `# Safety`.
fn sites(name: &str, text: &str) -> Vec<Site> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found: Vec<Site> = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        let Some(kind) = begins(code) else { continue };
        let is_type = kind == "extern" || code.contains("unsafe fn(");
        // What a trait wants of its implementor stands with the trait, under `# Safety`, not as a `SAFETY:` of its own.
        let outer = lines[..number].iter().rev().find(|it| !it.starts_with(' ') && !it.is_empty());
        let of_trait = kind == "fn" && outer.is_some_and(|it| it.starts_with("unsafe impl"));
        if is_type || of_trait {
            continue;
        }
        let mark = if kind == "fn" { "# Safety" } else { "SAFETY:" };
        let above = (0..=number).rev().take(14);
        let place =
            above.take_while(|&at| at == number || !lines[at].trim().is_empty()).find(|&at| lines[at].contains(mark));
        let from =
            |at: usize| if kind == "fn" { "promised by the caller".to_string() } else { comment(&lines, at, mark) };
        let reason = place.map(from).filter(|reason| !reason.is_empty());
        // "As above" is the reason above.
        let reason = reason.map(|reason| match found.last().and_then(|last| last.reason.clone()) {
            Some(before) if reason.to_lowercase().starts_with("as ") => before,
            _ => reason,
        });
        found.push(Site { place: format!("{name}:{}", number + 1), reason });
    }
    found
}

struct Part {
    files: usize,
    sites: Vec<Site>,
}

fn part(folder: &str) -> Part {
    let mut part = Part { files: 0, sites: Vec::new() };
    for path in files(&file(folder)) {
        let text = fs::read_to_string(&path).expect("a source is text");
        // What is tested on the host is no part of it.
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or("");
        part.files += 1;
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        part.sites.extend(sites(&name, text));
    }
    part
}

fn kind_of(reason: &str) -> &'static str {
    let reason = reason.to_lowercase();
    let found = KINDS.iter().find(|(_, words)| words.iter().any(|word| reason.contains(word)));
    found.map_or("other", |(kind, _)| kind)
}

/// Under this heading.
const STRETCHES: &str = "\n## The longest stretch with interrupts off\n";

/// The part of the page about stretches: from what the tests noted, or as it is.
fn stretches_of(page: &Path) -> String {
    let noted = stretches::all();
    if noted.is_empty() {
        let before = fs::read_to_string(page).unwrap_or_default();
        return before.find(STRETCHES).map_or(String::new(), |at| before[at..].to_string());
    }
    let kinds: BTreeSet<(&str, bool)> = noted.iter().map(|it| (it.file.as_str(), it.cores == 1)).collect();
    let of = |(file, one): (&str, bool), followed: bool| {
        noted.iter().find(|it| (it.file.as_str(), it.cores == 1, it.followed) == (file, one, followed))
    };
    let mut rows: Vec<_> = kinds.into_iter().map(|kind| (of(kind, true), of(kind, false))).collect();
    rows.sort_by_key(|(own, told)| std::cmp::Reverse(own.or(*told).map(|it| (own.is_some(), it.instructions))));
    let mut part = format!(
        "{STRETCHES}\nThe kernel runs with interrupts off, so a stretch is from its entry to its exit. Here is the longest of each file of \
         scenario tests, on one core and on several, in instructions, over {} runs of systems.\n\n\
         *Own* are the instructions that the core executed itself, from the first of the entry to the last of the way out: followed in \
         the emulator's log, which tells the core with each block of instructions. *Told* is what the kernel tells of itself, \
         between its first and its last look at the time, with no figure for cores that go to sleep; on several cores the others' \
         turns, which the emulator may give at any instruction, count with it.\n\n\
         | Tests | cores, there | runs | own | call | in | told | call |\n|---|---:|---:|---:|---|---|---:|---|\n",
        rows.iter().filter_map(|(_, told)| told.map(|it| it.runs)).sum::<u64>()
    );
    for (own, told) in rows {
        let Some(either) = own.or(told) else { continue };
        let cell = |it: Option<&Stretch>, what: fn(&Stretch) -> String| it.map_or("–".to_string(), what);
        let cores = if either.cores == 1 { "1".to_string() } else { either.cores.to_string() };
        let _ = writeln!(
            part,
            "| `{}` | {cores} | {} | {} | {} | `{}` | {} | {} |",
            either.file,
            either.runs,
            cell(own, |it| it.instructions.to_string()),
            cell(own, |it| it.cause.clone()),
            either.test,
            cell(told, |it| it.instructions.to_string()),
            cell(told, |it| it.cause.clone()),
        );
    }
    part
}

#[test]
fn every_unsafe_site_says_why_it_is_sound() {
    for (_, folder) in PARTS {
        let part = part(folder);
        let silent: Vec<_> = part.sites.iter().filter(|site| site.reason.is_none()).map(|site| &site.place).collect();
        assert!(silent.is_empty(), "no SAFETY comment: {silent:?}");
        let places: Vec<_> = part.sites.iter().map(|site| &site.place).collect();
        assert!(MAY_BE_UNSAFE.contains(&folder) || places.is_empty(), "unsafe code outside its rooms: {places:?}");
    }
    // The kernel cannot do without.
    assert!(part(PARTS[0].1).sites.len() > 50);
}

#[test]
fn a_site_without_a_reason_is_found() {
    let text =
        "fn f() {\n    // SAFETY: it is.\n    unsafe { g() };\n\n    unsafe { g() };\n}\nunsafe impl Sync for A {}\n";
    let found: Vec<_> = sites("x", text).into_iter().map(|site| (site.place, site.reason)).collect();
    let expected = [("x:3", Some("it is.")), ("x:5", None), ("x:7", None)];
    assert_eq!(found, expected.map(|(place, reason)| (place.to_string(), reason.map(str::to_string))));
}

#[test]
#[ignore = "writes docs/measured/unsafe.md"]
fn the_page_about_unsafe_is_written() {
    let mut page = String::from("# `unsafe`, and the longest time with interrupts off\n\nMade by `tests/scenarios/tests/all/unsafe_sites.rs`, which also fails if a site does not say why it is sound, or is elsewhere than in the kernel and in `os/rt`.\n\n");
    page.push_str("| Part | Files | `unsafe` sites |\n|---|---:|---:|\n");
    let mut kinds: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (place, (name, folder)) in PARTS.into_iter().enumerate() {
        let part = part(folder);
        let sites = part.sites.len();
        let _ = writeln!(page, "| {name}, `{folder}` | {} | {sites} |", part.files);
        for site in &part.sites {
            let kind = kind_of(site.reason.as_deref().unwrap_or(""));
            kinds.entry(kind).or_default()[usize::from(place != 0)] += 1;
        }
    }
    page.push_str("\nModules of tests are not counted.\n\n");
    page.push_str("| Why it is sound | in the kernel | elsewhere |\n|---|---:|---:|\n");
    for (kind, [kernel, elsewhere]) in &kinds {
        let _ = writeln!(page, "| {kind} | {kernel} | {elsewhere} |");
    }
    page.push_str(&stretches_of(&file("docs/measured/unsafe.md")));
    print!("{page}");
    fs::write(file("docs/measured/unsafe.md"), page).expect("docs can be written");
}
