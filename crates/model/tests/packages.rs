//! What a package says of itself: what is read, and every kind of mistake with its file, line and remedy.

use std::fs;
use std::path::Path;
use tactus_model::PackageDeclaration;
use tactus_package::manifest::Version;
use tactus_time::Duration;

const CRATE: &str = "[package]\nname = \"blink\"\nversion = \"1.2.3\"\n";
const TASK: &str = "[[task]]\nname = \"flash\"\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n";

/// Reads a crate's file, and a manifest beside it if there is one.
fn read(cargo: &str, manifest: Option<&str>) -> Result<PackageDeclaration, String> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("Cargo.toml"), cargo).expect("a file");
    let file = folder.path().join("blink.toml");
    if let Some(text) = manifest {
        fs::write(&file, text).expect("a file");
    }
    let read = PackageDeclaration::read(folder.path(), manifest.map(|_| file.as_path()));
    let prefix = format!("{}/", folder.path().display());
    read.map_err(|problems| problems.to_string().replace(&prefix, ""))
}

/// With its own file of these lines beside the class, and a good task.
fn own(lines: &str) -> Result<PackageDeclaration, String> {
    read(CRATE, Some(&format!("class = \"app\"\n{lines}\n{TASK}")))
}

/// With a task of these lines.
fn task(lines: &str) -> Result<PackageDeclaration, String> {
    read(CRATE, Some(&format!("class = \"app\"\n[[task]]\n{lines}")))
}

#[test]
fn a_declaration_is_read_from_the_crate_or_from_a_file_of_its_own() {
    let inside = format!(
        "{CRATE}edition = \"2021\"\n[package.metadata.tactus]\nclass = \"app\"\nheap = \"8 KiB\"\nuses = [\"console\", \"log\"]\n{}{}",
        TASK.replace("[[task]]", "[[package.metadata.tactus.task]]"),
        "[[package.metadata.tactus.task]]\nname = \"keen\"\nperiod = \"20 ms\"\ndeadline = \"5 ms\"\nexecution = \"1 us\"\n"
    );
    let read_inside = read(&inside, None).expect("good");
    assert_eq!((read_inside.name.as_str(), read_inside.class.as_str(), read_inside.heap), ("blink", "app", 8192));
    assert_eq!(
        (read_inside.version, read_inside.version.number()),
        (Version { major: 1, minor: 2, patch: 3 }, Some(1_002_003))
    );
    assert_eq!(read_inside.uses, ["console", "log"]);
    // The shorter deadline goes first where no priority is given.
    let [flash, keen] = &read_inside.tasks[..] else { panic!("two tasks") };
    assert_eq!((flash.deadline, keen.deadline), (Duration::from_millis(10), Duration::from_millis(5)));
    assert!(keen.priority > flash.priority);
    // A file of its own says the same in fewer words, and may say more.
    let own = own("name = \"light\"\nversion = \"2.0.0\"").expect("good");
    assert_eq!((own.name.as_str(), own.version.number(), own.tasks.len()), ("light", Some(2_000_000), 1));
    let given = task("name = \"a\"\nperiod = \"1 ms\"\nexecution = \"1 us\"\npriority = 7\n").expect("good");
    assert_eq!(given.tasks[0].priority, 7);
}

#[test]
fn a_version_and_its_sequence_number_tell_the_same() {
    for (text, number) in [("0.0.0", 0), ("0.0.1", 1), ("1.0.0", 1_000_000), ("12.34.56", 12_034_056)] {
        let version = own(&format!("version = \"{text}\"")).expect("good").version;
        assert_eq!((version.number(), Version::of(number)), (Some(number), version));
        assert_eq!(version.to_string(), text);
    }
}

