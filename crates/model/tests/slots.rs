//! Slots: what a file with some becomes, and everything that is refused.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tactus_model::{Body, LoadKind, Part, Restart, Superior, System};

/// A file that is right; each test alters a line.
const FILE: &str = r#"[system]
cores = 2
duration = "100 ms"
[policy]
kind = "partitioned-edf"
[[server]]
name = "apps"
cores = [0]
kind = "deferrable"
budget = "3 ms"
period = "10 ms"
policy = "partitioned-edf"
[[component]]
name = "fills"
crate = "crate"
loader = true
[[component]]
name = "console"
crate = "crate"
console = true
provides = ["write"]
[[task]]
name = "load"
component = "fills"
core = 0
period = "5 ms"
execution = "3400 us"
[[task]]
name = "work"
core = 1
period = "5 ms"
execution = "1 ms"
[[slot]]
name = "guest"
server = "apps"
memory = "256 KiB"
heap = "16 KiB"
tasks = 2
uses = { console = "console.write" }
keys = ["dev.pub"]
[[unload]]
at = "60 ms"
slot = "guest"
[[load]]
at = "20 ms"
slot = "guest"
package = "blink.package"
[[load]]
at = "70 ms"
slot = "guest"
package = "blink.package"
"#;

/// A folder with all that the file names, made once.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("tactus-model-slots-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("crate")).expect("a folder");
        std::fs::write(folder.join("crate/Cargo.toml"), "").expect("a crate");
        // The base point of Ed25519, which is one like any other.
        std::fs::write(folder.join("dev.pub"), format!("tactus-public-key\n58{}\n", "66".repeat(31))).expect("a key");
        std::fs::write(folder.join("short.pub"), "tactus-public-key\n0a\n").expect("a key");
        std::fs::write(folder.join("blink.package"), b"whatever").expect("a package");
        folder
    })
}

fn read(text: &str) -> Result<System, String> {
    System::parse_toml(text, &folder().join("slots.toml")).map_err(|problems| problems.to_string())
}

#[test]
fn a_slot_is_a_component_and_tasks_that_begin_absent_in_its_server() {
    let system = read(FILE).unwrap_or_else(|problems| panic!("{problems}"));
    let slot = &system.slots[0];
    assert_eq!((slot.name.as_str(), slot.class.as_str(), slot.pages, slot.heap), ("guest", "guest", 64, 16 << 10));
    let mut key = [0x66; 32];
    key[0] = 0x58;
    assert_eq!((slot.keys.as_slice(), slot.older, slot.server), (&[key][..], false, 0));
    assert_eq!((slot.tasks.clone(), slot.component), (2..4, 2));
    let component = &system.components[2];
    let by = Superior::Component(0);
    assert_eq!((component.slot, component.path.as_path(), component.uses.len()), (Some(0), Path::new(""), 1));
    assert!(matches!(component.rights.restart, Some(Restart { by: it, .. }) if it == by), "{:?}", component.rights);
    for (n, name) in [(2, "guest.0"), (3, "guest.1")] {
        let task = &system.tasks[n];
        assert_eq!((task.name.as_str(), &task.body), (name, &Body::Component(2)));
        assert!(system.begins_absent(Part::Task(n)));
        assert_eq!(system.scheduling.places[n].server, Some(0));
    }
    assert!(!system.begins_absent(Part::Task(0)) && !system.begins_absent(Part::Server(0)));
    assert_eq!(system.loader(), Some((0, 0)));
    assert_eq!([0, 2, 3].map(|task| system.slot_of(task)), [None, Some(0), Some(0)]);
    assert!(system.platform.pool >= 64 * 4096);
    let loads: Vec<_> = system.loads.iter().map(|load| (load.at.as_nanos() / 1_000_000, load.slot)).collect();
    assert_eq!(loads, [(20, 0), (60, 0), (70, 0)]);
    let loaded = |load: &LoadKind| matches!(load, LoadKind::Load { bytes, .. } if &bytes[..] == b"whatever");
    assert_eq!(system.loads.iter().map(|load| loaded(&load.what)).collect::<Vec<_>>(), [true, false, true]);
}

