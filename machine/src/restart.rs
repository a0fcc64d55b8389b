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

/// The most bytes of kernel and image together, where a kernel is started again; and the most that programs may add to the memory that the kernel
/// fills without them.
const MOST_RELOADED: u64 = 2 << 20;

/// What a start has to fill, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// Kernel and image, which the monitor copies.
    pub reloaded: u64,
    /// The memory that the kernel fills: of programs, heaps and stacks, and tables; not the trace.
    pub memory: u64,
}

impl Sizes {
    /// The most that a system may have whose kernel fills this much memory without programs.
    pub fn most(memory: u64) -> Sizes {
        Sizes { reloaded: MOST_RELOADED, memory: memory + MOST_RELOADED }
    }
}

/// After this many bytes the monitor lets other cores have their turn (`os/sandbox/src/parts.rs`).
const PAGE: u64 = 4096;
/// Instructions of the monitor for these bytes: 14 for each word (the longest way through the loop of `load`), and the way to it.
const PAGE_INSTRUCTIONS: u64 = 14 * PAGE / 8 + 32;
/// Instructions of a kernel's start, for each component. Measured: 300,000 with three (docs/measured/sandboxes.md).
const START_INSTRUCTIONS: u64 = 150_000;
/// Instructions for each page of memory that it fills. Measured: 275.
const FILL_INSTRUCTIONS: u64 = 400;
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

/// Whether a sandbox with restarts is no larger than what the check counts, `most`.
///
/// # Errors
/// If kernel and image, or the memory that its kernel fills, are larger.
pub fn fits(system: &System, sizes: Sizes, most: Sizes) -> Result<(), Failure> {
    let (name, file) = (&system.name, system.source.display());
    let refuse = |what: &str, bytes: u64, most: u64| {
        Err(Failure::Input(format!(
            "{file}: sandbox {name:?}: {what} {} KiB, and one with restarts at most {}: give it fewer or smaller components, or no restarts",
            bytes.div_ceil(1024),
            most >> 10
        )))
    };
    if sizes.reloaded > most.reloaded {
        return refuse("its kernel and image take", sizes.reloaded, most.reloaded);
    }
    if sizes.memory > most.memory {
        return refuse("with its programs its kernel fills", sizes.memory, most.memory);
    }
    Ok(())
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
    /// Of a sandbox with this system and these sizes. Nothing where no periodic task has a bound: then nothing says when the first job comes.
    pub fn of(system: &System, plan: &RunPlan, sizes: Sizes) -> Option<RestartBound> {
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
            reload: taking_turns(PAGE_INSTRUCTIONS) * (sizes.reloaded.div_ceil(PAGE) + PIECES as u64),
            start: taking_turns(START_INSTRUCTIONS * components + FILL_INSTRUCTIONS * sizes.memory.div_ceil(PAGE)),
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
        let most = Sizes::most(1 << 20);
        assert!(fits(system, most, most).is_ok());
        let refused = |sizes: Sizes| match fits(system, sizes, most) {
            Err(Failure::Input(why)) => why,
            _ => panic!("it is refused"),
        };
        let why = refused(Sizes { reloaded: most.reloaded + 1, ..most });
        assert!(why.contains("sandbox \"rich\"") && why.contains("2049 KiB") && why.contains("no restarts"), "{why}");
        let why = refused(Sizes { memory: most.memory + 1, ..most });
        assert!(why.contains("kernel fills 3073 KiB") && why.contains("at most 3072"), "{why}");
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
