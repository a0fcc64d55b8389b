//! What a check gives back: verdicts, findings and the tables, and how they are shown to people.

use super::chains::ChainVerdict;
use super::changes::AdmissionVerdict;
use super::channels::ChannelVerdict;
use crate::utilisation::Utilisation;
use std::fmt;
use tactus_model::{Migration, Policy, System};
use tactus_task::{Bound, Table};
use tactus_time::{CoreId, Duration, Level, TaskId};

/// What was found about a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Whether every promise that the policy makes can be kept.
    pub accepted: bool,
    /// The level-A table of each core, in core order; empty ones where a core has none. Empty without MC².
    pub tables: Vec<Table>,
    /// By how much each task's enforced budget is enlarged for the system's work on the task's behalf, by `TaskId`; bounds count on
    /// it. Zero at level D and where there are no levels of criticality.
    pub allowances: Vec<Duration>,
    /// What was found about each task, by `TaskId`.
    pub tasks: Vec<TaskCheck>,
    /// One verdict per chain, in the order of the file; then one for each destination of each channel.
    pub chains: Vec<ChainVerdict>,
    /// What is known of the messages of each channel, in the order of the file.
    pub channels: Vec<ChannelVerdict>,
    /// How much of each core is asked for. Empty where tasks are bound to no core.
    pub cores: Vec<CoreLoad>,
    /// What fails, and what to do about it. Empty if and only if accepted.
    pub findings: Vec<Finding>,
    /// One line for people.
    pub summary: String,
    /// What admission says of each change, in the order of the file; all else is about the system as it begins.
    pub changes: Vec<AdmissionVerdict>,
}

/// What the tests say of a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TaskVerdict {
    /// A bound that keeps the task's promise: within the deadline or, at level C, any. It holds while no task takes longer than the
    /// file assumes.
    Bounded {
        /// The bound.
        bound: Bound,
        /// The test that gave it.
        by: String,
    },
    /// No test covers the task and those who can delay it, so that it is promised nothing.
    Untested(String),
    /// A test covers the task, and does not show that its promise is kept.
    Fails {
        /// A bound that does not keep the promise, where there is one.
        bound: Option<Bound>,
        /// What binds.
        why: String,
        /// The test.
        by: String,
    },
}

/// What a bound counts of what jobs load again after others have displaced it from the caches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reloads {
    /// Nothing.
    #[default]
    None,
    /// This, the longest of any task, in each entry of the scheduler.
    Longest(Duration),
    /// What each task loses to each other.
    OfEachTask,
}

/// What was found about one task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskCheck {
    /// Which one.
    pub task: TaskId,
    /// Its name.
    pub name: String,
    /// Its level, if the policy knows levels.
    pub level: Option<Level>,
    /// The core it is bound to, if any.
    pub core: Option<CoreId>,
    /// Execution time over period at its own level, in millionths, rounded up.
    pub utilisation: u64,
    /// Its relative deadline.
    pub deadline: Duration,
    /// What the tests say.
    pub verdict: TaskVerdict,
    /// What a bound counts of what jobs lose in the caches.
    pub reloads: Reloads,
    /// A task whose declared demand may exceed what the bound assumes of it: then the bound is no promise for a run.
    pub exceeded_by: Option<TaskId>,
}

impl TaskVerdict {
    /// What follows from a bound that a test gives, or does not: `why` says what binds where that is not within the deadline.
    pub(crate) fn of(bound: Option<Bound>, deadline: Duration, by: &str, why: impl FnOnce() -> String) -> TaskVerdict {
        match bound {
            Some(Bound::Response(r)) if r <= deadline => TaskVerdict::bounded(Bound::Response(r), by),
            Some(Bound::Response(r)) => TaskVerdict::Fails {
                bound,
                why: format!("its response may reach {r}, over the deadline of {deadline}"),
                by: by.into(),
            },
            Some(Bound::Tardiness(_)) | None => TaskVerdict::Fails { bound, why: why(), by: by.into() },
        }
    }

