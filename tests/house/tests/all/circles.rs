//! No circle of files over four in any room.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tactus_house::modules::{circles, imports};
use tactus_house::rooms::{rooms, root, Room};

/// The most files that may import each other.
const LARGEST: usize = 4;

/// Rooms with a larger circle, and how many files it has; the list only shrinks.
const STANDING: &[(&str, usize)] = &[("crates/trace", 9), ("crates/model", 8)];

#[test]
fn no_circle_of_files_is_larger_than_four() {
    let mut wrong = Vec::new();
    for room in rooms() {
        let all = circles(&imports(&room, &root()));
        let largest = all.iter().map(Vec::len).max().unwrap_or(0);
        let standing = STANDING.iter().find(|(path, _)| *path == room.path).map(|(_, files)| *files);
        if largest > standing.unwrap_or(LARGEST) {
            wrong.push(format!("{}: {all:#?}", room.path));
        }
        if standing.is_some_and(|files| largest < files) {
            wrong.push(format!("{}: its largest circle has {largest} files now: change the list", room.path));
        }
    }
    assert!(wrong.is_empty(), "circles of more than {LARGEST} files:\n{}", wrong.join("\n"));
}

/// The circles of a room with these files.
fn of(name: &str, files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut room = Room { path: folder.display().to_string(), imports: BTreeSet::new(), files: Vec::new() };
    for (file, text) in files {
        let path = folder.join("src").join(file);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is made");
        fs::write(&path, text).expect("the file is written");
        room.files.push(path);
    }
    circles(&imports(&room, &root()))
}

#[test]
fn a_name_that_is_handed_on_and_used_is_an_import() {
    let files = [
        ("lib.rs", "mod a; pub use a::A; pub struct V { x: A }"),
        ("a.rs", "use crate::V; pub struct A; fn f(_: V) {}"),
    ];
    assert_eq!(of("handed-on-and-used", &files), [["a.rs", "lib.rs"]]);
    // One that is only handed on is none: who names it means the file that defines it.
    let files =
        [("lib.rs", "mod a; pub use a::A; pub struct V;"), ("a.rs", "use crate::V; pub struct A; fn f(_: V) {}")];
    assert_eq!(of("only-handed-on", &files), [] as [[&str; 2]; 0]);
}

#[test]
fn a_function_without_a_path_is_an_import_and_a_variable_of_its_name_is_not() {
    let with = |body: &str| {
        let b = format!("pub use crate::a::twice; pub struct B; fn f() {{ {body} }}");
        of(
            if body.contains('(') { "called" } else { "variable" },
            &[
                ("lib.rs", "mod a; mod b;"),
                ("a.rs", "use crate::b::B; pub fn twice(n: u32) -> u32 { n }"),
                ("b.rs", &b),
            ],
        )
    };
    assert_eq!(with("twice(2);"), [["a.rs", "b.rs"]]);
    assert_eq!(with("let twice = 2; let _ = twice;"), [] as [[&str; 2]; 0]);
}
