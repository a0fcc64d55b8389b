//! Broken files, one kind of fault each: every one is refused on the line of the fault, in words that say what it is
//! and what to do.

mod cases;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tactus_model::{Problem, System};

/// A file, and for each complaint the line that it must name and words that it must contain.
type Case = (&'static str, &'static [(usize, &'static str)]);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/broken")
}

#[test]
fn every_kind_of_broken_file_is_refused_on_its_line_with_words_that_help() {
    let mut wrong = Vec::new();
    for (name, expected) in cases::all() {
        let problems = match System::read(&folder().join(name)) {
            Ok(_) => {
                wrong.push(format!("{name} was accepted"));
                continue;
            }
            Err(problems) => problems,
        };
        let found = |line: usize, words: &str| {
            let here = |p: &&Problem| p.place.is_some_and(|place| place.line == line);
            problems.iter().filter(here).any(|problem| problem.to_string().contains(words))
        };
        if problems.len() != expected.len() || !expected.iter().all(|(line, words)| found(*line, words)) {
            wrong.push(format!("{name} was refused with\n{problems}"));
        }
        for problem in &problems {
            let text = problem.to_string();
            // Where, what about it, and what to do, on one line.
            assert!(text.lines().count() == 1 && text.len() < 500, "{text}");
            assert!(text.starts_with(&format!("{}:", problem.file.display())), "{text}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn no_broken_file_is_left_out_of_the_table() {
    let listed: BTreeSet<String> = cases::all().map(|(name, _)| name.to_string()).collect();
    let entries =
        std::fs::read_dir(folder()).expect("the folder of broken files").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.path().is_file());
    let there: BTreeSet<String> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(listed, there);
    assert!(listed.len() >= 30);
}

/// How many kinds of fault files with these beginnings hold: complaints that differ in more than numbers and names.
fn kinds(files: &[&str]) -> usize {
    let named = cases::all().filter(|(name, _)| files.iter().any(|begins| name.starts_with(begins)));
    let words = named.flat_map(|(_, complaints)| complaints.iter().map(|(_, words)| *words));
    let plain = words.map(|words| {
        let unquoted: String = words.split('"').step_by(2).collect();
        unquoted.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>()
    });
    plain.collect::<BTreeSet<_>>().len()
}

/// Releases, waits, resources, thresholds, floating point, heaps.
#[test]
fn what_is_not_periodic_is_refused_in_sixty_ways() {
    let arrivals =
        ["b1-released", "b2-after", "b3-offset", "b4-slower", "b5", "b6", "b7", "b8", "b9", "ba", "bb", "bc", "bd"];
    let found = kinds(&[&arrivals[..], &["p", "r", "w", "f0-floating", "f1-heap"]].concat());
    assert!(found >= 60, "{found}");
}

#[test]
fn thirty_kinds_of_faults_of_disks_and_more_are_refused() {
    let found = kinds(&["b0-disks", "b1-disk-clients", "b2-disk-places", "b3-disk-service", "b4-disk-memory"]);
    assert!(found >= 30, "{found}");
}

#[test]
fn thirty_kinds_of_faults_of_colours_and_caches_are_refused() {
    let caches: Vec<&str> = cases::all().map(|(name, _)| *name).filter(|name| name.contains("-caches-")).collect();
    let found = kinds(&["e0-", "e1-", "e2-", "e3-", "e4-", "e5-"]) + kinds(&caches);
    assert!(found >= 30, "{found}");
}

#[test]
fn a_file_of_another_name_or_that_is_not_there_or_not_text_is_refused() {
    let read = |path: &Path| System::read(path).expect_err("accepted").to_string();
    assert!(read(Path::new("system.yaml")).contains("neither .toml nor .json"));
    assert!(read(Path::new("missing.toml")).contains("cannot be read"));
    assert!(read(&std::env::temp_dir().join("nowhere/x.json")).contains("cannot be read"));
    let folder = std::env::temp_dir().join(format!("tactus-model-{}.toml", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    assert!(read(&folder).contains("not an ordinary file"));
    let binary = folder.join("binary.toml");
    std::fs::write(&binary, b"[system]\ncores = \xff\n").expect("a file");
    assert!(read(&binary).contains("binary.toml:2: this is not UTF-8"), "{}", read(&binary));
    std::fs::remove_dir_all(&folder).expect("to be removed");
}

#[test]
fn forty_kinds_of_bad_input_about_partitions_are_refused() {
    let about =
        |words: &str| ["partition", "window", "major", "channel", "port", "health"].iter().any(|it| words.contains(it));
    let own = |name: &str, line: &str| name.starts_with(['q', 'h']) || about(line);
    let said = cases::all().flat_map(|(name, _)| {
        let text = std::fs::read_to_string(folder().join(name)).unwrap_or_default();
        let partitions = text.contains("kind = \"partitions\"") || text.contains("[[channel]]");
        let problems = System::read(&folder().join(name)).err().filter(|_| partitions);
        problems
            .into_iter()
            .flat_map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>())
            .map(move |it| (*name, it))
    });
    let kinds: BTreeSet<String> = said
        .filter_map(|(name, text)| {
            let words = text.splitn(3, ':').nth(2).unwrap_or(&text).to_owned();
            // What differs in names and numbers alone is of one kind.
            let plain = words.split('"').step_by(2).collect::<String>();
            own(name, &words).then(|| plain.chars().filter(|c| !c.is_ascii_digit()).collect())
        })
        .collect();
    println!("{} kinds", kinds.len());
    assert!(kinds.len() >= 40, "{} kinds: {kinds:#?}", kinds.len());
}
