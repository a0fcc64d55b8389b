//! Tasks that others release, and chains of them (`examples/chain.toml`): the same on the machine as simulated, held, void by
//! whom, and refused.

use tactus_record::{EntryReason, EventKind, Record};
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
    let words = "chain.toml:11: chain `sensor to actuator` may take 12.1";
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
    let words = "\"housekeeping\" is sporadic, and nothing raises it on the machine";
    assert!(said.errors.contains(words), "{} {}", said.errors, said.output);
    let run = Finished::simulate(&sporadic, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let jobs = run.summary.task("housekeeping").released();
    assert!((29..40).contains(&jobs), "{jobs} jobs at distances from 50 to 70 ms");
}

#[test]
fn arrivals_come_from_a_list_when_simulated_and_a_bad_list_is_refused_on_its_line() {
    let scratch = Scratch::new("listed");
    let system = with(&scratch, "name = \"housekeeping\"\n", "name = \"housekeeping\"\nrelease = \"sporadic\"\n");
    let list =
        scratch.write("arrivals.txt", "# three\nhousekeeping 10 ms\nhousekeeping 100 ms\nhousekeeping 500 ms # far\n");
    let words = ["--arrivals", list.to_str().expect("a name")];
    let run = Finished::simulate(&system, &words);
    assert_eq!(
        (run.summary.outcome(), run.summary.task("housekeeping").released()),
        ("held", 3),
        "{}",
        run.said.output
    );
    for (text, words) in [
        ("housekeeping 10 ms\nhousekeeping\n", "arrivals.txt:2: \"housekeeping\" is no arrival"),
        ("housekeping 10 ms\n", "arrivals.txt:1: there is no task \"housekeping\""),
        ("filter 10 ms\n", "arrivals.txt:1: nothing from outside releases \"filter\""),
        ("housekeeping 10 ms\n\nhousekeeping 5 ms\n", "arrivals.txt:3: an arrival for \"housekeeping\" at"),
        ("housekeeping 10 parsecs\n", "arrivals.txt:1: "),
    ] {
        let list = scratch.write("arrivals.txt", text);
        let said = tactus(["simulate".as_ref(), system.as_os_str(), "--arrivals".as_ref(), list.as_os_str()]);
        assert_eq!(said.status, 2, "{}", said.output);
        assert!(said.errors.contains(words), "{words}: {}", said.errors);
    }
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
        // More urgent than what raises it: it runs at once, in the middle of that job. It may come a little earlier.
        task("often", 9, 9, raised),
        // No closer than 40 ms, though every 30 ms something arrives: what comes early waits.
        task("seldom", 1, 40, raised),
    );
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let often = run.summary.task("often");
    assert_eq!((often.released(), often.missed()), (30, 0));
    let seldom = run.summary.task("seldom");
    assert_eq!((seldom.released(), seldom.missed()), (8, 0), "{}", run.said.output);
    // Nothing else is due with what `often` is released by.
    let decisions = decided_on_arrival(&run);
    let short = decisions.iter().filter(|length| **length < SHORT).count();
    assert!(short >= 30, "{short} of {} arrivals took the short way: {decisions:?} ns", decisions.len());
}

/// Longer than a decision on an arrival that takes the short way, shorter than one that does not: ns, of which an instruction is two.
const SHORT: u64 = 2_000;

/// How long the decisions took that an arrival asked for (ns), in their order.
fn decided_on_arrival(run: &Finished) -> Vec<u64> {
    let trace = run.trace();
    let about = |record: &&Record| record.level == EntryReason::Arrival as u8;
    let entered = trace.cores[0].iter().filter(about).filter(|record| record.kind == EventKind::Enter);
    let left = trace.cores[0].iter().filter(about).filter(|record| record.kind == EventKind::Leave);
    entered.zip(left).map(|(entered, left)| left.time.since(entered.time).as_nanos()).collect()
}

/// The example of the interrupt, with some of its text exchanged.
fn imu(scratch: &Scratch, changes: &[(&str, &str)]) -> std::path::PathBuf {
    let text = std::fs::read_to_string(file("examples/imu/imu.toml")).expect("the example");
    let absolute = |path: &str| file(path).display().to_string();
    let text = text.replace("\"parts\"", &format!("\"{}\"", absolute("examples/imu/parts")));
    let text = text.replace("\"../../os", &format!("\"{}", absolute("os")));
    let change = |text: String, (old, new): &(&str, &str)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    };
    scratch.write("imu.toml", &changes.iter().fold(text, change))
}

#[test]
fn from_interrupt_to_message_a_chain_keeps_its_bound_and_its_run_is_replayed_and_the_same_twice() {
    let scratch = Scratch::new("imu");
    let example = imu(&scratch, &[]);
    let [first, second] = [0, 1].map(|_| Finished::run(&example, &[]));
    for run in [&first, &Finished::simulate(&example, &[])] {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        let chain = chain(run);
        assert!(chain["begun"].as_u64() >= Some(999), "{chain}");
        assert_eq!((chain["completed"].as_u64(), chain["missed"].as_u64()), (chain["begun"].as_u64(), Some(0)));
        let (worst, bound) = (chain["response"]["max_ns"].as_u64(), chain["bound_ns"].as_u64());
        assert!(worst > Some(20_000) && worst < bound && bound < Some(1_000_000), "{chain}");
    }
    assert!(first.said.output.contains("decisions is the policy's own"), "{}", first.said.output);
    assert_eq!(first.summary.task("actuate").released(), first.summary.task("control").released());
    let trace = |run: &Finished| std::fs::read(run.file("trace.bin")).expect("its trace");
    assert_eq!(trace(&first), trace(&second), "two runs of one file");
}

