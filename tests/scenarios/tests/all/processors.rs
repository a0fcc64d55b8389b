//! The same system file on another processor: it boots, its schedule is that of the first one, promises hold with the costs that were
//! measured there, and runs repeat.

use std::fs;
use std::process::Command;
use tactus_record::EventKind;
use tactus_scenarios::{file, tactus, Finished, Scratch};
use tactus_time::TaskId;

/// Whether the emulator of the other processor is here; else that is told.
pub fn is_here() -> bool {
    let there = Command::new("qemu-system-aarch64").arg("--version").output().is_ok_and(|it| it.status.success());
    if !there {
        println!("left out: qemu-system-aarch64 is not there; run: apt-get install qemu-system-arm");
    }
    there
}

const AARCH64: [&str; 2] = ["--processor", "aarch64"];

/// Which jobs got the core, one after another.
fn order(run: &Finished) -> Vec<(Option<TaskId>, u32)> {
    let trace = run.trace();
    let dispatches = trace.cores.iter().flatten().filter(|record| record.kind == EventKind::Dispatch);
    let mut order: Vec<_> = dispatches.map(|record| (record.task, record.job)).collect();
    order.dedup();
    order
}

#[test]
fn five_jobs_on_aarch64_have_the_schedule_of_the_first_processor_keep_their_promises_and_repeat() {
    if !is_here() {
        return;
    }
    let system = file("examples/five-jobs.toml");
    let [first, again] = [Finished::run(&system, &AARCH64), Finished::run(&system, &AARCH64)];
    assert_eq!(first.said.status, 0, "{}", first.said.output);
    assert!(first.summary.held(), "{}", first.summary.outcome());
    assert!(first.summary.tasks().all(|task| task.completed() == 2 && task.missed() == 0));
    assert!(
        fs::read(first.file("trace.bin")).unwrap() == fs::read(again.file("trace.bin")).unwrap(),
        "two runs differ"
    );
    assert_eq!(first.log, again.log);
    assert_eq!(order(&first), order(&Finished::run(&system, &[])));
    assert!(first.text("run.json").contains("for aarch64"), "the results say where that was");
}

/// Services with many words, brands, a tree of schedulers, a root of the user's own: they look at themselves, and end with their verdict.
#[test]
#[ignore = "compiles components for another processor; run with --ignored"]
fn on_aarch64_systems_that_look_at_themselves_say_that_all_went_well() {
    if !is_here() {
        return;
    }
    for name in ["services/services", "tree/tree", "own-scheduler/own-scheduler"] {
        let system = file(&format!("examples/{name}.toml"));
        let scratch = Scratch::new("processors");
        let words = ["run".as_ref(), system.as_os_str(), "--out".as_ref(), scratch.path().as_os_str()];
        let said = tactus(words.into_iter().chain(AARCH64.map(AsRef::as_ref)));
        assert_eq!(said.status, 0, "{name}: {}{}", said.output, said.errors);
        assert!(said.output.contains("says that all went well"), "{name}: {}", said.output);
    }
}

#[test]
fn what_is_not_booted_on_aarch64_is_refused_with_the_reason_before_anything_is_compiled() {
    let refused = |name: &str, more: &[&str]| {
        let words = ["run".to_string(), file(name).display().to_string()];
        let said = tactus(words.iter().map(String::as_str).chain(AARCH64).chain(more.iter().copied()));
        (said.status, said.errors)
    };
    for (option, words) in [("--caches", "no caches are modelled"), ("--in-sandbox", "there is no sandbox")] {
        let (status, why) = refused("examples/five-jobs.toml", &[option]);
        assert!(status == 2 && why.contains(&format!("{words} on aarch64 yet")), "{status}: {why}");
    }
    let (status, why) = refused("examples/sandboxes/sandboxes.toml", &[]);
    assert!(status == 2 && why.contains("there are no sandboxes on aarch64 yet"), "{status}: {why}");
    let system = file("examples/five-jobs.toml");
    let said = tactus(["iso".as_ref(), system.as_os_str()].into_iter().chain(AARCH64.map(AsRef::as_ref)));
    assert!(said.status == 2 && said.errors.contains("no medium is made on aarch64 yet"), "{}", said.errors);
    // The costs of the system's own work were measured on one core.
    let (status, why) = refused("examples/avionics.toml", &[]);
    assert!(status == 3 && why.contains("no costs were measured on aarch64 with 4 cores"), "{status}: {why}");
    if !is_here() {
        return;
    }
    let (status, why) = refused("examples/avionics.toml", &["--costs", "none"]);
    assert!(status == 2 && why.contains("on aarch64 it is not booted: it has several cores"), "{status}: {why}");
}
