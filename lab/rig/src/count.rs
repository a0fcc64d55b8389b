//! What operations cost where nobody disturbs them: the same calls again and again, for an instruction counter to be put
//! around. The counts depend on nothing but the program, so they are the same on every run.

use std::hint::black_box;
use std::time::{Duration, Instant};
use tactus_compared_structures::directory::{Directory, IDLE};
use tactus_compared_structures::queue::{Entry, ReadyQueue};
use tactus_compared_structures::Cores;
use tactus_sync::Order;

/// What can be counted of a directory.
pub const DIRECTORY_OPERATIONS: &[&str] =
    &["modify", "find", "find-bound", "modify-find", "pull-modify", "pull-find", "loop"];

/// What can be counted of a ready queue.
pub const QUEUE_OPERATIONS: &[&str] = &["insert-pop", "insert-remove", "loop"];

/// The name of the functions that a counter is switched on in.
pub const COUNTED: &str = "counted_rounds_alone";

/// A fixed sequence without pattern.
fn scrambled(n: u64) -> u64 {
    let mixed = (n ^ n >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

/// What the counted rounds take: which core changes, to what; made beforehand.
fn script(rounds: u64, range: usize, levels: u64) -> Vec<(usize, u64)> {
    (0..rounds)
        .map(|n| {
            let draw = scrambled(n + 1);
            // One in five goes idle, as after a blocking that leaves nothing.
            let value = if draw % 5 == 0 { IDLE } else { 1 + (draw >> 8) % levels.saturating_sub(3).min(1 << 40) };
            (scrambled(n + 77) as usize % range, value)
        })
        .collect()
}

/// Does `rounds` of the operation on a directory of `cores` cores: `modify` gives a core another number, `find` asks for
/// any core, `find-bound` for one of a random half, `modify-find` does a `modify`
/// and then a `find`, which finds what has just changed, `pull-modify` and `pull-find` are the same of the directory to pull from, whose
/// numbers are turned round, `loop` only goes round. Gives something that depends on all of it, and
/// how long it took;
/// nothing if there is no such operation.
pub fn directory<D: Directory>(operation: &str, cores: usize, rounds: u64) -> Option<(u64, Duration)> {
    let directory = D::init(cores);
    let mut order = Order::unlocked();
    let mut steps = script(rounds.max(cores as u64), cores, D::LEVELS);
    if operation.starts_with("pull-") {
        let least_and_most = 1 + D::LEVELS.saturating_sub(3).min(1 << 40);
        steps.iter_mut().filter(|step| step.1 != IDLE).for_each(|step| step.1 = least_and_most - step.1);
    }
    for (n, (_, value)) in steps.iter().take(cores).enumerate() {
        directory.preempt(0, &mut order, n, *value);
    }
    directory.serve(0, &mut order);
    let steps = &steps[..rounds as usize];
    // Some have somebody to find, some do not.
    let found = |core: Option<usize>| core.map_or(1, |core| core as u64);
    Some(match operation {
        "modify" | "pull-modify" => counted_rounds(steps, |core, value| {
            directory.preempt(0, &mut order, core, value);
            1
        }),
        "find" | "pull-find" => {
            counted_rounds(steps, |_, value| found(directory.find(0, &mut order, value, Cores::ALL)))
        }
        "find-bound" => counted_rounds(steps, |core, value| {
            found(directory.find(0, &mut order, value, Cores(scrambled(core as u64) | 1)))
        }),
        "modify-find" => counted_rounds(steps, |core, value| {
            directory.preempt(0, &mut order, core, value);
            found(directory.find(0, &mut order, value >> 1, Cores::ALL))
        }),
        "loop" => counted_rounds(steps, |core, value| core as u64 ^ value),
        _ => return None,
    })
}

/// Does `rounds` of the operation on a ready queue of about `tasks` tasks: `insert-pop` puts a task in and takes the most
/// urgent one out, `insert-remove` takes out another, `loop` only goes round.
pub fn queue<Q: ReadyQueue>(operation: &str, tasks: usize, rounds: u64) -> Option<(u64, Duration)> {
    let mut queue = Q::with_room(tasks + 1);
    // Deadlines of up to 99 ms, or levels.
    let span = Q::LEVELS.saturating_sub(1).min(99_000_000);
    for task in 0..tasks as u32 {
        queue.insert(Entry { urgency: scrambled(u64::from(task)) % span, task });
    }
    let mut free = tasks as u32;
    let steps: Vec<(usize, u64)> =
        (0..rounds).map(|n| (scrambled(n) as usize % tasks, scrambled(n + 9) % span)).collect();
    let mut now = 0;
    Some(match operation {
        "insert-pop" => counted_rounds(&steps, |_, ahead| {
            // Time goes on, so that deadlines do too; levels stay.
            let urgency = if Q::LEVELS == u64::MAX { now + ahead } else { ahead };
            queue.insert(Entry { urgency, task: free });
            let first = queue.pop();
            free = first.map_or(free, |entry| entry.task);
            now = first.map_or(now, |entry| entry.urgency);
            now
        }),
        "insert-remove" => counted_rounds(&steps, |task, urgency| {
            queue.insert(Entry { urgency, task: free });
            let task = if task as u32 == free { tasks as u32 } else { task as u32 };
            if queue.remove(task).is_some() {
                free = task;
            }
            u64::from(free)
        }),
        "loop" => counted_rounds(&steps, |core, value| core as u64 ^ value),
        _ => return None,
    })
}

/// The rounds, and how long they took.
fn counted_rounds(steps: &[(usize, u64)], round: impl FnMut(usize, u64) -> u64) -> (u64, Duration) {
    let begin = Instant::now();
    let sum = counted_rounds_alone(steps, round);
    (sum, begin.elapsed())
}

/// The rounds, in a function of their own so that a counter can be switched on in it.
#[inline(never)]
fn counted_rounds_alone(steps: &[(usize, u64)], mut round: impl FnMut(usize, u64) -> u64) -> u64 {
    let mut sum = 0_u64;
    for (which, value) in steps {
        sum = sum.wrapping_add(black_box(round(*which, *value)));
    }
    sum
}

#[cfg(test)]
mod tests {
    use crate::names::{count_directory, count_queue, DIRECTORIES, QUEUES};

    #[test]
    fn every_operation_of_every_structure_can_be_counted_and_repeats() {
        for name in DIRECTORIES {
            for operation in super::DIRECTORY_OPERATIONS {
                let first = count_directory(name, operation, 5, 300);
                assert!(
                    first.is_some() && first.map(|f| f.0) == count_directory(name, operation, 5, 300).map(|f| f.0),
                    "{name} {operation}"
                );
            }
        }
        for name in QUEUES {
            for operation in super::QUEUE_OPERATIONS {
                let first = count_queue(name, operation, 20, 300);
                assert!(
                    first.is_some() && first.map(|f| f.0) == count_queue(name, operation, 20, 300).map(|f| f.0),
                    "{name} {operation}"
                );
            }
        }
        assert_eq!(count_directory("scan", "nothing", 5, 1), None);
    }
}
