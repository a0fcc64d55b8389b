//! What is taken from a small system file: monitors, disks, caches, and what memory costs.

use super::what_jobs_do::component;
use std::path::Path;
use tactus_model::{Action, Change, Feature, Part, System};
use tactus_time::Duration;

/// A system of two tasks with more in it.
fn donor(machine: &str, more: &str) -> System {
    let text = format!(
        "[system]\ncores = 2\nduration = '1 s'\n[machine]\n{machine}\n[policy]\nkind = 'partitioned-edf'\n\
         [[task]]\nname = 'a'\ncore = 0\nperiod = '10 ms'\nexecution = '1 ms'\n\
         [[task]]\nname = 'b'\ncore = 1\nperiod = '10 ms'\nexecution = '1 ms'\n{more}"
    );
    System::parse_toml(&text, Path::new("donor.toml"))
        .unwrap_or_else(|problems| panic!("a donor is a good file: {problems}"))
}

/// Gives the system what makes the feature.
pub(super) fn give(feature: Feature, system: &mut System) {
    match feature {
        Feature::Monitor => system.monitors = donor("", &monitor("")).monitors,
        Feature::Disk => system.disks = donor("", DISK).disks,
        Feature::Colours => system.platform.colours = 8,
        Feature::Caches => {
            let of = donor("geometry = 'i7-2600'\ncolours = 'from geometry'", "").platform;
            (system.platform.caches, system.platform.colours) = (of.caches, of.colours);
        }
        Feature::MissCost => {
            system.platform.memory = donor("memory-line = '100 ns'\nmiss-cost = '200 ns'", "").platform.memory;
            // Without that nobody knows what other cores ask for.
            system.scheduling.misses = vec![Some(10); system.tasks.len()];
        }
        Feature::ServerMisses => system.platform.memory = donor("memory-line = '100 ns'", "").platform.memory,
        Feature::ForeignRoot => system.platform.root = Some(component(system)),
        Feature::Ticks => {
            let n = component(system);
            system.components[n].rights.ticks = Some(Duration::from_millis(10));
        }
        Feature::Lines => {
            let n = component(system);
            system.components[n].rights.lines = vec![5];
        }
        Feature::Reconfiguration => {
            let (at, part) = (Duration::from_millis(100), Part::Task(0));
            let values = tactus_model::Values { period: Some(system.tasks[0].period * 2), ..Default::default() };
            system.scheduling.changes.push(Change { at, part, action: Action::Alter(values), line: 0 });
        }
        _ => {}
    }
}

const DISK: &str = "[[disk]]\nname = 'd'\ndrive = 'cheetah-15k7'\n\
    [[disk.client]]\nname = 'c'\nstart = '0 MiB'\nextent = '64 MiB'\nsize = '8 KiB'\nperiod = '100 ms'\ndeadline = '80 ms'\n";

fn monitor(more: &str) -> String {
    let (property, events) = ("always (x -> next (not x unless y))", "{ x = 'start a', y = 'complete a' }");
    format!("[[monitor]]\nname = 'm'\nproperty = '{property}'\nevents = {events}\n{more}")
}

/// Has violations of a monitor release the task.
pub(super) fn handler(system: &mut System, n: usize) {
    let sporadic = "[[task]]\nname = 'handler'\ncore = 0\nperiod = '10 ms'\nexecution = '1 ms'\nrelease = 'sporadic'\n";
    let more = format!("{sporadic}{}", monitor("on-violation = 'run handler'\n"));
    system.monitors = donor("", &more).monitors;
    system.tasks[n].name = "handler".into();
}
