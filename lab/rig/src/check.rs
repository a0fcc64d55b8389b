//! What must hold whenever all ready queues are held, and what must hold when all is quiet.

use crate::machine::{Machine, Tables};
use crate::run_queue::RunQueue;
use std::fmt;
use std::sync::atomic::Ordering;
use tactus_compared_structures::directory::{judge, Directory};
use tactus_compared_structures::queue::ReadyQueue;
use tactus_compared_structures::{Cores, Flaw};
use tactus_sync::{lock_all, Guard, Lock, Order, Rank, Unlocked};

use crate::machine::QueueRank;

/// A rule that is broken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Broken {
    /// Within a structure.
    Structure(Flaw),
    /// A ready task is in no queue.
    Lost(u32),
    /// A task is in two queues, or twice in one, or in one though it is not ready.
    Surplus(u32),
    /// A queue's length is not what came less what went.
    Length {
        /// Whose.
        processor: usize,
        /// What it should be.
        expected: i64,
        /// What it is.
        found: i64,
    },
    /// A task that waits is more urgent than one that runs, and may run there.
    NotTheMostUrgent {
        /// Who waits.
        waits: u32,
        /// How urgent it is.
        urgency: u64,
        /// Where something less urgent runs, or nothing.
        processor: usize,
    },
    /// No processor has had a cycle for a long time.
    Stuck {
        /// How many cycles each has had.
        cycles: Vec<u64>,
    },
    /// A processor's thread ended by itself.
    Crashed(String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Structure(flaw) => write!(f, "{flaw}"),
            Broken::Lost(task) => write!(f, "task {task} is ready and in no queue"),
            Broken::Surplus(task) => write!(f, "task {task} is in a queue where it should not be, or twice"),
            Broken::Length { processor, expected, found } => {
                write!(f, "processor {processor} has {found} ready tasks; {expected} came and did not go")
            }
            Broken::NotTheMostUrgent { waits, urgency, processor } => write!(
                f,
                "task {waits} waits with urgency {urgency} while processor {processor}, where it may run, has nothing or \
                 something less urgent"
            ),
            Broken::Stuck { cycles } => {
                write!(f, "no processor goes on: a wake-up was lost, or locks wait for each other (cycles: {cycles:?})")
            }
            Broken::Crashed(why) => write!(f, "a processor crashed: {why}"),
        }
    }
}

impl std::error::Error for Broken {}

impl From<Flaw> for Broken {
    fn from(flaw: Flaw) -> Broken {
        Broken::Structure(flaw)
    }
}

/// Holds all queues and looks at everything: each queue, each task, both directories, what they find, and the overload
/// set.
///
/// # Errors
/// The first rule that is broken.
pub fn everything<D: Directory, Q: ReadyQueue>(
    machine: &Machine<D, Q>,
    order: &mut Order<Unlocked>,
) -> Result<(), Broken> {
    let mut held: Vec<Guard<'_, RunQueue<Q>, QueueRank>> = Vec::with_capacity(machine.queues.len());
    lock_all(&machine.queues, order, |guard| held.push(guard));
    let said = queues(&held, &machine.tables)?;
    // All queues are held; the token of the last lets go down to the directories.
    let Some(last) = held.last_mut() else { return Ok(()) };
    let order = last.parts().1;
    directory(&machine.push, order, &said.rooms)?;
    directory(&machine.pull, order, &said.offers)
}

/// What queues say, by processor.
struct Said {
    rooms: Vec<u64>,
    offers: Vec<u64>,
}

/// Looks at each queue, each task, and the overload set, while all queues are held.
fn queues<Q: ReadyQueue>(held: &[Guard<'_, RunQueue<Q>, QueueRank>], tables: &Tables) -> Result<Said, Broken> {
    let mut seen = vec![false; tables.alive.len()];
    let mut surplus = None;
    for (processor, queue) in held.iter().enumerate() {
        queue.waiting.check()?;
        let mut see = |task: u32| {
            if std::mem::replace(&mut seen[task as usize], true) || !tables.alive[task as usize].load(Ordering::Relaxed)
            {
                surplus = Some(task);
            }
        };
        queue.waiting.each(&mut |entry| see(entry.task));
        if let Some(running) = queue.running {
            see(running.task);
        }
        let expected = queue.arrivals as i64 - queue.departures as i64 + queue.balance;
        let found = queue.len() as i64;
        if expected != found {
            return Err(Broken::Length { processor, expected, found });
        }
    }
    if let Some(task) = surplus {
        return Err(Broken::Surplus(task));
    }
    if let Some(task) = (0..seen.len()).find(|task| tables.alive[*task].load(Ordering::Relaxed) && !seen[*task]) {
        return Err(Broken::Lost(task as u32));
    }
    let rooms: Vec<u64> = held.iter().map(|queue| tables.says(queue).0).collect();
    let offers: Vec<u64> = held.iter().map(|queue| tables.says(queue).1).collect();
    let mut waiting = 0;
    held.iter().enumerate().filter(|(_, q)| !q.waiting.is_empty()).for_each(|(core, _)| waiting |= 1 << core);
    tables.overload.check(Cores(waiting))?;
    Ok(Said { rooms, offers })
}

/// The directory is as it must be, and finds what looking at all finds, for a few questions.
fn directory<D: Directory, H: Rank>(directory: &D, order: &mut Order<H>, actual: &[u64]) -> Result<(), Broken> {
    directory.serve(0, order);
    directory.check(order, actual)?;
    let all = Cores::below(actual.len());
    let middle = actual[actual.len() / 2];
    for than in [0, middle.saturating_sub(1), middle] {
        for allowed in [all, all.without(0), Cores(all.0 & 0x5555_5555_5555_5555)] {
            judge::<D>(actual, than, allowed, directory.find(0, order, than, allowed))?;
        }
    }
    Ok(())
}

/// When all is quiet: no task waits that would run elsewhere. Without bound tasks this says that the most urgent tasks
/// run, as many as there are processors.
///
/// # Errors
/// A task that waits though it should run.
pub fn most_urgent<Q: ReadyQueue>(
    queues: &[Lock<RunQueue<Q>, QueueRank>],
    tables: &Tables,
    order: &mut Order<Unlocked>,
) -> Result<(), Broken> {
    let mut held = Vec::with_capacity(queues.len());
    lock_all(queues, order, |guard| held.push(guard));
    for queue in &held {
        // The first of those that wait; one behind it that is less bound may still wait for it.
        let Some(entry) = queue.waiting.peek() else { continue };
        for (processor, other) in held.iter().enumerate() {
            if tables.allowed(entry.task).contains(processor) && other.room() > entry.urgency {
                let (waits, urgency) = (entry.task, entry.urgency);
                return Err(Broken::NotTheMostUrgent { waits, urgency, processor });
            }
        }
    }
    Ok(())
}
