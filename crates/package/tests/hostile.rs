//! Packages that somebody made to do harm: each is refused with its own reason before anything of the slot is touched.

mod made;

use made::{elf, good_program, keys, manifest, part, signer, slot, task, EXECUTE, FROM, READ, TO, WRITE};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::env;
use tactus_package::admission::{Demand, Supply, Work};
use tactus_package::keys::{KeyFault, TrustedKey};
use tactus_package::load::{Loading, Step};
use tactus_package::manifest::{List, Manifest, PackageTask, Right, RightKind};
use tactus_package::slot::{judge, Slot};
use tactus_package::write::{package, signed, SigningKey};
use tactus_package::Refusal;
use tactus_time::Duration;

/// What becomes of a package in the slot: the pages of its program, or why it is refused, which it must be before the slot is touched.
fn load<'b>(bytes: &'b [u8], keys: &[TrustedKey], slot: &Slot<'_>) -> Result<u64, Refusal<'b>> {
    let (mut loading, mut touched) = (Loading::new(bytes, 40), false);
    loop {
        match loading.step(keys, slot, Work::OF_AN_ADMISSION) {
            Ok(None) => return Ok(loading.pages()),
            Ok(Some(step)) => touched |= step != Step::Look,
            Err(refusal) => {
                assert!(!touched && loading.pages() == 0, "{refusal}: the slot was touched");
                return Err(refusal);
            }
        }
    }
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

/// A package of a program that was signed as it is.
fn of(program: &[u8]) -> Vec<u8> {
    with_program(program, |_| {})
}

/// The good program with one byte of its file replaced.
fn patched(at: usize, byte: u8) -> Vec<u8> {
    let mut program = good_program();
    program[at] = byte;
    of(&program)
}

/// Somebody who is trusted signed this as a manifest.
fn nonsense(manifest: &[u8]) -> Vec<u8> {
    signed(manifest, &good_program(), &signer())
}

/// The good package with these bytes replaced by others of the same length, at their first place.
fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut package = altered(|_| {});
    let at = package.windows(from.len()).position(|it| it == from).expect("it stands in it");
    package[at..at + to.len()].copy_from_slice(to);
    package
}

