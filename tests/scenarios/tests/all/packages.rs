//! `tactus key` and `tactus pack`: keys that only their owner reads, packages that are the same each time, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tactus_scenarios::{file, tactus, Said, Scratch};

fn words<'a>(words: impl IntoIterator<Item = &'a dyn AsRef<std::ffi::OsStr>>) -> Said {
    tactus(words.into_iter().map(AsRef::as_ref))
}

fn new_key(name: &Path) -> Said {
    words([&"key" as &dyn AsRef<_>, &"new", &name])
}

fn pack(folder: &Path, key: &Path, out: &Path) -> Said {
    words([&"pack" as &dyn AsRef<_>, &folder, &"--key", &key, &"-o", &out])
}

#[test]
fn a_key_is_drawn_once_and_its_private_file_is_read_by_its_owner_alone() {
    let scratch = Scratch::new("keys");
    let of = |name: &str| scratch.path().join(name);
    let said = new_key(&of("dev"));
    assert_eq!(said.status, 0, "{}", said.errors);
    let mode = |name: &str| fs::metadata(of(name)).expect("the file").permissions().mode() & 0o777;
    assert_eq!(mode("dev.key"), 0o600);
    let text = |name: &str| fs::read_to_string(of(name)).expect("the file");
    let (private, public) = (text("dev.key"), text("dev.pub"));
    assert!(private.starts_with("tactus-private-key\n") && public.starts_with("tactus-public-key\n"));
    // Once more: neither is touched.
    let again = new_key(&of("dev"));
    assert!(again.status == 2 && again.errors.contains("dev.key: it is there already"), "{}", again.errors);
    assert_eq!((text("dev.key"), text("dev.pub")), (private.clone(), public.clone()));
    // Another one is another one; half a key is not left behind.
    assert_eq!(new_key(&of("other")).status, 0);
    assert!(text("other.key") != private && text("other.pub") != public);
    scratch.write("half.pub", "");
    assert_eq!(new_key(&of("half")).status, 2);
    assert!(!of("half.key").exists());
    for (name, why) in [(of("no/folder"), "make it first"), (of(""), "it has no name")] {
        let said = new_key(&name);
        assert!(said.status == 2 && said.errors.contains(why), "{}", said.errors);
    }
}

#[test]
fn a_crate_and_a_key_make_the_same_package_each_time() {
    let scratch = Scratch::new("packages");
    let of = |name: &str| scratch.path().join(name);
    assert_eq!(new_key(&of("dev")).status, 0);
    let made = |name: &str| {
        let said = pack(&file("examples/slots/blink-1"), &of("dev.key"), &of(name));
        assert_eq!(said.status, 0, "{}", said.errors);
        assert!(
            said.output.contains("blink 1.0.0") && said.output.contains("for slots of class app"),
            "{}",
            said.output
        );
        fs::read(of(name)).expect("the package")
    };
    let package = made("blink.package");
    assert!(package.starts_with(&[0xd8, 0x6b]) && package.len() < 64 << 10, "{} bytes", package.len());
    assert_eq!(made("again.package"), package);
}

#[test]
fn what_no_package_can_be_made_of_is_refused_before_a_file_is_written() {
    let scratch = Scratch::new("packages");
    let of = |name: &str| scratch.path().join(name);
    assert_eq!(new_key(&of("dev")).status, 0);
    let metadata = "\n[package.metadata.tactus]\nclass = \"app\"\n[[package.metadata.tactus.task]]\nname = \"serve\"\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n";
    scratch.component("server", "main.rs", SERVER);
    let cargo = fs::read_to_string(of("server/Cargo.toml")).expect("the manifest");
    scratch.write("server/Cargo.toml", &format!("{cargo}{metadata}"));
    scratch.component("broken", "main.rs", "#![no_std]\n#![no_main]\nthis is no program\n");
    scratch.write("broken/Cargo.toml", &format!("{}{metadata}", cargo.replace("\"server\"", "\"broken\"")));
    scratch.component("untold", "main.rs", SERVER);
    let blink = file("examples/slots/blink-1");
    for (folder, key, why) in [
        (of("nowhere"), of("dev.key"), "it is no folder with a Cargo.toml; give that of the package's crate"),
        (of("untold"), of("dev.key"), "it does not say what tasks the package brings; add [package.metadata.tactus]"),
        (blink.clone(), of("absent.key"), "make one: ./tactus key new NAME"),
        (blink, of("dev.pub"), "dev.pub: it is a public key; the private one, which signs, ends in .key"),
        (
            of("server"),
            of("dev.key"),
            "the program offers the service \"serve\", and nobody can be granted it; remove it",
        ),
        (of("broken"), of("dev.key"), "could not be built"),
    ] {
        let said = pack(&folder, &key, &of("out.package"));
        assert!(said.status == 2 && said.errors.contains(why), "{why}: {}\n{}", said.output, said.errors);
        assert!(!of("out.package").exists(), "{why}");
    }
}

