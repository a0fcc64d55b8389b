//! Prints the circles of files of a room, with the imports that make them: `cargo run -p tactus-house --example circles crates/model`.
#![forbid(unsafe_code)]

use tactus_house::modules::{circles, imports};
use tactus_house::rooms::{rooms, root};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for room in rooms().iter().filter(|room| wanted.is_empty() || wanted.contains(&room.path)) {
        let imports = imports(room, &root());
        for circle in circles(&imports) {
            println!("{}: {} files", room.path, circle.len());
            for file in &circle {
                let inside: Vec<&String> = imports[file].iter().filter(|to| circle.contains(to)).collect();
                println!("  {file} -> {inside:?}");
            }
        }
    }
}
