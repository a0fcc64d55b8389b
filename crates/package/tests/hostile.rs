//! Packages that somebody made to do harm: each is refused, with its reason.

use proptest::prelude::*;
use std::env;
use tactus_package::admission::{Demand, Order, Supply, Work};
use tactus_package::keys::TrustedKey;
use tactus_package::manifest::{List, Manifest, PackageTask, Processor, Provided, Right, RightKind};
use tactus_package::slot::{judge, Slot};
use tactus_package::write::{package, signed, SigningKey};
use tactus_package::{ProgramFault, Refusal, Unschedulable};
use tactus_time::Duration;

const FROM: u64 = 0x20_0000;
const TO: u64 = 0x1000_0000;
const WRITE: u32 = 2;
const EXECUTE: u32 = 1;
const READ: u32 = 4;

/// An ELF file with these segments: flags, address, bytes in the file, bytes in memory.
fn elf(entry: u64, segments: &[(u32, u64, u64, u64)]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend_from_slice(&2_u16.to_le_bytes());
    file.extend_from_slice(&Processor::X86_64.number().to_le_bytes());
    file.extend_from_slice(&1_u32.to_le_bytes());
    for word in [entry, 64, 0] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    file.extend_from_slice(&0_u32.to_le_bytes());
    for half in [64_u16, 56, segments.len() as u16, 64, 0, 0] {
        file.extend_from_slice(&half.to_le_bytes());
    }
    let mut offset = 64 + 56 * segments.len() as u64;
    for &(flags, address, in_file, in_memory) in segments {
        file.extend_from_slice(&1_u32.to_le_bytes());
        file.extend_from_slice(&flags.to_le_bytes());
        for word in [offset, address, address, in_file, in_memory, 0x1000] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        offset += in_file;
    }
    file.resize(offset as usize, 0x90);
    file
}

fn good_program() -> Vec<u8> {
    elf(FROM + 0x10, &[(READ | EXECUTE, FROM, 0x800, 0x800), (READ | WRITE, FROM + 0x1000, 0x100, 0x3000)])
}

fn task(name: &str, execution: u64, period: u64) -> PackageTask<'_> {
    let (execution, period) = (Duration::from_micros(execution), Duration::from_micros(period));
    PackageTask { name, demand: Demand { execution, period, deadline: period, priority: 0 } }
}

fn manifest(program: &[u8]) -> Manifest<'static> {
    Manifest {
        name: "controller",
        sequence_number: 7,
        class: "control",
        processor: Processor::X86_64.number(),
        image_digest: hmac_sha256::Hash::hash(program),
        image_size: program.len() as u64,
        heap: 8192,
        tasks: List::of(&[task("fast", 200, 10_000), task("slow", 1_000, 50_000)]).expect("two"),
        rights: List::of(&[Right { kind: RightKind::Service, name: "log" }]).expect("one"),
        services: List::of(&[Provided { name: "gains", entry: FROM + 0x20 }]).expect("one"),
        sequences: List::of(&[[FROM + 0x40, FROM + 0x50]]).expect("one"),
    }
}

const RIGHTS: [Right<'static>; 2] =
    [Right { kind: RightKind::Service, name: "log" }, Right { kind: RightKind::Send, name: "motors" }];

fn slot() -> Slot<'static> {
    Slot {
        class: "control",
        processor: Processor::X86_64.number(),
        addresses: (FROM, TO),
        pages: 16,
        heap: 16 << 10,
        tasks: 4,
        rights: &RIGHTS,
        supply: Supply {
            budget: Duration::from_millis(2),
            period: Duration::from_millis(5),
            blackout: Duration::from_millis(6),
        },
        order: Order::EarliestDeadline,
        cost_of_job: Duration::from_micros(10),
        least_sequence_number: 7,
    }
}

fn signer() -> SigningKey {
    SigningKey::from_seed([7; 32]).expect("a seed")
}

fn keys() -> [TrustedKey; 1] {
    [TrustedKey::new(signer().public()).expect("a key")]
}

/// What becomes of a package in the slot: its pages, or why it is refused.
fn load<'b>(bytes: &'b [u8], keys: &[TrustedKey], slot: &Slot<'_>) -> Result<u64, Refusal<'b>> {
    let mut candidate = judge(bytes, keys, slot, Work::OF_AN_ADMISSION)?;
    while !candidate.read(512) {}
    candidate.program().map(|program| program.pages())
}

