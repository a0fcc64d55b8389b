//! Scripts as names of tasks, system files, and what programs say on the console.

use super::{Handling, Partition, Script, Step, StepResult, Story, System};
use crate::file;
use std::fmt::Write;
use tactus_record::EventKind;
use tactus_time::Duration;
use tactus_trace::Trace;

/// The names of the components that run scripts, one for each partition.
const PROGRAMS: [&str; 3] = ["script", "script-b", "script-c"];

/// A digit, or a letter for what is more.
fn sign(n: u64) -> char {
    char::from_digit(n as u32, 36).expect("scripts count to 35")
}

impl Step {
    fn text(self) -> String {
        let (sign_of, value) = match self {
            Step::Compute(n) => ('c', sign(n)),
            Step::Sleep(n) => ('t', sign(n)),
            Step::Await(n) => ('e', sign(n)),
            Step::Replenish(n) => ('b', sign(n)),
            Step::SuspendSelf(n) => ('u', sign(n)),
            Step::Suspend(who) => ('S', who),
            Step::Resume(who) => ('R', who),
            Step::Stop(who) => ('X', who),
            Step::Start(who) => ('G', who),
            Step::Period => return "w".into(),
            Step::Set => return "s".into(),
            Step::Reset => return "r".into(),
            Step::Raise => return "x".into(),
            Step::StopSelf => return "z".into(),
            Step::Forever => return "l".into(),
            Step::Again => return "j".into(),
        };
        format!("{sign_of}{value}")
    }

    /// What is told when it is over.
    pub(super) fn word(self) -> String {
        self.text().chars().take(1).collect()
    }
}

impl Script {
    /// The name of its task.
    pub fn name(&self) -> String {
        let kind = if self.periodic { 'P' } else { 'A' };
        let (deadline, start) = (if self.hard { 'H' } else { 'S' }, if self.started { 'g' } else { 'n' });
        let handling = match self.handling {
            Handling::Ignore => 'N',
            Handling::Stop => 'Q',
            Handling::Restart => 'B',
        };
        let steps: String = self.steps.iter().map(|step| step.text()).collect();
        format!("{}.{kind}{}{deadline}{start}{handling}{steps}", self.who, sign(self.capacity))
    }
}

/// The longest name of a process that its program is told.
pub(super) const LONGEST: usize = 24;

/// The system as a file. Each partition's tasks have names of their own.
pub fn scripts(system: &System) -> String {
    let frame = system.partitions[0].frame;
    let mut text = format!(
        "[system]\ncores = 1\nduration = '{} ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitions'\n\
         major-frame = '{frame} ms'\n[[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n",
        system.duration,
        file("os/components/services").display()
    );
    for (n, partition) in system.partitions.iter().enumerate() {
        let (program, (start, length)) = (PROGRAMS[n], partition.window);
        let health = if partition.restarts { "health = { deadline-missed = 'restart-process' }\n" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "[[component]]\nname = '{program}'\ncrate = '{}'\nuses = {{ console = 'console.write' }}\n\
             [[partition]]\nname = 'p{n}'\npolicy = 'partitioned-fp'\nwindows = [{{ core = 0, start = '{start} ms', \
             length = '{length} ms' }}]\ncomponents = ['{program}']\n{health}",
            file("tests/scenarios/apex").display()
        );
        let mut task = |name: String, priority: usize, period: u64| {
            let _ = write!(
                text,
                "[[task]]\nname = 'p{n}.{name}'\ncomponent = '{program}'\npriority = {priority}\nperiod = '{period} ms'\n\
                 execution = '100 us'\n"
            );
        };
        for (rank, script) in partition.scripts.iter().enumerate() {
            task(script.name(), 20 - rank, script.period);
        }
        if let Some(period) = partition.handler {
            task("error-handler".into(), 30, period);
        }
    }
    text
}

/// What was said in a run.
pub struct Said<'a> {
    /// The console.
    pub log: &'a str,
    /// The trace.
    pub trace: &'a Trace,
}

impl Said<'_> {
    /// What came of the partition with this number.
    pub fn story(&self, system: &System, number: usize) -> Story {
        let prefix = format!("| {}: ", PROGRAMS[number]);
        let told = |line: &str| {
            let words: Vec<&str> = line.strip_prefix(&prefix)?.split(' ').collect();
            let [who, what, code, at] = words[..] else { panic!("{line}") };
            let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("{line}"));
            let (code, at) = (number(code) as u32, Duration::from_micros(number(at)));
            Some(StepResult { who: who.chars().next()?, what: what.to_string(), code, at })
        };
        let told = self.log.lines().filter_map(told).collect();
        // Tasks are in the order of the file: each partition's, and then its handler's.
        let of = |it: &Partition| it.scripts.len() + usize::from(it.handler.is_some());
        let first: usize = system.partitions[..number].iter().map(of).sum();
        let name = |task: usize| system.partitions[number].scripts.get(task.checked_sub(first)?).map(|it| it.who);
        let missed = self.trace.cores.iter().flatten().filter(|r| r.kind == EventKind::DeadlineMissed);
        let missed = missed.filter_map(|r| {
            let who = name(r.task?.index())?;
            Some((who, Duration::from_nanos(r.arg), Duration::from_nanos(r.time.as_nanos())))
        });
        Story { told, missed: missed.collect() }
    }
}
