//! `[[slot]]`, `[[load]]`, `[[unload]]`, `[[save]]`, `[[restore]]` and `[[update]]`: places for programs that come while the system runs, and
//! what comes when.

use super::component::read_uses;
use super::keys::{shorten, Reader, Section, Value};
use super::platform::{strings, subject};
use crate::draft::{At, DraftLoad, DraftLoadKind, DraftPackage, DraftSlot, DraftUpdate, Given};
use crate::ordinary::{read_ordinary, read_ordinary_text};
use crate::{LARGEST_PACKAGE, MAX_LOADS};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tactus_package::keys::TrustedKey;

const SLOT: [&str; 9] = ["name", "server", "memory", "heap", "tasks", "class", "uses", "keys", "older"];
const LOAD: [&str; 3] = ["at", "slot", "package"];
const UNLOAD: [&str; 2] = ["at", "slot"];
const RESTORE: [&str; 3] = ["at", "slot", "from"];
const UPDATE: [&str; 5] = ["at", "slots", "package", "state", "trial"];
/// What slots and their programs cannot have, why, and what to do.
pub(super) const WITHOUT: [(&str, &str, &str); 1] = [(
    "floating-point",
    "programs in slots have no unit of floating point, whose registers no snapshot keeps",
    "remove the line: they compute in software; or compute in a [[component]] with floating-point, which they call",
)];
/// A file of a key is hardly longer than its digits.
const MOST_OF_KEY: u64 = 4096;

/// Reads one `[[slot]]`.
pub(super) fn read<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftSlot> {
    let section = reader.open_without(value, subject(value, "slot", index), &SLOT, &WITHOUT)?;
    section.require(reader, "name", "name = \"guest\"");
    section.require(reader, "server", "server = \"apps\"");
    section.require(reader, "memory", "memory = \"256 KiB\"");
    section.require(reader, "tasks", "tasks = 1");
    section.require(reader, "keys", "keys = [\"dev.pub\"]");
    Some(DraftSlot {
        place: section.place,
        name: section.string(reader, "name", "a name in quotes"),
        server: section.string(reader, "server", "the name of a server in quotes"),
        memory: section.size(reader, "memory"),
        heap: section.size(reader, "heap"),
        tasks: section.integer(reader, "tasks", "a whole number"),
        class: section.string(reader, "class", "a name in quotes"),
        uses: read_uses(&section, reader),
        keys: read_keys(&section, reader),
        older: section.boolean(reader, "older"),
        subject: section.subject,
    })
}

/// The keys, each in a file of its own.
fn read_keys(section: &Section<'_>, reader: &mut Reader<'_>) -> Vec<At<[u8; 32]>> {
    let mut keys = Vec::new();
    for at in strings(section, reader, "keys", "a list of files of public keys like [\"dev.pub\"]") {
        let text = read_ordinary_text(&beside(reader, &at.value), MOST_OF_KEY);
        match text.map(|text| TrustedKey::from_text(&text)) {
            Ok(Ok(key)) => keys.push(At { value: key.bytes(), place: at.place }),
            Ok(Err(fault)) => {
                let why = format!("key {}: {fault}", shorten(&at.value));
                reader.out.refuse(at.place, &section.subject, why, "make one: ./tactus key new NAME");
            }
            Err(reason) => {
                let why = format!("key {}: {reason}", shorten(&at.value));
                let remedy = "make one: ./tactus key new NAME; the file is looked for beside the system file";
                reader.out.refuse(at.place, &section.subject, why, remedy);
            }
        }
    }
    keys
}

fn beside(reader: &Reader<'_>, name: &str) -> PathBuf {
    reader.out.file().parent().unwrap_or(Path::new("")).join(name)
}

/// The packages that were read, so that one that comes often is read once.
pub(super) type Packages = HashMap<PathBuf, Result<Arc<[u8]>, String>>;

