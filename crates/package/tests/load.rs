//! A load step by step.

use tactus_package::admission::{Order, Supply, Work};
use tactus_package::keys::TrustedKey;
use tactus_package::load::{steps, unload_step, unload_steps, Loading, Step, UnloadStep, DIGEST_BYTES, PAGES};
use tactus_package::manifest::{List, Manifest, Processor};
use tactus_package::program::{Access, PAGE};
use tactus_package::slot::Slot;
use tactus_package::write::{package, SigningKey};
use tactus_package::Refusal;
use tactus_time::Duration;

const FROM: u64 = 0x20_0000;

/// An ELF file: flags, address, contents and bytes in memory of each segment.
fn elf(segments: &[(u32, u64, Vec<u8>, u64)]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend_from_slice(&2_u16.to_le_bytes());
    file.extend_from_slice(&Processor::X86_64.number().to_le_bytes());
    file.extend_from_slice(&1_u32.to_le_bytes());
    for word in [FROM, 64, 0] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    file.extend_from_slice(&0_u32.to_le_bytes());
    for half in [64_u16, 56, segments.len() as u16, 64, 0, 0] {
        file.extend_from_slice(&half.to_le_bytes());
    }
    let mut offset = 64 + 56 * segments.len() as u64;
    for (flags, address, contents, in_memory) in segments {
        file.extend_from_slice(&1_u32.to_le_bytes());
        file.extend_from_slice(&flags.to_le_bytes());
        for word in [offset, *address, *address, contents.len() as u64, *in_memory, 0x1000] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        offset += contents.len() as u64;
    }
    segments.iter().for_each(|segment| file.extend_from_slice(&segment.2));
    file
}

/// Segments that begin and end within pages, one without contents.
fn program() -> Vec<u8> {
    let bytes = |n: usize| (0..n).map(|at| (at % 251) as u8 + 1).collect::<Vec<u8>>();
    elf(&[
        (5, FROM, bytes(70_000), 70_000),
        (4, FROM + 0x1_2123, bytes(0x2000), 0x2000),
        (6, FROM + 0x2_0ff0, bytes(0x20), 0x5000),
        (6, FROM + 0x3_0000, bytes(0), 0x1001),
    ])
}

fn made(program: &[u8]) -> Vec<u8> {
    let manifest = Manifest {
        name: "controller",
        sequence_number: 1,
        class: "control",
        processor: Processor::X86_64.number(),
        image_digest: hmac_sha256::Hash::hash(program),
        image_size: program.len() as u64,
        heap: 0,
        tasks: List::of(&[]).expect("none"),
        rights: List::of(&[]).expect("none"),
        services: List::of(&[]).expect("none"),
        sequences: List::of(&[]).expect("none"),
    };
    package(&manifest, program, &signer())
}

fn signer() -> SigningKey {
    SigningKey::from_seed([7; 32]).expect("a seed")
}

fn keys() -> [TrustedKey; 1] {
    [TrustedKey::new(signer().public()).expect("a key")]
}

fn slot() -> Slot<'static> {
    Slot {
        class: "control",
        processor: Processor::X86_64.number(),
        addresses: (FROM, FROM + 0x20_0000),
        pages: 64,
        heap: 0,
        tasks: 4,
        rights: &[],
        supply: Supply {
            budget: Duration::from_millis(2),
            period: Duration::from_millis(5),
            blackout: Duration::from_millis(6),
        },
        order: Order::EarliestDeadline,
        cost_of_job: Duration::ZERO,
        least_sequence_number: 0,
    }
}