/// The controller's job 50 sends no command, or two, so that each later one comes behind another: it is named with the number, and the
/// chain is not held.
#[test]
fn a_job_that_sends_no_message_or_two_is_named() {
    for (topic, times, words) in [
        ("imu-none", "if job.number() == 50 { 0 } else { 1 }", "control (job 50 sent no message)"),
        ("imu-two", "if job.number() == 50 { 2 } else { 1 }", "control (job 50 sent 2 messages instead of one)"),
    ] {
        let scratch = Scratch::new(topic);
        let part = |name: &str| std::fs::read_to_string(file(&format!("examples/imu/parts/{name}"))).expect("a part");
        let (old, new) = ("if COMMANDS.send(", format!("for _ in 0..{times} {{\n    if COMMANDS.send("));
        let controller = part("src/controller.rs");
        assert!(controller.contains(old) && controller.ends_with("    }\n}\n"), "{controller}");
        scratch.write("parts/src/controller.rs", &(controller.replace(old, &new) + "}\n"));
        // It takes what comes.
        let check = "assert!(number == job.number(), \"a command was lost\");";
        let actuator = part("src/actuator.rs");
        assert!(actuator.contains(check), "{actuator}");
        scratch.write("parts/src/actuator.rs", &actuator.replace(check, "let _ = number;"));
        for name in ["filter.rs", "imu.rs"] {
            scratch.write(&format!("parts/src/{name}"), &part(&format!("src/{name}")));
        }
        let runtime = format!("path = {:?}", file("os/rt").display().to_string());
        scratch.write("parts/Cargo.toml", &part("Cargo.toml").replace("path = \"../../../os/rt\"", &runtime));
        let parts = file("examples/imu/parts").display().to_string();
        let example = imu(&scratch, &[(&parts, "parts")]);
        let run = Finished::run(&example, &["--duration", "100 ms"]);
        assert_eq!(run.said.status, 1, "{}", run.said.output);
        assert!(run.said.output.contains(words), "{words}: {}", run.said.output);
    }
}

#[test]
fn a_device_that_interrupts_ten_times_as_often_as_declared_takes_nothing_from_others() {
    let scratch = Scratch::new("imu-flood");
    // A hundredth of a second between interrupts is declared; the sensor does not know.
    let slow = ("period = \"1 ms\"", "period = \"10 ms\"");
    let run = Finished::run(&imu(&scratch, &[slow]), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert!(run.said.output.contains("decisions is the policy's own"), "{}", run.said.output);
    let released = ["sample", "filter", "control", "actuate"].map(|task| run.summary.task(task).released());
    assert_eq!(released, [100; 4]);
    assert_eq!(run.summary.task("telemetry").missed(), 0);

    let fault = ("interrupt = 20\n", "interrupt = 20\nearly = \"fault\"\n");
    let run = Finished::run(&imu(&scratch, &[slow, fault]), &[]);
    assert_eq!(run.summary.outcome(), "broken", "{}", run.said.output);
    let named = run.said.output.contains("sample") && run.said.output.contains("arrived earlier than it may");
    assert!(named, "{}", run.said.output);
    assert_eq!(run.summary.task("actuate").released(), 100);
}

/// Set-ups of the interrupt study as system files: without a server the check refuses, and what wants the packets starves; with one, or
/// one for each stream, everything beside the packets' own work keeps its bound, whatever comes.
#[test]
fn a_server_for_protocol_work_ends_the_livelock_that_there_is_without_one() {
    let set_up = |letter: &str| {
        let example = file(&format!("examples/interrupts/{letter}.toml"));
        Finished::run(&example, &["--duration", "400 ms"])
    };
    let jobs = |run: &Finished, task: &str| run.summary.task(task).completed();
    let [livelock, one, each] = ["a", "c", "d"].map(set_up);
    assert_eq!(livelock.summary.outcome(), "refused", "{}", livelock.said.output);
    // 2,000 packets a second.
    assert!(jobs(&livelock, "driver") > 790);
    let starved = ["task-1", "task-2", "control"].map(|task| jobs(&livelock, task));
    assert!(starved.iter().sum::<u64>() < 5, "{starved:?}");
    for served in [&one, &each] {
        assert_eq!(served.summary.outcome(), "held", "{}", served.said.output);
        assert!(served.said.output.contains("decisions is the policy's own"), "{}", served.said.output);
        assert!(jobs(served, "driver") > 790);
        assert!(jobs(served, "task-1") > 7 && jobs(served, "task-2") > 7 && jobs(served, "control") == 5);
    }
}
