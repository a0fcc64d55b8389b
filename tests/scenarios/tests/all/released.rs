//! Tasks that others release, and chains of them (`examples/chain.toml`): the same on the machine as simulated, held, void by
//! whom, and refused.

use tactus_scenarios::{file, tactus, Finished, Scratch};

/// The example with one piece of its text exchanged.
fn with(scratch: &Scratch, old: &str, new: &str) -> std::path::PathBuf {
    let text = std::fs::read_to_string(file("examples/chain.toml")).expect("the example");
    assert!(text.contains(old), "{old}");
    scratch.write("chain.toml", &text.replace(old, new))
}

fn chain(run: &Finished) -> &serde_json::Value {
    &run.summary.json["chains"][0]
}

#[test]
fn a_chain_keeps_its_bound_on_the_machine_and_when_simulated() {
    let example = file("examples/chain.toml");
    for run in [Finished::run(&example, &[]), Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        let chain = chain(&run);
        assert_eq!((chain["begun"].as_u64(), chain["completed"].as_u64()), (Some(100), Some(100)));
        let (worst, bound) = (chain["response"]["max_ns"].as_u64(), chain["bound_ns"].as_u64());
        assert!(worst > Some(4_000_000) && worst < bound && bound < Some(20_000_000), "{chain}");
        assert!(run.said.output.contains("sensor to actuator"), "{}", run.said.output);
        assert!(run.text("report.html").contains("chain-table"));
    }
}

#[test]
fn a_task_of_a_chain_that_takes_too_long_is_named_with_the_chain_it_spoils() {
    let scratch = Scratch::new("chain-culprit");
    let slow =
        with(&scratch, "actual = { min = \"1 ms\", max = \"2 ms\" }", "actual = { min = \"14 ms\", max = \"18 ms\" }");
    let run = Finished::run(&slow, &[]);
    assert_eq!(run.summary.outcome(), "void", "{}", run.said.output);
    assert!(run.said.output.contains("void by filter"), "{}", run.said.output);
    assert!(chain(&run)["missed"].as_u64() > Some(50), "{}", chain(&run));
}

#[test]
fn a_chain_over_its_deadline_is_refused_with_its_parts() {
    let scratch = Scratch::new("chain-tight");
    let tight = with(&scratch, "deadline = \"20 ms\"\n\n[[task]]", "deadline = \"10 ms\"\n\n[[task]]");
    let said = tactus(["check".as_ref(), tight.as_os_str()]);
    assert_eq!(said.status, 1, "{}", said.output);
    let words = "chain.toml:11: chain `sensor to actuator` may take 11.7";
    assert!(said.output.contains(words) && said.output.contains("over its deadline of 10 ms"), "{}", said.output);
}

#[test]
fn what_nothing_raises_on_the_machine_is_refused_there_and_simulated() {
    let scratch = Scratch::new("sporadic");
    let sporadic = with(
        &scratch,
        "name = \"housekeeping\"\n",
        "name = \"housekeeping\"\nrelease = \"sporadic\"\nlongest-distance = \"70 ms\"\n",
    );
    let said = tactus(["run".as_ref(), sporadic.as_os_str()]);
    assert_eq!(said.status, 2, "{}", said.output);
    assert!(
        said.errors.contains("\"housekeeping\" is sporadic, and nothing raises it")
            || said.output.contains("\"housekeeping\" is sporadic")
    );
    let run = Finished::simulate(&sporadic, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let jobs = run.summary.task("housekeeping").released();
    assert!((29..40).contains(&jobs), "{jobs} jobs at distances from 50 to 70 ms");
}

#[test]
fn a_component_raises_what_others_do_at_once_or_when_the_period_is_over() {
    let folder = Scratch::new("raises");
    // The first task that it raises in each job, the second one in every third; a third there is not.
    folder.component(
        "driver",
        "main.rs",
        "#![no_std]\n#![no_main]\nuse tactus_rt::{grant, Job};\ntactus_rt::component! { job: job, services: [] }\n\
         fn job(job: &Job) {\n    let raise = |event: u64| grant(\"raise\").call([event, 0, 0, 0, 0]);\n\
         assert!(raise(0).is_ok());\n    if job.number() % 3 == 0 {\n        assert!(raise(1).is_ok());\n    }\n    \
         let _ = raise(2);\n}\n",
    );
    let task = |name: &str, priority: u64, period: u64, more: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\ncore = 0\npriority = {priority}\nperiod = \"{period} ms\"\n\
             execution = \"1 ms\"\n{more}\n"
        )
    };
    let raised = "release = \"sporadic\"\nraised-by = \"driver\"";
    let text = format!(
        "[system]\nname = \"raises\"\ncores = 1\nduration = \"300 ms\"\n[policy]\nkind = \"partitioned-fp\"\n\
         [[component]]\nname = \"driver\"\ncrate = \"driver\"\n{}{}{}",
        task("poll", 5, 10, "component = \"driver\""),
        // More urgent than what raises it: it runs at once, in the middle of that job.
        task("often", 9, 10, raised),
        // No closer than 40 ms, though every 30 ms something arrives: what comes early waits.
        task("seldom", 1, 40, raised),
    );
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let often = run.summary.task("often");
    assert_eq!((often.released(), often.missed()), (30, 0));
    let seldom = run.summary.task("seldom");
    assert_eq!((seldom.released(), seldom.missed()), (8, 0), "{}", run.said.output);
}
