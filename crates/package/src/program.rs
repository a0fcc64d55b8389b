//! The program of a package: an ELF file from outside, whose segments are checked before anything of it is loaded.

use core::fmt;
use elf::abi::{ET_EXEC, PF_W, PF_X, PT_DYNAMIC, PT_INTERP, PT_LOAD};
use elf::endian::LittleEndian;
use elf::file::Class;
use elf::ElfBytes;

/// Length of a page.
pub const PAGE: u64 = 4096;
/// The most segments.
pub const MOST_SEGMENTS: usize = 8;

/// What a page may be used for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Read.
    Read,
    /// Read and write.
    Write,
    /// Read and execute.
    Execute,
}

/// A part of the program with one set of rights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment<'b> {
    /// First address.
    pub address: u64,
    /// Length in memory; zeros follow behind the contents.
    pub bytes: u64,
    /// What it holds at first.
    pub contents: &'b [u8],
    /// Its rights.
    pub access: Access,
}

impl Segment<'_> {
    fn end(&self) -> u64 {
        self.address + self.bytes
    }
    /// The pages that it touches: first and the one behind the last.
    fn pages(&self) -> (u64, u64) {
        (self.address / PAGE, self.end().div_ceil(PAGE))
    }
    fn holds(&self, address: u64) -> bool {
        self.address <= address && address < self.end()
    }
}

/// A page as it is when the program begins: zeros but for its contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page<'b> {
    /// Its address.
    pub address: u64,
    /// Its rights.
    pub access: Access,
    /// Where in the page the contents lie.
    pub offset: usize,
    /// The contents; they end with the page at the latest.
    pub contents: &'b [u8],
}

/// What is wrong with a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramFault {
    /// No ELF file, or a damaged one.
    NotElf,
    /// For another machine.
    Machine {
        /// The machine's number in the file.
        machine: u16,
    },
    /// Not linked at fixed addresses.
    NotFixed,
    /// A segment may be written and executed.
    WritableAndExecutable {
        /// Where.
        address: u64,
    },
    /// A segment lies outside of where programs may lie.
    OutOfRange {
        /// Where.
        address: u64,
    },
    /// Two segments overlap, or share a page.
    Overlap {
        /// Where the second one begins.
        address: u64,
    },
    /// More segments than a program may have.
    TooManySegments,
    /// The entry is not in code.
    NotCode {
        /// The entry.
        address: u64,
    },
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramFault::NotElf => f.write_str("the program is no ELF file, or damaged"),
            ProgramFault::Machine { machine } => write!(f, "the program is for ELF machine {machine}"),
            ProgramFault::NotFixed => {
                f.write_str("the program is not linked at fixed addresses (`-C relocation-model=static`)")
            }
            ProgramFault::WritableAndExecutable { address } => {
                write!(f, "the segment at {address:#x} may be written and executed")
            }
            ProgramFault::OutOfRange { address } => {
                write!(f, "the segment at {address:#x} lies outside of where programs may lie")
            }
            ProgramFault::Overlap { address } => {
                write!(f, "the segment at {address:#x} shares a page with the one before")
            }
            ProgramFault::TooManySegments => write!(f, "the program has more than {MOST_SEGMENTS} segments"),
            ProgramFault::NotCode { address } => write!(f, "the entry {address:#x} is not in the program's code"),
        }
    }
}

/// A program that was checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Program<'b> {
    /// Where its threads begin.
    pub entry: u64,
    segments: [Option<Segment<'b>>; MOST_SEGMENTS],
}

impl<'b> Program<'b> {
    /// The segments, by address; no two share a page.
    pub fn segments(&self) -> impl Iterator<Item = &Segment<'b>> {
        self.segments.iter().flatten()
    }

    /// Pages of memory that it takes.
    pub fn pages(&self) -> u64 {
        self.segments().map(|segment| segment.pages().1 - segment.pages().0).sum()
    }

    /// The page with this number, counted over all segments by address.
    pub fn page(&self, mut number: u64) -> Option<Page<'b>> {
        for segment in self.segments() {
            let (first, end) = segment.pages();
            if number >= end - first {
                number -= end - first;
                continue;
            }
            let address = (first + number) * PAGE;
            let from = segment.address.max(address);
            // `from` may lie behind the contents: the rest is zeros.
            let start = segment.contents.len().min((from - segment.address) as usize);
            let bytes = (segment.contents.len() - start).min((address + PAGE - from) as usize);
            let contents = &segment.contents[start..start + bytes];
            return Some(Page { address, access: segment.access, offset: (from - address) as usize, contents });
        }
        None
    }

    /// Reads an ELF file that lies between these addresses when it is loaded.
    pub fn read(file: &'b [u8], processor: u16, from: u64, to: u64) -> Result<Self, ProgramFault> {
        let elf = ElfBytes::<LittleEndian>::minimal_parse(file).map_err(|_| ProgramFault::NotElf)?;
        if elf.ehdr.class != Class::ELF64 || elf.ehdr.e_machine != processor {
            return Err(ProgramFault::Machine { machine: elf.ehdr.e_machine });
        }
        if elf.ehdr.e_type != ET_EXEC {
            return Err(ProgramFault::NotFixed);
        }
        let mut program = Program { entry: elf.ehdr.e_entry, segments: [None; MOST_SEGMENTS] };
        let mut count = 0;
        for header in elf.segments().ok_or(ProgramFault::NotElf)? {
            if matches!(header.p_type, PT_INTERP | PT_DYNAMIC) {
                return Err(ProgramFault::NotFixed);
            }
            if header.p_type != PT_LOAD || header.p_memsz == 0 {
                continue;
            }
            let (address, bytes) = (header.p_vaddr, header.p_memsz);
            let access = match (header.p_flags & PF_W == PF_W, header.p_flags & PF_X == PF_X) {
                (true, true) => return Err(ProgramFault::WritableAndExecutable { address }),
                (true, false) => Access::Write,
                (false, true) => Access::Execute,
                (false, false) => Access::Read,
            };
            let inside = from <= address && address.checked_add(bytes).is_some_and(|end| end <= to);
            if !inside {
                return Err(ProgramFault::OutOfRange { address });
            }
            let contents = elf.segment_data(&header).map_err(|_| ProgramFault::NotElf)?;
            if contents.len() as u64 > bytes {
                return Err(ProgramFault::NotElf);
            }
            let place = program.segments.get_mut(count).ok_or(ProgramFault::TooManySegments)?;
            *place = Some(Segment { address, bytes, contents, access });
            count += 1;
        }
        let segments = &mut program.segments[..count];
        segments.sort_unstable_by_key(|segment| segment.map(|it| it.address));
        for pair in segments.windows(2) {
            if let [Some(first), Some(second)] = pair {
                if first.pages().1 > second.pages().0 {
                    return Err(ProgramFault::Overlap { address: second.address });
                }
            }
        }
        if !program.is_code(program.entry) {
            return Err(ProgramFault::NotCode { address: program.entry });
        }
        Ok(program)
    }

    fn is_code(&self, address: u64) -> bool {
        self.segments().any(|segment| segment.access == Access::Execute && segment.holds(address))
    }
}