/// Reads one `[[load]]`.
pub(super) fn load<'a>(
    value: &'a Value<'a>,
    index: usize,
    packages: &mut Packages,
    reader: &mut Reader<'_>,
) -> Option<DraftLoad> {
    let section = reader.open(value, format!("load number {}", index + 1), &LOAD)?;
    section.require(reader, "at", "at = \"20 ms\"");
    section.require(reader, "slot", "slot = \"guest\"");
    section.require(reader, "package", "package = \"blink.package\"");
    let package = package(&section, index, packages, reader);
    Some(of(section, DraftLoadKind::Load(package), reader))
}

/// The package, read once for all loads.
fn package(
    section: &Section<'_>,
    index: usize,
    packages: &mut Packages,
    reader: &mut Reader<'_>,
) -> Given<DraftPackage> {
    match section.string(reader, "package", "the file of a package in quotes") {
        Given::Is(at) if index < MAX_LOADS => {
            let path = beside(reader, &at.value);
            let read = || read_ordinary(&path, LARGEST_PACKAGE).map(Arc::from);
            match packages.entry(path.clone()).or_insert_with(read) {
                Ok(bytes) => Given::is(DraftPackage { path, bytes: bytes.clone() }, at.place),
                Err(reason) => {
                    let why = format!("package {}: {reason}", shorten(&at.value));
                    let remedy = format!("make it: ./tactus pack CRATE --out {}", at.value);
                    reader.out.refuse(at.place, &section.subject, why, remedy);
                    Given::Broken
                }
            }
        }
        _ => Given::Broken,
    }
}

/// Reads one `[[update]]`.
pub(super) fn update<'a>(
    value: &'a Value<'a>,
    index: usize,
    packages: &mut Packages,
    reader: &mut Reader<'_>,
) -> Option<DraftLoad> {
    let section = reader.open(value, format!("update number {}", index + 1), &UPDATE)?;
    section.require(reader, "at", "at = \"20 ms\"");
    section.require(reader, "slots", "slots = [\"left\", \"right\"]");
    section.require(reader, "package", "package = \"blink-2.package\"");
    section.require(reader, "state", "state = \"keep\", a service that both slots use");
    section.require(reader, "trial", "trial = 20");
    let slots = strings(&section, reader, "slots", "the names of two slots like [\"left\", \"right\"]");
    let update = DraftUpdate {
        slots,
        state: section.string(reader, "state", "the name of a service in quotes"),
        trial: section.integer(reader, "trial", "a whole number of jobs"),
    };
    let package = package(&section, index, packages, reader);
    Some(of(section, DraftLoadKind::Update(package, update), reader))
}

/// Reads one `[[unload]]`.
pub(super) fn unload<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftLoad> {
    without_package(value, ("unload", index, &UNLOAD), |_, _| DraftLoadKind::Unload, reader)
}

/// Reads one `[[save]]`.
pub(super) fn save<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftLoad> {
    without_package(value, ("save", index, &UNLOAD), |_, _| DraftLoadKind::Save, reader)
}

/// Reads one `[[restore]]`.
pub(super) fn restore<'a>(value: &'a Value<'a>, index: usize, reader: &mut Reader<'_>) -> Option<DraftLoad> {
    let from = |section: &Section<'_>, reader: &mut Reader<'_>| {
        DraftLoadKind::Restore(section.string(reader, "from", "the name of a slot in quotes"))
    };
    without_package(value, ("restore", index, &RESTORE), from, reader)
}

fn without_package<'a>(
    value: &'a Value<'a>,
    (word, index, keys): (&str, usize, &[&'static str]),
    what: impl FnOnce(&Section<'_>, &mut Reader<'_>) -> DraftLoadKind,
    reader: &mut Reader<'_>,
) -> Option<DraftLoad> {
    let section = reader.open(value, format!("{word} number {}", index + 1), keys)?;
    section.require(reader, "at", "at = \"60 ms\"");
    section.require(reader, "slot", "slot = \"guest\"");
    let what = what(&section, reader);
    Some(of(section, what, reader))
}

fn of(section: Section<'_>, what: DraftLoadKind, reader: &mut Reader<'_>) -> DraftLoad {
    DraftLoad {
        place: section.place,
        at: section.duration(reader, "at"),
        slot: section.string(reader, "slot", "the name of a slot in quotes"),
        what,
        subject: section.subject,
    }
}
