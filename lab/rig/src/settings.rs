//! What a run of the rig is asked to do, with the source's values as defaults.

use crate::replay::Script;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tactus_sync::stamp::Serialise;

/// What a run is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A checker looks at everything again and again; there may be more processors than cores.
    Testing,
    /// One processor for each core, bound to it, memory locked; nobody disturbs the measurement.
    Performance,
}

/// Where events come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Drawn at random, as in the source.
    Random,
    /// A trace of the kernel or the simulator.
    Trace(Arc<Script>),
    /// Periodic tasks, each of which always takes as long as it may, as in the source's runs on the kernel.
    Tasks(Arc<Vec<Periodic>>),
}

/// A periodic task, released by one processor, first at time zero. Its deadline is its period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Periodic {
    /// From release to release (ns).
    pub period: u64,
    /// What each job takes (ns).
    pub takes: u64,
}

/// All that can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the run is for.
    pub mode: Mode,
    /// How many processors are emulated.
    pub processors: usize,
    /// Let performance mode emulate more processors than there are cores.
    pub oversubscribe: bool,
    /// Cycles of each processor.
    pub cycles: u64,
    /// Length of a cycle.
    pub cycle: Duration,
    /// Whether a cycle lasts that long in real time; else the next one begins at once, and only the rig's own clock
    /// goes on by as much.
    pub real_time: bool,
    /// Whether performance mode enters the real-time class also where cycles follow one another without a pause. Then nobody
    /// else has these cores until the run ends.
    pub urgent: bool,
    /// Probability of an activation in a cycle.
    pub activation: f64,
    /// Probability that the running task finishes early.
    pub early_finish: f64,
    /// From when to when a deadline lies after its activation, both included.
    pub deadline: (Duration, Duration),
    /// How many tasks there can be at a time.
    pub tasks: usize,
    /// Probability that a new task is bound to a random half of the processors.
    pub bound: f64,
    /// Seed of all that is drawn.
    pub seed: u64,
    /// How often the checker looks.
    pub check_every: Duration,
    /// After how long without a cycle of any processor the run has failed.
    pub patience: Duration,
    /// What keeps the processor from moving code over a time stamp.
    pub serialise: Serialise,
    /// Where events come from.
    pub source: Source,
}

impl Default for Settings {
    fn default() -> Settings {
        let ms = Duration::from_millis;
        Settings {
            mode: Mode::Testing,
            processors: 4,
            oversubscribe: false,
            cycles: 1_000,
            cycle: ms(10),
            real_time: false,
            urgent: false,
            activation: 0.2,
            early_finish: 0.1,
            deadline: (ms(10), ms(99)),
            tasks: 1_000,
            bound: 0.0,
            seed: 0,
            check_every: Duration::from_micros(200),
            patience: Duration::from_secs(10),
            serialise: Serialise::Cpuid,
            source: Source::Random,
        }
    }
}

/// Why a run cannot begin.
#[derive(Clone, PartialEq, Debug)]
pub enum Problem {
    /// More processors than a directory holds, or none.
    Processors(usize),
    /// Performance mode needs a core for each processor.
    TooFewCores {
        /// Wanted.
        processors: usize,
        /// There.
        cores: usize,
    },
    /// Probabilities that are none, or are more than one together.
    Probabilities(f64, f64),
    /// Nothing to do, or no time to do it in.
    Nothing(&'static str),
    /// A trace of more or fewer cores than asked for.
    TraceCores {
        /// Asked for.
        processors: usize,
        /// In the trace.
        cores: usize,
    },
    /// Memory cannot be locked.
    Lock(String),
    /// A thread cannot be bound to its core.
    Bind(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Processors(n) => {
                write!(f, "{n} processors: 1 to {} can be emulated", tactus_compared_structures::CORES)
            }
            Problem::TooFewCores { processors, cores } => write!(
                f,
                "{processors} processors cannot be measured on {cores} cores: they would wait for each other's turns; take \
                 {cores} or fewer, use testing mode, or say --oversubscribe and read the figures with that in mind"
            ),
            Problem::Probabilities(activation, early) => {
                write!(f, "probabilities of {activation} and {early}: each must be 0 to 1, and their sum at most 1")
            }
            Problem::Nothing(what) => write!(f, "{what} must be more than nothing"),
            Problem::TraceCores { processors, cores } => {
                write!(f, "the trace is of {cores} cores, {processors} processors were asked for: leave that out")
            }
            Problem::Lock(why) => {
                write!(f, "memory cannot be locked ({why}): raise `ulimit -l`, or use testing mode")
            }
            Problem::Bind(why) => write!(f, "a processor's thread cannot be bound to its core: {why}"),
        }
    }
}

impl std::error::Error for Problem {}

impl Settings {
    /// Whether the run can begin, on `cores` cores.
    pub(crate) fn check(&self, cores: usize) -> Result<(), Problem> {
        if self.processors == 0 || self.processors > tactus_compared_structures::CORES {
            return Err(Problem::Processors(self.processors));
        }
        if self.mode == Mode::Performance && self.processors > cores && !self.oversubscribe {
            return Err(Problem::TooFewCores { processors: self.processors, cores });
        }
        let probability = |p: f64| (0.0..=1.0).contains(&p);
        if ![self.activation, self.early_finish, self.activation + self.early_finish].into_iter().all(probability)
            || !probability(self.bound)
        {
            return Err(Problem::Probabilities(self.activation, self.early_finish));
        }
        for (what, nothing) in [
            ("the number of cycles", self.cycles == 0),
            ("the length of a cycle", self.cycle.is_zero()),
            ("the checker's interval", self.check_every.is_zero()),
            ("the number of tasks", self.tasks < self.processors),
            ("the deadline", self.deadline.0.is_zero() || self.deadline.1 < self.deadline.0),
        ] {
            if nothing {
                return Err(Problem::Nothing(what));
            }
        }
        if let Source::Tasks(tasks) = &self.source {
            if tasks.is_empty() || tasks.iter().any(|task| task.period == 0) {
                return Err(Problem::Nothing("a task set, and each period in it,"));
            }
        }
        if let Source::Trace(script) = &self.source {
            if script.cores.len() != self.processors {
                return Err(Problem::TraceCores { processors: self.processors, cores: script.cores.len() });
            }
        }
        Ok(())
    }
}
