//! Programs, packages and a slot for tests.
#![allow(dead_code)] // each test program uses some of it

use tactus_package::admission::{Demand, Order, Supply};
use tactus_package::keys::TrustedKey;
use tactus_package::manifest::{List, Manifest, PackageTask, Processor, Right, RightKind};
use tactus_package::slot::Slot;
use tactus_package::write::SigningKey;
use tactus_time::Duration;

/// Programs lie between these addresses.
pub const FROM: u64 = 0x20_0000;
pub const TO: u64 = 0x1000_0000;
pub const EXECUTE: u32 = 1;
pub const WRITE: u32 = 2;
pub const READ: u32 = 4;

/// A segment of an ELF file.
#[derive(Clone)]
pub struct Part {
    pub flags: u32,
    pub address: u64,
    pub contents: Vec<u8>,
    pub in_memory: u64,
}

/// A segment filled with one byte.
pub fn part(flags: u32, address: u64, in_file: usize, in_memory: u64) -> Part {
    Part { flags, address, contents: vec![0x90; in_file], in_memory }
}

/// An ELF file with these segments.
pub fn elf(entry: u64, parts: &[Part]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend_from_slice(&2_u16.to_le_bytes());
    file.extend_from_slice(&Processor::X86_64.number().to_le_bytes());
    file.extend_from_slice(&1_u32.to_le_bytes());
    for word in [entry, 64, 0] {
        file.extend_from_slice(&word.to_le_bytes());
    }
    file.extend_from_slice(&0_u32.to_le_bytes());
    for half in [64_u16, 56, parts.len() as u16, 64, 0, 0] {
        file.extend_from_slice(&half.to_le_bytes());
    }
    let mut offset = 64 + 56 * parts.len() as u64;
    for part in parts {
        file.extend_from_slice(&1_u32.to_le_bytes());
        file.extend_from_slice(&part.flags.to_le_bytes());
        let bytes = part.contents.len() as u64;
        for word in [offset, part.address, part.address, bytes, part.in_memory, 0x1000] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        offset += bytes;
    }
    parts.iter().for_each(|part| file.extend_from_slice(&part.contents));
    file
}

/// A program that can be loaded: four pages.
pub fn good_program() -> Vec<u8> {
    elf(FROM + 0x10, &[part(READ | EXECUTE, FROM, 0x800, 0x800), part(READ | WRITE, FROM + 0x1000, 0x100, 0x3000)])
}

/// A task with its deadline at the end of its period; times in µs.
pub fn task(name: &str, execution: u64, period: u64) -> PackageTask<'_> {
    let (execution, period) = (Duration::from_micros(execution), Duration::from_micros(period));
    PackageTask { name, demand: Demand { execution, period, deadline: period, priority: 0 } }
}

/// What a package of this program says of itself.
pub fn manifest(program: &[u8]) -> Manifest<'static> {
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
    }
}

const RIGHTS: [Right<'static>; 2] =
    [Right { kind: RightKind::Service, name: "log" }, Right { kind: RightKind::Send, name: "motors" }];

/// The slot that packages are made for.
pub fn slot() -> Slot<'static> {
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
        replaces: None,
    }
}

/// Who is trusted.
pub fn signer() -> SigningKey {
    SigningKey::from_seed([7; 32]).expect("a seed")
}

/// The keys of who is trusted.
pub fn keys() -> [TrustedKey; 1] {
    [TrustedKey::new(signer().public()).expect("a key")]
}
