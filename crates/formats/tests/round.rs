//! What is written reads back as it was, in every format that can hold it.

use std::path::Path;
use tactus_formats::{parse, to_toml, write, Format, Options, Reason, Task, TaskSet};
use tactus_model::System;
use tactus_time::Duration;

const OPTIONS: Options = Options { unit: Duration::from_micros(1) };

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

fn task(name: &str, execution: u64, period: u64, deadline: u64) -> Task {
    let (execution, period, deadline) = (us(execution), us(period), us(deadline));
    Task { name: name.into(), execution, period, deadline, ..Task::default() }
}

fn set() -> TaskSet {
    let tasks = vec![task("nav", 1_000, 10_000, 10_000), task("map", 2_500, 20_000, 15_000), task("log", 7, 333, 333)];
    TaskSet {
        name: "s".into(),
        cores: Some(2),
        policy: Some("global-edf".into()),
        duration: Some(us(2_000_000)),
        tasks,
        ..TaskSet::default()
    }
}

fn again(set: &TaskSet, format: Format) -> TaskSet {
    let written = write(std::slice::from_ref(set), format, &OPTIONS).expect("the format holds the set");
    let path = format!("s.{format}");
    let mut sets = parse(&written.text, Path::new(&path), format, &OPTIONS).expect("what was just written");
    assert_eq!(sets.len(), 1);
    sets.remove(0)
}

#[test]
fn tasks_survive_every_format() {
    for format in Format::ALL {
        assert_eq!(again(&set(), format).tasks, set().tasks, "{format}");
    }
}

#[test]
fn cores_policy_and_duration_survive_where_the_format_knows_them() {
    for format in [Format::System, Format::SimSo] {
        let read = again(&set(), format);
        assert_eq!((read.cores, read.policy, read.duration), (Some(2), Some("global-edf".into()), Some(us(2_000_000))));
    }
}

#[test]
fn what_a_format_cannot_hold_is_told() {
    let mut set = set();
    set.tasks[0].offset = us(5);
    set.tasks[1].jitter = us(3);
    set.tasks[2].priority = Some(4);
    let lost = |format| write(std::slice::from_ref(&set), format, &OPTIONS).expect("it can be written").lost.join("\n");
    let schedcat = lost(Format::SchedCat);
    for what in ["offset", "jitter", "priority", "policy"] {
        assert!(schedcat.contains(what), "{schedcat}");
    }
    assert!(lost(Format::System).contains("jitter"));
    assert!(!lost(Format::Csv).contains("jitter"));
    assert_eq!(again(&set, Format::Csv).tasks, set.tasks);
}

#[test]
fn bound_tasks_keep_their_cores() {
    let mut set = set();
    set.policy = Some("partitioned-edf".into());
    for (n, task) in set.tasks.iter_mut().enumerate() {
        task.core = Some(n % 2);
    }
    for format in Format::ALL {
        assert_eq!(again(&set, format).tasks, set.tasks, "{format}");
    }
    set.tasks[1].core = None;
    for format in [Format::System, Format::SimSo, Format::RtApp] {
        assert!(matches!(write(&[set.clone()], format, &OPTIONS), Err(Reason::Unwritable { .. })), "{format}");
    }
}

#[test]
fn several_sets_go_into_one_file_of_schedcat_or_csv() {
    let mut sets = vec![set(), set()];
    sets[1].tasks.truncate(1);
    sets[1].name = "s-2".into();
    for format in [Format::SchedCat, Format::Csv] {
        let written = write(&sets, format, &OPTIONS).expect("several sets");
        let read = parse(&written.text, Path::new("x.file"), format, &OPTIONS).expect("what was just written");
        assert_eq!(
            read.iter().map(|set| set.tasks.clone()).collect::<Vec<_>>(),
            sets.iter().map(|set| set.tasks.clone()).collect::<Vec<_>>()
        );
    }
    assert_eq!(write(&sets, Format::SimSo, &OPTIONS), Err(Reason::Several { format: Format::SimSo, sets: 2 }));
}

#[test]
fn names_that_a_system_file_does_not_take_are_changed_and_stay_apart() {
    let mut set = set();
    set.tasks[0].name = "TASK T1".into();
    set.tasks[1].name = "TASK/T1".into();
    set.tasks[2].name = "ÄÖ and a name that is much too long for a system file".into();
    let system = set.system().expect("a system");
    assert_eq!(system.tasks[0].name, "TASK-T1");
    assert_eq!(system.tasks[1].name, "TASK-T1-2");
    assert!(system.notes.iter().any(|note| note.contains("names of 3 tasks")), "{:?}", system.notes);
}

#[test]
fn every_example_that_stands_alone_is_written_and_reads_back_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut written = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let system = System::read(&path).expect("a good example");
        let Ok(text) = to_toml(&system) else { continue };
        let again = System::parse_toml(&text, &path).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        let plain = |system: &System| {
            let mut system = system.clone();
            system.tasks.iter_mut().for_each(|task| task.line = 0);
            system.scheduling.servers.iter_mut().for_each(|server| server.line = 0);
            system.scheduling.resources.iter_mut().for_each(|resource| resource.line = 0);
            system.scheduling.changes.iter_mut().for_each(|change| change.line = 0);
            system.monitors.iter_mut().for_each(|monitor| monitor.line = 0);
            system.chains.iter_mut().for_each(|chain| chain.line = 0);
            system.channels.iter_mut().for_each(|channel| channel.line = 0);
            system.services.iter_mut().for_each(|service| service.line = 0);
            system.notes.clear();
            format!("{system:#?}")
        };
        assert_eq!(plain(&again), plain(&system), "{}", path.display());
        written += 1;
    }
    assert!(written >= 6, "only {written} examples could be written");
}
