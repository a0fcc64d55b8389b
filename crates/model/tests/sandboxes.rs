//! Files with sandboxes: each sandbox is a system by the rules of any system, and what a sandbox has not is refused where it stands.

use std::path::Path;
use tactus_model::{Policy, Sandboxes, System, SystemFile};
use tactus_time::Duration;

const GOOD: &str = r#"
[system]
name = "both"
duration = "1 s"
seed = 7
[machine]
instruction = "1 ns"
inter-core = "open"
[[sandbox]]
name = "one"
memory = "32 MiB"
restarts = 2
[sandbox.policy]
kind = "partitioned-fp"
[[sandbox.task]]
name = "a"
period = "10 ms"
execution = "1 ms"
priority = 1
[[sandbox]]
name = "two"
[sandbox.policy]
kind = "partitioned-edf"
[[sandbox.component]]
name = "c"
crate = "."
[[sandbox.task]]
name = "a"
period = "20 ms"
execution = "2 ms"
"#;

fn read(text: &str) -> Result<Sandboxes, String> {
    // It names this crate's folder as a component's.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("both.toml");
    match SystemFile::parse_toml(text, &source).map_err(|problems| problems.to_string())? {
        SystemFile::Sandboxes(whole) => Ok(whole),
        SystemFile::System(system) => panic!("{} has no sandboxes", system.name),
    }
}

#[test]
fn each_sandbox_is_a_system_of_its_own_with_what_the_machine_has_for_all() {
    let whole = read(GOOD).expect("a good file");
    assert_eq!((whole.name.as_str(), whole.duration, whole.parts.len()), ("both", Duration::from_secs(1), 2));
    let [one, two] = &whole.parts[..] else { panic!() };
    assert_eq!((one.restarts, two.restarts), (2, 0));
    for (part, name, memory) in [(one, "one", 32 << 20), (two, "two", tactus_model::DEFAULT_MEMORY)] {
        assert!(whole.open);
        let System { cores, duration, seed, machine, .. } = part.system;
        assert_eq!((part.system.name.as_str(), part.system.memory, cores), (name, memory, 1));
        assert_eq!((duration, seed, machine.shift), (whole.duration, 7, 0));
        // The other's core, and the one that lets the time pass.
        assert_eq!((machine.beside, part.system.sharing_cores()), (2, 3));
        assert_eq!(part.system.tasks.len(), 1);
    }
    assert_eq!(two.system.policy, Policy::PartitionedEdf);
    assert_ne!(one.system.policy, two.system.policy);
}

#[test]
fn a_file_without_sandboxes_is_read_as_ever_and_shares_its_machine_with_nobody() {
    let text = "[system]\ncores = 2\nduration = '1 s'\n[policy]\nkind = 'partitioned-edf'\n\
                [[task]]\nname = 'a'\ncore = 1\nperiod = '10 ms'\nexecution = '1 ms'\n";
    let system = System::parse_toml(text, Path::new("alone.toml")).expect("a good file");
    assert_eq!((system.machine.beside, system.sharing_cores()), (0, 2));
    let told = System::parse_toml(GOOD, Path::new("both.toml")).expect_err("commands that take one system");
    assert!(told.to_string().contains("check, simulate or run"), "{told}");
}

/// A line of the good file, what stands there instead, the line of the complaint, and words of it.
const BAD: [(&str, &str, usize, &str); 21] = [
    ("inter-core = \"open\"", "inter-core = \"held\"", 8, "\"open\""),
    ("seed = 7", "cores = 3", 5, "not the 2 of the sandboxes together"),
    ("seed = 7", "memory = '64 MiB'", 5, "give each sandbox its own"),
    ("seed = 7", "root = 'c'", 5, "use a file without sandboxes"),
    ("seed = 7", "pool = '1 MiB'", 5, "use a file without sandboxes"),
    ("instruction = \"1 ns\"", "colours = 4", 7, "caches are neither divided nor modelled"),
    ("instruction = \"1 ns\"", "geometry = 'i7-2600'", 7, "caches are neither divided nor modelled"),
    ("[machine]", "[policy]\nkind = 'partitioned-edf'\n[machine]", 6, "put it into one: sandbox.policy"),
    ("[machine]", "[[task]]\nname = 'b'\n[machine]", 6, "put it into one: sandbox.task"),
    ("[machine]", "[kernel]\ncolours = [0]\n[machine]", 6, "kernels of sandboxes have no memory by colour"),
    ("memory = \"32 MiB\"", "memory = '33 MiB'", 11, "not a whole number of 2 MiB"),
    ("memory = \"32 MiB\"", "cores = 2", 11, "not one, which each sandbox has"),
    ("restarts = 2", "restarts = 1001", 12, "more than 1000"),
    ("restarts = 2", "restart = 2", 12, "restarts"),
    ("name = \"two\"", "name = \"one\"", 21, "one"),
    ("name = \"two\"", "", 20, "name"),
    ("period = \"20 ms\"", "period = '20 ms'\ncomponent = 'c'\ninterrupt = 11", 20, "a device's interrupt"),
    ("[[sandbox.component]]", "[[sandbox.device]]\nname = 'd'\n[[sandbox.component]]", 24, "a sandbox has no devices"),
    ("[[sandbox.component]]", "[[sandbox.slot]]\nname = 's'\n[[sandbox.component]]", 24, "do not come and go"),
    ("crate = \".\"", "crate = '.'\nbrands = 1\nlines = [11]", 20, "no devices"),
    ("execution = \"2 ms\"", "execution = '30 ms'", 30, "period"),
];