#[test]
fn the_pages_that_a_load_writes_are_the_programs_memory() {
    let (file, package) = (program(), made(&program()));
    let mut loading = Loading::new(&package, 39);
    let (mut digests, mut set_back, mut memory, mut count) = (0, 0, vec![None; 0x200], 0);
    while let Some(step) = loading.step(&keys(), &slot(), Work::OF_AN_ADMISSION).expect("a good package") {
        count += 1;
        match step {
            Step::Look => digests += 1,
            Step::SetBack { from, count } => {
                assert_eq!(from, set_back);
                set_back += count;
                assert!(count <= 16 && memory.iter().all(Option::is_none));
            }
            Step::Write { from, count } => {
                assert!(count <= PAGES);
                for page in (from..from + count).map(|n| loading.page(n).expect("a page")) {
                    let mut bytes = vec![0; PAGE as usize];
                    bytes[page.offset..page.offset + page.contents.len()].copy_from_slice(page.contents);
                    let place = &mut memory[((page.address - FROM) / PAGE) as usize];
                    assert_eq!(place.replace((page.access, bytes)), None, "written once");
                }
            }
            Step::HandOver => assert_eq!(loading.page(loading.pages()), None),
        }
    }
    // Three steps beside the digest.
    assert_eq!((digests - 3, set_back), (file.len().div_ceil(DIGEST_BYTES), 39));
    assert_eq!(memory.iter().flatten().count() as u64, loading.pages());
    // Byte by byte, told another way.
    let byte = |address: u64| {
        memory[((address - FROM) / PAGE) as usize].as_ref().map(|page| page.1[(address % PAGE) as usize])
    };
    let access = |address: u64| memory[((address - FROM) / PAGE) as usize].as_ref().map(|page| page.0);
    for (address, bytes, contents, kind) in [
        (FROM, 70_000, 70_000, Access::Execute),
        (FROM + 0x1_2123, 0x2000, 0x2000, Access::Read),
        (FROM + 0x2_0ff0, 0x5000, 0x20, Access::Write),
        (FROM + 0x3_0000, 0x1001, 0, Access::Write),
    ] {
        for at in 0..bytes {
            let wanted = if at < contents { (at % 251) as u8 + 1 } else { 0 };
            assert_eq!((byte(address + at), access(address + at)), (Some(wanted), Some(kind)), "{:#x}", address + at);
        }
    }
    assert_eq!((byte(FROM + 0x1_2122), byte(FROM + 0x1_4123)), (Some(0), Some(0)));
    // The host counts the same.
    let outcome = steps(&package, 39, &keys(), &slot(), Work::OF_AN_ADMISSION);
    assert_eq!(outcome.steps, count);
    assert_eq!(outcome.result.expect("a good package").1, loading.pages());
}

#[test]
fn a_load_is_refused_before_anything_of_the_slot_is_touched_and_stays_over() {
    let good = made(&program());
    let mut changed = good.clone();
    *changed.last_mut().expect("bytes") ^= 1;
    let small = Slot { pages: 3, ..slot() };
    for (package, slot, looks) in [(&good[1..], slot(), 1), (&changed, slot(), 8), (&good, small, 8)] {
        let mut loading = Loading::new(package, 39);
        let mut taken = 0;
        let refused = loop {
            taken += 1;
            match loading.step(&keys(), &slot, Work::OF_AN_ADMISSION) {
                Ok(step) => assert_eq!(step, Some(Step::Look)),
                Err(refusal) => break refusal,
            }
        };
        assert_eq!(loading.step(&keys(), &slot, Work::OF_AN_ADMISSION), Ok(None), "{refused}");
        assert_eq!((loading.pages(), loading.manifest(), loading.program()), (0, None, None));
        let outcome = steps(package, 39, &keys(), &slot, Work::OF_AN_ADMISSION);
        assert_eq!((outcome.steps, outcome.result), (taken, Err(refused)));
        assert_eq!(taken, looks, "{refused}");
    }
    let outcome = steps(&good, 39, &keys(), &Slot { pages: 3, ..slot() }, Work::OF_AN_ADMISSION);
    assert!(matches!(outcome.result, Err(Refusal::Memory { most: 3, .. })), "{outcome:?}");
}

#[test]
fn an_unload_takes_every_page_away_once() {
    for pages in [0, 1, PAGES - 1, PAGES, PAGES + 1, 100] {
        let (mut number, mut away) = (0, 0);
        while let Some(step) = unload_step(number, pages) {
            match step {
                UnloadStep::HandBack => assert_eq!(number, 0),
                UnloadStep::Stop => assert_eq!(number, 1),
                UnloadStep::Unmap { from, count } => {
                    assert!(from == away && (1..=PAGES).contains(&count));
                    away += count;
                }
            }
            number += 1;
        }
        assert_eq!((away, number), (pages, unload_steps(pages)));
    }
}
