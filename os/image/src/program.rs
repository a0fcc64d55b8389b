//! A program as it lies in memory: read from an ELF file, checked, cut into stretches of pages with one set of rights.

use crate::arch::{elf_machine, target};
use crate::ProgramError;
use object::elf::{ET_DYN, ET_EXEC, PF_W, PF_X, PT_DYNAMIC, PT_INTERP, PT_LOAD};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, Object, ObjectSymbol};
use std::collections::BTreeMap;
use tactus_abi::layout::{INFO, MAX_SEQUENCES, PAGE, PROGRAM};
use tactus_model::Processor;

/// The symbol under which a program exports its services: an array of entries of [`SERVICE_BYTES`] bytes: address
/// of the name, its length, address of the function.
const SERVICES: &str = "TACTUS_SERVICES";
const SERVICE_BYTES: u64 = 24;
/// The symbol under which a program names its restartable sequences: an array of pairs, the address of the first
/// instruction and the address behind the last.
const SEQUENCES: &str = "TACTUS_SEQUENCES";
const SEQUENCE_BYTES: u64 = 16;
/// The longest name of a service that is believed to be one.
const LONGEST_NAME: u64 = 256;

/// What a stretch of pages may be used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rights {
    Read,
    Write,
    Execute,
}

/// Pages that follow one another and have the same rights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stretch {
    /// First address, page-aligned.
    pub address: u64,
    /// Length in memory, a multiple of the page.
    pub bytes: u64,
    pub rights: Rights,
    /// What lies at its start; zeros follow.
    pub contents: Vec<u8>,
}

impl Stretch {
    fn contains(&self, address: u64) -> bool {
        address >= self.address && address - self.address < self.bytes
    }
}

/// A program that can be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Program {
    pub entry: u64,
    /// Ascending, not overlapping.
    pub stretches: Vec<Stretch>,
    /// What others may call: name and address, in the program's order.
    pub services: Vec<(String, u64)>,
    /// Its restartable sequences, ascending; unused places are zeros.
    pub sequences: [[u64; 2]; MAX_SEQUENCES],
}

impl Program {
    /// Reads an ELF file for the processor. `memory` is the machine's (bytes): more than that is not even looked at.
    pub fn read(file: &[u8], processor: Processor, memory: u64) -> Result<Program, ProgramError> {
        let elf = open(file, processor)?;
        let stretches = stretches(&segments(&elf, file, memory)?)?;
        let mut program =
            Program { entry: elf.entry(), stretches, services: Vec::new(), sequences: [[0; 2]; MAX_SEQUENCES] };
        program.must_be_code("the program", program.entry)?;
        program.services = program.services(&elf)?;
        program.sequences = program.sequences(&elf)?;
        Ok(program)
    }

