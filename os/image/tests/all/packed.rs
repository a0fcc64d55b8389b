//! What a package takes of a program: all that is loaded of it, byte for byte, and nothing else.

use crate::common::elf::{Elf, Segment, EXECUTE, READ, WRITE};
use tactus_image::{PackedProgram, ProgramError};
use tactus_package::program::{Access, Program, PAGE};

const START: u64 = 0x20_0000;
const END: u64 = 0x40_0000;

fn program() -> Elf {
    let bytes = |n: usize| (0..n).map(|at| (at % 251) as u8 + 1).collect::<Vec<u8>>();
    let mut constants = bytes(0x800);
    constants.extend([0; 0x100]);
    Elf {
        segments: vec![
            Segment::new(START, READ, constants),
            // Shares a page with the one before, by the same rights.
            Segment::new(START + 0xa00, READ, bytes(0x900)),
            Segment::new(START + 0x2010, READ | EXECUTE, bytes(0x1234)),
            Segment { bytes: 0x2100, ..Segment::new(START + 0x5ff0, READ | WRITE, bytes(0x20)) },
        ],
        entry: START + 0x2010,
        symbols: (0..3).map(|n| (format!("a_function_with_the_number_{n}"), START + 0x2010, 4)).collect(),
        ..Elf::default()
    }
}

#[test]
fn a_loader_writes_what_the_programs_segments_say() {
    let elf = program();
    let file = elf.write();
    let packed = PackedProgram::of(&file).expect("a good program");
    let names_functions = |file: &[u8]| file.windows(10).any(|it| it == b"a_function");
    assert!(names_functions(&file) && !names_functions(&packed.file));
    assert!(packed.services.is_empty() && !packed.has_sequences);
    let read = Program::read(&packed.file, 62, START, END).expect("the loader takes it");
    assert_eq!((read.entry, read.pages()), (elf.entry, packed.pages));
    let mut memory = vec![None; ((END - START) / PAGE) as usize];
    for page in (0..read.pages()).map(|n| read.page(n).expect("a page")) {
        let mut bytes = vec![0; PAGE as usize];
        bytes[page.offset..page.offset + page.contents.len()].copy_from_slice(page.contents);
        let place = &mut memory[((page.address - START) / PAGE) as usize];
        assert_eq!(place.replace((page.access, bytes)), None, "{:#x} comes once", page.address);
    }
    assert_eq!(memory.iter().flatten().count(), 2 + 2 + 4);
    for segment in &elf.segments {
        let wanted = match (segment.rights & WRITE, segment.rights & EXECUTE) {
            (WRITE, _) => Access::Write,
            (_, EXECUTE) => Access::Execute,
            _ => Access::Read,
        };
        for at in 0..segment.bytes {
            let address = segment.start + at - START;
            let (access, bytes) = memory[(address / PAGE) as usize].as_ref().expect("a page");
            let byte = segment.contents.get(at as usize).copied().unwrap_or(0);
            assert_eq!((*access, bytes[(address % PAGE) as usize]), (wanted, byte), "{:#x}", START + address);
        }
    }
}

#[test]
fn a_program_that_no_slot_has_room_for_is_refused() {
    let mut beyond = program();
    beyond.segments[3].start = END - 0x1000;
    assert!(matches!(PackedProgram::of(&beyond.write()), Err(ProgramError::OutOfRange { .. })));
    let mut large = program();
    large.segments[3].bytes = 3 << 20;
    let refused = PackedProgram::of(&large.write());
    assert!(matches!(refused, Err(ProgramError::TooLarge { .. } | ProgramError::OutOfRange { .. })), "{refused:?}");
    let told = PackedProgram::of(&crate::common::program(&["write"], 7)).map(|it| it.services);
    assert!(told.is_err(), "it lies where no slot is: {told:?}");
}
