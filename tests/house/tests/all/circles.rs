//! No circle of files over four in any room.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tactus_house::modules::{circles, imports};
use tactus_house::rooms::{rooms, root, Room};

/// The most files that may import each other.
const LARGEST: usize = 4;

#[test]
fn no_circle_of_files_is_larger_than_four() {
    let mut wrong = Vec::new();
    for room in rooms() {
        let all = circles(&imports(&room, &root()));
        let largest = all.iter().map(Vec::len).max().unwrap_or(0);
        if largest > LARGEST {
            wrong.push(format!("{}: {all:#?}", room.path));
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

/// The reader must find circles where there are some; else that none is too large says nothing.
#[test]
fn a_circle_of_five_files_is_found_through_handed_on_names_and_paths_of_one_segment() {
    let names = ["a", "b", "c", "d"];
    let next = |n: usize| format!("use crate::{}; pub struct {};", ["B", "C", "D", "V"][n], ["A", "B", "C", "D"][n]);
    let texts: Vec<String> = (0..4).map(next).collect();
    let mut files: Vec<(String, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (format!("{name}.rs"), text.as_str())).collect();
    files.push((
        "lib.rs".into(),
        "mod a; mod b; mod c; mod d; pub use a::A; pub use b::B; pub use c::C; pub use d::D; pub struct V(A);",
    ));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    assert_eq!(of("five", &files), [["a.rs", "b.rs", "c.rs", "d.rs", "lib.rs"]]);
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
