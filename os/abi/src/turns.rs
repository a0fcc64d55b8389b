//! Slices of an emulated machine whose cores take turns: how long the kernel makes them, and how late a core may therefore see its timer.
//!
//! The kernel sets its timers by this, the judge of a run allows for it, and a model of the emulator holds the one against the other
//! (`os/abi/tests/turns.rs`).

/// A long slice in short ones.
pub const LONG: u64 = 10;

/// A machine whose cores take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turns {
    /// How long a core executes, at least, before the others do: in any unit, in which all else is.
    pub turn: u64,
    /// How many cores there are.
    pub cores: u64,
}

impl Turns {
    /// What all other cores take before a core has its slice again, if each takes a turn.
    pub const fn round(self) -> u64 {
        self.turn * self.cores.saturating_sub(1)
    }

    /// A slice without what others take of it.
    pub const fn slice(self, long: bool) -> u64 {
        if long {
            LONG * self.turn
        } else {
            self.turn
        }
    }

    /// The most by which a slice is longer, for what others take of it.
    pub const fn most_lag(self, long: bool) -> u64 {
        let rounds = 2 * self.round();
        if long {
            LONG * rounds
        } else {
            rounds
        }
    }

    /// By how much the next slice is longer, where the last one was longer by `lag` and lasted for `lasted`.
    ///
    /// Setting the timer ends a slice in the emulator, and then the others use up the time that was set before this core has executed
    /// anything: beside cores that never pause it would make no headway for ever. So where the slice's interrupt comes almost as soon
    /// as the kernel is left, the core allows for more time that the others take, and for less where its slice lasts too long.
    pub fn next_lag(self, lag: u64, lasted: u64, long: bool) -> u64 {
        let slice = self.slice(long);
        if lasted < slice / 8 {
            (lag + slice).min(self.most_lag(long))
        } else {
            lag - lasted.saturating_sub(slice).min(lag)
        }
    }

    /// By how much the kernel lets a timer be wrong, and within how much it enters and leaves at a slice's end.
    pub const fn granularity(self) -> u64 {
        self.turn / 8
    }

    /// How late a core may see its timer at most, beside what other cores execute in schedulers without a pause.
    ///
    /// Let the timer expire at *D* while another core executes. The emulator ends that slice, for each timer ends one, and lets the cores
    /// execute in their order until this one has its own. Each core before it pauses by itself, is in its scheduler, or executes until
    /// some timer expires: its own at the latest, which it set before *D*, since setting a timer ends a slice as well. From then on it
    /// stands back. Long slices end before *D*: for they begin only if every core's expiry is known, and are set to end before all of
    /// them. A short one was set for a turn and [`Turns::most_lag`] at most. So what the others have does not add up: all of it lies
    /// before the last of their timers, *D* + turn + most lag. Each entry of the kernel on the way, and how far a timer may be wrong,
    /// come on top.
    ///
    /// That slices are long for as long as others take of them at most, and not as they take mostly, is what counts here: one turn of each
    /// other core would be too little.
    pub const fn latest(self) -> u64 {
        if self.cores < 2 {
            return 0;
        }
        self.slice(false) + self.most_lag(false) + (self.cores + 1) * self.granularity()
    }
}