#[test]
fn every_kind_of_mistake_is_told_with_file_line_and_remedy() {
    let metadata = |lines: &str| read(&format!("{CRATE}[package.metadata.tactus]\n{lines}"), None);
    let many =
        |n: usize| -> String { (0..n).map(|n| TASK.replace("flash", &format!("t{n}"))).collect::<Vec<_>>().concat() };
    let names = |n: usize| format!("uses = [{}]", (0..n).map(|n| format!("\"s{n}\"")).collect::<Vec<_>>().join(", "));
    let good = "name = \"flash\"\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n";
    let cases: Vec<(Result<PackageDeclaration, String>, &str)> = vec![
        (read("[package\n", None), "Cargo.toml:1: this is not TOML"),
        (read("", None), "Cargo.toml:1: it describes no package; give the folder of a crate: one with [package] in its Cargo.toml"),
        (read("[workspace]\n", None), "Cargo.toml:1: it describes no package; give the folder"),
        (read(CRATE, None), "Cargo.toml:1: it does not say what tasks the package brings; add [package.metadata.tactus]"),
        (metadata("clas = \"app\"\n"), "Cargo.toml:5: key \"clas\" is not known here; did you mean \"class\"?"),
        (metadata("class = \"app\"\nfloating-point = true\n"), "Cargo.toml:6: programs in slots have no unit of floating point, whose registers no snapshot keeps; remove the line: they compute in software"),
        (own("floating-point = true"), "blink.toml:2: programs in slots have no unit of floating point"),
        (metadata("class = \"app\"\n"), "Cargo.toml:4: \"task\" is missing; add a line like [[package.metadata.tactus.task]]"),
        (read("[package]\nversion = \"1.0.0\"\n", Some(&format!("class = \"app\"\n{TASK}"))), "blink.toml:1: \"name\" is missing; add a line like name = \"blink\""),
        (read("[package]\nname = \"blink\"\nversion.workspace = true\n", Some(&format!("class = \"app\"\n{TASK}"))), "blink.toml:1: \"version\" is missing; add a line like version = \"1.0.0\""),
        (read(CRATE, Some(TASK)), "blink.toml:1: \"class\" is missing; add a line like class = \"app\""),
        (read(CRATE, Some("class = 3\n")), "blink.toml:1: class is 3; write a name in quotes"),
        (read(CRATE, Some("= 3\n")), "blink.toml:1: this is not TOML"),
        (own("name = \"a light\""), "blink.toml:2: name \"a light\" is no name; take 1 to 31 letters, digits, -, _, . or /"),
        (own("name = \"a-name-that-is-longer-than-any-slot-prints\""), "blink.toml:2: name \"a-name-that-is"),
        (own("name = true"), "blink.toml:2: name is true; write a name in quotes"),
        (read(&CRATE.replace("1.2.3", "1.2"), Some(&format!("class = \"app\"\n{TASK}"))), "blink.toml:1: version \"1.2\" is not three numbers; write one like \"1.2.3\""),
        (own("version = \"1.0.0-rc1\""), "blink.toml:2: version \"1.0.0-rc1\" is not three numbers; write one like"),
        (own("version = \"1.0.1000\""), "blink.toml:2: version is \"1.0.1000\", with a number above 1000000000, or a later one above 999; choose smaller numbers"),
        (own("version = \"1000000001.0.0\""), "blink.toml:2: version is \"1000000001.0.0\", with a number above"),
        (own("heap = 4096"), "blink.toml:2: heap is 4096; write a size like \"32 KiB\""),
        (own("heap = \"2 GiB\""), "blink.toml:2: heap is 2 GiB, more than 1 GiB; lower it"),
        (own("uses = { console = \"console.write\" }"), "blink.toml:2: uses is a table; write a list of names like [\"console\"]"),
        (own("uses = [\"console\", 3]"), "blink.toml:2: an element of uses is 3; write a list of names"),
        (own("uses = [\"\"]"), "blink.toml:2: uses \"\" is no name; take 1 to 31 letters"),
        (own("uses = [\"log\", \"log\"]"), "blink.toml:2: uses names \"log\" twice; leave one"),
        (own(&names(33)), "blink.toml:2: uses names more than 32 services; a program calls no more services"),
        (read(CRATE, Some("class = \"app\"\ntask = 3\n")), "blink.toml:2: task is 3; write [[task]], in double brackets, once for each"),
        (read(CRATE, Some("class = \"app\"\ntask = []\n")), "blink.toml:1: it brings no task, so nothing of it would run; add a [[task]]"),
        (read(CRATE, Some(&format!("class = \"app\"\n{}", many(33)))), "blink.toml:130: the number of tasks is 33, more than 32; leave some out"),
        (read(CRATE, Some(&format!("class = \"app\"\n{TASK}{TASK}"))), "blink.toml:7: task \"flash\" is there already, on line 3; give each its own name"),
        (task("period = \"10 ms\"\nexecution = \"1 ms\"\n"), "blink.toml:2: task number 1: \"name\" is missing; add a line like name = \"flash\""),
        (task("name = \"flash\"\nexecution = \"1 ms\"\n"), "blink.toml:2: task \"flash\": \"period\" is missing; add a line like period = \"10 ms\""),
        (task("name = \"flash\"\nperiod = \"10 ms\"\n"), "blink.toml:2: task \"flash\": \"execution\" is missing; add a line like execution"),
        (task(&good.replace("flash", "a b")), "blink.toml:3: task \"a b\": name \"a b\" is no name; take 1 to 31"),
        (task(&good.replace("\"10 ms\"", "10")), "blink.toml:4: task \"flash\": period is 10; write a time like \"25 ms\""),
        (task(&good.replace("10 ms", "0 ms")), "blink.toml:4: task \"flash\": period is 0 ns, no time at all; lengthen it"),
        (task(&good.replace("10 ms", "4400 s")), "blink.toml:4: task \"flash\": period is 4400 s, more than 4398.047 s; shorten it"),
        (task(&good.replace("1 ms", "0 us")), "blink.toml:5: task \"flash\": execution is 0 ns, no time at all; lengthen it"),
        (task(&good.replace("1 ms", "11 ms")), "blink.toml:5: task \"flash\": execution is 11 ms, more than its deadline of 10 ms; shorten it, or allow more time"),
        (task(&format!("{good}deadline = \"11 ms\"\n")), "blink.toml:6: task \"flash\": deadline is 11 ms, more than its period of 10 ms; shorten it"),
        (task(&format!("{good}deadline = \"500 us\"\n")), "blink.toml:5: task \"flash\": execution is 1 ms, more than its deadline of 500 µs"),
        (task(&format!("{good}priority = -1\n")), "blink.toml:6: task \"flash\": priority is -1; write a whole number, the larger goes first"),
        (task(&format!("{good}priority = 1000001\n")), "blink.toml:6: task \"flash\": priority is 1000001, more than 1000000; lower it"),
        (task(&format!("{good}core = 0\n")), "blink.toml:6: task \"flash\": key \"core\" is not known here; known are name, execution, period, deadline, priority"),
        (read(CRATE, Some(&format!("class = \"app\"\n{TASK}priority = 1\n{}", TASK.replace("flash", "b")))), "blink.toml:1: some tasks have a priority and some have none; give each one, or none"),
        (PackageDeclaration::read(Path::new("/nowhere"), None).map_err(|it| it.to_string()), "/nowhere/Cargo.toml: cannot be read: "),
    ];
    assert!(cases.len() >= 40);
    let mut wrong = Vec::new();
    for (n, (read, expected)) in cases.iter().enumerate() {
        match read {
            Ok(_) => wrong.push(format!("{n} is accepted, not {expected}")),
            Err(told) if !told.lines().any(|line| line.starts_with(expected)) => {
                wrong.push(format!("{n} tells {told}\n   not {expected}"))
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
