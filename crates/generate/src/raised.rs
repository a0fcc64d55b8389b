//! Random systems in which components raise events that release others, some of them in bursts and some too early.

use crate::random::Random;
use crate::trees::tree;
use crate::{plain, released::in_full};
use std::path::PathBuf;
use tactus_model::{Body, Burst, Component, EarlyArrival, Overrun, Release, Rights, System, TaskPlacement};
use tactus_time::{CoreId, Duration, TaskId};

/// The execution time declared for a job that raises events.
const RAISES: Duration = Duration::from_micros(400);
/// The name of the program that the components of these systems run. In its job n it raises the event e once or twice, or not, as a
/// function of n and e alone.
pub const RAISER: &str = "tactus-raiser";

/// The tree of this seed ([`tree`]), in which half of all tasks that are bound to a core, or are in the root, are released by events.
/// On each such core a component raises them. Nothing if there are no such tasks.
pub fn raised(seed: u64) -> Option<System> {
    let mut random = Random::new(seed ^ 0x7261_6973);
    let mut system = tree(seed);
    let some = raise(&mut random, &mut system);
    system.name = format!("raised-{seed}");
    some.then_some(system)
}

/// Has about half of the tasks that time releases, and that are bound to a core or in the root, released by events that components raise,
/// one on each such core. False, and nothing else, if there are no such tasks.
pub(crate) fn raise(random: &mut Random, system: &mut System) -> bool {
    if system.scheduling.places.is_empty() {
        system.scheduling.places = vec![TaskPlacement::default(); system.tasks.len()];
    }
    let mut cores: Vec<Option<CoreId>> = Vec::new();
    for n in 0..system.tasks.len() {
        let next = |other: &TaskPlacement| other.release.predecessor() == Some(TaskId(n as u16));
        // Completions that release others come in no bursts.
        let releases = system.scheduling.places.iter().any(next);
        let place = &mut system.scheduling.places[n];
        let (core, period) = (system.tasks[n].core, system.tasks[n].period);
        let reached = core.is_some() || place.server.is_none();
        if !reached
            || !matches!(place.release, Release::Periodic)
            || place.overrun == Overrun::Stop
            || random.chance(0.5)
        {
            continue;
        }
        let early = if random.chance(0.2) { EarlyArrival::Drop } else { EarlyArrival::Delay };
        place.release = match random.chance(0.5) || releases {
            true => Release::Sporadic(early),
            false => {
                let jitter = Duration::from_micros(random.between(1, 4 * period.as_nanos() / 1_000));
                let distance = Duration::from_micros(random.between(0, period.as_nanos() / 4_000));
                Release::Bursts(early, Burst { jitter, distance })
            }
        };
        let raiser = cores.iter().position(|other| *other == core).unwrap_or_else(|| {
            cores.push(core);
            cores.len() - 1
        });
        system.scheduling.places[n].raised_by = Some(raiser);
        system.tasks[n].offset = Duration::ZERO;
    }
    for (n, core) in cores.iter().enumerate() {
        let mut task = plain(random, 0.01);
        task.name = format!("raises-{n}");
        (task.core, task.body) = (*core, Body::Component(n));
        task.execution = [Some(RAISES); 4];
        task.demand = tactus_model::Demand::Fixed(RAISES);
        system.tasks.push(task);
        system.scheduling.places.push(TaskPlacement { priority: 500, ..TaskPlacement::default() });
        system.components.push(Component {
            name: format!("raiser-{n}"),
            path: PathBuf::from(RAISER),
            slot: None,
            provides: Vec::new(),
            uses: Vec::new(),
            rights: Rights::default(),
            line: 0,
        });
    }
    system.policy = in_full(system.policy);
    !cores.is_empty()
}
