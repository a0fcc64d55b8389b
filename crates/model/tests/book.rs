//! The page on the system file tells every key, and what it shows is so.

use std::path::Path;
use tactus_model::{Complaint, System};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/system-file.md");
    std::fs::read_to_string(path).expect("docs/system-file.md")
}

#[test]
fn the_page_has_every_key() {
    // An unknown key in every table: the complaints list the keys that are known there.
    let text = "\
        zzz = 1\n[system]\nzzz = 1\n[policy]\nkind = \"mc2\"\nzzz = 1\n[machine]\nzzz = 1\n\
        [[task]]\nzzz = 1\nexecution = { zzz = 1 }\nactual = { zzz = 1 }\n[[component]]\nzzz = 1\nrestarts = { zzz = 1 }\n[[buffer]]\nzzz = 1\n[[device]]\nzzz = 1\n\
        [[server]]\nzzz = 1\n[[partition]]\nzzz = 1\nwindows = [{ zzz = 1 }]\n[[change]]\nzzz = 1\n[[chain]]\nzzz = 1\n[[disk]]\nzzz = 1\n[[disk.client]]\nzzz = 1\n[[monitor]]\nzzz = 1\n[[monitor.automaton]]\nzzz = 1\n";
    let problems = System::parse_toml(text, Path::new("keys.toml")).expect_err("accepted");
    let lists: Vec<_> = problems
        .iter()
        .filter_map(|problem| match &problem.complaint {
            Complaint::UnknownKey { known, .. } => Some(known),
            _ => None,
        })
        .collect();
    assert_eq!(lists.len(), 20, "{problems}");
    let page = page();
    for key in lists.into_iter().flatten() {
        let spellings = [format!("`{key}`"), format!("`[{key}]`"), format!("`[[{key}]]`"), format!("{key} = ")];
        assert!(spellings.iter().any(|spelling| page.contains(spelling)), "{key:?} is not on the page");
    }
}

#[test]
fn the_smallest_system_of_the_page_is_one() {
    let page = page();
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of TOML");
    let system = System::parse_toml(block, Path::new("smallest.toml")).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!((system.name.as_str(), system.tasks.len(), system.memory), ("smallest", 1, 256 << 20));
}

#[test]
fn the_message_of_the_page_is_the_one_that_comes() {
    // The task of the message, on the line of the message.
    let head = "[system]\ncores = 1\nduration = \"1 s\"\n[policy]\nkind = \"mc2\"\n";
    let blank = "\n".repeat(41 - 5 - 5);
    let task =
        "[[task]]\nname = \"nav\"\nlevel = \"B\"\nperiod = \"10 ms\"\nexecution = { B = \"12 ms\", C = \"8 ms\" }\n";
    let problems =
        System::parse_toml(&format!("{head}{blank}{task}"), Path::new("avionics.toml")).expect_err("accepted");
    assert!(page().contains(&format!("    {problems}\n")), "{problems}");
}
