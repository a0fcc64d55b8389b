//! How a system under MC² shares levels C and D: the keys, and what is refused.

use std::path::Path;
use tactus_model::{Locks, System};

fn read(policy: &str) -> Result<Locks, String> {
    let text = format!(
        "[system]\nname = \"s\"\ncores = 2\nduration = \"1 s\"\n[policy]\nkind = \"mc2\"\n{policy}\n\
         [[task]]\nname = \"t\"\nlevel = \"C\"\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n"
    );
    let system = System::parse_toml(&text, Path::new("s.toml"));
    system.map(|system| system.scheduling.locks).map_err(|problems| problems.to_string())
}

#[test]
fn without_keys_levels_c_and_d_share_one_lock() {
    assert_eq!(read(""), Ok(Locks::One));
    assert_eq!(read("locks = \"one\""), Ok(Locks::One));
}

#[test]
fn each_part_of_the_machinery_has_its_key_and_is_off_without_it() {
    let fine = |interrupt_master, timer_merging, work_redistribution| {
        Ok(Locks::Fine { interrupt_master, timer_merging, work_redistribution })
    };
    assert_eq!(read("locks = \"fine\""), fine(false, false, false));
    assert_eq!(read("locks = \"fine\"\ninterrupt-master = true"), fine(true, false, false));
    let merging = "locks = \"fine\"\ninterrupt-master = true\ntimer-merging = true";
    assert_eq!(read(merging), fine(true, true, false));
    assert_eq!(read(&format!("{merging}\nwork-redistribution = true")), fine(true, true, true));
    assert_eq!(read("locks = \"none\""), Ok(Locks::Messages));
}

#[test]
fn what_has_no_meaning_is_refused_in_words_that_say_what_to_do() {
    for (policy, words) in [
        ("locks = \"nine\"", "way to lock"),
        ("interrupt-master = true", "choose locks = \"fine\""),
        ("locks = \"none\"\ntimer-merging = false", "remove it, or choose locks = \"fine\""),
        ("locks = \"fine\"\ntimer-merging = true", "needs the interrupt master"),
        ("locks = \"fine\"\nwork-redistribution = true", "add interrupt-master = true"),
    ] {
        let said = read(policy).expect_err(policy);
        assert!(said.contains(words), "{policy}: {said}");
    }
}
