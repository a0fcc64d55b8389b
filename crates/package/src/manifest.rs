//! What a package says of its program.
//!
//! Field names are those of SUIT's manifest (RFC 9124 for what they mean) where it has them: *sequence number* for the version that
//! may not go back, *image digest* and *image size* for the program, *class* for the kind of slot that it is made for. Tasks and rights
//! have no counterpart there; their keys are from the range for private use.

use crate::admission::{Demand, MOST_TASKS};
use crate::wire::{Malformed, Reader};
use core::fmt;
use tactus_time::Duration;

/// The version of this form, as `manifest-version` says it.
pub const MANIFEST_VERSION: u64 = 1;
/// The longest name of a package, task, class or right: bytes.
pub const LONGEST_NAME: usize = 31;
/// The most rights that a program may want.
pub const MOST_RIGHTS: usize = 32;
/// The longest manifest: bytes.
pub const LONGEST_MANIFEST: usize = 4096;

/// Keys of the manifest.
pub mod key {
    /// `manifest-version`.
    pub const MANIFEST_VERSION: i64 = 1;
    /// `manifest-sequence-number`.
    pub const SEQUENCE_NUMBER: i64 = 2;
    /// The package's name.
    pub const NAME: i64 = -1;
    /// The kind of slot.
    pub const CLASS: i64 = -2;
    /// The processor, as [`super::Processor::number`].
    pub const PROCESSOR: i64 = -3;
    /// `image-digest`: the program's SHA-256.
    pub const IMAGE_DIGEST: i64 = -4;
    /// `image-size`: the program's bytes.
    pub const IMAGE_SIZE: i64 = -5;
    /// Bytes of heap.
    pub const HEAP: i64 = -6;
    /// Tasks: arrays of name, execution, period, deadline (ns) and priority.
    pub const TASKS: i64 = -7;
    /// Rights: arrays of kind and name.
    pub const RIGHTS: i64 = -8;
}

/// A version `major.minor.patch`, each of the last two below 1,000; the sequence number is its digits, three for each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    /// Major.
    pub major: u64,
    /// Minor.
    pub minor: u16,
    /// Patch.
    pub patch: u16,
}

impl Version {
    /// The greatest major number, so that sequence numbers stay within 64 bits.
    pub const GREATEST_MAJOR: u64 = 1_000_000_000;

    /// The version with this sequence number.
    pub const fn of(number: u64) -> Version {
        Version { major: number / 1_000_000, minor: (number / 1_000 % 1_000) as u16, patch: (number % 1_000) as u16 }
    }

    /// Its sequence number; none if a part is too large.
    pub fn number(self) -> Option<u64> {
        let fits = self.major <= Version::GREATEST_MAJOR && self.minor < 1_000 && self.patch < 1_000;
        fits.then(|| self.major * 1_000_000 + u64::from(self.minor) * 1_000 + u64::from(self.patch))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// For which processor a program is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Processor {
    /// x86-64.
    X86_64,
    /// AArch64.
    AArch64,
    /// RISC-V with 64 bits.
    RiscV64,
}

impl Processor {
    /// All of them.
    pub const ALL: [Processor; 3] = [Processor::X86_64, Processor::AArch64, Processor::RiscV64];

    /// The machine's number in ELF files, which manifests use as well.
    pub const fn number(self) -> u16 {
        match self {
            Processor::X86_64 => 62,
            Processor::AArch64 => 183,
            Processor::RiscV64 => 243,
        }
    }

    /// Its name in Rust's target triples.
    pub const fn name(self) -> &'static str {
        match self {
            Processor::X86_64 => "x86_64",
            Processor::AArch64 => "aarch64",
            Processor::RiscV64 => "riscv64",
        }
    }
}

/// What a program may do beside computing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RightKind {
    /// Call a service.
    Service,
    /// Write to a channel.
    Send,
    /// Read from a channel.
    Receive,
    /// Drive a device.
    Device,
}

impl RightKind {
    /// All of them; the index is the number in a manifest.
    pub const ALL: [RightKind; 4] = [RightKind::Service, RightKind::Send, RightKind::Receive, RightKind::Device];

    /// The word for it in manifests and system files.
    pub const fn word(self) -> &'static str {
        match self {
            RightKind::Service => "service",
            RightKind::Send => "send",
            RightKind::Receive => "receive",
            RightKind::Device => "device",
        }
    }
}

/// A right that a program wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Right<'b> {
    /// Its kind.
    pub kind: RightKind,
    /// Of which service, channel or device.
    pub name: &'b str,
}

