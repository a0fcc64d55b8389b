//! Monitors at work on the machine: verdicts that the kernel comes to while the system runs, what it does for them, and components that
//! try to change what is found of others.

use std::fs;
use tactus_record::EventKind;
use tactus_scenarios::{file, tactus, Finished, Scratch};
use tactus_time::TaskId;

/// A system file made of an example by changes of its text, each of which has exactly one place.
fn changed(scratch: &Scratch, example: &str, changes: &[(&str, &str)], more: &str) -> std::path::PathBuf {
    let mut text = fs::read_to_string(file(example)).expect("the example");
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "{from} is not there once");
        text = text.replace(from, to);
    }
    let folder = file(example).parent().expect("a folder").display().to_string();
    text = text.replace("crate = \"", &format!("crate = \"{folder}/")) + more;
    let path = scratch.path().join("system.toml");
    fs::write(&path, text).expect("a system file");
    path
}

/// What `summary.json` says of a monitor.
fn monitor<'a>(finished: &'a Finished, name: &str, whole: &'a serde_json::Value) -> &'a serde_json::Value {
    let all = whole["monitors"].as_array().expect("a list of monitors");
    let found = all.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("no monitor {name}:\n{}", finished.said.output))
}

fn summary(finished: &Finished) -> serde_json::Value {
    serde_json::from_str(&finished.text("summary.json")).expect("a summary")
}

/// The source's example in its own language, from OIL to the verdicts of the kernel. Its third property wants another order than the
/// others: T2 to read b0 before T1 does.
#[test]
fn statement_18_the_monitors_of_an_oil_file_judge_a_running_image() {
    let scratch = Scratch::new("oil");
    let oil = file("examples/monitors/dataflow.oil");
    let written = tactus(["monitor".as_ref(), oil.as_os_str(), "--toml".as_ref()]);
    assert_eq!(written.status, 0, "{}", written.errors);
    let source =
        "#![no_std]\n#![no_main]\nuse tactus_rt::{Job, Signal};\ntactus_rt::component! { job: work, services: [] }\n\
        fn work(job: &Job) {\n    let all = [\"s00\", \"r10\", \"s11\", \"r20\", \"r21\"];\n\
        let own: &[&str] = match job.task() { 0 => &all[..1], 1 => &all[1..3], _ => &all[3..] };\n\
        for name in own { assert_eq!(Signal::new(name).raise(), Ok(())); }\n}\n";
    scratch.component("task", "main.rs", source);
    let judged = |offsets: [u32; 3]| {
        let mut text =
            "[system]\nname = \"dataflow\"\ncores = 1\nduration = \"49 ms\"\n[policy]\nkind = \"partitioned-edf\"\n"
                .to_owned();
        for (task, offset) in offsets.iter().enumerate() {
            text += &format!(
                "[[component]]\nname = \"T{task}\"\ncrate = \"task\"\n[[task]]\nname = \"T{task}\"\ncomponent = \"T{task}\"\n\
                 core = 0\noffset = \"{offset} ms\"\nperiod = \"10 ms\"\nexecution = \"200 us\"\n"
            );
        }
        let run = Finished::run(&scratch.write("system.toml", &(text + &written.output)), &[]);
        let json = summary(&run);
        ["use_case", "prop1", "prop2", "prop3"].map(|name| {
            let it = monitor(&run, name, &json);
            assert_eq!(it["judged_by"], "kernel", "{it}");
            match it["event"].as_str() {
                Some(event) => format!("{} by {event}", it["verdict"].as_str().expect("a verdict")),
                None => it["verdict"].as_str().expect("a verdict").to_owned(),
            }
        })
    };
    assert_eq!(judged([0, 2, 4]), ["not yet", "not yet", "not yet", "false by r10"]);
    assert_eq!(judged([0, 4, 2]), ["false by r20", "not yet", "false by r21", "not yet"]);
}

/// A watched channel's message may release the receiver's job, as any other's may.
#[test]
fn messages_that_monitors_watch_release_jobs() {
    let scratch = Scratch::new("released");
    let by_message = ("core = 0\noffset = \"3 ms\"\nperiod", "core = 0\nmessage = \"readings\"\nperiod");
    let run = Finished::run(&changed(&scratch, LOOP, &[by_message], ""), &["--duration", "99 ms"]);
    let json = summary(&run);
    for (name, events) in [("order", 30), ("fresh", 20), ("latency", 40), ("not-blind", 0)] {
        let it = monitor(&run, name, &json);
        assert_eq!((&it["verdict"], &it["events"]), (&"not yet".into(), &events.into()), "{name}: {it}");
    }
    assert_eq!((&json["tasks"][1]["name"], &json["tasks"][1]["jobs"]["completed"]), (&"control".into(), &10.into()));
}

