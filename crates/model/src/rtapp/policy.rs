//! Which policy of Tactus does what the scheduling classes of an rt-app file would.

use super::fields::{Fields, Reader};
use super::thread::Thread;
use crate::draft::Given;
use crate::problem::{nearest, Complaint};
use crate::{Migration, Policy, TaskOrder};
use tactus_time::{CoreId, Duration, Level, MAX_CORES};

/// Cores where no task names any.
const DEFAULT_CORES: usize = 4;
/// The length of a turn of threads that wait for each other.
const TURN: Duration = Duration::from_millis(3);
const NAMES: [&str; 6] = ["SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE", "SCHED_FIFO", "SCHED_RR", "SCHED_DEADLINE"];

/// What a scheduling policy of Linux is to Tactus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// SCHED_DEADLINE: earliest deadline first.
    Deadline,
    /// SCHED_FIFO and SCHED_RR: fixed priorities.
    Fixed,
    /// SCHED_OTHER, SCHED_BATCH, SCHED_IDLE: no promise.
    BestEffort,
}

/// Reads the name of a scheduling policy.
pub(super) fn read(fields: &Fields<'_>, key: &str, reader: &mut Reader<'_>) -> Given<Class> {
    let at = match fields.text(key, reader) {
        Given::Is(at) => at,
        Given::Absent => return Given::Absent,
        Given::Broken => return Given::Broken,
    };
    let class = match at.value.as_str() {
        "SCHED_OTHER" => Class::BestEffort,
        "SCHED_BATCH" | "SCHED_IDLE" => {
            reader.note(format!("{} is taken as SCHED_OTHER: there is one kind of best effort", at.value));
            Class::BestEffort
        }
        "SCHED_FIFO" => Class::Fixed,
        "SCHED_RR" => {
            reader.note("SCHED_RR is taken as SCHED_FIFO: tasks of equal priority do not take turns");
            Class::Fixed
        }
        "SCHED_DEADLINE" => Class::Deadline,
        other => {
            let complaint = Complaint::UnknownName {
                what: "policy",
                name: other.chars().take(40).collect(),
                nearest: nearest(other, NAMES),
                remedy: format!("choose one of {}", NAMES.join(", ")),
            };
            reader.out.add(at.place, &fields.subject, complaint);
            return Given::Broken;
        }
    };
    Given::is(class, at.place)
}

/// The number of cores: up to the highest that a task names, or four.
pub(super) fn cores(threads: &[Thread], reader: &mut Reader<'_>) -> Option<usize> {
    let mut highest = None;
    let mut sound = true;
    for thread in threads {
        let Some(cpus) = &thread.cpus else { continue };
        for cpu in &cpus.value {
            match usize::try_from(*cpu) {
                Ok(cpu) if cpu < MAX_CORES => highest = highest.max(Some(cpu)),
                _ => {
                    let limit = format!("not between 0 and {}", MAX_CORES - 1);
                    let remedy = "choose a core of them";
                    reader.out.out_of_range(cpus.place, &thread.subject, "a core of \"cpus\"", cpu, limit, remedy);
                    sound = false;
                }
            }
        }
    }
    if !sound {
        return None;
    }
    Some(highest.map_or_else(
        || {
            reader.note(format!("the file names no core: it runs on {DEFAULT_CORES}"));
            DEFAULT_CORES
        },
        |highest| highest + 1,
    ))
}

/// The policy, and for each thread its level and core; `order` is that of the tasks.
pub(super) struct Choice {
    pub policy: Policy,
    pub levels: Vec<Option<Level>>,
    /// Empty where tasks have none.
    pub priorities: Vec<u64>,
    /// The length of a turn, where turns are taken.
    pub quantum: Option<Duration>,
    pub bound: Vec<Option<CoreId>>,
    pub order: Vec<usize>,
}

