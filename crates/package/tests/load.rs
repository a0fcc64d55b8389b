//! A load step by step.

mod made;

use made::{elf, keys, manifest, part, signer, slot, Part, EXECUTE, FROM, READ, WRITE};
use tactus_package::admission::Work;
use tactus_package::load::{steps, unload_step, unload_steps, Loading, Step, UnloadStep, DIGEST_BYTES, PAGES};
use tactus_package::program::{Access, PAGE};
use tactus_package::slot::Slot;
use tactus_package::write::package;
use tactus_package::Refusal;

/// Segments that begin and end within pages, one without contents.
fn program() -> Vec<u8> {
    let filled = |flags, address, bytes: usize, in_memory| Part {
        contents: (0..bytes).map(|at| (at % 251) as u8 + 1).collect(),
        ..part(flags, address, 0, in_memory)
    };
    elf(
        FROM,
        &[
            filled(READ | EXECUTE, FROM, 70_000, 70_000),
            filled(READ, FROM + 0x1_2123, 0x2000, 0x2000),
            filled(READ | WRITE, FROM + 0x2_0ff0, 0x20, 0x5000),
            filled(READ | WRITE, FROM + 0x3_0000, 0, 0x1001),
        ],
    )
}

fn made(program: &[u8]) -> Vec<u8> {
    package(&manifest(program), program, &signer())
}

/// A slot with room for it.
fn large() -> Slot<'static> {
    Slot { pages: 64, ..slot() }
}

#[test]
fn the_pages_that_a_load_writes_are_the_programs_memory() {
    let (file, package) = (program(), made(&program()));
    let mut loading = Loading::new(&package, 39);
    let (mut digests, mut set_back, mut memory, mut count) = (0, 0, vec![None; 0x200], 0);
    while let Some(step) = loading.step(&keys(), &large(), Work::OF_AN_ADMISSION).expect("a good package") {
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
    let outcome = steps(&package, 39, &keys(), &large(), Work::OF_AN_ADMISSION);
    assert_eq!(outcome.steps, count);
    assert_eq!(outcome.result.expect("a good package").1, loading.pages());
}

#[test]
fn a_load_is_refused_before_anything_of_the_slot_is_touched_and_stays_over() {
    let good = made(&program());
    let mut changed = good.clone();
    *changed.last_mut().expect("bytes") ^= 1;
    let small = Slot { pages: 3, ..large() };
    for (package, slot, looks) in [(&good[1..], large(), 1), (&changed, large(), 8), (&good, small, 8)] {
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
    let outcome = steps(&good, 39, &keys(), &Slot { pages: 3, ..large() }, Work::OF_AN_ADMISSION);
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