/// Where components and the kernel have colours of their own, tables, messages and records lie in the kernel's.
#[test]
fn monitors_beside_colours_see_the_same_events_and_come_to_the_same_verdicts() {
    let scratch = Scratch::new("coloured");
    let coloured = "\n[machine]\ncolours = 8\n[kernel]\ncolours = [1, 4]\n[[monitor]]\nname = \"late\"\n\
        property = \"distance(sensed) <= 9 ms\"\nevents = { sensed = \"send readings\" }\n";
    let sensor = ("name = \"sensor\"\ncrate", "name = \"sensor\"\ncolours = [2]\ncrate");
    let run = Finished::run(&changed(&scratch, LOOP, &[sensor], coloured), &["--duration", "99 ms"]);
    let json = summary(&run);
    for (name, events, verdict) in [
        ("order", 30, "not yet"),
        ("fresh", 20, "not yet"),
        ("latency", 40, "not yet"),
        ("journal-answers", 20, "not yet"),
        ("sensor-works", 20, "not yet"),
        ("late", 10, "false"),
    ] {
        let it = monitor(&run, name, &json);
        assert_eq!((&it["verdict"], &it["events"]), (&verdict.into(), &events.into()), "{name}: {it}");
        assert_eq!(it["judged_by"], "kernel", "{name}: {it}");
    }
    let kept: serde_json::Value = serde_json::from_str(&run.text("run.json")).expect("a run");
    let parts = kept["colours"]["parts"].as_array().expect("parts");
    assert!(
        !parts.is_empty() && parts.iter().all(|it| it["foreign"].as_array().is_some_and(Vec::is_empty)),
        "{parts:?}"
    );
}

pub const LOOP: &str = "examples/monitored-loop/monitored-loop.toml";

#[test]
fn a_loop_of_components_is_watched_by_the_kernel_and_one_changed_line_breaks_each_property() {
    let scratch = Scratch::new("monitored");
    let whole = Finished::run(&changed(&scratch, LOOP, &[], ""), &[]);
    assert_eq!(whole.said.status, 0, "{}", whole.said.output);
    let json = summary(&whole);
    for (name, events, rests_on) in [
        ("order", 150, "kernel"),
        ("fresh", 100, "kernel"),
        ("latency", 200, "kernel"),
        ("journal-answers", 100, "kernel"),
        ("not-blind", 0, "component"),
        ("sensor-works", 100, "scheduler"),
    ] {
        let it = monitor(&whole, name, &json);
        assert_eq!((&it["verdict"], &it["events"]), (&"not yet".into(), &events.into()), "{name}: {it}");
        assert_eq!((&it["rests_on"], &it["judged_by"]), (&rests_on.into(), &"kernel".into()), "{name}: {it}");
    }
    let variants: [(&str, &[(&str, &str)]); 6] = [
        // Commands of the period before are taken between two readings.
        ("order", &[("offset = \"6 ms\"", "offset = \"1 ms\"")]),
        ("fresh", &[("offset = \"3 ms\"", "offset = \"7 ms\""), ("offset = \"6 ms\"", "offset = \"8 ms\"")]),
        ("latency", &[("offset = \"6 ms\"", "offset = \"9900 us\"")]),
        ("journal-answers", &[("[<= 200 us]", "[<= 400 ns]")]),
        (
            "not-blind",
            &[(
                "period = \"10 ms\"\ndeadline = \"2 ms\"\nexecution = \"200 us\"\n\n[[task]]\nname = \"control\"",
                "period = \"20 ms\"\ndeadline = \"2 ms\"\nexecution = \"200 us\"\n\n[[task]]\nname = \"control\"",
            )],
        ),
        ("sensor-works", &[("[<= 2 ms] sensed", "[<= 900 ns] sensed")]),
    ];
    for (name, changes) in variants {
        let broken = Finished::run(&changed(&scratch, LOOP, changes, ""), &["--duration", "60 ms"]);
        let json = summary(&broken);
        let it = monitor(&broken, name, &json);
        assert_eq!((broken.said.status, &it["verdict"]), (1, &"false".into()), "{name}: {}", broken.said.output);
        assert_eq!(json["verdict"]["what"], "property", "{name}: {}", broken.said.output);
        assert!(
            broken.said.output.contains(&format!("property {name} was violated"))
                || name == "order"
                || broken.said.output.contains(name),
            "{name}: {}",
            broken.said.output
        );
    }
}

