//! Random MC² systems of every shape: any level may be absent, and cores may be full to the last nanosecond.

use super::random::Random;
use super::{critical, demand, plain, Draw};
use tactus_model::{Machine, Policy, System, Task};
use tactus_time::{CoreId, Duration, Level};

/// The system of this seed. The sixteen sets of levels come in turn (without any task there is none, so that set is level D alone),
/// and every level that there is loads its cores lightly, heavily, to the whole or above.
pub fn mc2(seed: u64) -> System {
    let mut random = Random::new(seed ^ 0x006d_6332);
    let present = |level: Level| (seed >> level.index()) & 1 != 0;
    let cores = random.between(1, 4) as usize;
    let mut tasks = Vec::new();
    for level in [Level::A, Level::B].into_iter().filter(|level| present(*level)) {
        for core in 0..cores {
            // A level may be absent from some cores.
            if core > 0 && random.chance(0.2) {
                continue;
            }
            let load = load(&mut random);
            let mut left = load;
            let count = random.between(1, 3) as usize;
            for (n, u) in random.utilisations(count, load).into_iter().enumerate() {
                let own = if n + 1 == count { left } else { u };
                tasks.push(task(&mut random, level, core, own.min(1.0)));
                left = (left - own).max(0.0);
            }
        }
    }
    if present(Level::C) {
        let count = random.between(1, 4) as usize;
        let sum = (load(&mut random) * cores as f64).min(0.9 * count as f64);
        for u in random.utilisations(count, sum) {
            let mut task = plain(&mut random, u);
            task.level = Some(Level::C);
            task.execution = [None, None, task.execution[2], task.execution[3]];
            tasks.push(task);
        }
    }
    if present(Level::D) || tasks.is_empty() {
        for _ in 0..random.between(1, 2) {
            let mut task = plain(&mut random, 0.3);
            task.level = Some(Level::D);
            task.execution = [None, None, None, task.execution[3]];
            tasks.push(task);
        }
    }
    for (n, task) in tasks.iter_mut().enumerate() {
        task.name = format!("t{n}");
        task.deadline = task.period;
    }
    let policy = Policy::Mc2 { enforce: random.chance(0.7), slack_shifting: random.chance(0.5) };
    let draw = Draw { seed, policy, cores, tasks: tasks.len(), utilisation: 0.0, duration: Duration::from_millis(400) };
    let mut system = draw.with(tasks);
    system.name = format!("mc2-{seed}");
    system.machine = Machine { shift: 3, processor: Default::default(), overheads: random.chance(0.7), beside: 0 };
    system
}

/// What one level asks of a core.
fn load(random: &mut Random) -> f64 {
    match random.unit() {
        x if x < 0.35 => 0.05 + 0.3 * random.unit(),
        x if x < 0.65 => 0.35 + 0.6 * random.unit(),
        x if x < 0.8 => 1.0,
        x if x < 0.95 => 0.95 + 0.05 * random.unit(),
        _ => 1.0 + 0.2 * random.unit(),
    }
}

/// A task of level A or B. Every other one needs as much at the levels beneath as at its own.
fn task(random: &mut Random, level: Level, core: usize, utilisation: f64) -> Task {
    let mut task = critical(random, level, CoreId(core as u8), utilisation);
    if random.chance(0.5) {
        let own = task.budget();
        task.execution = task.execution.map(|time| time.map(|_| own));
        task.demand = demand(random, own);
    }
    task
}