    /// A bound that keeps the promise.
    pub(crate) fn bounded(bound: Bound, by: &str) -> TaskVerdict {
        TaskVerdict::Bounded { bound, by: by.into() }
    }

    /// A failure without a bound.
    pub(crate) fn fails(why: impl Into<String>, by: impl Into<String>) -> TaskVerdict {
        TaskVerdict::Fails { bound: None, why: why.into(), by: by.into() }
    }
}

impl TaskCheck {
    /// The bound that a test gives, whether or not it keeps the promise.
    pub fn bound(&self) -> Option<Bound> {
        match &self.verdict {
            TaskVerdict::Bounded { bound, .. } => Some(*bound),
            TaskVerdict::Fails { bound, .. } => *bound,
            TaskVerdict::Untested(_) => None,
        }
    }
    /// What a run of this system has to keep: the bound, unless some task's declared demand breaks its assumption.
    pub fn promise(&self) -> Option<Bound> {
        match self.exceeded_by {
            None => self.bound(),
            Some(_) => None,
        }
    }
    /// Whether a test shows that the task's promise is not kept, or fails to show that it is.
    pub fn fails(&self) -> bool {
        matches!(self.verdict, TaskVerdict::Fails { .. })
    }
    /// Takes the bound: what kept its promise has no test, for this reason; what failed still fails.
    pub(crate) fn no_bound(&mut self, why: impl FnOnce() -> String) {
        match &mut self.verdict {
            TaskVerdict::Fails { bound, .. } => *bound = None,
            TaskVerdict::Bounded { .. } | TaskVerdict::Untested(_) => self.verdict = TaskVerdict::Untested(why()),
        }
    }
    /// Replaces the bound by one that is no less.
    pub(crate) fn weaken(&mut self, to: Bound) {
        match &mut self.verdict {
            TaskVerdict::Bounded { bound, .. } => *bound = to,
            TaskVerdict::Fails { bound, .. } => *bound = Some(to),
            TaskVerdict::Untested(_) => {}
        }
    }
    /// Time between bound and deadline, where a response is bounded within the deadline.
    pub fn slack(&self) -> Option<Duration> {
        match &self.verdict {
            TaskVerdict::Bounded { bound: Bound::Response(r), .. } => self.deadline.checked_sub(*r),
            TaskVerdict::Bounded { bound: Bound::Tardiness(_), .. }
            | TaskVerdict::Untested(_)
            | TaskVerdict::Fails { .. } => None,
        }
    }
    /// Which test gave the bound, or why there is none.
    pub fn explanation(&self) -> &str {
        match &self.verdict {
            TaskVerdict::Bounded { by, .. } | TaskVerdict::Fails { by, .. } => by,
            TaskVerdict::Untested(why) => why,
        }
    }
}

/// What is asked of one core, as assumed at each level, in millionths, rounded up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoreLoad {
    /// Which core.
    pub core: CoreId,
    /// At level A: the tasks of level A. At B: those of A and B. At C: those of A and B at level-C times. Without
    /// levels all three are the same.
    pub levels: [u64; 3],
}

/// Something that fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The task concerned, if one can be named.
    pub task: Option<TaskId>,
    /// The core concerned, if one can be named.
    pub core: Option<CoreId>,
    /// The line of the system file to look at; 0 if none.
    pub line: usize,
    /// Who fails and what binds it, with value and limit.
    pub what: String,
    /// What would mend it.
    pub remedy: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

/// A fraction in millionths as people read it: two decimals, rounded up.
pub(crate) fn hundredths(millionths: u64) -> String {
    let n = millionths.div_ceil(10_000);
    format!("{}.{:02}", n / 100, n % 100)
}