/// What a monitor demands is done at the event: the component that it names has not come so far again.
#[test]
fn a_violated_property_stops_a_component_restarts_it_or_ends_the_run() {
    let scratch = Scratch::new("actions");
    let twice = (
        "period = \"10 ms\"\ndeadline = \"2 ms\"\nexecution = \"200 us\"\n\n[[task]]\nname = \"control\"",
        "period = \"20 ms\"\ndeadline = \"2 ms\"\nexecution = \"200 us\"\n\n[[task]]\nname = \"control\"",
    );
    let act = |action: &str, more: &[(&str, &str)]| {
        let acts = format!(
            "[[monitor]]\nname = \"acts\"\nproperty = \"always not blind\"\non-violation = \"{action}\"\n\
             events = {{ blind = \"signal controller.blind\" }}\n"
        );
        let changes: Vec<(&str, &str)> = [twice].iter().chain(more).copied().collect();
        Finished::run(&changed(&scratch, LOOP, &changes, &acts), &["--duration", "100 ms"])
    };
    // The controller is blind at 13 ms.
    let ended = act("end", &[]);
    assert_eq!(ended.said.status, 1, "{}", ended.said.output);
    let end = ended.trace().cores.iter().flatten().map(|record| record.time.as_nanos()).max().expect("records");
    assert!((13_000_000..13_200_000).contains(&end), "the run ends at {end} ns");

    let stopped = act("stop actuator", &[]);
    let json = summary(&stopped);
    assert_eq!(stopped.said.status, 1, "{}", stopped.said.output);
    let culprit = &json["culprits"][0];
    assert_eq!(culprit["component_name"], "actuator", "{}", stopped.said.output);
    assert!(culprit["fault"].as_str().expect("words").contains("property"), "{culprit}");
    let time = culprit["time_ns"].as_u64().expect("a time");
    assert!((13_000_000..13_100_000).contains(&time), "{culprit}");
    let act_jobs = &json["tasks"][2]["jobs"]["completed"];
    assert_eq!(*act_jobs, 1, "only the job before: {}", stopped.said.output);

    let own = act("stop controller", &[]);
    let json = summary(&own);
    assert_eq!(json["culprits"][0]["component_name"], "controller", "{}", own.said.output);
    assert_eq!(json["culprits"].as_array().map(Vec::len), Some(1), "{}", own.said.output);

    let restarts = ("name = \"actuator\"\ncrate = \"", "name = \"actuator\"\nrestarted-by = \"root\"\ncrate = \"");
    let again = act("restart actuator", &[restarts]);
    let json = summary(&again);
    assert_eq!(json["restarts"][0]["component_name"], "actuator", "{}", again.said.output);
    assert!(json["tasks"][2]["jobs"]["completed"].as_u64().expect("jobs") >= 8, "{}", again.said.output);

    // A task's jobs, on another core than that of the event, and each is told of it: the fifth monitor, its only event, the first state.
    let handled = act("note", &[("on-violation = \"run sound\"", "on-violation = \"run sound\"\nreset = true")]);
    let json = summary(&handled);
    assert_eq!(monitor(&handled, "not-blind", &json)["verdicts"], 5, "{}", handled.said.output);
    let sound = json["tasks"].as_array().expect("tasks").iter().find(|task| task["name"] == "sound").expect("a task");
    assert_eq!((&sound["jobs"]["completed"], &sound["jobs"]["missed"]), (&5.into(), &0.into()), "{sound}");
    assert_eq!(handled.log.matches("alarm: monitor 4, event Some(0), state 0").count(), 5, "{}", handled.log);
    let releases =
        handled.trace().cores[1].iter().filter(|it| it.kind == EventKind::Release).cloned().collect::<Vec<_>>();
    let first = releases.iter().map(|it| it.time.as_nanos()).find(|at| (13_000_000..13_100_000).contains(at));
    assert!(first.is_some(), "{releases:?}");
}

