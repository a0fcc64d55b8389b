//! By how much execution times may grow: where the check's verdict turns, asked of the check itself.

use std::path::Path;
use tactus_analysis::check::QUICK;
use tactus_analysis::{check, sensitivity, Growth};
use tactus_model::{Costs, System};
use tactus_time::Duration;

fn vehicle() -> System {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/vehicle.toml");
    System::read(&path).expect("a shipped example")
}

fn costs() -> Costs {
    let us = Duration::from_micros;
    Costs { release: us(3), schedule: us(5), switch: us(2), inter_core: us(4), complete: us(1) }
}

/// Whether the check accepts the system with another execution time of one task.
fn accepted(system: &System, n: usize, time: Duration) -> bool {
    let mut changed = system.clone();
    changed.tasks[n].execution = [Some(time); 4];
    check(&changed, &costs()).accepted
}

fn execution(system: &System, n: usize) -> Duration {
    system.tasks[n].execution[0].unwrap()
}

#[test]
fn each_of_120_tasks_has_a_margin_and_the_verdict_turns_there() {
    let system = vehicle();
    let all = sensitivity(&system, &costs(), QUICK);
    assert_eq!(all.len(), 120);
    for (n, growth) in all.iter().enumerate() {
        let Growth::By(more) = *growth else { panic!("{} has no margin: {growth:?}", system.tasks[n].name) };
        if n % 11 == 0 {
            let step = system.tasks[n].period / 4096 + Duration::from_nanos(1);
            let own = execution(&system, n);
            assert!(accepted(&system, n, own + more), "{}", system.tasks[n].name);
            assert!(!accepted(&system, n, own + more + step), "{}", system.tasks[n].name);
        }
    }
}

#[test]
fn on_an_overloaded_core_each_task_says_by_how_much_it_would_have_to_shrink() {
    let mut system = vehicle();
    let sick = system.tasks.iter().position(|t| t.core.is_some_and(|c| c.index() == 3)).unwrap();
    system.tasks[sick].execution = [Some(system.tasks[sick].deadline); 4];
    let result = check(&system, &costs());
    assert!(!result.accepted);
    assert_eq!(result.findings[0].core.map(|c| c.index()), Some(3), "{}", result.findings[0]);
    let all = sensitivity(&system, &costs(), QUICK);
    let Growth::Short(less) = all[sick] else { panic!("{:?}", all[sick]) };
    let step = system.tasks[sick].period / 4096 + Duration::from_nanos(1);
    assert!(accepted(&system, sick, execution(&system, sick) - less));
    assert!(!accepted(&system, sick, execution(&system, sick) - less + step));
    for (n, growth) in all.iter().enumerate() {
        let here = system.tasks[n].core.is_some_and(|c| c.index() == 3);
        match growth {
            Growth::NotAlone => assert!(here && n != sick),
            Growth::By(_) => assert!(!here),
            Growth::Short(_) => assert!(n == sick),
            Growth::Unknown => panic!("{} was not looked at", system.tasks[n].name),
        }
    }
}

#[test]
fn under_mc2_each_level_has_margins_of_its_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mc2-example.toml");
    let system = System::read(&path).expect("a shipped example");
    let ms = Duration::from_millis;
    let all = sensitivity(&system, &Costs::default(), QUICK);
    // Level A fills its table. At level-B times A takes 0.6 of the core and B 0.3. Level D has no promise.
    assert_eq!(all[..2], [Growth::By(ms(0)); 2]);
    assert!(all[2..6].iter().all(|g| matches!(g, Growth::By(more) if *more > ms(0))), "{all:?}");
    assert_eq!(all[6], Growth::Unknown);
}

#[test]
fn the_utilisations_of_the_mc2_table_are_1_00_and_0_90_and_0_95() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mc2-example.toml");
    let system = System::read(&path).expect("a shipped example");
    let check = check(&system, &Costs::default());
    assert_eq!(check.cores[0].levels[..2], [1_000_000, 900_000]);
    let of_c = system.tasks.iter().filter(|t| t.level.is_some_and(|l| l <= tactus_time::Level::C));
    let all = tactus_analysis::utilisation::Utilisation::of(of_c.map(|t| (t.execution[2].unwrap(), t.period)));
    assert_eq!(all.millionths(), 950_000);
}
