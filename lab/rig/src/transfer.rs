//! How long a line of the cache takes from one core to another: two threads on two cores write in turns.

use crate::engine::available_cores;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often the line goes there and back in a trial.
const ROUNDS: u64 = 2_000;
/// How many trials; the shortest counts, since others were disturbed.
const TRIALS: usize = 40;

/// Something on cache lines of its own.
#[repr(align(128))]
struct CachePadded(AtomicU64);

/// The time for one way; nothing where there is one core only.
pub fn transfer() -> Option<Duration> {
    let cores = available_cores();
    let (first, second) = (*cores.first()?, *cores.get(1)?);
    (0..TRIALS).filter_map(|_| trial(first, second)).min()
}

fn bind(core: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(core);
    // Where threads cannot be bound the figure is longer, if anything.
    let _ = rustix::thread::sched_setaffinity(None, &set);
}

/// One trial. The first rounds, in which the threads begin, do not count.
fn trial(first: usize, second: usize) -> Option<Duration> {
    let line = CachePadded(AtomicU64::new(0));
    let play = |core, odd| {
        bind(core);
        let mut begin = Instant::now();
        for round in 0..ROUNDS {
            if round == ROUNDS / 10 {
                begin = Instant::now();
            }
            let mine = 2 * round + odd;
            let mut spins = 0_u32;
            while line.0.load(Ordering::Acquire) != mine {
                std::hint::spin_loop();
                spins += 1;
                if spins > 10_000 {
                    // The other one has lost its core.
                    std::thread::yield_now();
                }
            }
            line.0.store(mine + 1, Ordering::Release);
        }
        begin.elapsed()
    };
    let took = std::thread::scope(|scope| {
        let other = scope.spawn(|| play(second, 1));
        let timed = scope.spawn(|| play(first, 0)).join();
        other.join().ok()?;
        timed.ok()
    })?;
    let ways = 2 * (ROUNDS - ROUNDS / 10);
    Some(Duration::from_nanos(took.as_nanos() as u64 / ways))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_takes_longer_than_an_instruction_where_there_are_two_cores() {
        if let Some(took) = super::transfer() {
            assert!(took.as_nanos() >= 2, "{took:?}");
        }
    }
}
