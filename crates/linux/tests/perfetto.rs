//! Perfetto's traces: files that Perfetto's own messages wrote, parts of them written here, and damaged ones.

mod common;

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

fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number(field: u64, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3, &mut out);
    varint(value, &mut out);
    out
}

fn bytes(field: u64, content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    varint(field << 3 | 2, &mut out);
    varint(content.as_ref().len() as u64, &mut out);
    out.extend(content.as_ref());
    out
}

fn event(time: u64, kind: u64, content: &[Vec<u8>]) -> Vec<u8> {
    bytes(2, [number(1, time), number(2, 9), bytes(kind, content.concat())].concat())
}

fn switch(time: u64, (from, name): (u64, &str), state: u64, (to, next): (u64, &str)) -> Vec<u8> {
    event(time, 4, &[bytes(1, name), number(2, from), number(4, state), bytes(5, next), number(6, to)])
}

fn waking(time: u64, name: &str, thread: u64) -> Vec<u8> {
    event(time, 20, &[bytes(1, name), number(2, thread)])
}

fn bundle(cpu: u64, parts: &[Vec<u8>]) -> Vec<u8> {
    bytes(1, bytes(1, [number(1, cpu), parts.concat()].concat()))
}

/// Two processors, one after the other; on the second one events are missing; one event of an unknown kind.
fn small() -> Vec<u8> {
    let first = [
        waking(1_000, "control", 7),
        switch(1_010, (0, "swapper/0"), 0, (7, "control")),
        event(1_020, 3, &[bytes(2, "C|7|job begins")]),
        event(1_030, 300, &[number(1, 1)]),
        switch(3_000, (7, "control"), 1, (0, "swapper/0")),
    ];
    let second = [
        number(3, 1),
        switch(2_000, (9, "worker"), 2, (0, "swapper/1")),
        switch(2_500, (0, "swapper/1"), 0, (10, "x")),
    ];
    let other = bytes(1, bytes(45, "a packet of another kind"));
    [other, bundle(0, &first), bundle(1, &second)].concat()
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

#[test]
fn perfetto_files_that_are_not_read_say_why() {
    let zlib = |content: &[u8]| {
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(content).expect("memory");
        out.finish().expect("memory")
    };
    let late = [
        bundle(0, &[switch(60_000_000_000, (0, ""), 0, (7, "a")), switch(61_000_000_000, (7, "a"), 1, (0, ""))]),
        bundle(1, &[switch(10_000_000_000, (0, ""), 0, (8, "b")), switch(95_000_000_000, (8, "b"), 1, (0, ""))]),
        bundle(0, &[switch(60_000_000_000, (0, ""), 0, (7, "a"))]),
    ];
    for (file, words) in [
        (small()[..60].to_vec(), "it is damaged: the packet at 29 is cut"),
        ([small(), vec![0x12, 3, 1, 2, 3]].concat(), "it is damaged: the packet at"),
        ([small(), bytes(1, bytes(1, [2 << 3 | 3]))].concat(), "is cut, or none"),
        (bytes(1, bytes(45, [1, 2, 3])), "no sched_switch in its 1 packets; record with the data source linux.ftrace"),
        (bytes(1, bytes(50, [1, 2, 3])), "compressed packets cannot be unpacked"),
        (bytes(1, bytes(50, zlib(&[0x12, 0]))), "is cut, or none"),
        (bytes(1, bytes(1, number(1, 1 << 20))), "is cut, or none"),
        (
            late.concat(),
            "events of core 0 stand 35 s behind others in the file, more than the 20 s that are put in order",
        ),
    ] {
        let why = read(&file).expect_err(words);
        assert!(why.contains(words), "{words}: {why}");
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
