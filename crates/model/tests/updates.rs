//! Updates: what a file with some becomes, and everything that is refused.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tactus_model::{LoadKind, System};

/// A file that is right; each test alters a line.
const FILE: &str = r#"[system]
cores = 2
duration = "1 s"
pool = "2 MiB"
[policy]
kind = "partitioned-edf"
[[server]]
name = "one"
cores = [0]
kind = "deferrable"
budget = "1 ms"
period = "10 ms"
policy = "partitioned-edf"
[[server]]
name = "two"
cores = [0]
kind = "deferrable"
budget = "1 ms"
period = "10 ms"
policy = "partitioned-edf"
[[server]]
name = "three"
cores = [0]
kind = "deferrable"
budget = "1 ms"
period = "10 ms"
policy = "partitioned-edf"
[[component]]
name = "fills"
crate = "crate"
loader = true
[[component]]
name = "keeper"
crate = "crate"
provides = ["exchange"]
[[task]]
name = "load"
component = "fills"
core = 0
period = "5 ms"
execution = "3400 us"
[[slot]]
name = "left"
server = "one"
memory = "256 KiB"
tasks = 2
class = "fly"
uses = { keep = "keeper.exchange" }
keys = ["dev.pub"]
[[slot]]
name = "right"
server = "two"
memory = "256 KiB"
tasks = 2
class = "fly"
uses = { keep = "keeper.exchange" }
keys = ["dev.pub"]
[[slot]]
name = "third"
server = "three"
memory = "256 KiB"
tasks = 2
class = "fly"
uses = { keep = "keeper.exchange" }
keys = ["dev.pub"]
[[load]]
at = "20 ms"
slot = "left"
package = "fly.package"
[[update]]
at = "200 ms"
slots = ["left", "right"]
package = "fly.package"
state = "keep"
trial = 20
[[update]]
at = "400 ms"
slots = ["right", "left"]
package = "fly.package"
state = "keep"
trial = 20
"#;

fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("tactus-model-updates-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("crate")).expect("a folder");
        std::fs::write(folder.join("crate/Cargo.toml"), "").expect("a crate");
        // The base point of Ed25519, which is one like any other.
        std::fs::write(folder.join("dev.pub"), format!("tactus-public-key\n58{}\n", "66".repeat(31))).expect("a key");
        std::fs::write(folder.join("fly.package"), b"whatever").expect("a package");
        folder
    })
}

fn read(text: &str) -> Result<System, String> {
    System::parse_toml(text, &folder().join("updates.toml")).map_err(|problems| problems.to_string())
}

#[test]
fn an_update_is_a_load_of_a_pair() {
    let system = read(FILE).unwrap_or_else(|problems| panic!("{problems}"));
    let LoadKind::Update { other, state, trial, bytes, .. } = &system.loads[1].what else { panic!("no update") };
    assert_eq!((system.loads[1].slot, *other, state.as_str(), *trial, bytes.len()), (0, 1, "keep", 20, 8));
    assert!(matches!(&system.loads[2].what, LoadKind::Update { other: 0, .. }));
}

/// What is written in place of what (the first one after the mark), the mark on whose line the complaint is, and words of it.
const REFUSED: &[(&str, &str, &str, &str)] = &[
    ("slots = [\"left\", \"right\"]", "slots = [\"left\"]", "[[update]]", "a pair has two slots; name two under slots"),
    (
        "slots = [\"left\", \"right\"]",
        "slots = [\"left\", \"left\"]",
        "slots = [",
        "\"left\" is both of the two; name two",
    ),
    ("slots = [\"left\", \"right\"]", "slots = [\"left\", \"rigt\"]", "slots = [", "did you mean \"right\"?"),
    ("slots = [\"left\", \"right\"]\n", "", "[[update]]", "slots = [\"left\", \"right\"]"),
    ("trial = 20", "trial = 0", "trial = 0", "trial is 0, not between 1 and 100000; choose"),
    ("trial = 20", "trial = 100001", "trial = 100001", "not between 1 and 100000"),
    (
        "state = \"keep\"",
        "state = \"store\"",
        "state = \"store\"",
        "does not use \"store\", where the state is to be kept",
    ),
    ("state = \"keep\"\n", "", "[[update]]", "a service that both slots use"),
    (
        "package = \"fly.package\"\nstate",
        "package = \"no.package\"\nstate",
        "package = \"no.package\"",
        "make it: ./tactus pack",
    ),
    ("at = \"200 ms\"", "at = \"2 s\"", "at = \"2 s\"", "not before the end of the run at 1 s; ask for it earlier"),
    ("memory = \"256 KiB\"", "memory = \"128 KiB\"", "[[update]]", "differ in memory, and versions go from one to"),
    ("tasks = 2", "tasks = 1", "[[update]]", "differ in tasks"),
    ("class = \"fly\"", "class = \"swim\"", "[[update]]", "differ in class"),
    ("budget = \"1 ms\"", "budget = \"2 ms\"", "[[update]]", "differ in kind, core, budget, period or policy"),
    (
        "[[update]]",
        "[[unload]]\nat = \"300 ms\"\nslot = \"left\"\n[[update]]",
        "[[unload]]",
        "which one is in use is known in the run alone",
    ),
    (
        "[[update]]",
        "[[save]]\nat = \"300 ms\"\nslot = \"left\"\n[[update]]",
        "[[save]]",
        "which one is in use is known in the run alone",
    ),
    (
        "[[update]]",
        "[[save]]\nat = \"100 ms\"\nslot = \"left\"\n[[restore]]\nat = \"500 ms\"\nslot = \"left\"\n[[update]]",
        "[[restore]]",
        "ask for it before the update, or update the pair again",
    ),
    (
        "slots = [\"right\", \"left\"]",
        "slots = [\"right\", \"third\"]",
        "[[update]]\nat = \"400 ms\"",
        "one of its slots is of another pair",
    ),
    ("trial = 20", "trial = 20\nwhy = 1", "why = 1", "\"why\""),
];

#[test]
fn what_updates_cannot_be_is_refused_on_its_line_with_a_remedy() {
    let mut wrong = Vec::new();
    for (n, (from, to, mark, words)) in REFUSED.iter().enumerate() {
        assert!(FILE.contains(from), "{from}");
        let text = FILE.replacen(from, to, 1);
        let place = text.find(mark).unwrap_or_else(|| panic!("{mark} is nowhere"));
        let line = text[..place].matches('\n').count() + 1;
        let problems = read(&text).err().unwrap_or_else(|| format!("number {n} was accepted"));
        let at = format!("updates.toml:{line}: ");
        if !problems.lines().any(|it| it.contains(&at) && it.contains(words)) {
            wrong.push(format!("number {n}, {to:?}, {line}: {words}\n{problems}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
