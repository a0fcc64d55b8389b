//! What no test looks at is promised nothing, and refused where it cannot be.

use std::path::Path;
use tactus_analysis::check::QUICK;
use tactus_analysis::{check, sensitivity, Check, Growth, TaskVerdict};
use tactus_model::{Costs, System};

fn rt_app(tasks: &str) -> System {
    let text = format!("{{\"global\": {{\"duration\": 1}}, \"tasks\": {{{tasks}}}}}");
    System::parse_rt_app(&text, Path::new("file.json")).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Two threads of one core, each of 8 ms in every so many; the second signals what nobody awaits.
fn signals(period: u32) -> System {
    let thread = |name: &str, priority: u32, more: &str| {
        format!(
            "\"{name}\": {{\"policy\": \"SCHED_FIFO\", \"priority\": {priority}, \"cpus\": [0], \"run\": 8000, {more}\
             \"timer\": {{\"ref\": \"{name}\", \"period\": {period}}}}}"
        )
    };
    rt_app(&[thread("a", 9, ""), thread("d", 7, "\"signal\": \"q\", ")].join(", "))
}

fn nothing_is_promised(system: &System, check: &Check, why: &str) {
    for task in &check.tasks {
        let TaskVerdict::Untested(reason) = &task.verdict else { panic!("{check}") };
        assert!(reason.contains(why), "{reason}");
    }
    assert!(check.tasks.iter().all(|task| task.slack().is_none()) && !check.summary.contains("slack"), "{check}");
    assert!(sensitivity(system, &Costs::default(), QUICK).iter().all(|growth| *growth == Growth::Unknown));
}

#[test]
fn an_overload_that_signals_is_refused_and_without_overload_it_is_promised_nothing() {
    let over = check(&signals(10_000), &Costs::default());
    assert!(!over.accepted && over.tasks.iter().all(|task| task.fails()), "{over}");
    assert_eq!(over.findings.len(), 1, "{over}");
    let told = over.findings[0].to_string();
    assert!(told.contains("core 0 is asked for 1.60 of its time by `a`, `d`; the limit is 1"), "{told}");
    let system = signals(20_000);
    let within = check(&system, &Costs::default());
    assert!(within.accepted, "{within}");
    nothing_is_promised(&system, &within, "no test of one core covers jobs that signal (`d`)");
}

#[test]
fn under_a_root_scheduler_of_the_files_own_nothing_is_promised() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/own-scheduler/own-scheduler.toml");
    let system = System::read(&folder).unwrap_or_else(|problems| panic!("{problems}"));
    let found = check(&system, &Costs::default());
    assert!(found.accepted && !found.tasks.is_empty(), "{found}");
    nothing_is_promised(&system, &found, "a root scheduler of the file's own");
}

#[test]
fn there_is_no_growth_and_no_slack_where_there_is_no_test() {
    let text = "[system]\ncores = 2\nduration = '60 ms'\n[machine]\noverheads = false\n[policy]\nkind = 'global-rm'\n\
                [[task]]\nname = 'a'\nperiod = '10 ms'\nexecution = '2 ms'\n\
                release = 'sporadic'\njitter = '8 ms'\n";
    let system = System::parse_toml(text, Path::new("file.toml")).unwrap_or_else(|problems| panic!("{problems}"));
    let found = check(&system, &Costs::default());
    nothing_is_promised(&system, &found, "covers arrivals in bursts (`a`)");
}

#[test]
fn beside_a_component_that_may_wire_ticks_or_lines_nothing_is_promised() {
    let rest =
        "[system]\ncores = 1\nduration = '1 s'\n[machine]\ninstruction = '64 ns'\n[policy]\nkind = 'partitioned-fp'\n\
                [[task]]\nname = 'victim'\npriority = 1\nperiod = '40 ms'\nexecution = '6 ms'\n\
                [[component]]\nname = 'ticking'\ncrate = '.'\nbrands = 1\n";
    let why = ["ticks of a component (`ticking`)", "interrupt lines of a component (`ticking`)"];
    for (right, why) in [("", None), ("ticks = '3200 us'", Some(why[0])), ("lines = [5]", Some(why[1]))] {
        let text = rest.to_string() + right;
        let system = System::parse_toml(&text, Path::new("file.toml")).unwrap_or_else(|problems| panic!("{problems}"));
        let found = check(&system, &Costs::default());
        match why {
            None => assert!(found.tasks[0].slack().is_some(), "{found}"),
            Some(why) => nothing_is_promised(&system, &found, why),
        }
    }
}
