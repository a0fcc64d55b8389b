//! Writes ELF files, right ones and wrong ones.

pub const EXECUTE: u32 = 1;
pub const WRITE: u32 = 2;
pub const READ: u32 = 4;

/// What a file is to hold.
#[derive(Clone)]
pub struct Elf {
    pub machine: u16,
    /// 2 for an executable, 3 for a position-independent one.
    pub kind: u16,
    pub entry: u64,
    pub segments: Vec<Segment>,
    /// Name, address, length.
    pub symbols: Vec<(String, u64, u64)>,
}

impl Default for Elf {
    fn default() -> Self {
        Elf { machine: 62, kind: 2, entry: 0, segments: Vec::new(), symbols: Vec::new() }
    }
}

/// A part of the program.
#[derive(Clone)]
pub struct Segment {
    /// 1 for one that is to be loaded.
    pub kind: u32,
    pub start: u64,
    pub rights: u32,
    pub contents: Vec<u8>,
    /// Length in memory.
    pub bytes: u64,
}

impl Segment {
    pub fn new(start: u64, rights: u32, contents: Vec<u8>) -> Segment {
        Segment { kind: 1, start, rights, bytes: contents.len() as u64, contents }
    }
}

impl Elf {
    /// The file: head, program headers, contents, symbols, their names, section headers.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let headers = 64 + 56 * self.segments.len();
        let contents: usize = self.segments.iter().map(|segment| segment.contents.len()).sum();
        let symbols = headers + contents;
        let names = symbols + 24 * (self.symbols.len() + 1);
        let mut text = vec![0];
        let mut table = vec![0; 24];
        for (name, address, length) in &self.symbols {
            table.extend((text.len() as u32).to_le_bytes());
            // A global object of the first section: nobody asks for more.
            table.extend([0x11, 0, 1, 0]);
            table.extend(address.to_le_bytes());
            table.extend(length.to_le_bytes());
            text.extend(name.bytes().chain([0]));
        }
        let sections = names + text.len();

        out.extend([0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        halves(&mut out, &[self.kind, self.machine]);
        out.extend(1_u32.to_le_bytes());
        words(&mut out, &[self.entry, 64, sections as u64]);
        out.extend(0_u32.to_le_bytes());
        halves(&mut out, &[64, 56, self.segments.len() as u16, 64, 3, 2]);
        let mut offset = headers;
        for segment in &self.segments {
            out.extend(segment.kind.to_le_bytes());
            out.extend(segment.rights.to_le_bytes());
            let length = segment.contents.len();
            words(&mut out, &[offset as u64, segment.start, segment.start, length as u64, segment.bytes, 1]);
            offset += length;
        }
        out.extend(self.segments.iter().flat_map(|segment| &segment.contents));
        out.extend(&table);
        out.extend(&text);
        section(&mut out, 0, 0, 0, [0; 2], 0);
        section(&mut out, 2, symbols, table.len(), [2, 1], 24);
        section(&mut out, 3, names, text.len(), [0; 2], 0);
        out
    }
}

fn section(out: &mut Vec<u8>, kind: u32, offset: usize, length: usize, link: [u32; 2], entry: u64) {
    out.extend(0_u32.to_le_bytes());
    out.extend(kind.to_le_bytes());
    words(out, &[0, 0, offset as u64, length as u64]);
    link.iter().for_each(|number| out.extend(number.to_le_bytes()));
    words(out, &[1, entry]);
}

fn halves(out: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
}

fn words(out: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| out.extend(number.to_le_bytes()));
}
