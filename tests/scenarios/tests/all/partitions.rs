//! Many partitions on one machine: each a component of its own memory in a server of its own, whose budget is all that it gets.

use tactus_scenarios::{tactus, Scratch, Summary};

/// Partitions, eight on each of four cores.
const MANY: usize = 32;

/// 32 servers of 4 ms in 40 ms, each with a task that takes 1 ms in 120; one of them may be a task that never ends.
fn system(rogue: Option<usize>) -> String {
    let mut text = String::from(
        "[system]\nname = 'partitions'\ncores = 4\nduration = '600 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitioned-edf'\n",
    );
    for n in 0..MANY {
        let actual = if rogue == Some(n) { "actual = '1 s'\n" } else { "" };
        text += &format!(
            "[[server]]\nname = 's{n}'\nkind = 'cbs-hard'\ncores = [{0}]\nbudget = '4 ms'\nperiod = '40 ms'\npolicy = 'partitioned-fifo'\n\
             [[task]]\nname = 't{n}'\nserver = 's{n}'\ncore = {0}\nperiod = '120 ms'\nexecution = '1 ms'\n{actual}",
            n % 4
        );
    }
    text
}

fn run(text: &str) -> (i32, Summary) {
    let scratch = Scratch::new("partitions");
    let file = scratch.write("partitions.toml", text);
    let out = scratch.path().join("out");
    let said = tactus(["run".as_ref(), file.as_os_str(), "--out".as_ref(), out.as_os_str()]);
    assert!(said.status < 2, "{}{}", said.output, said.errors);
    let summary = std::fs::read_to_string(out.join("summary.json")).expect("the run leaves a summary");
    (said.status, Summary::read(&summary))
}

#[test]
fn thirty_two_partitions_keep_their_promises_in_a_tenth_of_a_core_each() {
    let (status, summary) = run(&system(None));
    assert!(status == 0 && summary.held(), "{}", summary.json["verdict"]);
    assert_eq!(summary.tasks().count(), MANY);
    assert!(summary.tasks().all(|task| task.completed() >= 4 && task.missed() == 0));
}

#[test]
fn a_partition_that_never_ends_has_its_slice_and_no_other_one_misses_anything() {
    let (_, summary) = run(&system(Some(11)));
    assert!(summary.task("t11").missed() > 0, "it never ends");
    for task in summary.tasks().filter(|task| task.name() != "t11") {
        assert_eq!((task.missed(), task.completed() >= 4), (0, true), "{}", task.name());
        assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0), "{}", task.name());
    }
}

#[test]
fn ninety_six_components_in_forty_eight_partitions_on_eight_cores_keep_their_promises() {
    let wild = tactus_scenarios::file("tests/scenarios/wild");
    let mut text = String::from(
        "[system]\ncores = 8\nduration = '100 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\nmajor-frame = '24 ms'\n",
    );
    for n in 0..96 {
        // Without a number behind a dash, they behave.
        text += &format!("[[component]]\nname = 'tame{n}'\ncrate = '{}'\n", wild.display());
    }
    for n in 0..48 {
        let (core, start) = (n % 8, n / 8 * 4);
        text += &format!(
            "[[partition]]\nname = 'p{n}'\npolicy = 'partitioned-fp'\nwindows = [{{ core = {core}, start = '{start} ms', length = '4 ms' }}]\n"
        );
    }
    for n in 0..96 {
        text += &format!(
            "[[task]]\nname = 't{n}'\npartition = 'p{}'\ncomponent = 'tame{n}'\npriority = {}\nperiod = '24 ms'\nexecution = '300 us'\n",
            n / 2,
            n % 2 + 1
        );
    }
    let (status, summary) = run(&text);
    assert!(status == 0 && summary.held(), "{}", summary.json["verdict"]);
    assert!(summary.tasks().all(|task| task.completed() >= 4 && task.missed() == 0));
}
