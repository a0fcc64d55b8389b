//! Who may import whom. Nothing runs the other way.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use syn::visit::{self, Visit};
use tactus_house::rooms::{parse, rooms, root, Room};

/// The leaves that every room but a leaf may import: instants, task parameters, trace records.
const LEAVES: [&str; 3] = ["crates/time", "crates/task", "crates/record"];

/// Each room with those that it may import beside the leaves.
const ARROWS: &[(&str, &[&str])] = &[
    ("crates/time", &[]),
    ("crates/record", &[]),
    ("crates/sync", &[]),
    ("crates/task", &[]),
    ("crates/sources", &[]),
    ("crates/monitor", &[]),
    ("crates/cache", &[]),
    ("crates/disk", &[]),
    ("crates/network", &[]),
    ("crates/package", &[]),
    ("crates/structures", &[]),
    ("crates/policy", &["crates/sync", "crates/structures"]),
    ("crates/trace", &["crates/monitor", "crates/disk", "crates/cache", "crates/network"]),
    ("crates/linux", &["crates/trace", "crates/model"]),
    ("crates/report", &["crates/trace", "crates/monitor"]),
    ("crates/model", &["crates/monitor", "crates/disk", "crates/cache", "crates/network", "crates/package"]),
    ("crates/formats", &["crates/model", "crates/monitor"]),
    ("crates/analysis", &["crates/model", "crates/monitor", "crates/disk", "crates/cache", "crates/network"]),
    ("crates/generate", &["crates/model", "crates/policy"]),
    (
        "crates/sim",
        &["crates/policy", "crates/trace", "crates/monitor", "crates/disk", "crates/cache", "crates/network"],
    ),
    (
        "crates/plan",
        &[
            "crates/analysis",
            "crates/policy",
            "crates/trace",
            "crates/model",
            "crates/monitor",
            "crates/disk",
            "crates/cache",
            "crates/network",
            "crates/package",
        ],
    ),
    (
        "machine",
        &[
            "crates/plan",
            "crates/analysis",
            "crates/sim",
            "crates/policy",
            "crates/trace",
            "crates/report",
            "crates/model",
            "crates/cache",
            "crates/disk",
            "crates/package",
            "os/abi",
            "os/image",
        ],
    ),
    ("cli/terminal", &[]),
    ("probe", &["crates/cache", "os/abi"]),
    ("os/abi", &[]),
    ("os/kernel", &["os/abi", "crates/monitor", "crates/sync"]),
    ("os/sandbox", &["os/abi"]),
    ("os/sandbox/trial", &[]),
    ("os/rt", &["os/abi", "crates/sync"]),
    ("os/sched", &["os/rt", "os/abi", "crates/sync", "crates/policy"]),
    ("os/image", &["crates/model", "os/abi", "crates/monitor"]),
];

/// What a component may import.
const OF_COMPONENTS: [&str; 10] = [
    "os/rt",
    "os/sched",
    "crates/sync",
    "crates/policy",
    "crates/monitor",
    "crates/disk",
    "crates/cache",
    "crates/network",
    "crates/package",
    "crates/structures",
];

/// What stands against the arrows; the list only shrinks.
const STANDING: &[(&str, &str)] = &[];

/// Libraries that lie beside the components that use them: what programs on the host read as well.
const SHARED_TABLES: [&str; 2] = ["os/components/bench-book", "os/components/net/packets"];

/// The laboratory: what it may import is everything, and nobody imports it but itself.
fn is_lab(room: &str) -> bool {
    room.starts_with("lab/")
}

/// What a room may import; none if anything, as at the front door.
fn allowed(room: &str) -> Option<BTreeSet<&'static str>> {
    let leaf = ["crates/time", "crates/sources", "crates/sync"].contains(&room);
    let mut all: BTreeSet<&str> = if leaf { BTreeSet::new() } else { LEAVES.into() };
    if let Some((_, more)) = ARROWS.iter().find(|(name, _)| *name == room) {
        all.extend(*more);
        return Some(all);
    }
    if SHARED_TABLES.contains(&room) {
        return Some(["os/rt"].into());
    }
    if room.starts_with("os/components/") || room.starts_with("examples/") {
        all.extend(OF_COMPONENTS);
        all.extend(SHARED_TABLES);
        return Some(all);
    }
    None
}

/// The front doors and what tests everything: they may import any room, and nobody imports them.
const DOORS: [&str; 6] = ["cli", "python", "tests/scenarios", "tests/house", "tests/promises", "tests/slow-machine"];