/// The same file simulated and on the machine: each violation releases a job, and one that comes too early waits as the file says.
#[test]
fn a_violation_releases_a_job_of_its_handler_simulated_and_on_the_machine() {
    let scratch = Scratch::new("handlers");
    let path = scratch.path().join("handlers.toml");
    let text = "[system]\nname = \"handlers\"\ncores = 1\nduration = \"99 ms\"\n[policy]\nkind = \"partitioned-edf\"\n\
        [[task]]\nname = \"work\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n\
        [[task]]\nname = \"handler\"\ncore = 0\nrelease = \"sporadic\"\nperiod = \"10 ms\"\ndeadline = \"3 ms\"\nexecution = \"1 ms\"\n\
        [[monitor]]\nname = \"idle\"\nproperty = \"always not done\"\nevents = { done = \"complete work\" }\nreset = true\n\
        on-violation = \"run handler\"\n[[monitor]]\nname = \"late\"\nproperty = \"distance(done) <= 15 ms\"\n\
        events = { done = \"complete handler\" }\n";
    fs::write(&path, text).expect("a system file");
    let jobs = |finished: &Finished| {
        let json = summary(finished);
        let verdicts = monitor(finished, "idle", &json)["verdicts"].clone();
        let completed = json["tasks"][1]["jobs"]["completed"].clone();
        let late = monitor(finished, "late", &json);
        (verdicts, completed, late["verdict"].clone(), late["events"].clone())
    };
    let (simulated, machine) = (Finished::simulate(&path, &[]), Finished::run(&path, &[]));
    let wanted = (10.into(), 10.into(), "not yet".into(), 10.into());
    assert_eq!(jobs(&simulated), wanted, "{}", simulated.said.output);
    assert_eq!(jobs(&machine), wanted, "{}", machine.said.output);
}

/// A component that sends on channels of others, raises their events, tells what only the scheduler may, owes messages that it does not
/// send, floods its own event and dies: every other verdict is what it was, every other promise holds, and whoever floods pays.
#[test]
fn an_intruder_changes_no_verdict_and_stops_no_monitor_and_pays_for_its_flood() {
    let scratch = Scratch::new("intruder");
    let more =
        "\n[[component]]\nname = \"intruder\"\ncrate = \"parts\"\n[[server]]\nname = \"cage\"\nkind = \"cbs-hard\"\n\
        budget = \"BUDGET\"\nperiod = \"20 ms\"\npolicy = \"partitioned-fifo\"\n[[task]]\nname = \"intrude\"\n\
        component = \"intruder\"\nserver = \"cage\"\ncore = 0\nperiod = \"20 ms\"\nexecution = \"1 ms\"\n\
        [[buffer]]\nname = \"pulse\"\nsize = \"4 KiB\"\nbetween = [\"intruder\", \"alarm\"]\n\
        [[monitor]]\nname = \"flooded\"\nproperty = \"always (begins -> next flood)\"\n\
        events = { flood = \"signal intruder.flood\", begins = \"release intrude\" }\n\
        [[monitor]]\nname = \"beats\"\nproperty = \"distance(pulsed) <= 21 ms\"\nevents = { pulsed = \"send pulse\" }\n\
        [[monitor]]\nname = \"gone\"\nproperty = \"always not gone\"\nevents = { gone = \"fault intrude\" }\n";
    let folder = file(LOOP).parent().expect("a folder").display().to_string();
    let more = more.replace("crate = \"parts\"", &format!("crate = \"{folder}/parts\""));
    const OTHERS: [&str; 6] = ["order", "fresh", "latency", "journal-answers", "not-blind", "sensor-works"];
    let more_with = |budget: &str| more.replace("BUDGET", budget);
    let with = Finished::run(&changed(&scratch, LOOP, &[], &more_with("2 ms")), &["--duration", "99 ms"]);
    let alone = Finished::run(&changed(&scratch, LOOP, &[], ""), &["--duration", "99 ms"]);
    let (with_json, alone_json) = (summary(&with), summary(&alone));
    for name in OTHERS {
        let (with, alone) = (monitor(&with, name, &with_json), monitor(&alone, name, &alone_json));
        assert_eq!((&with["verdict"], &with["events"]), (&alone["verdict"], &alone["events"]), "{name}");
    }
    assert_eq!(monitor(&with, "flooded", &with_json)["events"], 1_805, "{}", with.said.output);
    // What it does not send is noticed of it alone, when it is late.
    let beats = monitor(&with, "beats", &with_json);
    assert_eq!((&beats["verdict"], &beats["events"]), (&"false".into(), &2.into()), "{beats}");
    assert!((41_000_000..41_500_000).contains(&beats["at_ns"].as_u64().expect("a time")), "{beats}");
    // What a flood of twice as many events lasts longer, its job is charged more, and nobody else's is, not a thousandth of it.
    let trace = with.trace();
    let all = || trace.observed.iter().flatten().filter(|it| it.kind == EventKind::Observed);
    let flood = all().map(|it| it.job).max_by_key(|event| all().filter(|it| it.job == *event).count());
    let floods = |job: u64| {
        let is = |at: &u64| (20_000_000 * job..20_000_000 * (job + 1)).contains(at);
        let times = all().filter(|it| Some(it.job) == flood).map(|it| it.time.as_nanos()).filter(is);
        let times: Vec<u64> = times.collect();
        (times.len(), times[times.len() - 1] - times[0])
    };
    let charged = |task: u16, job: u32| {
        let mut done = trace.cores.iter().flatten().filter(|it| it.kind == EventKind::Complete && it.job == job);
        done.find(|it| it.task == Some(TaskId(task))).expect("the job ended").arg
    };
    let ((300, one), (600, two)) = (floods(3), floods(4)) else { panic!("{:?} {:?}", floods(3), floods(4)) };
    let (lasts, pays) = (two - one, charged(4, 4) - charged(4, 3));
    assert!(lasts.abs_diff(pays) * 100 <= lasts, "{lasts} ns longer, {pays} ns more");
    for task in 0..3 {
        let (before, beside) = (charged(task, 6), charged(task, 8));
        assert!(before.abs_diff(beside) * 1000 <= lasts, "task {task}: {before} ns, {beside} ns");
    }

    // It dies in the middle of a flood that the record has no room for and its server no budget: no verdict is hidden.
    let with = Finished::run(&changed(&scratch, LOOP, &[], &more_with("1 ms")), &["--duration", "200 ms"]);
    let with_json = summary(&with);
    for name in OTHERS {
        assert_eq!(monitor(&with, name, &with_json)["verdict"], "not yet", "{name}");
    }
    let gone = monitor(&with, "gone", &with_json);
    assert_eq!((&gone["verdict"], &gone["verdicts"]), (&"false".into(), &1.into()), "{gone}");
    assert!((100_000_000..124_000_000).contains(&gone["at_ns"].as_u64().expect("a time")), "{gone}");
    let culprits = with_json["culprits"].as_array().expect("culprits");
    assert_eq!(culprits.len(), 1, "{}", with.said.output);
    assert_eq!(culprits[0]["component_name"], "intruder");
    let trace = with.trace();
    assert!(trace.cores.iter().flatten().any(|it| it.kind == EventKind::ServerExhausted), "{}", with.said.output);
    for task in with_json["tasks"].as_array().expect("tasks") {
        if task["name"] == "intrude" {
            continue;
        }
        assert_eq!(task["jobs"]["missed"], 0, "{task}");
        assert!(task["promise"]["bound_ns"].is_u64() && task["worst_over_bound"].as_f64() <= Some(1.0), "{task}");
    }
}

