//! The variants of MC² are no keys of a system file: each is refused with the reason and what to do.

use std::path::Path;
use tactus_model::System;

fn read(policy: &str) -> Result<System, String> {
    let text = format!(
        "[system]\nname = \"s\"\ncores = 2\nduration = \"1 s\"\n[policy]\nkind = \"mc2\"\n{policy}\n\
         [[task]]\nname = \"t\"\nlevel = \"C\"\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n"
    );
    System::parse_toml(&text, Path::new("s.toml")).map_err(|problems| problems.to_string())
}

#[test]
fn mc2_needs_no_key_beside_its_kind() {
    assert!(read("").is_ok());
}

#[test]
fn each_key_of_a_variant_is_refused_with_its_line_and_the_command_that_measures_it() {
    for key in ["locks = \"fine\"", "interrupt-master = true", "timer-merging = false", "work-redistribution = true"] {
        let message = read(key).expect_err(key);
        let name = key.split(' ').next().unwrap_or(key);
        for words in [name, "s.toml:7", "remove it", "tactus study mc2-overheads"] {
            assert!(message.contains(words), "{key}: {message}");
        }
    }
}