/// What is written in place of what, the line that is named, and words of the complaint.
const REFUSED: &[(&str, &str, usize, &str)] = &[
    ("cores = [0]", "cores = [0, 1]", 35, "server \"apps\" is on several cores; write cores = [0]"),
    ("cores = [0]\n", "", 34, "server \"apps\" is on several cores"),
    ("core = 1\n", "server = \"apps\"\n", 35, "task \"work\" is in server \"apps\" too; give the slot a server for"),
    ("kind = \"deferrable\"", "kind = \"cbs-soft\"", 35, "has no sure supply, so nothing could be admitted"),
    (
        "policy = \"partitioned-edf\"\n[[comp",
        "policy = \"partitioned-rm\"\n[[comp",
        35,
        "admission has no test; choose",
    ),
    ("loader = true\n", "", 32, "no component fills it; write loader = true"),
    (
        "provides = [\"write\"]",
        "provides = [\"write\"]\nloader = true",
        17,
        "it is a loader, as component \"fills\" is",
    ),
    ("component = \"fills\"\n", "", 13, "it has no task, so nothing is ever loaded"),
    ("core = 1\n", "core = 0\ncomponent = \"fills\"\n", 28, "it is of the loader, which has a task already"),
    ("core = 0\nperiod", "core = 1\nperiod", 22, "the loader's task is not on core 0, where slot \"guest\" is"),
    ("component = \"fills\"\n", "component = \"fills\"\noverrun = \"kill\"\n", 22, "go on when they overrun, one step"),
    (
        "execution = \"3400 us\"",
        "execution = \"3399999 ns\"",
        22,
        "1700000 instructions; write execution = \"3400 us\" or more",
    ),
    ("[policy]", "[machine]\ninstruction = '4 ns'\n[policy]", 24, "write execution = \"6800 us\" or more"),
    (
        "kind = \"partitioned-edf\"\n",
        "kind = \"partitioned-edf\"\nschedulers = \"per-server\"\n",
        34,
        "schedulers are \"per-s",
    ),
    ("server = \"apps\"\nmemory", "server = \"aps\"\nmemory", 35, "there is no server \"aps\"; did you mean \"apps\"?"),
    ("memory = \"256 KiB\"", "memory = \"1000 B\"", 36, "no whole number of pages of 4 KiB, or none; round it up"),
    ("memory = \"256 KiB\"", "memory = \"1 GiB\"", 36, "more than 2 MiB; lower it"),
    ("tasks = 2", "tasks = 0", 38, "tasks is 0, not between 1 and 32"),
    ("tasks = 2", "tasks = 33", 38, "tasks is 33, not between 1 and 32"),
    ("keys = [\"dev.pub\"]", "keys = [\"none.pub\"]", 40, "key \"none.pub\": No such file"),
    ("keys = [\"dev.pub\"]", "keys = [\"short.pub\"]", 40, "its second line is not 64 hexadecimal digits"),
    ("console.write", "console.read", 39, "there is no service \"console.read\""),
    ("at = \"20 ms\"", "at = \"2 s\"", 45, "not before the end of the run at 100 ms; ask for it earlier"),
    ("slot = \"guest\"\npackage", "slot = \"gest\"\npackage", 46, "there is no slot \"gest\"; did you mean \"guest\"?"),
    ("\"blink.package\"\n[[load]]", "\"no.package\"\n[[load]]", 47, "make it: ./tactus pack"),
    ("name = \"guest\"", "name = \"fills\"", 34, "component \"fills\""),
    (
        "[[unload]]",
        "[[change]]\nat = \"5 ms\"\nremove = \"work\"\n[[unload]]",
        33,
        "alters the system beside it, and admission looks at one system; remove the changes, or the slots",
    ),
    ("tasks = 2", "tasks = 2\nfloating-point = true", 39, "no unit of floating point, whose registers no snapshot keeps; remove the line"),
    (
        "kind = \"deferrable\"\nbudget = \"3 ms\"",
        "kind = \"misses\"\nmisses = 1000",
        35,
        "server \"apps\" has no sure supply, so nothing could be admitted into it; choose kind = \"periodic\"",
    ),
    (
        "kind = \"deferrable\"\nbudget = \"3 ms\"\nperiod = \"10 ms\"",
        "kind = \"yielding\"",
        33,
        "server \"apps\" has no sure supply, so nothing could be admitted into it; choose kind = \"periodic\"",
    ),
    (
        "[policy]\nkind = \"partitioned-edf\"\n[[server]]\nname = \"apps\"\ncores = [0]",
        "[machine]\nmemory-line = \"30 ns\"\n[policy]\nkind = \"partitioned-edf\"\n[[server]]\nname = \"m\"\ncores = [0]\nkind = \"misses\"\nmisses = 200000\nperiod = \"10 ms\"\npolicy = \"partitioned-edf\"\n[[server]]\nname = \"apps\"\nparent = \"m\"",
        8,
        "server \"m\": it is of kind misses, and there are servers inside; put tasks into it",
    ),
    (
        "[[server]]\nname = \"apps\"\ncores = [0]",
        "[[server]]\nname = \"m\"\ncores = [0]\nkind = \"yielding\"\nthreshold = 4\nperiod = \"10 ms\"\npolicy = \"partitioned-edf\"\n[[server]]\nname = \"apps\"\nparent = \"m\"",
        13,
        "what servers are promised of core 0 up to this one is 0.3000, more than the 0.0000 of server \"m\"; lower a budget",
    ),
    (
        "[[unload]]",
        "[[monitor]]\nname = \"m\"\nproperty = \"always (not called)\"\nevents = { called = \"call guest.console\" }\non-violation = \"stop guest\"\n[[unload]]",
        45,
        "guest is restarted when it is stopped; write on-violation = \"restart guest\"",
    ),
    ("[[unload]]", "[[resource]]\nname = \"bus\"\nprotocol = \"ceiling\"\n[[unload]]", 33, "keeps cores from others"),
    ("[[unload]]", "[[unload]]\nwhy = 1", 42, "\"why\""),
    (
        "[[unload]]\nat = \"60 ms\"",
        "[[save]]\nat = \"6 ms\"",
        41,
        "nothing is loaded into slot \"guest\" before; write a [[load]] with an earlier at",
    ),
    ("[[unload]]", "[[restore]]", 41, "nothing is saved of slot \"guest\" before; write a [[save]] with an earlier at"),
    ("[[unload]]", "[[save]]\nas = \"name\"", 42, "\"as\""),
    ("[[unload]]", "[[restore]]\nfrom = \"name\"", 42, "there is no slot \"name\""),
    ("[[unload]]", "[[save]]\nslot = \"guest\"\n[[unload]]", 41, "\"at\" is missing"),
    ("[[unload]]", "[[restore]]\nat = \"3 ms\"\n[[unload]]", 41, "\"slot\" is missing"),
    ("[[unload]]", "[[save]]\nat = \"3 s\"\nslot = \"guest\"\n[[unload]]", 42, "not before the end of the run"),
    ("[[unload]]", "[[save]]\nat = \"3 ms\"\nslot = \"gest\"\n[[unload]]", 43, "did you mean \"guest\"?"),
    (
        "[[unload]]",
        "[[save]]\nat = \"3 ms\"\nslot = \"fills\"\n[[unload]]",
        43,
        "only what is in a slot is saved; describe a",
    ),
    (
        "[[unload]]",
        "[[channel]]\nname = \"c\"\nkind = \"queuing\"\nsource = \"work\"\ndestinations = [\"guest.0\"]\nsize = \"8 B\"\ndepth = 4\n[[unload]]",
        45,
        "channel \"c\": \"guest.0\" is what slot \"guest\" holds, which nobody knows before the run; name a part of",
    ),
    (
        "[[unload]]",
        "[[channel]]\nname = \"c\"\nkind = \"queuing\"\nsource = \"guest.1\"\ndestinations = [\"work\"]\nsize = \"8 B\"\ndepth = 4\n[[unload]]",
        44,
        "let programs reach it by a service in the slot's uses",
    ),
    (
        "[[unload]]",
        "[[buffer]]\nname = \"b\"\nsize = \"4 KiB\"\nbetween = [\"console\", \"guest\"]\n[[unload]]",
        44,
        "\"guest\" is what slot \"guest\" holds",
    ),
    (
        "[[unload]]",
        "[[device]]\nname = \"d\"\ncomponent = \"guest\"\nkind = \"virtio-net\"\n[[unload]]",
        43,
        "\"guest\" is what slot \"guest\" holds",
    ),
    ("[[unload]]", "[[chain]]\nname = \"c\"\ntasks = [\"work\", \"guest.0\"]\ndeadline = \"9 ms\"\n[[unload]]", 43, "\"guest.0\" is what"),
    ("core = 1\n", "core = 1\nafter = \"guest.1\"\n", 31, "\"guest.1\" is what"),
    ("core = 1\n", "core = 0\ncomponent = \"guest\"\n", 31, "\"guest\" is what"),
    ("console = true\n", "console = true\nrestarted-by = \"guest\"\n", 21, "component \"console\": \"guest\" is what"),
    ("[[unload]]", "[[restore]]\nat = 3\nslot = \"guest\"\n[[unload]]", 42, "at"),
];

