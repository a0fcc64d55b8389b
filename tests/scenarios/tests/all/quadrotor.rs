//! The quadrotor (`examples/quadrotor`): it flies and lands, twice the same; each promise broken by one edit, and the culprit named.

use std::fs;
use tactus_scenarios::{file, Finished, Scratch};

const EXAMPLE: &str = "examples/quadrotor/quadrotor.toml";

/// The example with one piece of its text exchanged, run for this long.
fn broken(topic: &str, old: &str, new: &str, more: &[&str]) -> Finished {
    let folder = Scratch::new(topic);
    let text = fs::read_to_string(file(EXAMPLE)).expect("the example");
    assert!(text.contains(old), "{old}");
    let at = |path: &str| file(path).display().to_string();
    let text = text.replace(old, new).replace("\"craft\"", &format!("{:?}", at("examples/quadrotor/craft")));
    let text = text.replace("../../os", &at("os"));
    let words = [&["--duration", "3 s"], more].concat();
    Finished::run(&folder.write("quadrotor.toml", &text), &words)
}

/// Why the promise of this task is void.
fn void(run: &Finished, task: &str) -> String {
    run.summary.task(task).json()["void"].as_str().unwrap_or_default().to_string()
}

#[test]
fn it_flies_its_mission_and_lands_with_every_promise_held_and_twice_the_same() {
    let run = Finished::run(&file(EXAMPLE), &[]);
    assert_eq!((run.summary.outcome(), run.summary.stopped()), ("held", vec![]), "{}", run.said.output);
    let line = run.log.lines().find(|line| line.contains("landed at ")).expect("it landed");
    let numbers: Vec<f64> =
        line.split(|c: char| !(c.is_ascii_digit() || ".-".contains(c))).filter_map(|it| it.parse().ok()).collect();
    let [x, y, speed, height] = numbers[..] else { panic!("{line}") };
    assert!((x - 1.5).abs() < 0.2 && (y + 1.0).abs() < 0.2, "{line}");
    assert!(speed < 1.0 && (1.8..2.5).contains(&height), "{line}");
    let chain = &run.summary.json["chains"][0];
    assert!(chain["completed"].as_u64() >= Some(12_999) && chain["missed"] == 0, "{chain}");
    let (worst, bound) = (chain["response"]["max_ns"].as_u64(), chain["bound_ns"].as_u64());
    assert!(worst > Some(30_000) && worst < bound && bound < Some(700_000), "{chain}");
    let again = Finished::run(&file(EXAMPLE), &[]);
    let bytes = |run: &Finished, name| fs::read(run.file(name)).expect("a run leaves it");
    assert!(bytes(&run, "trace.bin") == bytes(&again, "trace.bin"), "two runs differ");
    assert_eq!(run.log, again.log);
}

#[test]
fn a_section_that_is_longer_than_declared_is_telemetrys() {
    let run = broken("quadrotor-section", "length = \"80 us\"", "length = \"4 us\"", &[]);
    assert!(
        void(&run, "sensor").contains("telemetry: job 0 held a resource for longer than it declares"),
        "{}",
        run.said.output
    );
}

#[test]
fn a_budget_that_is_smaller_than_what_the_plant_takes_is_the_plants() {
    let run = broken("quadrotor-budget", "execution = \"40 us\"", "execution = \"5 us\"", &["--costs", "none"]);
    assert_eq!(run.said.status, 1);
    assert!(
        run.said.output.contains("void by plant (job 0 took more than the 5 µs assumed of it)"),
        "{}",
        run.said.output
    );
}

#[test]
fn a_user_of_the_estimator_that_its_ceiling_does_not_know_is_stopped_and_named() {
    let section = "priority = 1\nsections = [{ resource = \"estimator\", after = \"1 us\", length = \"80 us\" }]";
    let run = broken("quadrotor-ceiling", section, "priority = 1", &[]);
    assert!(run.said.output.contains("telemetry was stopped"), "{}", run.said.output);
    assert!(run.said.output.contains("the estimator is not declared"), "{}", run.said.output);
    assert_eq!((run.summary.task("control").missed(), void(&run, "control")), (0, String::new()));
}

#[test]
fn a_sensor_that_interrupts_earlier_than_declared_takes_nothing_from_the_others() {
    // It interrupts every millisecond; declared are 1.1 ms. What comes too early waits, with the line silent.
    let slower = "period = \"1100 us\"\ndeadline = \"400 us\"";
    let run = broken("quadrotor-early", "period = \"1 ms\"\ndeadline = \"400 us\"", slower, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let jobs = run.summary.task("sensor").released();
    assert!((2_700..=2_728).contains(&jobs), "{jobs} readings were taken of 3,000");
    assert_eq!((run.summary.task("plant").missed(), run.summary.task("telemetry").missed()), (0, 0));

    let fault = format!("{slower}\nearly = \"fault\"");
    let run = broken("quadrotor-fault", "period = \"1 ms\"\ndeadline = \"400 us\"", &fault, &[]);
    assert_eq!(run.summary.outcome(), "broken", "{}", run.said.output);
    let named = run.said.output.contains("sensor") && run.said.output.contains("arrived earlier than it may");
    assert!(named, "{}", run.said.output);
    assert_eq!((run.summary.task("plant").missed(), run.summary.task("telemetry").missed()), (0, 0));
}
