//! The program of a package: what of an ELF file is loaded, and nothing else of it.

use crate::arch::ELF_MACHINE;
use crate::program::{Program, Rights, Stretch};
use crate::ProgramError;
use object::elf::{ET_EXEC, PF_R, PF_W, PF_X, PT_LOAD};
use tactus_abi::layout::{PAGE, PROGRAM, WINDOW_PAGES};
use tactus_model::Processor;

/// Lengths of an ELF file's header, and of a segment's.
const HEADER: usize = 64;
const SEGMENT: usize = 56;

/// A program without what only a debugger needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedProgram {
    /// An ELF file of its segments alone.
    pub file: Vec<u8>,
    /// Pages of memory that it takes.
    pub pages: u64,
    /// The services that it offers.
    pub services: Vec<String>,
    /// Whether it has restartable sequences.
    pub has_sequences: bool,
}

impl PackedProgram {
    /// Takes from an ELF file what is loaded of it.
    ///
    /// # Errors
    /// If it is no program that can be loaded.
    pub fn of(file: &[u8]) -> Result<PackedProgram, ProgramError> {
        let program = Program::read(file, Processor::default(), WINDOW_PAGES * PAGE)?;
        for stretch in &program.stretches {
            if stretch.address + stretch.bytes > PROGRAM + WINDOW_PAGES * PAGE {
                return Err(ProgramError::OutOfRange { start: stretch.address, bytes: stretch.bytes });
            }
        }
        Ok(PackedProgram {
            file: bare(&program),
            pages: program.stretches.iter().map(|stretch| stretch.bytes / PAGE).sum(),
            services: program.services.into_iter().map(|(name, _)| name).collect(),
            has_sequences: program.sequences[0] != [0; 2],
        })
    }
}

/// What the file holds of a stretch: zeros at its end are left out.
fn contents(stretch: &Stretch) -> &[u8] {
    let end = stretch.contents.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &stretch.contents[..end]
}

/// An ELF file with these stretches as segments.
fn bare(program: &Program) -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let segments = program.stretches.len();
    for half in [ET_EXEC.0, ELF_MACHINE] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1_u32.to_le_bytes());
    for word in [program.entry, HEADER as u64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend(0_u32.to_le_bytes());
    for half in [HEADER, SEGMENT, segments, 64, 0, 0] {
        file.extend((half as u16).to_le_bytes());
    }
    let mut offset = (HEADER + segments * SEGMENT) as u64;
    for stretch in &program.stretches {
        let bytes = contents(stretch).len() as u64;
        let flags = match stretch.rights {
            Rights::Read => PF_R.0,
            Rights::Write => PF_R.0 | PF_W.0,
            Rights::Execute => PF_R.0 | PF_X.0,
        };
        for word in [PT_LOAD.0, flags] {
            file.extend(word.to_le_bytes());
        }
        for word in [offset, stretch.address, stretch.address, bytes, stretch.bytes, PAGE] {
            file.extend(word.to_le_bytes());
        }
        offset += bytes;
    }
    program.stretches.iter().for_each(|stretch| file.extend(contents(stretch)));
    file
}
