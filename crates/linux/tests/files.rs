//! `trace.dat`: one that is written here, damaged ones, and files that others made.

mod common;

use common::numbers;
use flate2::write::ZlibEncoder;
use std::io::Write;
use std::path::PathBuf;
use tactus_linux::{read, Event, EventKind, PrevState, Recording, Thread};
use tactus_time::Instant;

/// A page of a ring buffer: what was written so far, the time of its last event, and how much is in it.
struct Page {
    bytes: Vec<u8>,
    now: u64,
}

const PAGE: usize = 4096;

impl Page {
    fn new(time: u64) -> Page {
        let mut bytes = time.to_le_bytes().to_vec();
        bytes.extend([0; 8]);
        Page { bytes, now: time }
    }
    fn word(&mut self, word: u32) {
        self.bytes.extend(word.to_le_bytes());
    }
    /// An event of this length in bytes, a multiple of four; `long` has its length in a word of its own.
    fn event(&mut self, time: u64, data: &[u8], long: bool) {
        let mut delta = time - self.now;
        self.now = time;
        if delta >> 27 != 0 {
            self.word(30 | (delta as u32 & 0x7ff_ffff) << 5);
            self.word((delta >> 27) as u32);
            delta = 0;
        }
        if long {
            self.word((delta as u32) << 5);
            self.word(data.len() as u32 + 4);
        } else {
            self.word((data.len() as u32 / 4) | ((delta as u32) << 5));
        }
        self.bytes.extend(data);
    }
    fn end(mut self, missed: bool) -> Vec<u8> {
        let commit = (self.bytes.len() - 16) as u32 | u32::from(missed) << 31;
        self.bytes[8..12].copy_from_slice(&commit.to_le_bytes());
        self.bytes.resize(PAGE, 0);
        self.bytes
    }
}

fn format(name: &str, id: u16, fields: &[(&str, usize, usize)]) -> Vec<u8> {
    let common = [("unsigned short common_type", 0, 2), ("int common_pid", 4, 4)];
    let lines = common
        .iter()
        .chain(fields)
        .map(|(field, at, size)| format!("\tfield:{field};\toffset:{at};\tsize:{size};\tsigned:0;\n"));
    format!("name: {name}\nID: {id}\nformat:\n{}", lines.collect::<String>()).into_bytes()
}