    /// The shortest that can be loaded and has these services: a page of code.
    pub fn shortest<'a>(services: impl Iterator<Item = &'a str>) -> Program {
        let code = Stretch { address: PROGRAM, bytes: PAGE, rights: Rights::Execute, contents: Vec::new() };
        let services = services.map(|name| (name.to_string(), PROGRAM)).collect();
        Program { entry: PROGRAM, stretches: vec![code], services, sequences: [[0; 2]; MAX_SEQUENCES] }
    }

    /// None: that of a slot comes while the system runs.
    pub fn none() -> Program {
        Program { entry: PROGRAM, stretches: Vec::new(), services: Vec::new(), sequences: [[0; 2]; MAX_SEQUENCES] }
    }

    /// The address of the service with this name.
    pub fn service(&self, name: &str) -> Option<u64> {
        self.services.iter().find(|(own, _)| own == name).map(|(_, entry)| *entry)
    }

    fn must_be_code(&self, what: &str, entry: u64) -> Result<(), ProgramError> {
        let mut code = self.stretches.iter().filter(|stretch| stretch.rights == Rights::Execute);
        match code.any(|stretch| stretch.contains(entry)) {
            true => Ok(()),
            false => Err(ProgramError::EntryNotCode { what: what.to_string(), entry }),
        }
    }

    /// The `bytes` bytes at `address`; nothing if they do not lie in one stretch. Zeros behind its contents count.
    fn memory_at(&self, address: u64, bytes: u64) -> Option<Vec<u8>> {
        let stretch = self.stretches.iter().find(|stretch| stretch.contains(address))?;
        let start = address - stretch.address;
        if bytes > stretch.bytes - start {
            return None;
        }
        let given = stretch.contents.iter().copied().skip(start as usize).take(bytes as usize);
        let mut found: Vec<u8> = given.collect();
        found.resize(bytes as usize, 0);
        Some(found)
    }

    /// The bytes of the table with this name; nothing if the program has none. `bad` makes the complaint.
    fn table(
        &self,
        elf: &ElfFile64<Endianness>,
        table: &str,
        entry: u64,
        bad: &dyn Fn(String) -> ProgramError,
    ) -> Result<Vec<u8>, ProgramError> {
        let Some(symbol) = elf.symbols().find(|symbol| symbol.name() == Ok(table)) else { return Ok(Vec::new()) };
        let (address, bytes) = (symbol.address(), symbol.size());
        if bytes % entry != 0 {
            return Err(bad(format!("its length is {bytes} bytes, not a multiple of {entry}")));
        }
        match bytes {
            0 => Ok(Vec::new()),
            // The length is bounded by a stretch's before anything is copied.
            _ => self.memory_at(address, bytes).ok_or_else(|| bad(format!("{address:#x} is not in the program"))),
        }
    }

    fn sequences(&self, elf: &ElfFile64<Endianness>) -> Result<[[u64; 2]; MAX_SEQUENCES], ProgramError> {
        let table = self.table(elf, SEQUENCES, SEQUENCE_BYTES, &ProgramError::BadSequences)?;
        let mut found: Vec<[u64; 2]> = table.chunks_exact(SEQUENCE_BYTES as usize).map(words).collect();
        let mut sequences = [[0; 2]; MAX_SEQUENCES];
        if found.len() > sequences.len() {
            let why = format!("it names {} sequences, a component has at most {MAX_SEQUENCES}", found.len());
            return Err(ProgramError::BadSequences(why));
        }
        found.sort_unstable();
        for (place, [start, end]) in found.iter().copied().enumerate() {
            let code =
                |it: &&Stretch| it.rights == Rights::Execute && it.contains(start) && end <= it.address + it.bytes;
            let apart = place == 0 || found[place - 1][1] <= start;
            if start >= end || !apart || !self.stretches.iter().any(|it| code(&it)) {
                let why = format!("{start:#x} to {end:#x} is no stretch of code, or overlaps another one");
                return Err(ProgramError::BadSequences(why));
            }
            sequences[place] = [start, end];
        }
        Ok(sequences)
    }

    fn services(&self, elf: &ElfFile64<Endianness>) -> Result<Vec<(String, u64)>, ProgramError> {
        let bad = ProgramError::BadServices;
        let table = self.table(elf, SERVICES, SERVICE_BYTES, &bad)?;
        let mut services: Vec<(String, u64)> = Vec::new();
        for entry in table.chunks_exact(SERVICE_BYTES as usize) {
            let [at, length, entry] = words(entry);
            let place = services.len();
            if length == 0 || length > LONGEST_NAME {
                return Err(bad(format!("the name of entry {place} has {length} bytes, not 1 to {LONGEST_NAME}")));
            }
            let name = self.memory_at(at, length).and_then(|bytes| String::from_utf8(bytes).ok());
            let name = name.ok_or_else(|| bad(format!("the name of entry {place} is no text in the program")))?;
            if services.iter().any(|(other, _)| *other == name) {
                return Err(bad(format!("it holds {name:?} twice")));
            }
            self.must_be_code(&format!("service {name:?}"), entry)?;
            services.push((name, entry));
        }
        Ok(services)
    }
}

