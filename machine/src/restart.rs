//! How long it takes from the death of a sandbox's kernel to the first job after it. The check tells it for the largest kernel and image
//! that a sandbox with restarts may have, a run for those that it has, and each restart of a run is held against that.
//!
//! From when its monitor notices: the monitor copies kernel and image, the kernel starts, it gives its schedulers a lead to set
//! themselves up in, and the job comes whose bound after its first release is the shortest. On the emulated machine the other cores take
//! turns meanwhile.

use crate::failure::Failure;
use crate::sandboxes::silence;
use crate::schedulers;
use tactus_abi::sandbox::PIECES;
use tactus_image::TURN_INSTRUCTIONS;
use tactus_model::{Release, System};
use tactus_plan::RunPlan;
use tactus_time::Duration;
use tactus_trace::{Bound, TaskView};

/// The most bytes of kernel and image together, where a kernel is started again.
pub const MOST_RELOADED: u64 = 2 << 20;

/// After this many bytes the monitor lets other cores have their turn (`os/sandbox/src/parts.rs`).
const PAGE: u64 = 4096;
/// Instructions of the monitor for these bytes: 14 for each word (the longest way through the loop of `load`), and the way to it.
const PAGE_INSTRUCTIONS: u64 = 14 * PAGE / 8 + 32;
/// Instructions of a kernel's start, for each component. Measured: 300,000 with three (docs/measured/sandboxes.md).
const START_INSTRUCTIONS: u64 = 150_000;
/// Components that each system has: scheduler, workload, and what is idle.
const OWN_COMPONENTS: u64 = 3;
/// What a kernel gives the root scheduler to set itself up, and further schedulers each (`os/kernel/src/main.rs`).
const LEAD: Duration = Duration::from_millis(20);
const LEAD_OF_SCHEDULER: Duration = Duration::from_millis(5);

/// What a restart takes at most, in its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RestartBound {
    /// From when a scheduler looked last to when the monitor notices, of a kernel that does nothing. Any other death is noticed at once.
    pub silence: Option<Duration>,
    /// The monitor's copy of kernel and image.
    pub reload: Duration,
    /// The kernel's start.
    pub start: Duration,
    /// From there to the begin of the run.
    pub lead: Duration,
    /// From there to the first job.
    pub job: Duration,
}

/// Whether kernel and image of a sandbox with restarts are small enough for what the check promises.
///
/// # Errors
/// If they have more than [`MOST_RELOADED`] bytes together.
pub fn fits(system: &System, bytes: u64) -> Result<(), Failure> {
    if bytes <= MOST_RELOADED {
        return Ok(());
    }
    let (name, file) = (&system.name, system.source.display());
    Err(Failure::Input(format!(
        "{file}: sandbox {name:?}: its kernel and image take {} KiB, and one with restarts at most {}: give it fewer or smaller components, or no restarts",
        bytes.div_ceil(1024),
        MOST_RELOADED >> 10
    )))
}

/// How a restart was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restarted {
    /// The first job came this long after the death was noticed: within the bound.
    InTime(Duration),
    /// It came later.
    Late(Duration),
    /// It did not come by the end of the machine, which was later than the bound.
    Never,
    /// It did not come by the end of the machine, which was no later than the bound.
    Open,
}

impl RestartBound {
    /// Of a sandbox with this system, whose kernel and image together have this many bytes. Nothing where no periodic task has a bound:
    /// then nothing says when the first job comes.
    pub fn of(system: &System, plan: &RunPlan, bytes: u64) -> Option<RestartBound> {
        let response = |task: &TaskView| match task.promise {
            Some(Bound::Response(bound)) if task.releases == Release::Periodic => Some(task.offset + bound),
            _ => None,
        };
        let job = plan.view.tasks.iter().filter_map(response).min().filter(|_| plan.view.accepted)?;
        let taking_turns = |instructions: u64| {
            let turn = u64::from(TURN_INSTRUCTIONS);
            let others = instructions.div_ceil(turn) * turn * (system.sharing_cores() as u64 - 1);
            Duration::from_nanos((instructions + others) << system.machine.shift)
        };
        let further = schedulers::of(system, &plan.setup).ok()?.len() as u64 - 1;
        let components = OWN_COMPONENTS + system.components.len() as u64 + further;
        Some(RestartBound {
            silence: silence(system),
            // A pause ends a turn, and pieces end anywhere in a page.
            reload: taking_turns(PAGE_INSTRUCTIONS) * (bytes.div_ceil(PAGE) + PIECES as u64),
            start: taking_turns(START_INSTRUCTIONS * components),
            lead: LEAD + LEAD_OF_SCHEDULER * further,
            job,
        })
    }

    /// From when the monitor notices a death to the first job after it.
    pub fn from_notice(&self) -> Duration {
        self.reload + self.start + self.lead + self.job
    }

    /// How it was, where the death was noticed at `died`, the first job began to execute at `first`, and the machine
    /// ended at `end`.
    pub fn judge(&self, died: Duration, first: Option<Duration>, end: Duration) -> Restarted {
        match first.map(|first| first.saturating_sub(died)) {
            Some(took) if took <= self.from_notice() => Restarted::InTime(took),
            Some(took) => Restarted::Late(took),
            None if end > died + self.from_notice() => Restarted::Never,
            None => Restarted::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn what_is_larger_than_the_check_counts_is_refused_with_the_sandbox_and_the_remedy() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/sandboxes/sandboxes.toml");
        let Ok(tactus_model::SystemFile::Sandboxes(whole)) = tactus_model::SystemFile::read(&file) else {
            panic!("{} has sandboxes", file.display())
        };
        let system = &whole.parts[1].system;
        assert!(fits(system, MOST_RELOADED).is_ok());
        let Err(Failure::Input(why)) = fits(system, MOST_RELOADED + 1) else { panic!("it is refused") };
        assert!(why.contains("sandbox \"rich\"") && why.contains("2049 KiB") && why.contains("no restarts"), "{why}");
    }

    #[test]
    fn a_restart_is_held_against_its_bound_and_one_with_too_small_a_bound_is_late() {
        let right = RestartBound { silence: None, reload: ms(8), start: ms(2), lead: ms(20), job: ms(2) };
        let wrong = RestartBound { reload: ms(1), lead: ms(19), ..right };
        let (died, first, end) = (ms(112), ms(112 + 27), ms(860));
        assert_eq!(right.judge(died, Some(first), end), Restarted::InTime(ms(27)));
        assert_eq!(wrong.judge(died, Some(first), end), Restarted::Late(ms(27)));
        assert_eq!(right.judge(died, Some(died + right.from_notice()), end), Restarted::InTime(ms(32)));
        assert_eq!(right.judge(died, None, end), Restarted::Never);
        assert_eq!(right.judge(died, None, ms(112 + 32)), Restarted::Open);
    }
}
