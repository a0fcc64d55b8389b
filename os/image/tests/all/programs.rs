//! Programs that cannot be loaded: each is refused with what is wrong and how to mend it. Nothing makes the reader
//! panic.

use crate::common::elf::{Elf, Segment, EXECUTE, READ, WRITE};
use crate::common::{component, image_with, program, system, task};
use proptest::prelude::*;
use tactus_abi::layout::PROGRAM;
use tactus_image::{verify, ImageError, ProgramError};
use tactus_model::Body;

/// Builds an image with this file as the program of the only user component.
fn load(file: &[u8]) -> Result<Vec<u8>, ProgramError> {
    let mut first = task("first", Some(0));
    first.body = Body::Component(0);
    let system = system(1, vec![first], vec![component("mine", &[], &[])]);
    match image_with(&system, &program(&["complete"], 1), &program(&[], 2), &[file.to_vec()]) {
        Ok(image) => Ok(image.bytes),
        Err(ImageError::Program { component, crate_path, error }) => {
            assert_eq!((component.as_str(), crate_path.is_some()), ("mine", true));
            Err(error)
        }
        Err(other) => panic!("{other}"),
    }
}

fn code() -> Segment {
    Segment::new(0x40_1000, READ | EXECUTE, vec![0x90; 64])
}

fn elf(segments: Vec<Segment>) -> Elf {
    Elf { entry: 0x40_1000, segments, ..Elf::default() }
}

#[test]
fn what_is_no_executable_for_this_machine_is_refused() {
    assert!(matches!(load(b""), Err(ProgramError::NotElf(_))));
    assert!(matches!(load(b"#!/bin/sh\nexit 0\n and more text"), Err(ProgramError::NotElf(_))));
    let good = elf(vec![code()]);
    assert!(load(&good.write()).is_ok());
    let arm = Elf { machine: 183, ..good.clone() };
    assert!(matches!(load(&arm.write()), Err(ProgramError::WrongMachine { .. })));
    let position_independent = Elf { kind: 3, ..good.clone() };
    let error = load(&position_independent.write()).unwrap_err();
    assert!(error.to_string().contains("relocation-model=static"), "{error}");
    assert!(matches!(load(&Elf { kind: 1, ..good }.write()), Err(ProgramError::NotFixed(_))));
    let dynamic = elf(vec![code(), Segment { kind: 2, ..Segment::new(0x40_2000, READ, vec![0; 16]) }]);
    assert!(matches!(load(&dynamic.write()), Err(ProgramError::NotFixed(_))));
    assert_eq!(load(&elf(Vec::new()).write()), Err(ProgramError::Empty));
}

#[test]
fn segments_must_lie_where_programs_may() {
    for (start, bytes) in
        [(PROGRAM - 1, 16), (0, 16), (0x0fff_fff0, 17), (0x1000_0000, 1), (u64::MAX - 3, 16), (0x40_2000, u64::MAX)]
    {
        let wrong = Segment { bytes, ..Segment::new(start, READ, vec![1]) };
        let found = load(&elf(vec![code(), wrong]).write());
        assert_eq!(found, Err(ProgramError::OutOfRange { start, bytes }), "{start:#x} {bytes:#x}");
    }
    let last = Segment { bytes: 16, ..Segment::new(0x0fff_fff0, READ, vec![1]) };
    assert!(load(&elf(vec![code(), last]).write()).is_ok());
}

#[test]
fn nothing_may_be_written_and_executed() {
    let wrong = Segment::new(0x40_2000, READ | WRITE | EXECUTE, vec![0; 16]);
    assert_eq!(load(&elf(vec![code(), wrong]).write()), Err(ProgramError::WritableAndExecutable { start: 0x40_2000 }));
}

#[test]
fn segments_of_one_right_may_share_a_page_and_keep_all_their_bytes() {
    let segments = vec![
        code(),
        Segment::new(0x40_2000, READ | WRITE, vec![7; 0x100]),
        Segment { bytes: 0x1800, ..Segment::new(0x40_2800, READ | WRITE, vec![8; 0x100]) },
    ];
    let bytes = load(&elf(segments).write()).unwrap();
    let parsed = verify(&bytes).unwrap();
    let mapping = parsed.mapping_at(1, 0x40_2000).unwrap();
    let memory = parsed.memories[mapping.memory as usize];
    assert_eq!(memory.bytes, 0x2000);
    let page = &bytes[memory.offset as usize..][..memory.file_bytes as usize];
    let mut expected = [0; 0x1000];
    expected[..0x100].fill(7);
    expected[0x800..0x900].fill(8);
    assert_eq!(page, expected);
}