#[test]
fn a_package_is_told_where_it_fits_with_each_bound_and_why_it_does_not() {
    let scratch = Scratch::new("packages");
    let of = |name: &str| scratch.path().join(name);
    for key in ["dev", "other"] {
        assert_eq!(new_key(&of(key)).status, 0);
    }
    for (name, key) in [("blink-1", "dev"), ("blink-2", "dev"), ("blink-1", "other")] {
        let out = of(&format!("{name}-{key}.package"));
        assert_eq!(pack(&file("examples/slots").join(name), &of(&format!("{key}.key")), &out).status, 0);
    }
    let component = |name: &str, more: &str| {
        let folder = file("examples/slots/blink-1");
        format!("[[component]]\nname = \"{name}\"\ncrate = \"{}\"\n{more}\n", folder.display())
    };
    let slot = |name: &str, order: &str, budget: &str, more: &str| {
        format!(
            "[[server]]\nname = \"{name}s\"\nkind = \"periodic\"\ncores = [0]\nbudget = \"{budget}\"\nperiod = \"10 ms\"\n\
             policy = \"{order}\"\n[[slot]]\nname = \"{name}\"\nserver = \"{name}s\"\nmemory = \"64 KiB\"\ntasks = 2\n\
             keys = [\"dev.pub\"]\n{more}\n"
        )
    };
    let console = "uses = { console = \"console.write\" }";
    let text = [
        "[system]\nname = \"slots\"\ncores = 1\nduration = \"100 ms\"\npool = \"1 MiB\"\n[policy]\nkind = \"partitioned-edf\"\n".into(),
        component("console", "console = true\nprovides = [\"write\"]"),
        component("loader", "loader = true"),
        "[[task]]\nname = \"load\"\ncomponent = \"loader\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"3400 us\"\n".into(),
        slot("guest", "partitioned-fp", "1 ms", &format!("class = \"app\"\n{console}")),
        slot("idle", "partitioned-edf", "1 ms", "class = \"app\""),
        slot("video", "partitioned-edf", "1 ms", console),
    ];
    let system = scratch.write("slots.toml", &text.concat());
    let check = |packages: &[&str]| {
        let mut words = vec!["pack".into(), "--check".into(), system.clone().into_os_string()];
        words.extend(packages.iter().map(|name| of(name).into_os_string()));
        tactus(words)
    };
    let said = check(&["blink-1-dev.package", "blink-2-dev.package"]);
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    for told in ["guest · blink 1.0.0 fits · ", "guest · blink 2.0.0 fits · ", "flash: response ≤ ", " of 50.0 ms"]
    {
        assert!(said.output.contains(told), "{told}: {}", said.output);
    }
    assert!(said.output.contains("idle · refused: it may not have service `console` in this slot"), "{}", said.output);
    assert!(said.output.contains("video · refused: made for slots of class `app`"), "{}", said.output);
    // The check bounds everybody else with the servers of all slots at their full budgets.
    let checked = words([&"check" as &dyn AsRef<_>, &system]);
    assert!(checked.status == 0 && checked.output.contains("accepted"), "{}{}", checked.output, checked.errors);
    let stranger = check(&["blink-1-dev.package", "blink-1-other.package"]);
    assert_eq!(stranger.status, 1, "{}{}", stranger.output, stranger.errors);
    assert!(
        stranger.output.contains("guest · refused: signed by a key that is not trusted here: "),
        "{}",
        stranger.output
    );
    let absent = check(&["absent.package"]);
    assert!(absent.status == 2 && absent.errors.contains("make it: ./tactus pack CRATE"), "{}", absent.errors);
    let none =
        words([&"pack" as &dyn AsRef<_>, &"--check", &file("examples/avionics.toml"), &of("blink-1-dev.package")]);
    assert!(none.status == 2 && none.errors.contains("it has no slots; describe one in a [[slot]]"), "{}", none.errors);
}

/// `examples/slots` beside keys and packages of its own: simulated and on the machine.
#[test]
fn the_example_goes_from_version_1_to_version_2_while_it_runs_and_the_loop_keeps_its_bound() {
    let scratch = Scratch::new("packages");
    let of = |name: &str| scratch.path().join(name);
    assert_eq!(new_key(&of("dev")).status, 0);
    for name in ["blink-1", "blink-2"] {
        let out = of(&format!("{name}.package"));
        assert_eq!(pack(&file("examples/slots").join(name), &of("dev.key"), &out).status, 0);
    }
    let text = fs::read_to_string(file("examples/slots/slots.toml")).expect("the example");
    let text = text.replace("\"../../os/", &format!("\"{}/", file("os").display()));
    let system = scratch.write("slots.toml", &text);
    for verb in ["simulate", "run"] {
        let out = of(verb);
        let said = words([&verb as &dyn AsRef<_>, &system, &"--out", &out]);
        assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
        assert!(said.output.contains("every promise held"), "{}", said.output);
        let slot =
            said.output.lines().find(|line| line.contains("slot guest: empty until ")).expect("a line of the slot");
        let programs: Vec<&str> = slot.split(", ").map(|it| it.split(" until ").next().unwrap_or(it)).collect();
        assert_eq!(programs[1..], ["blink 1.0.0", "empty", "blink 2.0.0", "then empty"], "{slot}");
        if verb == "run" {
            let said: Vec<&str> = said.output.lines().filter(|line| line.contains("guest: blink")).collect();
            let (first, second): (Vec<&str>, Vec<&str>) = said.iter().partition(|line| line.contains("blink 1"));
            assert!(first.len() == 2 && second.len() >= 4, "{said:?}");
            // Its memory begins as the package says, whatever was there before.
            assert!(second[0].ends_with("blink 2: on, 1 times"), "{said:?}");
        }
    }
}

const SERVER: &str = "#![no_std]
#![no_main]
use tactus_rt::{Caller, Job};
tactus_rt::component! { job: nothing, services: [serve] }
fn nothing(_: &Job) {}
fn serve(_: Caller, words: [u64; 5]) -> [u64; 2] {
    [words[0], words[1]]
}
";