fn named(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

fn data(id: u16, who: u32, rest: &[&[u8]]) -> Vec<u8> {
    let mut bytes = id.to_le_bytes().to_vec();
    bytes.extend([0; 2]);
    bytes.extend(who.to_le_bytes());
    rest.iter().for_each(|part| bytes.extend(*part));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The parts of a file before its events: of the pages, the kernel's own formats, the systems' formats.
fn parts() -> [Vec<u8>; 3] {
    let sized = |out: &mut Vec<u8>, bytes: &[u8]| {
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend(bytes);
    };
    let mut pages = Vec::new();
    for name in ["header_page\0", "header_event\0"] {
        pages.extend(name.as_bytes());
        sized(&mut pages, b"as it is");
    }
    let mut own = 1u32.to_le_bytes().to_vec();
    sized(&mut own, &format("print", 5, &[("unsigned long ip", 8, 8), ("char buf", 16, 0)]));
    let mut out = 1u32.to_le_bytes().to_vec();
    out.extend(b"sched\0");
    out.extend(2u32.to_le_bytes());
    let from = [
        ("char prev_comm[16]", 8, 16),
        ("pid_t prev_pid", 24, 4),
        ("int prev_prio", 28, 4),
        ("long prev_state", 32, 8),
    ];
    let to = [("char next_comm[16]", 40, 16), ("pid_t next_pid", 56, 4), ("int next_prio", 60, 4)];
    let mut switches = format("sched_switch", 300, &[&from[..], &to[..]].concat());
    // In this kernel bit 6 is a thread that ended; in others one that is parked.
    switches.extend(
        br#"print fmt: "%s", __print_flags(REC->prev_state & 127, "|", { 1, "S" }, { 0x02, "D" }, { 64, "x" }) : "R""#,
    );
    sized(&mut out, &switches);
    // Its text lies elsewhere, as newer kernels have it.
    sized(&mut out, &format("sched_waking", 301, &[("__data_loc char[] comm", 8, 4), ("pid_t pid", 12, 4)]));
    [pages, own, out]
}

/// A file of version 6, of two processors with these pages.
fn file(pages: [Vec<u8>; 2]) -> Vec<u8> {
    let mut out = b"\x17\x08\x44tracing6\0\0\x08".to_vec();
    out.extend(4096u32.to_le_bytes());
    parts().iter().for_each(|part| out.extend(part));
    out.extend([0; 4 + 4 + 8]);
    out.extend(2u32.to_le_bytes());
    out.extend(b"options  \0\x04\0");
    let clocks = b"local global [mono] x86-tsc";
    out.extend((clocks.len() as u32).to_le_bytes());
    out.extend(clocks);
    out.extend(b"\0\0flyrecord\0");
    let mut at = (out.len() + 32).next_multiple_of(PAGE) as u64;
    for pages in &pages {
        out.extend(at.to_le_bytes());
        out.extend((pages.len() as u64).to_le_bytes());
        at += pages.len() as u64;
    }
    out.resize(out.len().next_multiple_of(PAGE), 0);
    pages.iter().for_each(|pages| out.extend(pages));
    out
}

/// A file of version 7, compressed in this way, a page at a time.
fn file_7(pages: [Vec<u8>; 2], packing: &str) -> Vec<u8> {
    let pack = |bytes: &[u8]| match packing {
        "zlib" => {
            let mut out = ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).expect("memory");
            out.finish().expect("memory")
        }
        _ => ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest),
    };
    let plain = packing == "none";
    let sizes = |packed: &[u8], whole: &[u8]| [packed.len() as u32, whole.len() as u32].map(u32::to_le_bytes).concat();
    let section = |out: &mut Vec<u8>, id: u16, bytes: &[u8]| {
        let at = out.len() as u64;
        let packed = if plain { bytes.to_vec() } else { [sizes(&pack(bytes), bytes), pack(bytes)].concat() };
        out.extend([id.to_le_bytes(), u16::from(!plain).to_le_bytes()].concat());
        out.extend([0; 4]);
        out.extend((packed.len() as u64).to_le_bytes());
        out.extend(packed);
        at
    };
    let mut out = format!("\x17\x08\x44tracing7\0\0\x08\0\x10\0\0{packing}\01.5\0").into_bytes();
    let place = out.len();
    out.extend([0; 8]);
    let [info, own, systems] = parts();
    let ids = [(16, info), (17, own), (18, systems)];
    let mut places = ids.map(|(id, part)| (id, section(&mut out, id, &part).to_le_bytes().to_vec())).to_vec();
    let mut buffer = (out.len() as u64).to_le_bytes().to_vec();
    buffer.extend(b"\0mono\0\0\x10\0\0\x02\0\0\0");
    out.extend([3u16.to_le_bytes(), u16::from(!plain).to_le_bytes()].concat());
    out.extend([0; 12]);
    out.resize(out.len().next_multiple_of(PAGE), 0);
    for (cpu, pages) in pages.iter().enumerate() {
        let mut packed = ((pages.len() / PAGE) as u32).to_le_bytes().to_vec();
        for page in pages.chunks(PAGE) {
            packed.extend([sizes(&pack(page), page), pack(page)].concat());
        }
        let bytes = if plain { pages } else { &packed };
        buffer.extend((cpu as u32).to_le_bytes());
        buffer.extend([out.len() as u64, bytes.len() as u64].map(u64::to_le_bytes).concat());
        out.extend(bytes);
    }
    places.push((3, buffer));
    // The last one: there are no more options.
    places.push((0, vec![0; 8]));
    let mut options = Vec::new();
    for (id, content) in places {
        options.extend(id.to_le_bytes());
        options.extend((content.len() as u32).to_le_bytes());
        options.extend(content);
    }
    let at = section(&mut out, 0, &options);
    out[place..place + 8].copy_from_slice(&at.to_le_bytes());
    out
}

