//! The longest costs of the system's own work that were seen over many runs, and how they become the file that `--costs measured` stands
//! for.

use tactus_model::{Costs, Processor, System};
use tactus_time::Duration;

/// The longest costs of systems of one size: instructions.
#[derive(Clone, Copy, Default)]
struct Measured {
    cores: usize,
    tasks: usize,
    release: u64,
    schedule: u64,
    switch: u64,
    inter_core: u64,
    complete: u64,
}

/// Systems are taken together up to these numbers of cores and tasks.
const CORES: [usize; 5] = [1, 2, 4, 6, 8];
/// See [`CORES`].
const TASKS: [usize; 5] = [12, 25, 50, 100, 240];

/// The longest costs seen over many runs, in instructions, by size of the system.
#[derive(Default)]
pub struct Seen([[Measured; TASKS.len()]; CORES.len()]);

impl Seen {
    /// Takes a run's costs in.
    pub fn add(&mut self, system: &System, costs: &Costs) {
        let cores = CORES.iter().position(|&most| system.cores <= most).unwrap_or(CORES.len() - 1);
        let tasks = TASKS.iter().position(|&most| system.tasks.len() <= most).unwrap_or(TASKS.len() - 1);
        let place = &mut self.0[cores][tasks];
        let grow = |most: &mut u64, seen: Duration| *most = (*most).max(seen.as_nanos() >> system.machine.shift);
        grow(&mut place.release, costs.release);
        grow(&mut place.schedule, costs.schedule);
        grow(&mut place.switch, costs.switch);
        grow(&mut place.inter_core, costs.inter_core);
        grow(&mut place.complete, costs.complete);
    }

    /// As a file: half as much again, and never less than for a smaller system; nothing of more cores than any system had.
    pub fn file(&self, processor: Processor, systems: u64) -> String {
        let name = processor.name();
        let mut text = format!(
            "# The longest that each kind of the system's own work took on the emulated {name} machine, in instructions, by size of the\n\
             # system (its cores and tasks at most): seen over {systems} generated systems (`tactus agree --write-costs`), and\n\
             # half as much again, since the longest that was seen is not the longest that there is; never less than for a\n\
             # smaller system. One core tells no other.\n"
        );
        let mut rows = [[Measured::default(); TASKS.len()]; CORES.len()];
        let seen = |row: &[Measured]| row.iter().any(|it| it.schedule > 0);
        let most_cores = self.0.iter().rposition(|row| seen(row)).map_or(0, |last| last + 1);
        for c in 0..most_cores {
            for t in 0..TASKS.len() {
                let smaller = [(c > 0).then(|| rows[c - 1][t]), (t > 0).then(|| rows[c][t - 1])];
                let here = self.0[c][t];
                let most = |field: fn(&Measured) -> u64| {
                    let least = smaller.iter().flatten().map(field).max().unwrap_or(0);
                    least.max((field(&here) * 3 / 2).next_multiple_of(100))
                };
                let row = Measured {
                    cores: CORES[c],
                    tasks: TASKS[t],
                    release: most(|m| m.release),
                    schedule: most(|m| m.schedule),
                    switch: most(|m| m.switch),
                    inter_core: most(|m| m.inter_core),
                    complete: most(|m| m.complete),
                };
                rows[c][t] = row;
                let Measured { cores, tasks, release, schedule, switch, inter_core, complete } = row;
                text += &format!(
                    "\n[[machine]]\ncores = {cores}\ntasks = {tasks}\nrelease = {release}\nschedule = {schedule}\n\
                     switch = {switch}\ninter_core = {inter_core}\ncomplete = {complete}\n"
                );
            }
        }
        text
    }
}