#[test]
fn what_a_sandbox_has_not_is_refused_with_line_and_remedy() {
    let mut wrong = Vec::new();
    for (old, new, line, words) in BAD {
        assert!(GOOD.contains(old), "{old}");
        let told = read(&GOOD.replacen(old, new, 1)).expect_err(new);
        let place = format!("both.toml:{line}:");
        if !told.lines().any(|it| it.contains(&place) && it.contains(words)) {
            wrong.push(format!("{new:?} at line {line}: {words:?}\n{told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whatever a file without sandboxes may have is in one of them or refused: nothing beside them is read over.
#[test]
fn what_goes_with_no_sandboxes_is_refused_in_one_and_beside_them() {
    for key in ["slot", "load", "unload", "save", "restore", "update", "buffer", "device", "disk"] {
        for table in [format!("[[{key}]]"), format!("[[sandbox.{key}]]")] {
            let text = format!("{GOOD}\n{table}\nname = \"x\"\n");
            let line = text.lines().position(|it| it == table).map_or(0, |n| n + 1);
            let told = read(&text).expect_err(&table);
            let place = format!("both.toml:{line}:");
            assert!(told.lines().any(|it| it.contains(&place) && it.contains("file without sandboxes")), "{told}");
        }
    }
    for key in ["server", "partition", "chain", "channel", "service", "resource", "change", "component", "monitor"] {
        let told = read(&format!("{GOOD}\n[[{key}]]\nname = \"x\"\n")).expect_err(key);
        assert!(told.contains(&format!("put it into one: sandbox.{key}")), "{told}");
    }
}

#[test]
fn there_are_four_sandboxes_at_most() {
    let more = |n: usize| {
        format!(
            "[[sandbox]]\nname = \"more-{n}\"\n[sandbox.policy]\nkind = \"partitioned-edf\"\n\
             [[sandbox.task]]\nname = \"a\"\nperiod = \"20 ms\"\nexecution = \"2 ms\"\n"
        )
    };
    let four = (0..2).fold(GOOD.to_string(), |text, n| text + &more(n));
    assert_eq!(read(&four).expect("four").parts.len(), 4);
    let told = read(&(four + &more(2))).expect_err("five");
    assert!(told.contains("more than 4"), "{told}");
}

const MAIL: &str = r#"
[[mailbox]]
name = "targets"
source = { sandbox = "one", task = "a" }
destination = { sandbox = "two", task = "a", port = "goal" }
size = "64 B"
depth = 8
messages = 2
latency = "50 ms"
arrival = "polled"
"#;

#[test]
fn a_mailbox_is_an_end_in_each_of_two_sandboxes_with_pages_of_its_own() {
    let second = MAIL.replace("targets", "again").replace(", port = \"goal\"", "");
    let whole = read(&format!("{GOOD}{MAIL}{second}")).expect("a good file");
    let [one, two] = &whole.parts[..] else { panic!() };
    let of = |system: &System| -> Vec<_> {
        system.mailboxes.iter().map(|it| (it.name.clone(), it.number, it.sends, it.first_page, it.pages())).collect()
    };
    assert_eq!(of(&one.system), [("targets".into(), 0, true, 0, 1), ("again".into(), 1, true, 2, 1)]);
    assert_eq!(of(&two.system), [("goal".into(), 0, false, 0, 1), ("again".into(), 1, false, 2, 1)]);
    let [it, _] = &whole.mailboxes[..] else { panic!() };
    assert_eq!((it.size, it.depth, it.messages, it.latency), (64, 8, 2, Some(Duration::from_millis(50))));
    assert_eq!((it.source.sandbox, it.destination.sandbox, it.line), (0, 1, 32));
    for part in &whole.parts {
        assert!(part.system.features().tasks[0].has(tactus_task::Feature::Channel), "it is a channel to its task");
    }
}

/// A line of the mailbox, what stands there instead, the line of the complaint, and words of it and of its remedy.
const BAD_MAIL: [(&str, &str, usize, [&str; 2]); 22] = [
    ("name = \"targets\"", "", 32, ["\"name\" is missing", "name = \"targets\""]),
    ("depth = 8", "", 32, ["\"depth\" is missing", "depth = 8"]),
    ("size = \"64 B\"", "", 32, ["\"size\" is missing", "size = \"64 B\""]),
    ("messages = 2", "refresh-period = '5 ms'", 38, ["\"refresh-period\" is not known here", ""]),
    ("depth = 8", "depth = 0", 37, ["depth is 0, not between 1 and 512", "choose a number of messages"]),
    ("messages = 2", "messages = 513", 38, ["messages is 513, not between 1 and 512", "choose a number of messages"]),
    ("size = \"64 B\"", "size = '9 KiB'", 36, ["not between 1 B and 8 KiB", "choose the length"]),
    (
        "size = \"64 B\"\ndepth = 8",
        "size = '8 KiB'\ndepth = 200",
        37,
        ["more than the 960 KiB", "lower its depth or its size"],
    ),
    ("latency = \"50 ms\"", "latency = '0 ms'", 39, ["no time at all", "raise it"]),
    (
        "arrival = \"polled\"",
        "arrival = 'interrupt'",
        40,
        ["an interrupt would enter the destination's kernel", "take it out"],
    ),
    ("arrival = \"polled\"", "arrival = 'pigeon'", 40, ["there is no arrival \"pigeon\"", "take it out"]),
    ("sandbox = \"one\"", "sandbox = \"won\"", 34, ["there is no sandbox \"won\"; did you mean \"one\"?", ""]),
    ("sandbox = \"two\"", "sandbox = \"one\"", 35, ["both ends are in sandbox \"one\"", "[[sandbox.channel]]"]),
    ("task = \"a\" }", "task = \"b\" }", 34, ["there is no task of a channel \"b\"", "did you mean \"a\"?"]),
    ("source = { sandbox = \"one\", task = \"a\" }", "source = 'a'", 34, ["source", "a table like source = {"]),
    ("source = { sandbox = \"one\", task = \"a\" }", "source = { task = 'a' }", 34, ["\"sandbox\" is missing", ""]),
    ("port = \"goal\"", "port = \"a-name-that-is-too-long-for-a-port\"", 35, ["a port's name", "name the port"]),
    ("name = \"targets\"", "name = \"a b\"", 33, ["a letter or digit", ""]),
    (
        "[[mailbox]]\nname = \"targets\"",
        "[[sandbox.mailbox]]\nname = \"targets\"",
        32,
        ["belongs to none", "put it beside them: [[mailbox]]"],
    ),
    ("arrival = \"polled\"\n", TWICE, 41, ["is there already, on line 33", "its own name"]),
    ("arrival = \"polled\"\n", SAME_PORT, 42, ["has another port \"targets\"", "give it another name"]),
    ("arrival = \"polled\"\n", "wings = 2\n", 40, ["\"wings\" is not known here", ""]),
];
const TWICE: &str = "[[mailbox]]\nname = 'targets'\nsource = { sandbox = 'two', task = 'a' }\ndestination = { sandbox = 'one', task = 'a', port = 'x' }\n\
                     size = '8 B'\ndepth = 1\n";
const SAME_PORT: &str = "[[mailbox]]\nname = 'other'\nsource = { sandbox = 'one', task = 'a', port = 'targets' }\n\
                         destination = { sandbox = 'two', task = 'a' }\nsize = '8 B'\ndepth = 1\n";

#[test]
fn what_is_wrong_with_a_mailbox_is_told_with_line_and_remedy() {
    let mut wrong = Vec::new();
    for (old, new, line, words) in BAD_MAIL {
        assert!(MAIL.contains(old), "{old}");
        let told = match read(&format!("{GOOD}{}", MAIL.replacen(old, new, 1))) {
            Err(told) => told,
            Ok(_) => "nothing".into(),
        };
        let place = format!("both.toml:{line}:");
        if !told.lines().any(|it| it.contains(&place) && words.iter().all(|words| it.contains(words))) {
            wrong.push(format!("{new:?} at line {line}: {words:?}\n{told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_eight_mailboxes_at_most_of_two_mebibytes_and_none_without_sandboxes() {
    let mail = |n: usize| MAIL.replace("targets", &format!("m{n}")).replace("goal", &format!("g{n}"));
    let eight = (0..8).map(mail).fold(GOOD.to_string(), |text, it| text + &it);
    assert_eq!(read(&eight).expect("eight").mailboxes.len(), 8);
    let told = read(&(eight + &mail(8))).expect_err("nine");
    assert!(told.contains("more than 8") && told.contains("leave some out"), "{told}");
    let large = |n: usize| mail(n).replace("\"64 B\"\ndepth = 8", "\"8 KiB\"\ndepth = 100");
    let told = read(&(0..3).map(large).fold(GOOD.to_string(), |text, it| text + &it)).expect_err("600 pages");
    assert!(told.contains("the pages of all mailboxes") && told.contains("lower depths or sizes"), "{told}");
    let alone = "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitioned-edf'\n\
                 [[task]]\nname = 'a'\ncore = 0\nperiod = '10 ms'\nexecution = '1 ms'\n";
    let told = System::parse_toml(&format!("{alone}{MAIL}"), Path::new("alone.toml")).expect_err("no sandboxes");
    assert!(told.to_string().contains("joins two sandboxes, and the file has none"), "{told}");
}