#[test]
fn segments_of_different_rights_may_not_share_a_page_nor_any_two_the_same_bytes() {
    for (first, second) in
        [(READ, READ | WRITE), (READ | WRITE, READ), (READ, READ | EXECUTE), (READ | WRITE, READ | EXECUTE)]
    {
        let segments =
            vec![code(), Segment::new(0x40_2000, first, vec![1; 8]), Segment::new(0x40_2ff8, second, vec![2; 8])];
        let error = load(&elf(segments).write()).unwrap_err();
        assert_eq!(error, ProgramError::SharedPage { page: 0x40_2000, first: 0x40_2000, second: 0x40_2ff8 });
    }
    let segments = vec![code(), Segment::new(0x40_2000, READ, vec![1; 9]), Segment::new(0x40_2008, READ, vec![2; 8])];
    assert_eq!(load(&elf(segments).write()), Err(ProgramError::Overlap { first: 0x40_2000, second: 0x40_2008 }));
}

#[test]
fn a_program_must_begin_in_its_code() {
    for entry in [0, 0x40_0fff, 0x40_2000, u64::MAX] {
        let wrong = Elf { entry, ..elf(vec![code()]) };
        assert!(matches!(load(&wrong.write()), Err(ProgramError::EntryNotCode { entry: found, .. }) if found == entry));
    }
}

#[test]
fn a_program_larger_than_the_machine_is_refused_before_it_is_laid_out() {
    let huge = Segment { bytes: 200 << 20, ..Segment::new(0x40_2000, READ | WRITE, Vec::new()) };
    assert!(matches!(load(&elf(vec![code(), huge]).write()), Err(ProgramError::TooLarge { .. })));
}

#[test]
fn a_broken_table_of_services_is_refused() {
    let constants = |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    let with = |words: &[u64], length: u64| Elf {
        symbols: vec![("TACTUS_SERVICES".to_string(), 0x40_0000, length)],
        ..elf(vec![Segment::new(0x40_0000, READ, constants(words)), code()])
    };
    let name = 0x40_0030;
    let letter = u64::from(b'a');
    assert!(load(&with(&[name, 1, 0x40_1000, 0, 0, 0, letter], 24).write()).is_ok());
    for (words, length, expected) in [
        (&[name, 1, 0x40_1000, 0, 0, 0, letter][..], 23, "not a multiple of 24"),
        (&[name, 1, 0x40_1000, 0, 0, 0, letter], 24 * 1000, "not in the program"),
        (&[name, 0, 0x40_1000, 0, 0, 0, letter], 24, "0 bytes"),
        (&[name, u64::MAX, 0x40_1000, 0, 0, 0, letter], 24, "bytes, not 1 to 256"),
        (&[0x50_0000, 1, 0x40_1000, 0, 0, 0, letter], 24, "no text in the program"),
        (&[name, 1, 0x40_1000, 0, 0, 0, 0xff], 24, "no text in the program"),
        (&[name, 1, 0x40_1000, name, 1, 0x40_1000, letter], 48, "\"a\" twice"),
        (&[name, 1, 0x40_0000, 0, 0, 0, letter], 24, "there is no code"),
    ] {
        let error = load(&with(words, length).write()).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a file holds, it is refused or gives an image that verification accepts.
    #[test]
    fn a_damaged_program_is_refused_or_loads_safely(
        damage in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 1..6), in_head in any::<bool>(), cut in 0.9..1.2_f64,
    ) {
        let mut file = program(&["serve", "log"], 9);
        // Most of what matters lies in head and program headers.
        let span = if in_head { 64 + 56 * 3 } else { file.len() };
        for (place, value) in damage {
            file[(place * span as f64) as usize] = value;
        }
        file.truncate((cut * file.len() as f64) as usize);
        if let Ok(bytes) = load(&file) {
            prop_assert!(verify(&bytes).is_ok(), "{}", verify(&bytes).unwrap_err());
        }
    }
}