fn tasks(tasks: &[PackageTask<'static>]) -> Vec<u8> {
    altered(|it| it.tasks = List::of(tasks).expect("few"))
}

/// A task of which these are the execution, period and deadline (ms).
fn odd(times: [u64; 3]) -> Vec<u8> {
    let [execution, period, deadline] = times.map(Duration::from_millis);
    tasks(&[PackageTask { name: "odd", demand: Demand { execution, period, deadline, priority: 0 } }])
}

fn right(kind: RightKind, name: &'static str) -> Vec<u8> {
    altered(|it| it.rights = List::of(&[Right { kind, name }]).expect("one"))
}

/// Kinds of hostile packages: what each is, the package, and how its refusal begins.
fn kinds() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let good = altered(|_| {});
    let stranger = SigningKey::from_seed([8; 32]).expect("a seed");
    let foreign = package(&manifest(&good_program()), &good_program(), &stranger);
    let stranger = TrustedKey::new(stranger.public()).expect("a key").id();
    let (mut forged, ours) = (foreign.clone(), keys()[0].id());
    let at = forged.windows(8).position(|it| it == stranger).expect("the signer stands in it");
    forged[at..at + 8].copy_from_slice(&ours);
    let (mut longer, mut shorter) = (good.clone(), good.clone());
    longer.push(0);
    shorter.pop();
    let mut transferred = good.clone();
    *transferred.last_mut().expect("bytes") ^= 1;
    let code = || part(READ | EXECUTE, FROM, 0x800, 0x800);
    let more = |more| elf(FROM, &[code(), more]);
    let mut dynamic = more(part(READ, FROM + 0x1000, 4, 4));
    dynamic[64 + 56] = 2;
    let mut interpreted = dynamic.clone();
    interpreted[64 + 56] = 3;
    let odd_times = "task `odd`: needs 0 < execution (with the system's own work) ≤ deadline ≤ period ≤ 4398.047 s";
    vec![
        // Who signed, and what.
        ("an empty file", vec![], "not a package: envelope is damaged at byte 0"),
        ("a program in place of a package", good_program(), "not a package: envelope is damaged at byte 0"),
        ("a tag of something else", replaced(b"\xd8\x6b", b"\xd8\x6a"), "not a package: envelope is damaged at byte 0"),
        ("a map of more keys", replaced(b"\xa3\x02", b"\xa4\x02"), "not a package: envelope is damaged at byte 2"),
        ("something behind the end", longer, "not a package: envelope is damaged at byte"),
        ("cut by a byte", shorter, "not a package: envelope is damaged at byte"),
        ("a payload of another name", replaced(b"#program", b"#praxis!"), "not a package: envelope"),
        ("signed by a stranger", foreign, "signed by a key that is not trusted here: "),
        ("signed by a stranger in the name of somebody who is trusted", forged, "the signature is not that of the key"),
        (
            "another algorithm",
            replaced(b"\xa1\x01\x27", b"\xa1\x01\x26"),
            "not a package: signature is damaged at byte",
        ),
        (
            "a digest of another kind",
            replaced(b"\x82\x2f\x58\x20", b"\x82\x2e\x58\x20"),
            "not a package: digest is damaged",
        ),
        (
            "another manifest under the same signature",
            replaced(b"controller", b"controlled"),
            "the manifest is not the one",
        ),
        ("another program under the same signature", transferred, "the program is not the one that the manifest names"),
        // Nonsense that somebody signed who is trusted.
        ("no manifest", nonsense(b""), "not a package: manifest is damaged at byte 0"),
        ("an empty manifest", nonsense(b"\xa0"), "not a package: manifest is damaged at byte 0"),
        ("a manifest without an end", nonsense(b"\xbf\xff"), "not a package: manifest is damaged at byte 0"),
        (
            "a map of 2⁶⁴ − 1 keys",
            nonsense(b"\xbb\xff\xff\xff\xff\xff\xff\xff\xff"),
            "not a package: manifest is damaged at byte 0",
        ),
        (
            "an array of 2⁶⁴ − 1 items",
            nonsense(b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff"),
            "not a package: manifest is damaged at byte 0",
        ),
        ("arrays in arrays, 4,000 deep", nonsense(&[0x81; 4000]), "not a package: manifest is damaged at byte 0"),
        ("a manifest longer than any", nonsense(&[0xa0; 5000]), "not a package: envelope is damaged at byte"),
        ("a later form of manifest", nonsense(b"\xaa\x01\x02"), "not a package: manifest is damaged at byte 2"),
        (
            "a text of 2⁶⁴ − 1 bytes",
            nonsense(b"\xaa\x01\x01\x02\x07\x20\x7b\xff\xff\xff\xff\xff\xff\xff\xff"),
            "not a package: manifest is damaged at byte 6",
        ),
        (
            "a text in pieces",
            nonsense(b"\xaa\x01\x01\x02\x07\x20\x7f\x61a\xff"),
            "not a package: manifest is damaged at byte 6",
        ),
        (
            "a name that is a line's end",
            nonsense(b"\xaa\x01\x01\x02\x07\x20\x61\n"),
            "not a package: manifest is damaged at byte 6",
        ),
        (
            "a name that is no text",
            nonsense(b"\xaa\x01\x01\x02\x07\x20\x61\xff"),
            "not a package: manifest is damaged at byte 6",
        ),
        (
            "a name of 32 letters",
            altered(|it| it.name = "abcdefghijklmnopqrstuvwxyz-01234"),
            "not a package: manifest is damaged",
        ),
        ("a name of none", altered(|it| it.name = ""), "not a package: manifest is damaged"),
        ("a task without a name", tasks(&[task("", 1, 10_000)]), "not a package: manifest is damaged"),
        ("keys out of order", nonsense(b"\xaa\x02\x07\x01\x01"), "not a package: manifest is damaged at byte 1"),
        ("a key that comes twice", nonsense(b"\xaa\x01\x01\x01\x01"), "not a package: manifest is damaged at byte 3"),
        (
            "a version that is no whole number",
            nonsense(b"\xaa\x01\x01\x02\x37"),
            "not a package: manifest is damaged at byte 4",
        ),
        (
            "a version of more than 64 bits",
            nonsense(b"\xaa\x01\x01\x02\xc2\x49\x01"),
            "not a package: manifest is damaged at byte 4",
        ),
        ("33 tasks", nonsense_with_tasks(33), "not a package: manifest is damaged at byte"),
        ("2³² tasks", nonsense_with_tasks(1 << 32), "not a package: manifest is damaged at byte"),
        // More than the slot offers.
        ("an older version", altered(|it| it.sequence_number = 6), "version 0.0.6 is older than 0.0.7, the least"),
        (
            "for another processor",
            altered(|it| it.processor = 183),
            "compiled for machine 183, the slot is on machine 62",
        ),
        ("for another kind of slot", altered(|it| it.class = "video"), "made for slots of class `video`"),
        ("a byte of heap too much", altered(|it| it.heap = 16_385), "it wants 16385 bytes of heap, the slot has 16384"),
        (
            "all the heap that there can be",
            altered(|it| it.heap = u64::MAX),
            "it wants 18446744073709551615 bytes of heap",
        ),
        ("a task too many", tasks(&[task("t", 1, 10_000); 5]), "5 tasks, the slot has room for 4"),
        ("a service that it may not call", right(RightKind::Service, "logs"), "it may not have service `logs`"),
        ("a channel that it may not write", right(RightKind::Send, "log"), "it may not have send `log`"),
        ("a channel that it may not read", right(RightKind::Receive, "motors"), "it may not have receive `motors`"),
        ("a device", right(RightKind::Device, "disk"), "it may not have device `disk`"),
        (
            "a page of memory too much",
            of(&more(part(READ | WRITE, FROM + 0x1000, 4, 0x1_0000))),
            "the program takes 17 pages of memory, the slot has 16",
        ),
        (
            "a program that is longer than it says",
            altered(|it| it.image_size -= 1),
            "the program has 2480 bytes; the manifest says 2479",
        ),
        (
            "a program that is shorter than it says",
            altered(|it| it.image_size = u64::MAX),
            "the program has 2480 bytes; the manifest says 1844",
        ),
        // Tasks that ask for what cannot be.
        (
            "more than the slot's share",
            tasks(&[task("a", 3_000, 10_000), task("b", 3_000, 10_000)]),
            "the tasks ask for more than the slot's share",
        ),
        (
            "a deadline that is missed",
            tasks(&[task("calm", 100, 50_000), task("keen", 500, 6_000)]),
            "task `keen`: a deadline can be missed: the slot does not give enough within 6 ms",
        ),
        ("a task that executes nothing", odd([0, 10, 10]), odd_times),
        ("a deadline of nothing", odd([1, 10, 0]), odd_times),
        ("a period of nothing", odd([1, 0, 0]), odd_times),
        ("an execution beyond its deadline", odd([5, 10, 4]), odd_times),
        ("a deadline beyond its period", odd([1, 10, 11]), odd_times),
        (
            "a period that would overflow",
            tasks(&[PackageTask {
                name: "odd",
                demand: Demand {
                    execution: Duration::from_millis(1),
                    period: Duration::MAX,
                    deadline: Duration::MAX,
                    priority: 0,
                },
            }]),
            odd_times,
        ),
        (
            "an execution that overflows with the system's own work",
            tasks(&[PackageTask {
                name: "odd",
                demand: Demand {
                    execution: Duration::MAX,
                    period: Duration::MAX,
                    deadline: Duration::MAX,
                    priority: 0,
                },
            }]),
            odd_times,
        ),
        // Programs that no loader should load.
        ("no program", of(&[]), "the program is no ELF file, or damaged"),
        ("a script", of(b"#!/bin/sh\n"), "the program is no ELF file, or damaged"),
        ("a program that is cut", of(&good_program()[..1_000]), "the program is no ELF file, or damaged"),
        ("numbers the other way round", patched(5, 2), "the program is no ELF file, or damaged"),
        ("a program of 32 bits", patched(4, 1), "the program is"),
        ("a program for another machine", patched(18, 40), "the program is for ELF machine 40"),
        ("a library", patched(16, 3), "the program is not linked at fixed addresses"),
        ("shared libraries", of(&dynamic), "the program is not linked at fixed addresses"),
        ("an interpreter", of(&interpreted), "the program is not linked at fixed addresses"),
        (
            "more contents than memory",
            of(&more(part(READ, FROM + 0x1000, 4, 3))),
            "the program is no ELF file, or damaged",
        ),
        (
            "a segment that is written and executed",
            of(&elf(FROM, &[part(READ | WRITE | EXECUTE, FROM, 1, 1)])),
            "the segment at 0x200000 may be written and executed",
        ),
        ("a segment below", of(&more(part(READ, FROM - 0x1000, 4, 4))), "the segment at 0x1ff000 lies outside"),
        ("a segment across the end", of(&more(part(READ, TO - 1, 4, 4))), "the segment at 0xfffffff lies outside"),
        (
            "a segment at the last address",
            of(&more(part(READ, u64::MAX, 4, 4))),
            "the segment at 0xffffffffffffffff lies outside",
        ),
        (
            "a segment around all memory",
            of(&more(part(READ, FROM + 0x1000, 4, u64::MAX))),
            "the segment at 0x201000 lies outside",
        ),
        ("a segment over another", of(&more(part(READ, FROM + 0x400, 4, 4))), "the segment at 0x200400 shares a page"),
        (
            "data that shares a page with code",
            of(&more(part(READ | WRITE, FROM + 0xfff, 4, 4))),
            "the segment at 0x200fff shares a page",
        ),
        (
            "nine segments",
            of(&elf(FROM, &(0..9).map(|n| part(READ | EXECUTE, FROM + n * 0x1000, 1, 1)).collect::<Vec<_>>())),
            "the program has more than 8 segments",
        ),
        ("no segments", of(&elf(FROM, &[])), "the entry 0x200000 is not in the program's code"),
        ("an entry below", of(&elf(FROM - 1, &[code()])), "the entry 0x1fffff is not in"),
        ("an entry behind", of(&elf(FROM + 0x800, &[code()])), "the entry 0x200800 is not in"),
        (
            "an entry in data",
            of(&elf(FROM + 0x1000, &[code(), part(READ | WRITE, FROM + 0x1000, 4, 4)])),
            "the entry 0x201000 is not in",
        ),
    ]
}

/// A manifest that says it has this number of tasks.
fn nonsense_with_tasks(count: u64) -> Vec<u8> {
    let mut bytes = encoded();
    let at = bytes.iter().position(|byte| *byte == 0x26).expect("the key of tasks") + 1;
    assert_eq!(bytes[at], 0x82, "two tasks");
    let mut head = vec![0x9b];
    head.extend_from_slice(&count.to_be_bytes());
    drop(bytes.splice(at..=at, head));
    nonsense(&bytes)
}

/// The good package's manifest.
fn encoded() -> Vec<u8> {
    let good = altered(|_| {});
    let at = good.windows(4).position(|it| it == b"\xaa\x01\x01\x02").expect("the manifest begins");
    let end = good.windows(8).position(|it| it == b"#program").expect("the program follows") - 1;
    good[at..end].to_vec()
}

#[test]
fn every_kind_of_hostile_package_is_refused_with_its_reason_and_nothing_is_loaded() {
    assert_eq!(load(&altered(|_| {}), &keys(), &slot()), Ok(4));
    assert_eq!(load(&altered(|it| it.sequence_number = 8), &keys(), &slot()), Ok(4));
    let kinds = kinds();
    let names: BTreeSet<_> = kinds.iter().map(|kind| kind.0).collect();
    assert!(names.len() == kinds.len() && kinds.len() >= 60, "{} kinds, {} names", kinds.len(), names.len());
    let mut wrong = Vec::new();
    for (name, package, reason) in &kinds {
        match load(package, &keys(), &slot()) {
            Ok(pages) => wrong.push(format!("{name}: loaded, {pages} pages")),
            Err(refusal) if !refusal.to_string().starts_with(reason) => wrong.push(format!("{name}: {refusal}")),
            Err(_) => {}
        }
        assert!(load(package, &[], &slot()).is_err(), "{name}, where nobody is trusted");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn points_of_small_order_and_files_of_no_public_key_are_no_keys() {
    // They verify what nobody signed.
    let mut one = [0; 32];
    one[0] = 1;
    assert_eq!([[0; 32], one].map(TrustedKey::new), [None, None]);
    let text = signer().public_text();
    assert_eq!(TrustedKey::from_text(&text), Ok(keys()[0]));
    assert_eq!(SigningKey::from_text(&signer().to_text()).map(|key| key.public()), Ok(signer().public()));
    let digits = text.lines().nth(1).expect("digits");
    for (text, fault) in [
        (signer().to_text(), KeyFault::Private),
        (String::new(), KeyFault::Header),
        (digits.to_string(), KeyFault::Header),
        ("tactus-public-key\n".into(), KeyFault::Digits),
        (text.replace(digits, &digits[1..]), KeyFault::Digits),
        (text.replace(digits, &format!("{}g", &digits[1..])), KeyFault::Digits),
        (format!("{text}more\n"), KeyFault::Digits),
        (text.replace(digits, &"0".repeat(64)), KeyFault::NoKey),
    ] {
        assert_eq!(TrustedKey::from_text(&text), Err(fault), "{text:?}");
    }
    assert_eq!(SigningKey::from_text(&text).err(), Some(KeyFault::Public));
}

#[test]
fn a_package_that_is_cut_anywhere_or_changed_in_any_bit_is_refused() {
    let good = altered(|_| {});
    for length in 0..good.len() {
        assert!(load(&good[..length], &keys(), &slot()).is_err(), "cut at {length}");
    }
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
    let (program, good, encoded) = (good_program(), altered(|_| {}), encoded());
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
                prop_assert!(manifest.heap <= slot.heap && manifest.sequence_number >= slot.least_sequence_number);
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

/// It would meet its deadlines, and cost others more than they are promised.
#[test]
fn a_task_that_comes_more_often_than_its_server_is_replenished_is_refused() {
    let ms = Duration::from_millis;
    let given = |period| Slot { supply: Supply { budget: period, period, blackout: ms(1) }, ..slot() };
    let package = odd([1, 4, 4]);
    assert!(judge(&package, &keys(), &given(ms(4)), Work::OF_AN_ADMISSION).is_ok());
    let refused = judge(&package, &keys(), &given(ms(5)), Work::OF_AN_ADMISSION).err().expect("more often than 5 ms");
    assert_eq!(refused, Refusal::TooOften { task: "odd", period: ms(4), least: ms(5) });
}
