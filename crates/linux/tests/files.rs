//! `trace.dat`: one that is written here, damaged ones, and files that others made.

mod common;

use common::dat::{events, file_7, small, PACKINGS};
use common::numbers;
use std::path::PathBuf;
use tactus_linux::{read, Event, EventKind, PrevState, Recording, Thread};
use tactus_time::Instant;

#[test]
fn a_file_of_two_processors_is_read_in_the_order_of_time() {
    let recording = read(&small()).expect("a trace");
    let at = |nanos, cpu, kind| Event { time: Instant::from_nanos(nanos), cpu, kind };
    let switch = |from, state, to| EventKind::Switch { from: Thread(from), state, to: Thread(to) };
    let expected = [
        at(1_000_010, 0, EventKind::Wakeup(Thread(7))),
        at(1_500_000_001, 1, switch(9, PrevState::Blocked, 0)),
        at(1_500_000_100, 1, switch(0, PrevState::Runnable, 10)),
        at(1_500_000_200, 1, switch(10, PrevState::Dead, 0)),
        at(2_000_000_000, 0, switch(0, PrevState::Runnable, 7)),
        at(2_000_000_500, 0, EventKind::Begin(Thread(7))),
        at(2_000_400_000, 0, EventKind::Lost),
        at(2_000_400_000, 0, switch(7, PrevState::Asleep, 0)),
    ];
    assert_eq!(recording.events, expected);
    let names: Vec<&str> = recording.names.values().flatten().map(String::as_str).collect();
    assert_eq!((names, recording.passed_over, recording.unread), (vec!["control", "worker", "other"], 1, 0));
}

#[test]
fn a_file_of_version_7_tells_what_one_of_version_6_does() {
    let expected = read(&small()).expect("a trace");
    for packing in PACKINGS {
        let recording = read(&file_7(events(), packing)).expect(packing);
        assert_eq!((recording.events, recording.names), (expected.events.clone(), expected.names.clone()), "{packing}");
        assert_eq!((recording.passed_over, recording.unread), (1, 0), "{packing}");
    }
}

/// Changes a number of bytes of files of each kind, a few at a time.
fn mutate(bytes: u64) {
    let mut random = numbers(11);
    let wholes = [vec![small()], PACKINGS.map(|packing| file_7(events(), packing)).to_vec()].concat();
    for whole in wholes {
        // The empty rest of pages would take most of the changes.
        let told: Vec<usize> = (0..whole.len()).filter(|at| whole[*at] != 0 || random(20) == 0).collect();
        let mut done = 0;
        while done < bytes {
            let mut file = whole.clone();
            for _ in 0..1 + random(8) {
                file[told[random(told.len())]] = [0, 1, 0xff, 0x1f, 0x80, random(256) as u8][random(6)];
                done += 1;
            }
            if random(10) == 0 {
                file.truncate(random(file.len()));
            }
            let _ = read(&file);
        }
    }
}

#[test]
fn no_damaged_file_makes_the_reader_fall_over() {
    mutate(5_000);
}

/// `cargo test --release -p tactus-linux --test files -- --ignored`
#[test]
#[ignore = "a million mutations take a minute"]
fn no_file_with_a_million_mutations_makes_the_reader_fall_over() {
    mutate(1_000_000);
}

/// Each `X.dat` in the folder, beside `X.txt`, what `trace-cmd report X.dat` prints of it:
/// `TACTUS_TRACES=folder cargo test -p tactus-linux --test files -- --ignored --nocapture`
#[test]
#[ignore = "needs files of other people"]
fn files_of_others_are_what_trace_cmd_says_of_them() {
    let Ok(folder) = std::env::var("TACTUS_TRACES") else { return };
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ending| ending == "dat")).collect();
    assert!(!files.is_empty());
    for file in files {
        let of = |path: PathBuf| read(&std::fs::read(path).expect("a file")).expect("a trace");
        let (binary, text) = (of(file.clone()), of(file.with_extension("txt")));
        // A text has microseconds, rounded.
        let micros = |recording: &Recording| -> Vec<(u64, u16, EventKind)> {
            recording
                .events
                .iter()
                .map(|event| ((event.time.as_nanos() + 500) / 1_000, event.cpu, event.kind))
                .collect()
        };
        let (mut ours, mut theirs) = (micros(&binary), micros(&text));
        let order = |a: &(u64, u16, EventKind), b: &(u64, u16, EventKind)| (a.0, a.1).cmp(&(b.0, b.1));
        ours.sort_by(order);
        theirs.sort_by(order);
        assert_eq!(ours, theirs, "{}", file.display());
        assert_eq!(binary.passed_over, text.passed_over, "{}", file.display());
        println!("{}: {} events, {} switches", file.display(), ours.len(), binary.switches());
    }
}