/// The first words of a table's entry, which is long enough.
fn words<const N: usize>(entry: &[u8]) -> [u64; N] {
    std::array::from_fn(|i| entry[i * 8..i * 8 + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

/// The file as an executable for the processor with fixed addresses.
fn open(file: &[u8], processor: Processor) -> Result<ElfFile64<'_, Endianness>, ProgramError> {
    let not_elf = |error: object::Error| ProgramError::NotElf(error.to_string());
    let wrong = |found| ProgramError::WrongMachine { found, wanted: target(processor) };
    match FileKind::parse(file).map_err(not_elf)? {
        FileKind::Elf64 => {}
        FileKind::Elf32 => return Err(wrong("32-bit ELF".to_string())),
        other => return Err(ProgramError::NotElf(format!("it is {other:?}"))),
    }
    let elf = ElfFile64::<Endianness>::parse(file).map_err(not_elf)?;
    let (header, endian) = (elf.elf_header(), elf.endian());
    if header.e_machine(endian).0 != elf_machine(processor) || endian != Endianness::Little {
        return Err(wrong(format!("ELF machine {}", header.e_machine(endian))));
    }
    match header.e_type(endian) {
        ET_EXEC => {}
        ET_DYN => return Err(ProgramError::NotFixed("position-independent, or a shared library")),
        _ => return Err(ProgramError::NotFixed("an object file, not a linked program")),
    }
    for part in elf.elf_program_headers() {
        if matches!(part.p_type(endian), PT_INTERP | PT_DYNAMIC) {
            return Err(ProgramError::NotFixed("linked with shared libraries"));
        }
    }
    Ok(elf)
}

/// A part of the program with one set of rights, as the file has it.
struct Segment<'a> {
    start: u64,
    bytes: u64,
    contents: &'a [u8],
    rights: Rights,
}

/// What is to be loaded, in the order of addresses.
fn segments<'a>(
    elf: &ElfFile64<'a, Endianness>,
    file: &'a [u8],
    memory: u64,
) -> Result<Vec<Segment<'a>>, ProgramError> {
    let endian = elf.endian();
    let mut segments = Vec::new();
    let mut total = 0_u64;
    for part in elf.elf_program_headers() {
        let (start, bytes) = (part.p_vaddr(endian), part.p_memsz(endian));
        if part.p_type(endian) != PT_LOAD || bytes == 0 {
            continue;
        }
        let flags = part.p_flags(endian);
        let rights = match (flags & PF_W == PF_W, flags & PF_X == PF_X) {
            (true, true) => return Err(ProgramError::WritableAndExecutable { start }),
            (true, false) => Rights::Write,
            (false, true) => Rights::Execute,
            (false, false) => Rights::Read,
        };
        if !(PROGRAM..INFO).contains(&start) || bytes > INFO - start {
            return Err(ProgramError::OutOfRange { start, bytes });
        }
        total += bytes;
        if total > memory {
            return Err(ProgramError::TooLarge { bytes: total, memory });
        }
        let contents = part.data(endian, file).map_err(|()| {
            ProgramError::NotElf(format!("the contents of the segment at {start:#x} lie outside the file"))
        })?;
        if contents.len() as u64 > bytes {
            return Err(ProgramError::NotElf(format!("the segment at {start:#x} has more contents than memory")));
        }
        segments.push(Segment { start, bytes, contents, rights });
    }
    segments.sort_by_key(|segment| segment.start);
    for pair in segments.windows(2) {
        if pair[0].start + pair[0].bytes > pair[1].start {
            return Err(ProgramError::Overlap { first: pair[0].start, second: pair[1].start });
        }
    }
    match segments.is_empty() {
        true => Err(ProgramError::Empty),
        false => Ok(segments),
    }
}

/// A page of the program.
struct Page {
    rights: Rights,
    /// First address of the segment that brought it.
    segment: u64,
    /// Nothing if it is all zeros.
    contents: Option<Box<[u8; PAGE as usize]>>,
}

/// The segments page by page, then joined where rights agree. A page that several segments of the same rights share
/// holds the bytes of all of them.
fn stretches(segments: &[Segment<'_>]) -> Result<Vec<Stretch>, ProgramError> {
    let mut pages: BTreeMap<u64, Page> = BTreeMap::new();
    for segment in segments {
        let end = segment.start + segment.bytes;
        for address in (segment.start / PAGE * PAGE..end).step_by(PAGE as usize) {
            let page =
                pages.entry(address).or_insert(Page { rights: segment.rights, segment: segment.start, contents: None });
            if page.rights != segment.rights {
                return Err(ProgramError::SharedPage { page: address, first: page.segment, second: segment.start });
            }
            // The stretch of this page that the file fills.
            let from = segment.start.max(address);
            let to = (segment.start + segment.contents.len() as u64).min(address + PAGE);
            if from < to {
                let contents = page.contents.get_or_insert_with(|| Box::new([0; PAGE as usize]));
                let part = &segment.contents[(from - segment.start) as usize..(to - segment.start) as usize];
                contents[(from - address) as usize..(to - address) as usize].copy_from_slice(part);
            }
        }
    }
    let mut stretches: Vec<Stretch> = Vec::new();
    for (address, page) in pages {
        let stretch = match stretches.last_mut() {
            Some(last) if last.rights == page.rights && last.address + last.bytes == address => last,
            _ => {
                stretches.push(Stretch { address, bytes: 0, rights: page.rights, contents: Vec::new() });
                stretches.last_mut().expect("one was just put there")
            }
        };
        if let Some(contents) = page.contents {
            stretch.contents.resize(stretch.bytes as usize, 0);
            stretch.contents.extend_from_slice(&contents[..]);
        }
        stretch.bytes += PAGE;
    }
    Ok(stretches)
}
