//! `tactus new`: what it writes is accepted, builds without anything being fetched, and runs, outside of the clone; what is there is kept.

use std::fs;
use tactus_scenarios::{tactus, Said, Scratch};

fn begin(folder: &Scratch, name: &str, kind: &[&str]) -> Said {
    let path = folder.path().join(name);
    let words = ["new", path.to_str().expect("a plain name")];
    tactus(words.iter().chain(kind))
}

#[test]
fn each_beginning_is_accepted_under_its_own_name_and_its_crates_have_locks() {
    for (kind, crates) in [
        (&[][..], &[][..]),
        (&["--component"], &["plant", "controller", "watch"]),
        (&["--scheduler"], &["turns", "counter"]),
        (&["--partition"], &["partition"]),
    ] {
        let folder = Scratch::new("beginning");
        let said = begin(&folder, "robot-1", kind);
        assert_eq!(said.status, 0, "{kind:?}: {}{}", said.output, said.errors);
        assert!(said.output.contains("tactus run robot-1.toml"), "{}", said.output);
        let made = folder.path().join("robot-1");
        for name in crates {
            let lock = fs::read_to_string(made.join(name).join("Cargo.lock")).expect("each crate has a lock");
            assert!(lock.contains("name = \"tactus-rt\""), "{lock}");
        }
        assert!(made.join("README.md").exists() && made.join(".gitignore").exists());
        let checked = tactus(["check".as_ref(), made.join("robot-1.toml").as_os_str()]);
        assert_eq!(checked.status, 0, "{kind:?}: {}{}", checked.output, checked.errors);
        assert!(checked.output.starts_with("robot-1 ·"), "{}", checked.output);
    }
}

#[test]
fn components_of_a_new_system_run_at_once_and_fetch_nothing() {
    let folder = Scratch::new("beginning-runs");
    assert_eq!(begin(&folder, "robot", &["--component"]).status, 0);
    let (system, out) = (folder.path().join("robot/robot.toml"), folder.path().join("out"));
    let words = ["run".as_ref(), "--offline".as_ref(), system.as_os_str(), "--out".as_ref(), out.as_os_str()];
    let said = tactus(words);
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    assert!(said.output.contains("every promise held"), "{}", said.output);
}

#[test]
fn a_folder_with_something_in_it_a_file_and_a_name_that_is_none_are_refused_and_nothing_is_lost() {
    let folder = Scratch::new("beginning-refused");
    let kept = folder.write("full/robot.toml", "mine");
    let file = folder.write("file", "mine");
    for (name, words) in [("full", "is not empty"), ("file", "is a file"), ("two words", "letters, digits")] {
        let said = begin(&folder, name, &[]);
        assert_eq!(said.status, 2, "{name}: {}{}", said.output, said.errors);
        assert!(said.errors.contains(words), "{name}: {}", said.errors);
    }
    assert!([kept, file].iter().all(|path| fs::read_to_string(path).is_ok_and(|text| text == "mine")));
    assert_eq!(begin(&folder, "new", &["--component", "--partition"]).status, 2);
}
