//! The page on the system file tells every key, and what it shows is so.

use std::path::Path;
use tactus_model::{Complaint, System};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/system-file.md");
    std::fs::read_to_string(path).expect("docs/system-file.md")
}

/// Each part of the page, and tables in which every key and every name of a list is unknown, so that the complaints tell the known ones.
const PARTS: [(&str, &str); 26] = [
    ("[system]", "[system]\nzzz = 1"),
    ("[policy]", "[policy]\nzzz = 1\nschedulers = 'zzz'\nswitches = [{ zzz = 1 }]"),
    ("[machine]", "[machine]\nzzz = 1\ninter-core = 'zzz'"),
    ("[[sandbox]]", "[[sandbox]]\nzzz = 1"),
    ("[[mailbox]]", "[[mailbox]]\nzzz = 1\nsource = { zzz = 1 }"),
    ("[kernel]", "[kernel]\nzzz = 1"),
    ("[[server]]", "[[server]]\nzzz = 1\nkind = 'zzz'"),
    ("[[partition]]", "[[partition]]\nzzz = 1\nload = 'zzz'\nwindows = [{ zzz = 1 }]"),
    ("[[change]]", "[[change]]\nzzz = 1"),
    ("[[slot]]", "[[slot]]\nzzz = 1"),
    ("[[load]]", "[[load]]\nzzz = 1"),
    ("[[unload]]", "[[unload]]\nzzz = 1"),
    ("[[save]]", "[[save]]\nzzz = 1"),
    ("[[restore]]", "[[restore]]\nzzz = 1"),
    ("[[update]]", "[[update]]\nzzz = 1"),
    (
        "[[task]]",
        "[[task]]\nzzz = 1\noverrun = 'zzz'\nearly = 'zzz'\nrelease = 'zzz'\nexecution = { zzz = 1 }\nactual = { zzz = 1 }",
    ),
    ("[[chain]]", "[[chain]]\nzzz = 1"),
    ("[[channel]]", "[[channel]]\nzzz = 1\nkind = 'zzz'\nsource = { zzz = 1 }"),
    ("[[service]]", "[[service]]\nzzz = 1\norder = 'zzz'"),
    (
        "[[resource]]",
        "[[resource]]\nzzz = 1\nprotocol = 'zzz'\noverrun = 'zzz'\n[[task]]\nsections = [{ zzz = 1 }]\nwaits = [{ zzz = 1 }]",
    ),
    ("[[monitor]]", "[[monitor]]\nzzz = 1\n[[monitor.automaton]]\nzzz = 1"),
    ("[[component]]", "[[component]]\nzzz = 1\nrestarts = { zzz = 1 }"),
    ("[[buffer]]", "[[buffer]]\nzzz = 1"),
    ("[[device]]", "[[device]]\nzzz = 1\nkind = 'zzz'"),
    (
        "[[disk]]",
        "[[disk]]\nzzz = 1\ndrive = 'zzz'\nqueue = 'zzz'\nmap = 'zzz'\nfaults = { zzz = 1 }\n[[disk.client]]\nzzz = 1",
    ),
    ("[linux]", "[linux]\nzzz = { zzz = 1 }"),
];

/// The part of the page with this head, up to the next one.
fn part<'p>(page: &'p str, head: &str) -> &'p str {
    let start = page.find(&format!("\n## `{head}`\n")).unwrap_or_else(|| panic!("the page has no part on {head}"));
    let rest = &page[start + 1..];
    rest.find("\n## ").map_or(rest, |end| &rest[..end])
}

/// The texts in quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

#[test]
fn the_page_has_every_key_and_every_name_in_the_part_of_its_table() {
    let page = page();
    let mut missing = Vec::new();
    let (mut keys, mut names) = (0, 0);
    for (head, text) in PARTS {
        let part = part(&page, head);
        let problems = System::parse_toml(text, Path::new("keys.toml")).expect_err("accepted");
        for problem in problems.iter() {
            match &problem.complaint {
                Complaint::UnknownKey { known, .. } => {
                    keys += known.len();
                    let there =
                        |key: &str| [format!("`{key}`"), format!("{key} = ")].iter().any(|it| part.contains(it));
                    missing.extend(known.iter().filter(|key| !there(key)).map(|key| format!("{head}: key {key}")));
                }
                Complaint::UnknownName { remedy, .. } => {
                    names += quoted(remedy).count();
                    let absent = quoted(remedy).filter(|name| !part.contains(&format!("\"{name}\"")));
                    missing.extend(absent.map(|name| format!("{head}: name {name:?}")));
                }
                _ => {}
            }
        }
    }
    // Tables without a part are found by the table of all.
    let problems = System::parse_toml("zzz = 1", Path::new("keys.toml")).expect_err("accepted");
    let tables = problems.iter().find_map(|problem| match &problem.complaint {
        Complaint::UnknownKey { known, .. } => Some(known),
        _ => None,
    });
    for table in tables.expect("zzz is unknown") {
        if !PARTS.iter().any(|(head, _)| head.trim_matches(['[', ']']) == *table) {
            missing.push(format!("{table}: no part of its own"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    assert!(keys > 170 && names > 25, "{keys} {names}");
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

/// The blocks of TOML on a page, each with the line on which it begins.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in page.lines().enumerate() {
        match (&mut open, line.trim()) {
            (None, "```toml") => open = Some((number + 1, String::new())),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some((_, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

#[test]
fn every_part_of_a_system_that_the_book_shows_has_keys_that_there_are_or_is_its_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    // What stands in a study's, a package's or another crate's example has a test there.
    let elsewhere =
        ["adding-a-policy.md", "apex.md", "components.md", "how-a-run-works.md", "slots.md", "writing-a-scheduler.md"];
    let mut count = 0;
    for entry in std::fs::read_dir(root.join("docs")).expect("the book").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".md") || elsewhere.contains(&&*name) {
            continue;
        }
        for (line, block) in blocks(&read(&format!("docs/{name}"))) {
            count += 1;
            let part = block.lines().next().and_then(|it| it.strip_prefix("# "));
            if let Some(example) = part.and_then(|it| it.strip_suffix(", in part")) {
                let whole = read(example);
                let there: Vec<&str> = whole.lines().map(str::trim).collect();
                let missing = block.lines().skip(1).map(str::trim).find(|it| !it.is_empty() && !there.contains(it));
                assert!(missing.is_none(), "docs/{name}:{line}: {example} has no line {missing:?}");
                continue;
            }
            // Keys without a table are a task's.
            let block = if block.starts_with('[') { block } else { format!("[[task]]\n{block}") };
            let Err(problems) = System::parse_toml(&block, Path::new("part.toml")) else { continue };
            let strange = problems
                .iter()
                .find(|problem| matches!(problem.complaint, Complaint::UnknownKey { .. } | Complaint::Syntax { .. }));
            assert!(strange.is_none(), "docs/{name}:{line}: {}", strange.expect("there is one"));
        }
    }
    assert!(count >= 12, "the book is read: {count}");
}