/// Chooses the policy that keeps the meaning of the file; nothing if there is none.
pub(super) fn choose(threads: &[Thread], cores: usize, reader: &mut Reader<'_>) -> Option<Choice> {
    let bound = bindings(threads, cores, reader)?;
    let any = |class| threads.iter().any(|thread| thread.class.value == class);
    if any(Class::Fixed) {
        if !check_unmixed(threads, reader) {
            return None;
        }
        let bound = all_or_none(threads, bound, |_| true, reader)?;
        let partitioned = bound.first().is_some_and(Option::is_some);
        if any(Class::BestEffort) || !rate_monotonic(threads, &bound) {
            return Some(by_priority(threads, partitioned, bound, reader));
        }
        let policy = if partitioned { Policy::PartitionedRm } else { Policy::GlobalRm };
        // Among equal periods the first task goes first: so must the one with the higher priority.
        let mut order: Vec<usize> = (0..threads.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(priority(&threads[*i])));
        return Some(Choice::of(policy, vec![None; threads.len()], bound, order));
    }
    let all_bound = bound.iter().all(Option::is_some);
    if !any(Class::Deadline) && all_bound && cores > 1 {
        reader.note("SCHED_OTHER tasks take turns of 3 ms, all alike");
        let policy = Policy::Ordered { spread: Migration::Partitioned, order: TaskOrder::RoundRobin };
        let order = (0..threads.len()).collect();
        return Some(Choice { quantum: Some(TURN), ..Choice::of(policy, vec![None; threads.len()], bound, order) });
    }
    let order = (0..threads.len()).collect();
    if !any(Class::BestEffort) {
        let bound = all_or_none(threads, bound, |_| true, reader)?;
        let partitioned = bound.first().is_some_and(Option::is_some);
        let policy = if partitioned { Policy::PartitionedEdf } else { Policy::GlobalEdf };
        return Some(Choice::of(policy, vec![None; threads.len()], bound, order));
    }
    // Deadlines above best effort: MC² without its ghosts, which Linux does not have.
    let mut bound = all_or_none(threads, bound, |thread| thread.class.value == Class::Deadline, reader)?;
    let mut levels = Vec::new();
    for (i, thread) in threads.iter().enumerate() {
        levels.push(Some(match thread.class.value {
            Class::Deadline if bound[i].is_some() => Level::B,
            Class::Deadline => Level::C,
            _ => Level::D,
        }));
        if let (Class::BestEffort, Some(cpus), true) = (thread.class.value, &thread.cpus, cores > 1) {
            if bound[i].is_some() {
                let why = "a best-effort task is bound to a core, and best effort runs on any core here";
                reader.out.refuse(cpus.place, &thread.subject, why, "remove \"cpus\", or make it SCHED_DEADLINE");
            }
        }
        if thread.class.value == Class::BestEffort {
            bound[i] = None;
        }
    }
    reader.note("SCHED_OTHER is taken as best effort (level D): nothing is promised for these tasks");
    Some(Choice::of(Policy::Mc2 { enforce: true, slack_shifting: false }, levels, bound, order))
}

impl Choice {
    fn of(policy: Policy, levels: Vec<Option<Level>>, bound: Vec<Option<CoreId>>, order: Vec<usize>) -> Choice {
        Choice { policy, levels, priorities: Vec::new(), quantum: None, bound, order }
    }
}

/// The same where threads wait for each other, whose reservations or levels no test here bounds: turns, or the priorities of the file.
pub(super) fn choose_for_threads(threads: &[Thread], reader: &mut Reader<'_>) -> Option<Choice> {
    if let Some(thread) = threads.iter().find(|thread| thread.class.value == Class::Deadline) {
        let why =
            "a reservation is a promise, and threads of this file wait for each other, for which there is no bound";
        reader.out.refuse(
            thread.class.place,
            &thread.subject,
            why,
            "give it another policy, or no thread that waits for others",
        );
        return None;
    }
    let highest = threads.iter().filter_map(|thread| thread.cpus.as_ref()).flat_map(|cpus| &cpus.value).max();
    let bound = bindings(threads, highest.map_or(DEFAULT_CORES, |highest| *highest as usize + 1), reader)?;
    let bound = all_or_none(threads, bound, |_| true, reader)?;
    let spread = match bound.first().is_some_and(Option::is_some) {
        true => Migration::Partitioned,
        false => Migration::Global,
    };
    let order: Vec<usize> = (0..threads.len()).collect();
    let levels = vec![None; threads.len()];
    if threads.iter().all(|thread| thread.class.value == Class::BestEffort) {
        reader.note("SCHED_OTHER tasks take turns of 3 ms, all alike");
        let policy = Policy::Ordered { spread, order: TaskOrder::RoundRobin };
        return Some(Choice { quantum: Some(TURN), ..Choice::of(policy, levels, bound, order) });
    }
    let partitioned = bound.first().is_some_and(Option::is_some);
    Some(by_priority(threads, partitioned, bound, reader))
}