/// The package of the good program, after its manifest was altered.
fn altered(alter: impl FnOnce(&mut Manifest<'static>)) -> Vec<u8> {
    with_program(&good_program(), alter)
}

fn with_program(program: &[u8], alter: impl FnOnce(&mut Manifest<'static>)) -> Vec<u8> {
    let mut manifest = manifest(program);
    alter(&mut manifest);
    package(&manifest, program, &signer())
}

#[test]
fn a_good_package_is_loaded() {
    assert_eq!(load(&altered(|_| {}), &keys(), &slot()), Ok(4));
}

#[test]
fn who_did_not_sign_or_signed_something_else_is_refused() {
    let good = altered(|_| {});
    let other = SigningKey::from_seed([8; 32]).expect("a seed");
    let foreign = package(&manifest(&good_program()), &good_program(), &other);
    assert!(matches!(load(&foreign, &keys(), &slot()), Err(Refusal::UnknownKey { .. })));
    assert!(matches!(load(&good, &[], &slot()), Err(Refusal::UnknownKey { .. })));
    // Another's signature under the name of a key that is trusted.
    let theirs = keys()[0].id();
    let at = foreign.windows(8).position(|it| it == TrustedKey::new(other.public()).expect("a key").id());
    let mut forged = foreign.clone();
    let at = at.expect("the signer stands in it");
    forged[at..at + 8].copy_from_slice(&theirs);
    assert_eq!(load(&forged, &keys(), &slot()), Err(Refusal::Signature));
    // A point of small order verifies what nobody signed; it is no key.
    assert_eq!(TrustedKey::new([0; 32]), None);
    let mut one = [0; 32];
    one[0] = 1;
    assert_eq!(TrustedKey::new(one), None);
}

#[test]
fn what_the_slot_does_not_offer_is_refused() {
    let refused = |alter: fn(&mut Manifest<'static>)| -> String {
        match load(&altered(alter), &keys(), &slot()) {
            Ok(pages) => format!("loaded {pages} pages"),
            Err(refusal) => refusal.to_string(),
        }
    };
    assert_eq!(
        refused(|it| it.sequence_number = 6),
        "sequence number 6 is older than 7, the least that this slot accepts"
    );
    assert_eq!(refused(|it| it.sequence_number = 8), "loaded 4 pages");
    assert_eq!(refused(|it| it.processor = 183), "compiled for machine 183, the slot is on machine 62");
    assert_eq!(refused(|it| it.class = "video"), "made for slots of class `video`");
    assert_eq!(refused(|it| it.heap = 16_385), "it wants 16385 bytes of heap, the slot has 16384");
    assert_eq!(refused(|it| it.heap = u64::MAX), "it wants 18446744073709551615 bytes of heap, the slot has 16384");
    assert_eq!(refused(|it| it.image_size += 1), "the program has 2480 bytes; the manifest says 2481");
    assert_eq!(refused(|it| it.image_digest[3] ^= 1), "the program is not the one that the manifest names");
    assert_eq!(
        refused(|it| it.tasks = List::of(&[task("t", 1, 10_000); 5]).expect("five")),
        "5 tasks, the slot has room for 4"
    );
    for (kind, name) in [(RightKind::Device, "disk"), (RightKind::Send, "log"), (RightKind::Service, "logs")] {
        let wanted = altered(|it| it.rights = List::of(&[Right { kind, name }]).expect("one"));
        assert_eq!(load(&wanted, &keys(), &slot()), Err(Refusal::Right { kind, name }));
    }
    let twice = Provided { name: "gains", entry: FROM };
    assert!(refused(|_| {}).starts_with("loaded"));
    let twice = altered(|it| it.services = List::of(&[twice, twice]).expect("two"));
    assert!(matches!(load(&twice, &keys(), &slot()), Err(Refusal::Right { .. })));
}

#[test]
fn tasks_that_miss_in_the_slot_are_refused_by_name_and_instant() {
    let refused = |tasks: &[PackageTask<'static>]| -> Result<u64, (Option<String>, Unschedulable)> {
        let package = altered(|it| it.tasks = List::of(tasks).expect("few"));
        let loaded = load(&package, &keys(), &slot());
        loaded.map_err(|refusal| match refusal {
            Refusal::Unschedulable { why, task } => (task.map(str::to_string), why),
            other => panic!("{other}"),
        })
    };
    assert_eq!(refused(&[task("a", 3_000, 10_000), task("b", 3_000, 10_000)]), Err((None, Unschedulable::Overload)));
    let (name, why) = refused(&[task("calm", 100, 50_000), task("keen", 500, 6_000)]).expect_err("keen misses");
    assert_eq!(name.as_deref(), Some("keen"));
    assert_eq!(why, Unschedulable::Late { task: 1, window: Duration::from_millis(6) });
    let endless = PackageTask {
        name: "endless",
        demand: Demand { execution: Duration::MAX, period: Duration::MAX, deadline: Duration::MAX, priority: 0 },
    };
    assert!(matches!(refused(&[endless]), Err((_, Unschedulable::Parameters { task: 0 }))));
    for (execution, period, deadline) in [(0, 10, 10), (1, 10, 0), (1, 0, 0), (5, 10, 4), (1, 10, 11)] {
        let [execution, period, deadline] = [execution, period, deadline].map(Duration::from_millis);
        let bad = PackageTask { name: "bad", demand: Demand { execution, period, deadline, priority: 0 } };
        assert!(refused(&[bad]).is_err());
    }
}

#[test]
fn programs_that_cannot_be_loaded_safely_are_refused() {
    let code = (READ | EXECUTE, FROM, 0x800, 0x800);
    let cases: [(Vec<u8>, ProgramFault); 15] = [
        (vec![], ProgramFault::NotElf),
        (b"#!/bin/sh\n".to_vec(), ProgramFault::NotElf),
        (elf(FROM, &[(READ | WRITE | EXECUTE, FROM, 1, 1)]), ProgramFault::WritableAndExecutable { address: FROM }),
        (elf(FROM, &[]), ProgramFault::NotCode { address: FROM }),
        (elf(FROM - 1, &[code]), ProgramFault::NotCode { address: FROM - 1 }),
        (elf(FROM + 0x800, &[code]), ProgramFault::NotCode { address: FROM + 0x800 }),
        (
            elf(FROM + 0x1000, &[code, (READ | WRITE, FROM + 0x1000, 4, 4)]),
            ProgramFault::NotCode { address: FROM + 0x1000 },
        ),
        (elf(FROM, &[code, (READ | WRITE, FROM + 0xfff, 4, 4)]), ProgramFault::Overlap { address: FROM + 0xfff }),
        (elf(FROM, &[code, (READ, FROM + 0x400, 4, 4)]), ProgramFault::Overlap { address: FROM + 0x400 }),
        (elf(FROM, &[code, (READ, FROM - 0x1000, 4, 4)]), ProgramFault::OutOfRange { address: FROM - 0x1000 }),
        (elf(FROM, &[code, (READ, TO - 1, 4, 4)]), ProgramFault::OutOfRange { address: TO - 1 }),
        (elf(FROM, &[code, (READ, u64::MAX, 4, 4)]), ProgramFault::OutOfRange { address: u64::MAX }),
        (elf(FROM, &[code, (READ, FROM + 0x1000, 4, u64::MAX)]), ProgramFault::OutOfRange { address: FROM + 0x1000 }),
        (elf(FROM, &[code, (READ, FROM + 0x1000, 4, 3)]), ProgramFault::NotElf),
        (
            elf(FROM, &(0..9).map(|n| (READ | EXECUTE, FROM + n * 0x1000, 1, 1)).collect::<Vec<_>>()),
            ProgramFault::TooManySegments,
        ),
    ];
    for (program, fault) in cases {
        let bytes = with_program(&program, |it| {
            it.services = List::of(&[]).expect("none");
            it.sequences = List::of(&[]).expect("none");
        });
        assert_eq!(load(&bytes, &keys(), &slot()), Err(Refusal::Program(fault)));
    }
    let mut dynamic = elf(FROM, &[code, (READ, FROM + 0x1000, 4, 4)]);
    dynamic[64 + 56] = 2;
    let mut shared = good_program();
    shared[16] = 3;
    let mut narrow = good_program();
    narrow[4] = 1;
    let mut swapped = good_program();
    swapped[5] = 2;
    let mut cut = good_program();
    cut.truncate(1_000);
    for program in [dynamic, shared, narrow, swapped, cut] {
        let bytes = with_program(&program, |_| {});
        assert!(matches!(load(&bytes, &keys(), &slot()), Err(Refusal::Program(_))));
    }
}

#[test]
fn services_and_sequences_outside_of_code_are_refused() {
    for entry in [0, FROM - 1, FROM + 0x800, FROM + 0x1000, u64::MAX] {
        let bytes = altered(|it| it.services = List::of(&[Provided { name: "gains", entry }]).expect("one"));
        let refused = Refusal::Program(ProgramFault::NotCode { address: entry });
        assert_eq!(load(&bytes, &keys(), &slot()), Err(refused));
    }
    let stretches: [&[[u64; 2]]; 5] = [
        &[[FROM + 8, FROM + 8]],
        &[[FROM + 9, FROM + 8]],
        &[[FROM, FROM + 0x801]],
        &[[FROM, FROM + 8], [FROM + 7, FROM + 9]],
        &[[u64::MAX - 1, u64::MAX]],
    ];
    for stretch in stretches {
        let bytes = altered(|it| it.sequences = List::of(stretch).expect("few"));
        assert!(matches!(load(&bytes, &keys(), &slot()), Err(Refusal::Program(ProgramFault::Sequence { .. }))));
    }
}

/// What a manifest's bytes may be when somebody who is trusted signs nonsense.
#[test]
fn signed_nonsense_is_refused() {
    let program = good_program();
    let bombs: [&[u8]; 12] = [
        b"",
        b"\xa0",
        b"\xbf\xff",
        // A map, an array and texts that say they are as long as can be.
        b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xac\x01\x1b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xac\x01\x01\x02\x07\x20\x7b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xac\x01\x01\x02\x07\x20\x7f\x61a\xff",
        // A name of a line's end; keys out of order; twice the same key.
        b"\xac\x01\x01\x02\x07\x20\x61\n",
        b"\xac\x02\x07\x01\x01",
        b"\xac\x01\x01\x01\x01",
        &[0x81; 4000],
    ];
    for manifest in bombs {
        let bytes = signed(manifest, &program, &signer());
        assert!(matches!(load(&bytes, &keys(), &slot()), Err(Refusal::Malformed(_))), "{manifest:x?}");
    }
    let long = signed(&[0xa0; 5000], &program, &signer());
    assert!(matches!(load(&long, &keys(), &slot()), Err(Refusal::Malformed(it)) if it.part == "envelope"));
}

#[test]
fn a_package_that_is_cut_anywhere_or_changed_in_any_bit_is_refused() {
    let good = altered(|_| {});
    for length in 0..good.len() {
        assert!(load(&good[..length], &keys(), &slot()).is_err(), "cut at {length}");
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(load(&longer, &keys(), &slot()).is_err());
    let program = good.len() - good_program().len();
    // Each bit of what stands before the program, each byte of the program itself.
    for at in 0..good.len() {
        for bit in if at < program { 0..8 } else { 0..1 } {
            let mut bad = good.clone();
            bad[at] ^= 1 << bit;
            assert!(load(&bad, &keys(), &slot()).is_err(), "byte {at}, bit {bit}");
        }
    }
}

/// Random changes to a manifest that is signed again, and to a whole package: no panic, and nothing that is loaded breaks the slot's rules.
fn fuzz(cases: u32) {
    let program = good_program();
    let good = altered(|_| {});
    let at = good.windows(4).position(|it| it == b"\xac\x01\x01\x02").expect("the manifest begins");
    let end = good.windows(8).position(|it| it == b"#program").expect("the program follows") - 1;
    let encoded = good[at..end].to_vec();
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0_u8..4);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(changes in prop::collection::vec(change, 1..6), whole in prop::bool::weighted(0.3))| {
        let mut bytes = if whole { good.clone() } else { encoded.clone() };
        for (index, byte, how) in changes {
            let at = index.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes.insert(at, byte),
                _ if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => {}
            }
        }
        let bytes = if whole { bytes } else { signed(&bytes, &program, &signer()) };
        let (slot, keys) = (slot(), keys());
        if let Ok(mut candidate) = judge(&bytes, &keys, &slot, Work(2_000)) {
            while !candidate.read(4096) {}
            let manifest = candidate.manifest;
            if let Ok(program) = candidate.program() {
                prop_assert!(manifest.tasks.len() <= slot.tasks && program.pages() <= slot.pages);
                prop_assert!(manifest.sequence_number >= slot.least_sequence_number);
                prop_assert!(manifest.rights.iter().all(|right| slot.rights.contains(right)));
                prop_assert!(program.segments().all(|it| FROM <= it.address && it.address + it.bytes <= TO));
            }
        }
    });
}

#[test]
fn no_change_of_bytes_does_harm() {
    fuzz(400);
}

/// `TACTUS_RUNS` of them, ten million if it is not set.
#[test]
#[ignore = "takes hours"]
fn ten_million_changed_packages() {
    fuzz(env::var("TACTUS_RUNS").ok().and_then(|it| it.parse().ok()).unwrap_or(10_000_000));
}