#[test]
fn rooms_import_only_whom_they_may() {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for room in rooms() {
        let Some(allowed) = allowed(&room.path) else {
            if !DOORS.contains(&room.path.as_str()) && !is_lab(&room.path) {
                wrong.push(format!("{}: the table of arrows does not have it", room.path));
            }
            let lab = room.imports.iter().filter(|import| is_lab(import) && !is_lab(&room.path));
            wrong.extend(lab.map(|import| format!("{} imports {import}", room.path)));
            continue;
        };
        for import in room.imports.iter().filter(|import| !allowed.contains(import.as_str())) {
            let known = STANDING.iter().find(|(from, to)| *from == room.path && to == import);
            match known {
                Some(known) => drop(seen.insert(known)),
                None => wrong.push(format!("{} imports {import}", room.path)),
            }
        }
    }
    let gone = STANDING.iter().filter(|known| !seen.contains(known));
    wrong.extend(gone.map(|(from, to)| format!("{from} no longer imports {to}: take it off the list")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A dependency is imported by the name of its package, so that a path in a source file shows the arrow. Files of another room
/// come in by no other way.
#[test]
fn no_file_is_included_from_another_room() {
    let mut wrong = Vec::new();
    for room in rooms() {
        let folder = root().join(&room.path);
        for file in &room.files {
            let text = fs::read_to_string(file).expect("the file was listed");
            let included = text.lines().filter_map(|line| {
                let line = line.trim();
                let path = line.strip_prefix("#[path = \"")?.split('"').next()?;
                Some(file.parent()?.join(path))
            });
            for path in included {
                let path = path.canonicalize().unwrap_or(path);
                if !path.starts_with(folder.join("src")) {
                    wrong.push(format!("{}: includes {}", file.display(), path.display()));
                }
            }
        }
    }
    assert!(rooms().len() > 30, "the rooms are read");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What decides about tasks is a policy of `tactus-policy`; what decides about kernel threads has another name.
#[test]
fn there_is_one_trait_policy() {
    let has = |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains("trait Policy"));
    let all: Vec<PathBuf> = rooms().into_iter().flat_map(|room| room.files).filter(has).collect();
    assert!(all.len() == 1 && all[0].ends_with("crates/policy/src/call.rs"), "{all:?}");
}

/// The rooms that may have unsafe code: the kernel, the monitor below it, what every component is linked with, the locks, the emulator's plug-in, and
/// the Python module, where PyO3 generates it.
const MAY_BE_UNSAFE: [&str; 7] =
    ["os/kernel", "os/sandbox", "os/sandbox/trial", "os/rt", "crates/sync", "probe", "python"];

/// Whether a file has unsafe code.
#[derive(Default)]
struct Unsafe(bool);

impl<'ast> Visit<'ast> for Unsafe {
    fn visit_expr_unsafe(&mut self, _: &'ast syn::ExprUnsafe) {
        self.0 = true;
    }
    fn visit_signature(&mut self, it: &'ast syn::Signature) {
        self.0 |= it.unsafety.is_some();
    }
    fn visit_item_impl(&mut self, it: &'ast syn::ItemImpl) {
        self.0 |= it.unsafety.is_some();
        visit::visit_item_impl(self, it);
    }
    fn visit_attribute(&mut self, it: &'ast syn::Attribute) {
        // `#[unsafe(no_mangle)]` and its like.
        self.0 |= it.path().is_ident("unsafe") || it.path().is_ident("no_mangle");
    }
}

#[test]
fn unsafe_code_is_in_its_rooms_only() {
    let has = |file: &PathBuf| {
        // Most files have not even the words.
        let text = std::fs::read_to_string(file).expect("a file of a room is read");
        if !text.contains("unsafe") && !text.contains("no_mangle") {
            return false;
        }
        let mut visitor = Unsafe::default();
        visitor.visit_file(&parse(file));
        visitor.0
    };
    let (may, must_not): (Vec<Room>, Vec<Room>) =
        rooms().into_iter().partition(|room| MAY_BE_UNSAFE.contains(&room.path.as_str()));
    let found: Vec<&PathBuf> = must_not.iter().flat_map(|room| &room.files).filter(|file| has(file)).collect();
    assert!(found.is_empty(), "unsafe code outside its rooms: {found:?}");
    // The reader sees it where it is.
    assert!(may.iter().filter(|room| room.path != "python").all(|room| room.files.iter().any(has)));
}
