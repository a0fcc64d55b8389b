//! No circle of files over four in any room.

use tactus_house::modules::{circles, imports};
use tactus_house::rooms::{rooms, root};

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

/// The reader sees a circle: two files that import each other, one by a name that its parent hands on.
#[test]
fn a_circle_of_files_is_found() {
    let room = rooms().into_iter().find(|room| room.path == "crates/analysis").expect("the room is there");
    let all = circles(&imports(&room, &root()));
    let tree = ["reservation/tree.rs", "reservation/tree/deadline.rs", "reservation/tree/priority.rs"];
    assert!(all.iter().any(|circle| circle == &tree), "{all:#?}");
}
