//! Computes what follows from all that it computed before, with floating point, a heap and a lock of its own, and says it after each job;
//! and so of each message that one of its tasks sends to the other, and of each that comes by post. Whoever loses a word of it says something
//! else from then on.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec::Vec;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use tactus_rt::{grant, Console, Job, Single};

tactus_rt::component! { job: work, services: [] }

/// Of each of the two tasks.
struct Chain {
    jobs: u64,
    word: u64,
    number: f64,
    all: Vec<u64>,
}

/// Messages that wait for the second task.
static MESSAGES: [AtomicU64; 8] = [const { AtomicU64::new(0) }; 8];
static SENT: AtomicU64 = AtomicU64::new(0);
static TAKEN: AtomicU64 = AtomicU64::new(0);
/// What followed from the messages, and from the post: how many, and a digest of them.
static READ: [[AtomicU64; 2]; 2] = [const { [const { AtomicU64::new(0) }; 2] }; 2];
/// Of a job's post.
const MOST: usize = 3;

static CHAINS: [Single<Chain>; 2] = [Single::new(), Single::new()];
/// Held by the second task while `HALVES` differ.
static LOCK: AtomicBool = AtomicBool::new(false);
static HALVES: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];
/// The first of the two tasks, plus one.
static FIRST: AtomicU64 = AtomicU64::new(0);

fn first() -> Chain {
    Chain { jobs: 0, word: 0x9e37_79b9_7f4a_7c15, number: 1.5, all: Vec::with_capacity(600) }
}

fn work(job: &Job) {
    // The first task's deadline is the earlier one at the start.
    let place = match FIRST.compare_exchange(0, u64::from(job.task()) + 1, Relaxed, Relaxed) {
        Ok(_) => 0,
        Err(first) => usize::from(first != u64::from(job.task()) + 1),
    };
    CHAINS[place].with_first(first, |chain| {
        let rounds = if place == 0 { 2_000 } else { 9_000 };
        if !LOCK.swap(true, Relaxed) {
            assert_eq!(HALVES[0].load(Relaxed), HALVES[1].load(Relaxed), "torn");
            match place {
                0 => LOCK.store(false, Relaxed),
                _ => HALVES[0].store(chain.jobs + 1, Relaxed),
            }
        }
        for _ in 0..rounds {
            chain.step();
        }
        if place == 1 {
            HALVES[1].store(chain.jobs + 1, Relaxed);
            LOCK.store(false, Relaxed);
        }
        chain.jobs += 1;
        let _ = writeln!(Console, "keeper {place} {} {:x} {:x}", chain.jobs, chain.word, chain.number.to_bits());
        match place {
            0 => send(chain.word),
            _ => receive(),
        }
    });
}

fn send(message: u64) {
    let sent = SENT.load(Relaxed);
    assert!(sent - TAKEN.load(Relaxed) < MESSAGES.len() as u64, "nobody takes the messages");
    MESSAGES[sent as usize % MESSAGES.len()].store(message, Relaxed);
    SENT.store(sent + 1, Relaxed);
}

fn receive() {
    while let Some(taken) = Some(TAKEN.load(Relaxed)).filter(|taken| *taken < SENT.load(Relaxed)) {
        read(0, MESSAGES[taken as usize % MESSAGES.len()].load(Relaxed));
        TAKEN.store(taken + 1, Relaxed);
    }
    for _ in 0..MOST {
        match grant("post").call([0; 5]) {
            Ok([1, message]) => read(1, message),
            _ => break,
        }
    }
}

fn read(from: usize, message: u64) {
    let [count, digest] = &READ[from];
    count.store(count.load(Relaxed) + 1, Relaxed);
    digest.store(digest.load(Relaxed).rotate_left(7) ^ message, Relaxed);
    let _ = writeln!(Console, "keeper {} {} {:x}", from + 2, count.load(Relaxed), digest.load(Relaxed));
}

impl Chain {
    fn step(&mut self) {
        if self.all.len() < 600 {
            self.all.push(self.word);
        }
        let place = self.word as usize % self.all.len();
        self.word ^= self.word << 13;
        self.word ^= self.word >> 7;
        self.word ^= self.word << 17;
        self.word = self.word.wrapping_add(self.all[place]);
        self.all[place] = self.word.rotate_left(5);
        self.number = self.number * 1.000_1 + (place as f64) / 3.0;
    }
}