const PACKINGS: [&str; 3] = ["none", "zlib", "zstd"];

fn switch(who: u32, from: (&str, u32), state: u64, to: (&str, u32)) -> Vec<u8> {
    let words = |number: u32| [number.to_le_bytes(), 9u32.to_le_bytes()].concat();
    let (a, b) = (named(from.0), named(to.0));
    data(300, who, &[&a, &words(from.1), &state.to_le_bytes(), &b, &words(to.1)])
}

fn waking(who: u32, name: &str, thread: u32) -> Vec<u8> {
    let place = (16 | (name.len() as u32 + 1) << 16).to_le_bytes();
    data(301, who, &[&place, &thread.to_le_bytes(), name.as_bytes(), b"\0"])
}

fn small() -> Vec<u8> {
    file(events())
}

fn events() -> [Vec<u8>; 2] {
    let mut one = Page::new(1_000_000);
    one.event(1_000_010, &waking(0, "control", 7), false);
    // Longer than the delta of an event can be.
    one.event(2_000_000_000, &switch(0, ("swapper/0", 0), 0, ("control", 7)), false);
    one.event(2_000_000_500, &data(5, 7, &[&[0; 8], b"[0] begins loop 0 phase 0 step 0\n\0"]), true);
    one.event(2_000_000_600, &data(999, 7, &[&[1; 20]]), false);
    let mut two = Page::new(2_000_400_000);
    two.event(2_000_400_000, &switch(7, ("control", 7), 1, ("swapper/0", 0)), true);
    let mut other = Page::new(1_500_000_000);
    other.event(1_500_000_001, &switch(9, ("worker", 9), 2, ("swapper/1", 0)), false);
    other.event(1_500_000_100, &switch(0, ("swapper/1", 0), 0, ("other", 10)), false);
    other.event(1_500_000_200, &switch(10, ("other", 10), 64, ("swapper/1", 0)), false);
    [[one.end(false), two.end(true)].concat(), other.end(false)]
}

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

#[test]
fn a_clock_that_goes_back_is_refused() {
    let mut early = Page::new(1_000);
    early.event(1_100, &switch(0, ("swapper/0", 0), 0, ("control", 7)), false);
    let [one, other] = events();
    let why = read(&file([[one, early.end(false)].concat(), other])).expect_err("a clock that goes back");
    assert!(why.contains("goes back by 2 s on core 0") && why.contains("record -C mono"), "{why}");
}

#[test]
fn files_that_are_not_read_say_why_and_what_to_do() {
    let whole = small();
    let with = |from: &[u8], to: &[u8]| {
        let at = whole.windows(from.len()).position(|window| window == from).expect("in the file");
        let mut file = whole.clone();
        file[at..at + to.len()].copy_from_slice(to);
        file
    };
    for (file, words) in [
        (with(b"tracing6", b"tracing8"), "of version 8, and 6 and 7 are read; print it with `trace-cmd report`"),
        (file_7(events(), "lz4"), "compressed by \"lz4\", and zlib and zstd are read; write it anew"),
        (b"PERFILE2 and more".to_vec(), "print it with `perf script -i FILE`"),
        (with(b"6\0\0\x08", b"6\0\x01\x08"), "the other byte order"),
        (
            with(b"[mono] x86-tsc", b"mono [x86-tsc]"),
            "its clock, x86-tsc, counts no nanoseconds; record with `trace-cmd record -C mono`",
        ),
        (with(b"flyrecord", b"latency  "), "no events of the ring buffers"),
        (with(b"header_event", b"header_elent"), "no header_event at"),
        (with(b"sched_switch", b"sched_swatch"), "no sched_switch among its events"),
        (whole[..whole.len() - 1000].to_vec(), "the events of core 1 lie beyond its end"),
        (whole[..300].to_vec(), "it is damaged"),
    ] {
        let why = read(&file).expect_err(words);
        assert!(why.contains(words), "{words}: {why}");
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
