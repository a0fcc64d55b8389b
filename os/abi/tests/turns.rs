//! A model of the emulator and of the kernel's slices: whatever threads do, no core sees its timer later than [`Turns::latest`] says.
//!
//! The emulator lets the cores execute in their order. A core's slice ends at the next timer of any core, where it pauses, and where it sets
//! its timer; an interrupt that comes then waits for its next slice.

use tactus_abi::turns::Turns;

const NEVER: u64 = u64::MAX;

/// What a core has to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Runs {
    Nothing,
    /// A thread that never pauses.
    Busy,
    /// A thread that computes, and pauses where slices are short.
    Computing,
}

/// Where a core is that runs a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    /// In the kernel, behind the setting of its timer.
    Leaving,
    /// In the kernel, its slice over: it lets the others have theirs.
    StandingBack,
    Thread,
}

struct Core {
    runs: Runs,
    at: At,
    /// What it has to notice next, and for when its timer is set.
    expiry: u64,
    timer: u64,
    left: u64,
    long: bool,
    lags: [u64; 2],
}

struct Machine {
    turns: Turns,
    now: u64,
    cores: Vec<Core>,
    /// Until when the threads were told that slices are long.
    told: u64,
    random: u64,
    /// How late a core has seen its timer at most.
    latest: u64,
}

impl Machine {
    fn new(cores: u64, seed: u64) -> Machine {
        let turns = Turns { turn: 2_500, cores };
        let core = |_| {
            let (runs, at) = (Runs::Nothing, At::Thread);
            Core { runs, at, expiry: 0, timer: 0, left: 0, long: false, lags: [0; 2] }
        };
        let cores = (0..cores).map(core).collect();
        Machine { turns, now: 0, cores, told: 0, random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, latest: 0 }
    }

    /// Less than `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 16) % limit
    }

    /// The kernel is entered or left, or a timer wrong.
    fn little(&mut self) -> u64 {
        self.below(self.turns.granularity())
    }

    /// The core with its slice.
    fn visit(&mut self, me: usize) {
        let fired = self.cores[me].timer <= self.now;
        match (self.cores[me].runs, self.cores[me].at) {
            (Runs::Nothing, _) if fired => self.enter(me),
            (Runs::Nothing, _) => {}
            (_, At::StandingBack) => match self.cores[me].expiry <= self.now {
                true => self.serve(me),
                false => self.set_timer(me),
            },
            (runs, At::Leaving | At::Thread) => {
                if self.cores[me].at == At::Leaving {
                    self.now += self.little();
                    (self.cores[me].left, self.cores[me].at) = (self.now, At::Thread);
                }
                match self.cores[me].timer <= self.now {
                    true => self.enter(me),
                    false => self.execute(runs),
                }
            }
        }
    }

    /// A thread executes until the next timer of any core, or until it pauses.
    fn execute(&mut self, runs: Runs) {
        let next = self.cores.iter().map(|it| it.timer).filter(|it| *it > self.now).min().unwrap_or(NEVER);
        let pauses = match runs {
            Runs::Computing => self.told.max(self.now) + self.turns.turn / 5,
            Runs::Busy | Runs::Nothing => NEVER,
        };
        self.now = next.min(pauses);
    }

    /// The timer's interrupt.
    fn enter(&mut self, me: usize) {
        let core = &mut self.cores[me];
        if core.expiry <= self.now {
            return self.serve(me);
        }
        let lag = &mut core.lags[usize::from(core.long)];
        *lag = self.turns.next_lag(*lag, self.now - core.left, core.long);
        core.at = At::StandingBack;
        self.now += self.little();
    }

    /// The core sees that its timer has expired, and has something else to run until another expiry.
    fn serve(&mut self, me: usize) {
        self.latest = self.latest.max(self.now - self.cores[me].expiry);
        let far = if self.below(4) == 0 { 100 } else { 10 };
        let expiry = self.now + 1 + self.below(far * self.turns.turn);
        let runs = match self.below(8) {
            0..2 => Runs::Nothing,
            2 => Runs::Busy,
            3 if self.turns.cores > 4 => Runs::Busy,
            _ => Runs::Computing,
        };
        (self.cores[me].expiry, self.cores[me].runs) = (expiry, runs);
        self.set_timer(me);
    }

    /// As `os/kernel/src/timer.rs` does. It ends the slice.
    fn set_timer(&mut self, me: usize) {
        let limit = |core: &Core| if core.runs == Runs::Busy { 0 } else { core.expiry };
        let soonest = self.cores.iter().map(limit).min().unwrap_or(NEVER).saturating_sub(self.turns.round());
        if self.told > soonest {
            self.told = 0;
        }
        let (turns, now, wrong) = (self.turns, self.now, self.little());
        let core = &mut self.cores[me];
        let slice = match core.runs {
            Runs::Nothing => NEVER,
            Runs::Busy | Runs::Computing => {
                let was_long = std::mem::replace(&mut core.long, soonest > now + turns.turn);
                if was_long && !core.long {
                    core.lags[0] = turns.most_lag(false);
                }
                self.told = if core.long { soonest } else { 0 };
                let slice = turns.slice(core.long) + core.lags[usize::from(core.long)];
                if core.long {
                    slice.min(soonest - now)
                } else {
                    slice
                }
            }
        };
        core.timer = core.expiry.min(now.saturating_add(slice)) + wrong;
        core.at = At::Leaving;
        self.now += self.little();
    }
}

/// How late a core saw its timer at most, in `visits` of each core.
fn latest(cores: u64, seed: u64, visits: usize) -> u64 {
    let mut machine = Machine::new(cores, seed);
    for _ in 0..visits {
        let before = machine.now;
        (0..cores as usize).for_each(|me| machine.visit(me));
        if machine.now == before {
            // All cores idle.
            machine.now = machine.cores.iter().map(|it| it.timer).min().unwrap_or(before).max(before);
        }
    }
    machine.latest
}

#[test]
fn no_core_sees_its_timer_later_than_the_kernels_slices_allow() {
    for cores in 2..=8 {
        let turns = Turns { turn: 2_500, cores };
        let most = (0..20).map(|seed| latest(cores, seed, 4_000)).max().unwrap_or_default();
        println!("{cores} cores: {most} of {}, where a turn of each other core is {}", turns.latest(), turns.round());
        assert!(most <= turns.latest(), "{cores} cores: {most} of {}", turns.latest());
        // A turn of each other core would be too little, and what is allowed is not far from what happens.
        assert!(most > turns.round() && most * 2 > turns.latest(), "{cores} cores: {most} of {}", turns.latest());
    }
}

#[test]
fn a_core_that_is_alone_waits_for_nobody() {
    assert_eq!(Turns { turn: 0, cores: 1 }.latest(), 0);
}
