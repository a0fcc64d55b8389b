//! The examples of the repository are systems, and they are those that their comments tell of.

use std::path::{Path, PathBuf};
use tactus_model::{policy_label, Policy, System};
use tactus_time::{CoreId, Duration, Level};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn read(name: &str) -> System {
    System::read(&examples().join(name)).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Σ execution at `level` ÷ period over some tasks.
fn utilisation(system: &System, level: Level, chosen: impl Fn(&tactus_model::Task) -> bool) -> f64 {
    let tasks = system.tasks.iter().filter(|task| chosen(task));
    tasks.map(|task| task.execution_at(level).as_secs_f64() / task.period.as_secs_f64()).sum()
}

#[test]
fn every_example_is_a_system() {
    let mut read_some = 0;
    for folder in [examples(), examples().join("rt-app")] {
        for entry in std::fs::read_dir(folder).expect("the folder of examples") {
            let path = entry.expect("an entry").path();
            if path.is_file() && path.extension().is_some_and(|e| e == "toml" || e == "json") {
                System::read(&path).unwrap_or_else(|problems| panic!("{problems}"));
                read_some += 1;
            }
        }
    }
    assert!(read_some >= 7, "only {read_some} examples were found");
}

#[test]
fn the_avionics_example_is_what_the_front_page_shows() {
    let system = read("avionics.toml");
    assert_eq!((system.name.as_str(), system.cores, system.tasks.len()), ("avionics", 4, 24));
    assert_eq!(system.level_summary(), "A 6, B 6, C 10, D 2");
    assert_eq!(policy_label(&system.policy), "MC²");
    assert_eq!(system.duration, Duration::from_secs(10));
    for core in 0..4 {
        let here = |task: &tactus_model::Task| task.core == Some(CoreId(core));
        let (a, b) = (
            utilisation(&system, Level::A, |t| here(t) && t.level == Some(Level::A)),
            utilisation(&system, Level::B, here),
        );
        if core == 0 {
            assert_eq!((a, b), (0.0, 0.0), "core 0 is left to level C");
        } else {
            assert!((0.1..=0.3).contains(&a), "level A on core {core}: {a}");
            assert!((0.3..=0.61).contains(&b), "level B on core {core}: {b}");
        }
    }
    let c = utilisation(&system, Level::C, |task| task.level == Some(Level::C));
    assert!((1.0..=1.6).contains(&c), "level C: {c}");
}

#[test]
fn jobs_of_the_avionics_example_stay_within_their_times_of_level_c() {
    let system = read("avionics.toml");
    for (i, task) in system.tasks.iter().enumerate().filter(|(_, task)| task.level != Some(Level::D)) {
        for job in 0..2_000 {
            let length = task.demand(system.seed, tactus_time::TaskId(i as u16), job);
            assert!(length <= task.execution_at(Level::C), "{} {job}: {length}", task.name);
        }
    }
}

#[test]
fn the_worked_example_has_the_utilisations_of_its_source() {
    let system = read("mc2-example.toml");
    let up_to = |most: Level| move |task: &tactus_model::Task| task.level.is_some_and(|level| level <= most);
    for (level, expected) in [(Level::A, 1.00), (Level::B, 0.90), (Level::C, 0.95)] {
        let sum = utilisation(&system, level, up_to(level));
        assert!((sum - expected).abs() < 1e-9, "level {level}: {sum}");
    }
    assert!((utilisation(&system, Level::D, |_| true) - 1.25).abs() < 1e-9);
    assert!(!system.machine.overheads);
    assert!(system.tasks[..4].iter().all(|task| task.core == Some(CoreId(0))));
}

#[test]
fn the_rt_app_examples_become_the_tasks_that_they_describe() {
    let system = read("rt-app/deadline.json");
    assert_eq!(system.policy, Policy::Mc2 { enforce: true, slack_shifting: false });
    let names: Vec<_> = system.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["sensor-0", "sensor-1", "controller", "logger"]);
    assert_eq!(system.level_summary(), "C 3, D 1");
    let controller = &system.tasks[2];
    assert_eq!(controller.offset, Duration::from_millis(5));
    assert_eq!(controller.budget(), Duration::from_millis(6));
    assert_eq!(controller.demand, tactus_model::Demand::Fixed(Duration::from_millis(5)));
    assert!(system.notes.iter().any(|note| note.contains("calibration")), "{:?}", system.notes);

    let system = read("rt-app/fixed-priority.json");
    assert_eq!((system.policy, system.cores), (Policy::PartitionedRm, 2));
    let video = system.tasks.iter().find(|task| task.name == "video").expect("video");
    let ms = Duration::from_millis;
    assert_eq!(video.demand, tactus_model::Demand::List(vec![ms(6), ms(6), ms(6), ms(15)]));
    assert_eq!(video.execution_at(Level::A), ms(15));
}