/// A task that a program brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackageTask<'b> {
    /// Its name.
    pub name: &'b str,
    /// What it asks for, without the system's own work.
    pub demand: Demand,
}

/// Up to `N` things, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct List<T, const N: usize> {
    items: [Option<T>; N],
}

impl<T: Copy, const N: usize> List<T, N> {
    const EMPTY: Self = List { items: [None; N] };

    /// These; none if they are more than `N`.
    pub fn of(given: &[T]) -> Option<Self> {
        let mut list = Self::EMPTY;
        list.items.get_mut(..given.len())?.iter_mut().zip(given).for_each(|(place, item)| *place = Some(*item));
        Some(list)
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items[0].is_none()
    }

    /// Reads an array, each item by `item`.
    fn read<'b>(
        reader: &mut Reader<'b>,
        mut item: impl FnMut(&mut Reader<'b>) -> Result<T, Malformed>,
    ) -> Result<Self, Malformed> {
        let (begins, count) = (reader.malformed(), reader.array()?);
        // Compared before anything is read: a number alone may stand for very many.
        let mut list = Self::EMPTY;
        let Some(places) = usize::try_from(count).ok().and_then(|count| list.items.get_mut(..count)) else {
            return Err(begins);
        };
        for place in places {
            *place = Some(item(reader)?);
        }
        Ok(list)
    }
}

/// A package's manifest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Manifest<'b> {
    /// The package's name.
    pub name: &'b str,
    /// Its version, which grows.
    pub sequence_number: u64,
    /// The kind of slot that it is made for.
    pub class: &'b str,
    /// The processor that it is compiled for, as [`Processor::number`] has it.
    pub processor: u16,
    /// SHA-256 of the program.
    pub image_digest: [u8; 32],
    /// Bytes of the program.
    pub image_size: u64,
    /// Bytes of heap that it needs.
    pub heap: u64,
    /// Its tasks.
    pub tasks: List<PackageTask<'b>, MOST_TASKS>,
    /// The rights that it wants.
    pub rights: List<Right<'b>, MOST_RIGHTS>,
}

impl<'b> Manifest<'b> {
    /// Reads a manifest, which may be anything.
    pub fn read(bytes: &'b [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new("manifest", bytes);
        if bytes.len() > LONGEST_MANIFEST {
            return Err(reader.malformed());
        }
        reader.map_of(10)?;
        reader.expect(key::MANIFEST_VERSION)?;
        reader.expect(MANIFEST_VERSION)?;
        reader.expect(key::SEQUENCE_NUMBER)?;
        let sequence_number = reader.item()?;
        reader.expect(key::NAME)?;
        let name = name(&mut reader)?;
        reader.expect(key::CLASS)?;
        let class = self::name(&mut reader)?;
        reader.expect(key::PROCESSOR)?;
        let processor = reader.item()?;
        reader.expect(key::IMAGE_DIGEST)?;
        let begins = reader.malformed();
        let image_digest = reader.bytes()?.try_into().map_err(|_| begins)?;
        reader.expect(key::IMAGE_SIZE)?;
        let image_size = reader.item()?;
        reader.expect(key::HEAP)?;
        let heap = reader.item()?;
        reader.expect(key::TASKS)?;
        let tasks = List::read(&mut reader, task)?;
        reader.expect(key::RIGHTS)?;
        let rights = List::read(&mut reader, right)?;
        reader.end()?;
        Ok(Manifest { name, sequence_number, class, processor, image_digest, image_size, heap, tasks, rights })
    }
}

/// Whether it is a name: letters, digits, `-`, `_`, `.` and `/`, so that it can be printed anywhere.
pub fn is_name(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(good)
}

fn name<'b>(reader: &mut Reader<'b>) -> Result<&'b str, Malformed> {
    let begins = reader.malformed();
    let text = reader.text()?;
    if is_name(text) {
        Ok(text)
    } else {
        Err(begins)
    }
}

fn task<'b>(reader: &mut Reader<'b>) -> Result<PackageTask<'b>, Malformed> {
    reader.array_of(5)?;
    let name = name(reader)?;
    let [execution, period, deadline] = [reader.item()?, reader.item()?, reader.item()?].map(Duration::from_nanos);
    Ok(PackageTask { name, demand: Demand { execution, period, deadline, priority: reader.item()? } })
}

fn right<'b>(reader: &mut Reader<'b>) -> Result<Right<'b>, Malformed> {
    reader.array_of(2)?;
    let begins = reader.malformed();
    let kind = reader.item::<u8>()?;
    let kind = *RightKind::ALL.get(usize::from(kind)).ok_or(begins)?;
    Ok(Right { kind, name: name(reader)? })
}
