//! Takes memory and gives it back at random, thousands of times in each job, and counts the instructions of each time. With a job every
//! 10 ms, 1,000 jobs do so 10,000,000 times.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::alloc::{alloc, dealloc};
use core::alloc::Layout;
use core::fmt::Write;
use tactus_rt::clock::time_stamp;
use tactus_rt::{Console, Job, Single};

tactus_rt::component! { job: exercise, services: [] }

/// Operations of a job.
const OPERATIONS: u64 = 10_000;
/// Blocks at once, at most.
const BLOCKS: usize = 256;

/// The longest and the sum, in instructions, and how many there were.
#[derive(Clone, Copy)]
struct Cost {
    longest: u64,
    sum: u64,
    count: u64,
}

impl Cost {
    const NONE: Cost = Cost { longest: 0, sum: 0, count: 0 };

    fn add(&mut self, ticks: u64) {
        *self = Cost { longest: self.longest.max(ticks), sum: self.sum + ticks, count: self.count + 1 };
    }
}

struct State {
    random: u64,
    /// Their addresses and layouts.
    blocks: [(usize, Layout); BLOCKS],
    held: usize,
    taken: Cost,
    given_back: Cost,
    exhausted: Cost,
}

static STATE: Single<State> = Single::new();

fn first() -> State {
    State {
        random: 0x9e37_79b9_7f4a_7c15,
        blocks: [(0, Layout::new::<u8>()); BLOCKS],
        held: 0,
        taken: Cost::NONE,
        given_back: Cost::NONE,
        exhausted: Cost::NONE,
    }
}

fn exercise(job: &Job) {
    STATE.with_first(first, |state| {
        operate(state);
        if job.number() % 20 == 19 {
            tell(state);
        }
    });
}

fn operate(state: &mut State) {
    for _ in 0..OPERATIONS {
        let draw = state.random();
        // Every now and then nearly all is given back, or nearly all is taken.
        let takes = match draw >> 60 {
            0 => state.held < BLOCKS,
            1 => false,
            bits => bits & 1 == 0,
        };
        if takes && state.held < BLOCKS || state.held == 0 {
            state.take();
        } else {
            state.give_back();
        }
    }
}

fn tell(state: &State) {
    let State { taken, given_back, exhausted, .. } = *state;
    let all = taken.count + given_back.count + exhausted.count;
    let mean = |cost: Cost| cost.sum / cost.count.max(1);
    let _ = writeln!(
        Console,
        "{all} operations, instructions: taken at most {} (mean {}), given back {} ({}), exhausted {} ({} times)",
        taken.longest,
        mean(taken),
        given_back.longest,
        mean(given_back),
        exhausted.longest,
        exhausted.count
    );
}

impl State {
    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    /// Sizes from 1 byte to 16 KiB, small ones more often; alignments from 1 to 128.
    fn take(&mut self) {
        let draw = self.random();
        let most = 1 << (draw >> 8) % 15;
        let layout = Layout::from_size_align(1 + (draw >> 16) as usize % most, 1 << (draw >> 40) % 8);
        let Ok(layout) = layout else { return };
        let begin = time_stamp();
        // SAFETY: the length is not zero.
        let block = unsafe { alloc(layout) };
        let ticks = time_stamp() - begin;
        if block.is_null() {
            self.exhausted.add(ticks);
            return;
        }
        self.taken.add(ticks);
        self.blocks[self.held] = (block as usize, layout);
        self.held += 1;
    }

    fn give_back(&mut self) {
        let place = self.random() as usize % self.held;
        self.held -= 1;
        self.blocks.swap(place, self.held);
        let (block, layout) = self.blocks[self.held];
        let begin = time_stamp();
        // SAFETY: taken with this layout, and not given back yet.
        unsafe { dealloc(block as *mut u8, layout) };
        self.given_back.add(time_stamp() - begin);
    }
}