/// The priorities of the file, the others behind.
fn by_priority(threads: &[Thread], partitioned: bool, bound: Vec<Option<CoreId>>, reader: &mut Reader<'_>) -> Choice {
    if threads.iter().any(|thread| thread.class.value == Class::BestEffort) {
        reader.note(
            "SCHED_OTHER tasks go behind all with a fixed priority, first come first served by their place in the file",
        );
    }
    // Those without come behind.
    let own = |thread: &Thread| match thread.class.value {
        Class::BestEffort => 1,
        _ => priority(thread) as u64 + 1,
    };
    let priorities = threads.iter().map(own).collect();
    let spread = if partitioned { Migration::Partitioned } else { Migration::Global };
    let policy = Policy::Ordered { spread, order: TaskOrder::FixedPriority };
    let order = (0..threads.len()).collect();
    Choice { priorities, ..Choice::of(policy, vec![None; threads.len()], bound, order) }
}

/// The core of each thread, or nothing if it may run on all.
fn bindings(threads: &[Thread], cores: usize, reader: &mut Reader<'_>) -> Option<Vec<Option<CoreId>>> {
    let mut sound = true;
    let bound = threads.iter().map(|thread| match &thread.cpus {
        None => None,
        Some(cpus) if cpus.value.len() == cores && cores > 1 => None,
        Some(cpus) if cpus.value.len() == 1 => u8::try_from(cpus.value[0]).ok().map(CoreId),
        Some(cpus) => {
            let why = format!("\"cpus\" names {} of {cores} cores", cpus.value.len());
            reader.out.refuse(cpus.place, &thread.subject, why, "name one core or all, or leave it out");
            sound = false;
            None
        }
    });
    let bound: Vec<_> = bound.collect();
    sound.then_some(bound)
}

/// Either all threads of a class are bound or none is; on one core, all are.
fn all_or_none(
    threads: &[Thread],
    mut bound: Vec<Option<CoreId>>,
    concerned: impl Fn(&Thread) -> bool,
    reader: &mut Reader<'_>,
) -> Option<Vec<Option<CoreId>>> {
    let named = threads.iter().filter_map(|thread| thread.cpus.as_ref()).flat_map(|cpus| &cpus.value).max();
    if named == Some(&0) {
        bound.fill(Some(CoreId(0)));
    }
    let ours = || threads.iter().zip(&bound).filter(|(thread, _)| concerned(thread));
    let first = ours().find(|(_, core)| core.is_some());
    let other = ours().find(|(_, core)| core.is_none());
    if let (Some((bound, _)), Some((free, _))) = (first, other) {
        let place = free.cpus.as_ref().map_or(free.place, |cpus| cpus.place);
        let why = format!("it may run on any core, but {} is bound to one", bound.subject);
        reader.out.refuse(place, &free.subject, why, "bind all such tasks with \"cpus\", or none");
        return None;
    }
    Some(bound)
}

/// Fixed priorities have no counterpart beside deadlines.
fn check_unmixed(threads: &[Thread], reader: &mut Reader<'_>) -> bool {
    let fixed = threads.iter().find(|thread| thread.class.value == Class::Fixed);
    let other = threads.iter().find(|thread| thread.class.value == Class::Deadline);
    let (Some(fixed), Some(other)) = (fixed, other) else { return true };
    let why = format!(
        "its policy SCHED_DEADLINE stands beside the fixed priority of {}, and no policy here has reservations above fixed priorities",
        fixed.subject
    );
    reader.out.refuse(other.class.place, &other.subject, why, "give all tasks a fixed priority, or none");
    false
}

fn priority(thread: &Thread) -> i64 {
    // What rt-app gives to a task of a fixed priority that names none.
    thread.priority.as_ref().map_or(10, |at| at.value)
}

/// Whether the priorities follow the rates, the shorter the period the higher, so that the order is the rate-monotonic one.
fn rate_monotonic(threads: &[Thread], bound: &[Option<CoreId>]) -> bool {
    let rivals = |(i, slow): (usize, &Thread)| {
        threads
            .iter()
            .enumerate()
            .filter(|(j, _)| bound[*j] == bound[i])
            .all(|(_, fast)| fast.cycle.period.value >= slow.cycle.period.value || priority(fast) > priority(slow))
    };
    threads.iter().enumerate().all(rivals)
}
