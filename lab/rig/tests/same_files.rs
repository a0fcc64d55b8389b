//! Porting costs nothing: the rig for the host and the scheduler for the bare machine are compiled from the same files, and nothing in
//! these files asks which of the two it is compiled for. What the compiler says that it has read is looked at.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

const BARE: &str = "x86_64-unknown-none";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

/// The files that a crate was compiled from most recently, as the compiler noted them in a folder of its products.
fn sources(folder: &Path, name: &str) -> BTreeSet<PathBuf> {
    let notes = std::fs::read_dir(folder).unwrap().flatten().filter(|entry| {
        let file = entry.file_name().to_string_lossy().into_owned();
        file.strip_prefix(name).is_some_and(|rest| rest.starts_with('-') && rest.ends_with(".d"))
    });
    let written = |path: &PathBuf| path.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let newest = notes.map(|entry| entry.path()).max_by_key(written);
    let newest = newest.unwrap_or_else(|| panic!("{name} has not been compiled into {}", folder.display()));
    // Each file stands in a line of its own, too, as a target without rules.
    let text = std::fs::read_to_string(newest).unwrap();
    let file = |line: &str| root().join(line.strip_suffix(':')?).canonicalize().ok();
    text.lines().filter_map(file).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// What the compiler says of itself.
fn print(words: &[&str]) -> Option<PathBuf> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(rustc).arg("--print").args(words).output().ok()?;
    Some(PathBuf::from(String::from_utf8(said.stdout).ok()?.trim()))
}

/// The products of the compiler for the bare machine, from its scheduler; nothing if this toolchain has `core` for it neither compiled
/// nor as source.
fn scheduler() -> Option<PathBuf> {
    let core = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("libcore-");
    let libraries = print(&["target-libdir", "--target", BARE]).and_then(|folder| folder.read_dir().ok());
    let compiled = libraries.is_some_and(|folder| folder.flatten().any(core));
    let source = print(&["sysroot"])?.join("lib/rustlib/src/rust/library/core/src/lib.rs").exists();
    if !compiled && !source {
        return None;
    }
    let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["check", "--quiet", "--release", "--target", BARE, "-p", "tactus-scheduler"]);
    command.arg("--target-dir").arg(&into);
    if !compiled {
        // As the command line builds there, see `machine/src/toolchain.rs`.
        command.arg("-Zbuild-std=core,alloc,compiler_builtins").env("RUSTC_BOOTSTRAP", "1");
    }
    let output = command.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(into.join(BARE).join("release/deps"))
}

#[test]
fn rig_policy_and_the_kernels_scheduler_are_compiled_from_the_same_files() {
    let Some(bare) = scheduler() else {
        println!("left out: this toolchain has no `core` for the bare machine");
        return;
    };
    let program = std::env::current_exe().unwrap();
    let host = program.parent().unwrap();
    let mut count = 0;
    for name in ["tactus_structures", "tactus_sync"] {
        let (here, there) = (sources(host, name), sources(&bare, name));
        assert_eq!(here, there, "{name}");
        println!("{name}: {} files, the same", here.len());
        count += here.len();
    }
    assert!(count > 12, "{count}");
    // What policies name is among them, and the policies that name it are in the scheduler.
    let read = |path: &str| {
        let path = root().join(path).canonicalize().unwrap();
        (path.clone(), std::fs::read_to_string(path).unwrap())
    };
    for (policy, named, file) in [
        ("cores.rs", "tactus_structures::directory::{Held, HeldRow}", "directory.rs"),
        ("heap.rs", "tactus_structures::queue::{BinaryHeap, Entry, FirstHeap, ReadyQueue}", "queue/binary.rs"),
        ("heap.rs", "tactus_structures::queue::{BinaryHeap, Entry, FirstHeap, ReadyQueue}", "queue/first.rs"),
    ] {
        let (path, text) = read(&format!("crates/policy/src/{policy}"));
        assert!(sources(&bare, "tactus_policy").contains(&path) && text.contains(named), "{policy}");
        let (path, _) = read(&format!("crates/structures/src/{file}"));
        assert!(sources(&bare, "tactus_structures").contains(&path), "{file}");
    }
    // No line of a structure is for the host or for the kernel alone: only checkers are asked for.
    for path in sources(&bare, "tactus_structures") {
        for line in std::fs::read_to_string(&path).unwrap().lines().filter(|line| line.contains("cfg")) {
            assert!(line.contains("any(loom, shuttle)"), "{}: {line}", path.display());
        }
    }
}