#[test]
fn what_is_saved_fits_a_snapshot_and_has_room_in_the_pool() {
    let last = "[[save]]\nat = \"90 ms\"\nslot = \"guest\"\n[[restore]]\nat = \"95 ms\"\nslot = \"guest\"\n";
    let text = format!("{FILE}\n{last}");
    let (with, without) = (read(&text).expect("a system"), read(FILE).expect("a system"));
    let saved = with.slots[0].extent(64).pages();
    assert_eq!(saved, 64 + 2 * 4 + 4 + 1);
    assert!(with.platform.pool >= without.platform.pool.min(saved * 4096) && with.platform.pool >= (64 + saved) * 4096);
    // A save that proves impossible is told, taken back and refused in one job of the loader's.
    let calls = |system: &System| (0..system.tasks.len()).map(|task| system.slot_calls(task)).collect::<Vec<_>>();
    assert_eq!((calls(&without), calls(&with)), (vec![1, 0, 0, 0], vec![3, 0, 0, 0]));
    let heap = text.replace("heap = \"16 KiB\"", "heap = \"8 MiB\"");
    let said = read(&heap).expect_err("accepted");
    assert!(said.contains("pages to save, and 1024 is the most; lower memory, heap or tasks"), "{said}");
}

#[test]
fn what_was_saved_of_a_slot_goes_on_in_another_one_that_is_like_it() {
    let server =
        "[[server]]\nname = \"more\"\ncores = [0]\nkind = \"deferrable\"\nbudget = \"1 ms\"\nperiod = \"10 ms\"\n\
                  policy = \"partitioned-fp\"\n";
    let slot = "[[slot]]\nname = \"other\"\nserver = \"more\"\nmemory = \"64 KiB\"\nheap = \"16 KiB\"\ntasks = 2\n\
                uses = { console = \"console.write\" }\nkeys = [\"dev.pub\"]\n";
    let ends =
        "[[save]]\nat = \"80 ms\"\nslot = \"guest\"\n[[restore]]\nat = \"85 ms\"\nslot = \"other\"\nfrom = \"guest\"\n\
                [[save]]\nat = \"90 ms\"\nslot = \"other\"\n";
    let text = format!("{FILE}{server}{slot}{ends}");
    let system = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let last: Vec<_> = system.loads.iter().rev().take(3).map(|load| (load.slot, load.what.clone())).collect();
    assert_eq!(last, [(1, LoadKind::Save), (1, LoadKind::Restore { from: 0 }), (0, LoadKind::Save)]);
    let differ = |what: &str| {
        format!("slot \"guest\" and slot \"other\" differ in {what}, by which what was saved has its place; write the")
    };
    let refused = [
        ("memory = \"64 KiB\"\nheap = \"16 KiB\"", "memory = \"64 KiB\"\nheap = \"8 KiB\"", differ("heap")),
        (
            "memory = \"64 KiB\"\nheap = \"16 KiB\"\ntasks = 2",
            "memory = \"64 KiB\"\nheap = \"16 KiB\"\ntasks = 3",
            differ("tasks"),
        ),
        (
            "tasks = 2\nuses = { console = \"console.write\" }\nkeys = [\"dev.pub\"]\n[[save]]",
            "tasks = 2\nuses = { say = \"console.write\" }\nkeys = [\"dev.pub\"]\n[[save]]",
            differ("uses"),
        ),
        (
            "from = \"guest\"",
            "from = \"other\"",
            "nothing is saved of slot \"other\" before; write a [[save]] with an earlier at".into(),
        ),
        ("from = \"guest\"", "from = \"gest\"", "there is no slot \"gest\"; did you mean \"guest\"?".into()),
        ("from = \"guest\"", "from = 3", "from is 3; write the name of a slot in quotes".into()),
    ];
    for (from, to, words) in refused {
        assert!(text.contains(from), "{from}");
        let said = read(&text.replacen(from, to, 1)).expect_err(to);
        assert!(said.contains(&words), "{to}: {said}");
    }
}

