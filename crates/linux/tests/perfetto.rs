//! Perfetto's traces: files that Perfetto's own messages wrote, parts of them written here, and damaged ones.

mod common;

use common::perfetto::{bytes, small};
use common::{numbers, View};
use std::io::Write;
use std::path::Path;
use tactus_linux::{read, read_file, read_file_for, translate, Event, EventKind, PrevState, Recording, Thread};
use tactus_time::Instant;
use tactus_trace::judge;

/// The example as `tests/data/as_perfetto.py` writes it.
const PLAIN: &[u8] = include_bytes!("data/plain.pftrace");
const COMPACT: &[u8] = include_bytes!("data/compact.pftrace");
const TEXT: &str = include_str!("../../../examples/linux/trace.txt");

#[test]
fn what_perfettos_own_messages_hold_is_what_the_text_says() {
    let text = read(TEXT.as_bytes()).expect("a trace");
    let plain = read(PLAIN).expect("a trace");
    assert_eq!((&plain.events, &plain.names), (&text.events, &text.names));
    let compact = read(COMPACT).expect("a trace");
    // A column of switches does not say who had the processor before the first.
    assert_eq!(compact.events[1..], text.events[1..]);
    let begins = |it: &Recording| it.events.iter().filter(|event| matches!(event.kind, EventKind::Begin(_))).count();
    assert_eq!((begins(&compact), compact.switches()), (TEXT.matches("job begins").count(), text.switches()));
    assert!(!compact.groups.is_empty() && compact.groups.values().all(|group| *group == Thread(1)));
}

#[test]
fn events_of_two_processors_are_in_the_order_of_time() {
    let recording = read(&small()).expect("a trace");
    let at = |nanos, cpu, kind| Event { time: Instant::from_nanos(nanos), cpu, kind };
    let switch = |from, state, to| EventKind::Switch { from: Thread(from), state, to: Thread(to) };
    let expected = [
        at(1_000, 0, EventKind::Wakeup(Thread(7))),
        at(1_010, 0, switch(0, PrevState::Runnable, 7)),
        at(1_020, 0, EventKind::Begin(Thread(9))),
        at(2_000, 1, EventKind::Lost),
        at(2_000, 1, switch(9, PrevState::Blocked, 0)),
        at(2_500, 1, switch(0, PrevState::Runnable, 10)),
        at(3_000, 0, switch(7, PrevState::Asleep, 0)),
    ];
    assert_eq!(recording.events, expected);
    assert_eq!((recording.passed_over, recording.unread), (1, 0));
}

#[test]
fn the_verdict_of_a_perfetto_trace_is_that_of_the_text() {
    let view = View::of(vec![("control".into(), 5_000_000), ("steer".into(), 10_000_000), ("log".into(), 20_000_000)]);
    let summary = |recording: &Recording| {
        let translated = translate(recording, &view.0, &[]).expect("jobs");
        let summary = judge(&translated.view, &translated.trace);
        format!("{:?} {}", &summary.tasks[..3], summary.headline())
    };
    let expected = summary(&read(TEXT.as_bytes()).expect("a trace"));
    for file in ["plain", "compact"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/{file}.pftrace"));
        assert_eq!(summary(&read_file(&path).expect(file)), expected, "{file}");
        // As a long file, of which only what matters is kept.
        assert_eq!(summary(&read_file_for(&path, (&view.0, &[]), 0).expect(file)), expected, "{file}");
    }
}

/// Changes a number of bytes of files of each kind, a few at a time.
fn mutate(count: u64) {
    let mut random = numbers(13);
    for whole in [small(), PLAIN[..4_000].to_vec(), COMPACT.to_vec()] {
        let mut done = 0;
        while done < count {
            let mut file = whole.clone();
            for _ in 0..1 + random(8) {
                let at = random(file.len());
                file[at] = [0, 1, 0xff, 0x0a, 0x80, random(256) as u8][random(6)];
                done += 1;
            }
            if random(10) == 0 {
                file.truncate(random(file.len()));
            }
            let _ = read(&file);
        }
    }
    // What zlib packs would hardly ever be unpacked again once it is changed: it is changed before.
    let mut done = 0;
    while done < count {
        let mut inner = small();
        for _ in 0..1 + random(8) {
            let at = random(inner.len());
            inner[at] = random(256) as u8;
            done += 1;
        }
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
        out.write_all(&inner).expect("memory");
        let _ = read(&bytes(1, bytes(50, out.finish().expect("memory"))));
    }
}

#[test]
fn no_damaged_perfetto_trace_makes_the_reader_fall_over() {
    mutate(5_000);
}

/// `cargo test --release -p tactus-linux --test perfetto -- --ignored`
#[test]
#[ignore = "a million mutations take a minute"]
fn no_perfetto_trace_with_a_million_mutations_makes_the_reader_fall_over() {
    mutate(1_000_000);
}
