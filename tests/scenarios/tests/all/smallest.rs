//! The smallest memory in which a small system runs on one core, with the kernel, the root scheduler, their tables and the
//! trace of the whole run: 4 MiB; and that one MiB less is refused before anything starts.

use std::path::PathBuf;
use tactus_scenarios::{file, tactus, Finished, Scratch};

/// Two tasks, one of them in a component of the user's own that uses a service of another one.
fn system(folder: &Scratch, memory: u64) -> PathBuf {
    let parts = file("tests/scenarios/parts");
    let part = |name: &str, more: &str| {
        format!("[[component]]\nname = \"{name}\"\ncrate = \"{}\"\n{more}\n\n", parts.display())
    };
    let task = |name: &str, more: &str| {
        format!("[[task]]\nname = \"{name}\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n{more}\n\n")
    };
    let text = format!(
        "[system]\nname = \"smallest\"\ncores = 1\nduration = \"200 ms\"\nmemory = \"{memory} MiB\"\n\n\
         [policy]\nkind = \"partitioned-edf\"\n\n"
    );
    let parts =
        part("fragile", "provides = [\"ask\"]\nrestarted-by = \"guard\"\nrestarts = { most = 4, per = \"1 s\" }")
            + &part("guard", "uses = { ask = \"fragile.ask\" }");
    folder.write("smallest.toml", &(text + &parts + &task("guard", "component = \"guard\"") + &task("steady", "")))
}

#[test]
fn a_small_system_on_one_core_runs_in_four_mib_and_three_are_refused() {
    let folder = Scratch::new("smallest");
    let run = Finished::run(&system(&folder, 4), &[]);
    assert_eq!(run.summary.task("steady").completed(), 20, "{}", run.said.output);
    assert_eq!(run.summary.task("guard").completed(), 20);
    assert_eq!(run.summary.json["restarts"].as_array().map(Vec::len), Some(4), "{}", run.said.output);
    assert_eq!(run.summary.task("steady").missed(), 0);
    println!("{}", run.log);

    let out = folder.path().join("refused");
    let words =
        ["run".as_ref(), system(&folder, 3).as_os_str().to_owned().as_os_str(), "--out".as_ref(), out.as_os_str()]
            .map(std::ffi::OsStr::to_owned);
    let said = tactus(words);
    assert!(said.status > 1 && said.errors.contains("write memory = \"4 MiB\""), "{}{}", said.output, said.errors);
}
