//! Writes a small `trace.dat`, of version 6 and of version 7.

#![allow(dead_code)]

use flate2::write::ZlibEncoder;
use std::io::Write;

/// A page of a ring buffer: what was written so far, the time of its last event, and how much is in it.
pub struct Page {
    pub bytes: Vec<u8>,
    pub now: u64,
}

pub const PAGE: usize = 4096;

impl Page {
    pub fn new(time: u64) -> Page {
        let mut bytes = time.to_le_bytes().to_vec();
        bytes.extend([0; 8]);
        Page { bytes, now: time }
    }
    pub fn word(&mut self, word: u32) {
        self.bytes.extend(word.to_le_bytes());
    }
    /// An event of this length in bytes, a multiple of four; `long` has its length in a word of its own.
    pub fn event(&mut self, time: u64, data: &[u8], long: bool) {
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
    pub fn end(mut self, missed: bool) -> Vec<u8> {
        let commit = (self.bytes.len() - 16) as u32 | u32::from(missed) << 31;
        self.bytes[8..12].copy_from_slice(&commit.to_le_bytes());
        self.bytes.resize(PAGE, 0);
        self.bytes
    }
}

pub fn format(name: &str, id: u16, fields: &[(&str, usize, usize)]) -> Vec<u8> {
    let common = [("unsigned short common_type", 0, 2), ("int common_pid", 4, 4)];
    let lines = common
        .iter()
        .chain(fields)
        .map(|(field, at, size)| format!("\tfield:{field};\toffset:{at};\tsize:{size};\tsigned:0;\n"));
    format!("name: {name}\nID: {id}\nformat:\n{}", lines.collect::<String>()).into_bytes()
}

pub fn named(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes
}

pub fn data(id: u16, who: u32, rest: &[&[u8]]) -> Vec<u8> {
    let mut bytes = id.to_le_bytes().to_vec();
    bytes.extend([0; 2]);
    bytes.extend(who.to_le_bytes());
    rest.iter().for_each(|part| bytes.extend(*part));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The parts of a file before its events: of the pages, the kernel's own formats, the systems' formats.
pub fn parts() -> [Vec<u8>; 3] {
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
pub fn file(pages: [Vec<u8>; 2]) -> Vec<u8> {
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
pub fn file_7(pages: [Vec<u8>; 2], packing: &str) -> Vec<u8> {
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

pub const PACKINGS: [&str; 3] = ["none", "zlib", "zstd"];

pub fn switch(who: u32, from: (&str, u32), state: u64, to: (&str, u32)) -> Vec<u8> {
    let words = |number: u32| [number.to_le_bytes(), 9u32.to_le_bytes()].concat();
    let (a, b) = (named(from.0), named(to.0));
    data(300, who, &[&a, &words(from.1), &state.to_le_bytes(), &b, &words(to.1)])
}

pub fn waking(who: u32, name: &str, thread: u32) -> Vec<u8> {
    let place = (16 | (name.len() as u32 + 1) << 16).to_le_bytes();
    data(301, who, &[&place, &thread.to_le_bytes(), name.as_bytes(), b"\0"])
}

pub fn small() -> Vec<u8> {
    file(events())
}

pub fn events() -> [Vec<u8>; 2] {
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
