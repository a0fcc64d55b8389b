//! Components that do not do what the file says: the verdict names who did what, and how many jobs of which tasks were not as
//! promised; terminal, page, summary, console and exit status say the same, which `Finished::run` looks at in every run.

use tactus_scenarios::{Finished, Scratch};

/// A component whose jobs do this, in a system with a task above it and one below.
fn between(name: &str, body: &str, restarts: &str, more: &str) -> Finished {
    let folder = Scratch::new(name);
    let source = format!(
        "#![no_std]\n#![no_main]\nuse tactus_rt::Job;\ntactus_rt::component! {{ job: job, services: [] }}\n\
         fn job(job: &Job) {{\n    {body}\n}}\n"
    );
    folder.component("culprit", "main.rs", &source);
    let task = |name: &str, priority: u64, period: u64, more: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\ncore = 0\npriority = {priority}\nperiod = \"{period} ms\"\n\
             execution = \"1 ms\"\n{more}\n"
        )
    };
    let text = format!(
        "[system]\nname = \"{name}\"\ncores = 1\nduration = \"200 ms\"\n[policy]\nkind = \"partitioned-fp\"\n\
         [[component]]\nname = \"culprit\"\ncrate = \"culprit\"\n{restarts}\n{}{}{}",
        task("above", 9, 5, ""),
        task("culprit", 5, 10, &format!("component = \"culprit\"\n{more}")),
        task("below", 1, 20, "")
    );
    Finished::run(&folder.write("system.toml", &text), &[])
}

const OFTEN: &str = "restarted-by = \"root\"\nrestarts = { most = 32, per = \"1 s\" }";

/// Who voided what, as `culprit: task missed …`.
fn voids(run: &Finished) -> Vec<String> {
    let list = run.summary.json["voids"].as_array().expect("a list");
    let tasks = |it: &serde_json::Value| {
        let tasks = it["tasks"].as_array().expect("a list").iter();
        tasks.map(|task| format!(" {} {}", task["task"].as_str().expect("a name"), task["missed"])).collect::<String>()
    };
    list.iter().map(|it| format!("{}:{}", it["task"].as_str().expect("a name"), tasks(it))).collect()
}

#[test]
fn a_component_that_never_ends_is_named_with_its_victims_and_harms_nobody_above() {
    let run = between("endless", "if job.number() >= 2 {\n        loop {}\n    }", "", "");
    assert_eq!(run.summary.outcome(), "void");
    // Jobs 2 to 19 of its own; of those below, all but the first, which came before.
    assert_eq!(voids(&run), ["culprit: culprit 18 below 9"], "{}", run.said.output);
    assert_eq!(run.summary.task("above").missed(), 0);
    assert!(run.summary.task("above").json()["void"].is_null());
    assert!(run.said.output.contains("void by culprit (job 2 took more than the "), "{}", run.said.output);
}

#[test]
fn a_component_that_panics_in_each_job_misses_each_though_it_is_restarted() {
    let run = between("panics", "let _ = job;\n    panic!()", OFTEN, "");
    let culprit = run.summary.task("culprit");
    assert_eq!((culprit.released(), culprit.missed(), culprit.json()["jobs"]["aborted"].as_u64()), (20, 20, Some(20)));
    assert_eq!(run.summary.outcome(), "void");
    assert_eq!(voids(&run), ["culprit: culprit 20"]);
    for name in ["above", "below"] {
        assert_eq!(run.summary.task(name).missed(), 0, "{name}");
    }
}

#[test]
fn a_component_that_claims_its_end_too_early_is_noticed_where_the_file_says_how_long_it_takes_at_least() {
    let run = between("early", "let _ = job;", "", "minimum = \"500 us\"");
    let culprit = run.summary.task("culprit");
    assert_eq!((culprit.missed(), culprit.json()["jobs"]["early"].as_u64()), (20, Some(20)));
    assert_eq!(voids(&run), ["culprit: culprit 20"]);
    let run = between("unnoticed", "let _ = job;", "", "");
    assert_eq!((run.summary.outcome(), run.summary.task("culprit").missed()), ("held", 0));
}

#[test]
fn a_component_that_stays_stopped_is_no_verdict_of_held() {
    let run = between("stopped", "if job.number() == 4 {\n        panic!()\n    }", "", "");
    assert_eq!(run.summary.outcome(), "stopped");
    assert!(run.said.output.contains("culprit was stopped; void by culprit"), "{}", run.said.output);
}

#[test]
fn a_wild_pointer_and_a_panic_are_named_with_function_file_and_line() {
    let with = |name: &str, then: &str| {
        let body = format!("if job.number() == 1 {{\n        steer(job.number());\n    }}\n}}\n\n#[inline(never)]\nfn steer(n: u64) {{\n    {then}");
        let run = between(name, &body, "", "");
        let culprit = &run.summary.json["culprits"][0];
        let text = |key: &str| culprit[key].as_str().unwrap_or_default().to_string();
        assert!(run.said.output.contains(&format!("in {}", text("source"))), "{}", run.said.output);
        (text("fault"), text("source"), culprit["address"].as_u64())
    };
    // SAFETY: there is none; what the program that is built of these words does is to be stopped.
    let wild = "unsafe { core::ptr::write_volatile((0xdead_0000 + n) as *mut u8, 1) }";
    let (fault, source, address) = with("wild", wild);
    assert!(fault.starts_with("write to an address"), "{fault}");
    assert_eq!((source.as_str(), address), ("culprit::steer (src/main.rs:13)", Some(0xdead_0001)));
    let (fault, source, _) = with("panicking", "assert!(n > 7, \"too near\")");
    assert_eq!((fault.as_str(), source.as_str()), ("panicked at src/main.rs:13: too near", "culprit::steer"));
}