#[test]
fn what_slots_cannot_be_is_refused_on_its_line_with_a_remedy() {
    assert!(REFUSED.len() >= 40, "{} kinds of bad input", REFUSED.len());
    let mut wrong = Vec::new();
    for (n, (from, to, line, words)) in REFUSED.iter().enumerate() {
        assert!(FILE.contains(from), "{from}");
        let problems = read(&FILE.replacen(from, to, 1)).err().unwrap_or_else(|| format!("number {n} was accepted"));
        let at = format!("slots.toml:{line}: ");
        if !problems.lines().any(|it| it.contains(&at) && it.contains(words)) {
            wrong.push(format!("number {n}, {to:?}, {line}: {words}\n{problems}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_comes_without_a_slot_is_refused_and_so_is_a_slot_under_a_policy_without_servers() {
    let head = &FILE[..FILE.find("[[slot]]").expect("a slot")];
    let without = format!("{}[[unload]]\nat = \"1 ms\"\nslot = \"guest\"\n", head.replace("loader = true\n", ""));
    assert!(read(&without).expect_err("accepted").contains("there is no slot; describe one in a [[slot]]"));
    assert!(read(head).expect_err("accepted").contains("it is a loader, and there is no slot; remove loader"));
    let mc2 = "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'mc2'\n[[task]]\nname = 'a'\nlevel = 'C'\nperiod = '9 ms'\n\
               execution = '1 ms'\n[[component]]\nname = 'fills'\ncrate = 'crate'\nloader = true\n[[slot]]\nname = 'guest'\n\
               server = 'x'\nmemory = '4 KiB'\ntasks = 1\nkeys = ['dev.pub']\n";
    let said = read(mc2).expect_err("accepted");
    assert!(
        said.contains("slots.toml:15: slot \"guest\": a slot lies in a server, and this policy has none"),
        "{said}"
    );
}
