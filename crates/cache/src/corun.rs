//! Programs that run side by side: what each access of each costs while the others run.
//!
//! Every processor has a clock of its own in cycles; the one that is least far takes the next access. Memory serves one line after
//! the other, those written back among them. A processor can be regulated: after a given number of accesses to memory in a period it
//! stands still until the next (Yun et al., MemGuard, RTAS 2013).

use crate::colours::{Colour, Colours};
use crate::events::{Kind, Served};
use crate::hierarchy::Hierarchy;
use crate::line::Owner;
use alloc::vec::Vec;

/// What a program does with its buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pattern {
    /// Reads anywhere; every `write_every`-th access is a write (0: none).
    Random {
        /// Accesses from one write to the next.
        write_every: u32,
    },
    /// Goes through the lines in order, round and round.
    Sweep {
        /// Accesses from one write to the next (0: none).
        write_every: u32,
    },
}

/// Memory of some colours in a row: the frames from number `skip` of each on, in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// The first colour.
    pub colour: Colour,
    /// How many colours, 1 or more.
    pub span: u16,
    /// Frames of each colour that lie before.
    pub skip: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Accesses to memory that a processor may make in a period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Regulation {
    /// Lines in a period.
    pub lines: u64,
    /// Cycles of a period.
    pub period: u64,
}

/// A program on a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Program {
    /// On which processor.
    pub processor: usize,
    /// Whose lines they are.
    pub owner: Owner,
    /// Its memory.
    pub buffer: Buffer,
    /// What it does with it.
    pub pattern: Pattern,
    /// How memory accesses are limited.
    pub regulation: Option<Regulation>,
}

#[derive(Clone, Debug)]
struct Running {
    program: Program,
    clock: u64,
    done: u64,
    memory: u64,
    position: u64,
    random: u64,
    window: u64,
    left: u64,
}

/// What a program has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Accesses.
    pub accesses: u64,
    /// Cycles until the last one was answered.
    pub cycles: u64,
    /// Accesses that memory answered.
    pub memory: u64,
}

impl Progress {
    /// What was done from `before` to here.
    #[must_use]
    pub const fn since(self, before: Progress) -> Progress {
        Progress {
            accesses: self.accesses - before.accesses,
            cycles: self.cycles - before.cycles,
            memory: self.memory - before.memory,
        }
    }

    /// Cycles of one access, the program's own work included.
    pub fn cycles_each(self) -> f64 {
        self.cycles as f64 / self.accesses.max(1) as f64
    }
}

/// Programs side by side.
#[derive(Clone, Debug)]
pub struct Corun {
    model: Hierarchy,
    colours: Colours,
    running: Vec<Running>,
    /// Cycles of a program's own work before each access.
    work: u64,
    /// Cycles for which memory is busy with a line.
    service: u64,
    memory_free: u64,
}

impl Corun {
    /// Nothing runs yet. `work` cycles lie before each access; memory is busy for `service` cycles with each line.
    pub const fn new(model: Hierarchy, colours: Colours, work: u64, service: u64) -> Corun {
        Corun { model, colours, running: Vec::new(), work, service, memory_free: 0 }
    }

    /// The caches.
    pub const fn model(&self) -> &Hierarchy {
        &self.model
    }

    /// The caches, for what happens beside the programs.
    pub fn model_mut(&mut self) -> &mut Hierarchy {
        &mut self.model
    }

    /// Starts a program; its clock begins with the furthest of the others.
    ///
    /// # Returns
    /// Its number.
    pub fn start(&mut self, program: Program, seed: u64) -> usize {
        let clock = self.running.iter().map(|running| running.clock).max().unwrap_or(0);
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        self.running.push(Running { program, clock, done: 0, memory: 0, position: 0, random, window: 0, left: 0 });
        self.running.len() - 1
    }

    /// Moves a program to another processor.
    pub fn migrate(&mut self, program: usize, processor: usize) {
        self.running[program].program.processor = processor;
    }

    /// What a program has done so far.
    pub fn progress(&self, program: usize) -> Progress {
        let running = &self.running[program];
        Progress { accesses: running.done, cycles: running.clock, memory: running.memory }
    }

    /// Lets all run until `program` has made `accesses` more.
    ///
    /// # Returns
    /// What it did meanwhile.
    pub fn run(&mut self, program: usize, accesses: u64) -> Progress {
        let before = self.progress(program);
        let goal = before.accesses + accesses;
        while self.running[program].done < goal {
            let mut next = program;
            for (at, running) in self.running.iter().enumerate() {
                if running.clock < self.running[next].clock {
                    next = at;
                }
            }
            self.step(next);
        }
        self.progress(program).since(before)
    }

    fn step(&mut self, at: usize) {
        let running = &mut self.running[at];
        let Program { processor, owner, buffer, pattern, regulation } = running.program;
        let line = self.model.geometry().line();
        let lines = (buffer.bytes / line).max(1);
        let (position, write_every) = match pattern {
            Pattern::Random { write_every } => {
                running.random ^= running.random >> 12;
                running.random ^= running.random << 25;
                running.random ^= running.random >> 27;
                (running.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16, write_every)
            }
            Pattern::Sweep { write_every } => (running.position, write_every),
        };
        running.position += 1;
        let offset = position % lines * line;
        let address = self.colours.place_over(buffer.colour, buffer.span, buffer.skip, offset);
        let write = write_every != 0 && running.done % u64::from(write_every) == u64::from(write_every) - 1;
        running.clock += self.work;
        let written = self.model.memory_writes();
        let served = self.model.access(processor, address, if write { Kind::Write } else { Kind::Read }, owner);
        // Nobody waits for what is written back, but memory is busy with it.
        let written = self.model.memory_writes() - written;
        self.memory_free = self.memory_free.max(running.clock) + written * self.service;
        if served == Served::Memory {
            running.memory += 1;
            // Memory is taken in the order of the clocks: who has used up its budget waits with its *next* step, so that it keeps no
            // place in memory's queue meanwhile.
            let mut until = 0;
            if let Some(Regulation { lines, period }) = regulation {
                let window = running.clock / period;
                if window != running.window || running.memory == 1 {
                    (running.window, running.left) = (window, lines);
                }
                running.left = running.left.saturating_sub(1);
                if running.left == 0 {
                    until = (window + 1) * period;
                }
            }
            let begin = running.clock.max(self.memory_free);
            self.memory_free = begin + self.service;
            running.clock = (begin + u64::from(self.model.cost(served))).max(until);
        } else {
            running.clock += u64::from(self.model.cost(served));
        }
        running.done += 1;
    }
}