impl Check {
    /// Everything that is known before a test ran.
    pub(crate) fn new(system: &System) -> Check {
        let verdict = |(n, t): (usize, &tactus_model::Task)| {
            let e = super::assumed::assumed(t, t.level.unwrap_or(Level::A));
            TaskCheck {
                task: super::assumed::id(n),
                name: t.name.clone(),
                level: t.level,
                core: t.core,
                utilisation: Utilisation::of([(e, t.period)]).millionths(),
                deadline: t.deadline,
                verdict: TaskVerdict::Untested("no test has looked at it".into()),
                reloads: Reloads::None,
                exceeded_by: None,
            }
        };
        let tasks: Vec<TaskCheck> = system.tasks.iter().enumerate().map(verdict).collect();
        let shared = |spread| matches!(spread, Migration::Global | Migration::Clustered);
        let bound_to_cores = match system.policy {
            Policy::GlobalRm | Policy::GlobalEdf => false,
            Policy::Ordered { spread, .. } => !shared(spread),
            Policy::PartitionedRm
            | Policy::PartitionedEdf
            | Policy::Mixed(_)
            | Policy::Mc2 { .. }
            | Policy::Partitions => true,
        };
        let cores = if bound_to_cores { (0..system.cores).map(|c| load(system, c)).collect() } else { Vec::new() };
        Check {
            accepted: false,
            tables: Vec::new(),
            allowances: vec![Duration::ZERO; system.tasks.len()],
            tasks,
            chains: Vec::new(),
            channels: Vec::new(),
            cores,
            findings: Vec::new(),
            summary: String::new(),
            changes: Vec::new(),
        }
    }

    /// Notes that a task fails.
    pub(crate) fn fail(&mut self, system: &System, place: usize, what: String, remedy: String) {
        let task = &system.tasks[place];
        self.findings.push(Finding {
            task: Some(super::assumed::id(place)),
            core: task.core,
            line: task.line,
            what,
            remedy,
        });
    }
}

fn load(system: &System, core: usize) -> CoreLoad {
    let at = |level: Level| {
        let on_core = system.tasks.iter().filter(|t| t.core.is_some_and(|c| c.index() == core));
        let counted = on_core.filter(|t| match (t.level, level) {
            (None, _) => true,
            (Some(own), Level::A) => own == Level::A,
            (Some(own), _) => own <= Level::B,
        });
        Utilisation::of(counted.map(|t| (super::assumed::assumed(t, level), t.period))).millionths()
    };
    CoreLoad { core: CoreId(core as u8), levels: [at(Level::A), at(Level::B), at(Level::C)] }
}

/// A table: one line per task, then the cores, then what fails.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.tasks.iter().map(|t| t.name.chars().count()).max().unwrap_or(0).max(4);
        writeln!(f, "{:width$}  level  core  util.  deadline      bound                     verdict", "task")?;
        for t in &self.tasks {
            let level = t.level.map_or("–".into(), |l| l.to_string());
            let core = t.core.map_or("any".into(), |c| c.to_string());
            let verdict = match t.verdict {
                TaskVerdict::Bounded { .. } => "holds",
                TaskVerdict::Untested(_) => "no promise",
                TaskVerdict::Fails { .. } => "fails",
            };
            let conditional = if t.exceeded_by.is_some() { " (demand exceeds the assumption)" } else { "" };
            writeln!(
                f,
                "{:width$}  {level:5}  {core:4}  {:5}  {:12}  {:24}  {verdict}{conditional}  {}",
                t.name,
                hundredths(t.utilisation),
                t.deadline.to_string(),
                t.bound().map_or("none".into(), |bound| bound.to_string()),
                t.explanation(),
            )?;
        }
        for chain in &self.chains {
            writeln!(f, "chain {chain}")?;
        }
        for channel in &self.channels {
            writeln!(f, "channel {channel}")?;
        }
        for c in &self.cores {
            let [a, b, in_c] = c.levels.map(hundredths);
            if self.tasks.iter().any(|t| t.level.is_some()) {
                writeln!(f, "core {}  A {a} · A+B {b} · A+B at level C {in_c}", c.core)?;
            } else {
                writeln!(f, "core {}  {a}", c.core)?;
            }
        }
        for finding in &self.findings {
            writeln!(f, "{finding}")?;
        }
        for ruling in &self.changes {
            writeln!(f, "{ruling}")?;
        }
        write!(f, "{}  {}", self.summary, if self.accepted { "accepted" } else { "not accepted" })
    }
}