/// Where each server has a scheduler of its own, the root of them says at the end what monitors found.
#[test]
fn the_root_of_several_schedulers_tells_of_a_violated_property() {
    let scratch = Scratch::new("several");
    let folder = file(LOOP).parent().expect("a folder").join("parts").display().to_string();
    let text = format!(
        "[system]\nname = \"several\"\ncores = 1\nduration = \"200 ms\"\n[policy]\nkind = \"partitioned-edf\"\n\
         schedulers = \"per-server\"\n[[server]]\nname = \"outer\"\nkind = \"cbs-hard\"\nbudget = \"6 ms\"\nperiod = \"10 ms\"\n\
         policy = \"partitioned-edf\"\n[[component]]\nname = \"intruder\"\ncrate = \"{folder}\"\n[[task]]\nname = \"intrude\"\n\
         component = \"intruder\"\ncore = 0\nserver = \"outer\"\nperiod = \"20 ms\"\nexecution = \"2 ms\"\n[[task]]\n\
         name = \"steady\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n[[monitor]]\nname = \"gone\"\n\
         property = \"always not gone\"\nevents = {{ gone = \"fault intrude\" }}\n"
    );
    let path = scratch.path().join("several.toml");
    fs::write(&path, text).expect("a system file");
    let run = Finished::run(&path, &[]);
    assert_eq!(run.said.status, 1, "{}", run.said.output);
    assert!(run.said.output.contains("property gone was violated by gone"), "{}", run.said.output);
    assert!(run.log.contains("1 violations of monitored properties"), "{}", run.log);
}
