//! The rules for one task.

use super::server::{self, Home, Homes};
use crate::draft::{DraftDemand, DraftExecution, DraftTask, Given};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::{Body, Component, Demand, Policy, Task, TaskPlacement, SHORTEST_JOB, SHORTEST_SIMULATED};
use tactus_time::{CoreId, Duration, Level};

/// What the rules for a task need to know of the system. Nothing where the file is broken.
pub(super) struct Context {
    pub policy: Option<Policy>,
    pub cores: Option<usize>,
    pub duration: Option<Duration>,
    pub shift: u8,
}

/// Checks a task and makes it; nothing if something is wrong with it.
pub(super) fn check(
    draft: &DraftTask,
    context: &Context,
    homes: &Homes,
    components: &[Component],
    out: &mut Collector,
) -> Option<(Task, TaskPlacement)> {
    let level = check_level(draft, context, out);
    let period = check_period(draft, out);
    let deadline = check_deadline(draft, context, period, out);
    check_first_deadline(draft, context, deadline, out);
    let execution = check_execution(draft, context, level, deadline, out);
    let home = if is_mc2(context) { None } else { server::home(draft, homes, out) };
    let core = check_core(draft, context, home.map(|(_, home)| home), level, out);
    let place = server::place(draft, home, context.policy, level, deadline, out);
    let body = check_body(draft, components, out);
    let demand = demand(draft, level, execution.as_ref(), out);
    let minimum = check_minimum(draft, level, execution.as_ref(), out);
    let task = Task {
        name: draft.name.get()?.value.clone(),
        level,
        core,
        offset: draft.offset.value().unwrap_or_default(),
        period: period?,
        deadline: deadline?,
        execution: execution?,
        demand: demand?,
        minimum: minimum?,
        memory: draft.memory.value().unwrap_or(0),
        body: body?,
        line: draft.place.line,
    };
    Some((task, place?))
}

fn is_mc2(context: &Context) -> bool {
    matches!(context.policy, Some(Policy::Mc2 { .. }))
}

/// Whether there are just the levels A and B.
fn is_mixed(context: &Context) -> bool {
    matches!(context.policy, Some(Policy::Mixed(_)))
}

/// A level if and only if the policy has some.
fn check_level(draft: &DraftTask, context: &Context, out: &mut Collector) -> Option<Level> {
    match (&draft.level, context.policy) {
        (Given::Is(at), Some(Policy::Mixed(_))) if at.value > Level::B => {
            let limit = "neither \"A\" (HI) nor \"B\" (LO)";
            out.out_of_range(at.place, &draft.subject, "level", at.value, limit, "choose one of the two");
        }
        (Given::Is(at), Some(policy)) if policy.has_levels() => return Some(at.value),
        (Given::Is(at), Some(policy)) => {
            let why = format!("a level is given, but policy {:?} knows no levels", crate::policy_key(&policy));
            out.refuse(at.place, &draft.subject, why, "remove it, or choose kind = \"mc2\"");
        }
        (Given::Absent, Some(policy)) if policy.has_levels() => {
            let example = if is_mixed(context) { "level = \"A\"" } else { "level = \"C\"" };
            let complaint = Complaint::MissingKey { key: "level", example: example.into() };
            out.add(draft.place, &draft.subject, complaint);
        }
        _ => {}
    }
    None
}

fn check_period(draft: &DraftTask, out: &mut Collector) -> Option<Duration> {
    let at = draft.period.get()?;
    if at.value < SHORTEST_SIMULATED {
        let limit = format!("less than the shortest, {SHORTEST_SIMULATED}");
        out.out_of_range(at.place, &draft.subject, "period", at.value, limit, "lengthen it");
        return None;
    }
    Some(at.value)
}

/// Any; implicit under MC², and no longer than the period at two levels of criticality.
fn check_deadline(
    draft: &DraftTask,
    context: &Context,
    period: Option<Duration>,
    out: &mut Collector,
) -> Option<Duration> {
    let (at, period) = match (&draft.deadline, period) {
        (Given::Is(at), Some(period)) => (at, period),
        (Given::Absent, period) => return period,
        _ => return None,
    };
    if at.value.is_zero() {
        out.out_of_range(at.place, &draft.subject, "deadline", at.value, "no time at all", "raise it");
    } else if is_mc2(context) && at.value != period {
        let limit = format!("not its period of {period}, as MC² needs it");
        out.out_of_range(at.place, &draft.subject, "deadline", at.value, limit, "remove it");
    } else if is_mixed(context) && at.value > period {
        let limit = format!("more than its period of {period}, where jobs have levels");
        let remedy = "lower it to the period or less (a job must be due before the next is released)";
        out.out_of_range(at.place, &draft.subject, "deadline", at.value, limit, remedy);
    } else {
        return Some(at.value);
    }
    None
}

/// A task of which no deadline falls into the run could promise anything.
fn check_first_deadline(draft: &DraftTask, context: &Context, deadline: Option<Duration>, out: &mut Collector) {
    let (Some(run), Some(deadline)) = (context.duration, deadline) else { return };
    let offset = draft.offset.value().unwrap_or_default();
    let first = offset + deadline;
    if first > run {
        let place = draft.offset.get().or(draft.period.get()).map_or(draft.place, |at| at.place);
        let limit = format!("after the end of the run at {run}");
        let remedy = "lengthen the duration of the system, or shorten offset or period";
        out.out_of_range(place, &draft.subject, "its first deadline", first, limit, remedy);
    }
}

fn check_core(
    draft: &DraftTask,
    context: &Context,
    home: Option<&Home>,
    level: Option<Level>,
    out: &mut Collector,
) -> Option<CoreId> {
    if !is_mc2(context) {
        return home.and_then(|home| server::core(draft, home, out));
    }
    let level = level?;
    match (&draft.core, level <= Level::B) {
        (Given::Is(at), true) => {
            let cores = context.cores?;
            match u8::try_from(at.value) {
                Ok(core) if usize::from(core) < cores => return Some(CoreId(core)),
                _ => {
                    let limit = format!("not one of the system's cores, 0 to {}", cores - 1);
                    out.out_of_range(at.place, &draft.subject, "core", at.value, limit, "choose one of them");
                }
            }
        }
        (Given::Is(at), false) => {
            let why = format!("a core is given, but level {level} runs on any core");
            out.refuse(at.place, &draft.subject, why, "remove it");
        }
        (Given::Absent, true) if context.cores == Some(1) => return Some(CoreId(0)),
        (Given::Absent, true) => {
            let complaint = Complaint::MissingKey { key: "core", example: "core = 0".into() };
            out.add(draft.place, &draft.subject, complaint);
        }
        _ => {}
    }
    None
}

fn check_body(draft: &DraftTask, components: &[Component], out: &mut Collector) -> Option<Body> {
    let at = match &draft.component {
        Given::Absent => return Some(Body::Workload),
        Given::Broken => return None,
        Given::Is(at) => at,
    };
    if let Some(memory) = draft.memory.get() {
        let why = "memory is what the built-in workload touches, and this task runs a component";
        out.refuse(memory.place, &draft.subject, why, "remove it");
    }
    match components.iter().position(|component| component.name == at.value) {
        Some(index) => Some(Body::Component(index)),
        None => {
            let complaint = Complaint::UnknownName {
                what: "component",
                name: at.value.chars().take(40).collect(),
                nearest: nearest(&at.value, components.iter().map(|c| c.name.as_str())),
                remedy: "describe it in a [[component]]".into(),
            };
            out.add(at.place, &draft.subject, complaint);
            None
        }
    }
}

/// The time at each level: present from the task's own level down, never longer at a less critical level, and from
/// its own level down within the deadline.
fn check_execution(
    draft: &DraftTask,
    context: &Context,
    level: Option<Level>,
    deadline: Option<Duration>,
    out: &mut Collector,
) -> Option<[Option<Duration>; 4]> {
    let at = draft.execution.get()?;
    let policy = context.policy?;
    let subject = draft.subject.as_str();
    let has_levels = policy.has_levels();
    let levels = match &at.value {
        DraftExecution::Plain(length) => {
            check_length(*length, at.place, subject, "execution", deadline, draft, out)?;
            let own = level.unwrap_or_default();
            if has_levels && level.is_none() {
                return None;
            }
            let last = if is_mixed(context) { Level::B } else { Level::D };
            return Some(Level::ALL.map(|level| (own <= level && level <= last).then_some(*length)));
        }
        DraftExecution::Levels(levels) if has_levels => levels,
        DraftExecution::Levels(_) => {
            let why =
                format!("times for levels are given, but policy {:?} knows no levels", crate::policy_key(&policy));
            out.refuse(at.place, subject, why, "write one time, or choose kind = \"mc2\"");
            return None;
        }
    };
    let own = level?;
    let mut sound = true;
    for level in Level::ALL {
        let what = format!("execution at level {level}");
        match &levels[level.index()] {
            Given::Is(time) if is_mixed(context) && level > Level::B => {
                out.refuse(time.place, subject, format!("{what} is given, where there are A and B"), "remove it");
                sound = false;
            }
            Given::Is(time) => {
                // A time at a level above its own is no budget: only for analysis and for drawing job times.
                let most = if level >= own { deadline } else { None };
                sound &= check_length(time.value, time.place, subject, &what, most, draft, out).is_some();
            }
            Given::Absent if is_mixed(context) && level > Level::B => {}
            Given::Absent if level >= own && (level < Level::D || own == Level::D) => {
                let why = format!("{what} is missing");
                let needed = if is_mixed(context) { "A and B" } else { needed_at(own) };
                let remedy = format!("a task of level {own} needs its time at {needed}");
                out.refuse(at.place, subject, why, remedy);
                sound = false;
            }
            Given::Absent => {}
            Given::Broken => sound = false,
        }
    }
    sound &= check_order(levels, subject, out);
    let mut times = levels.clone().map(|time| time.value());
    // Nothing is promised at level D, so its time matters to nobody else and may be left out.
    // (With two levels there is none.)
    times[Level::D.index()] = times[Level::D.index()].or(times[Level::C.index()]);
    sound.then_some(times)
}

fn needed_at(own: Level) -> &'static str {
    match own {
        Level::A => "A, B and C",
        Level::B => "B and C",
        Level::C => "C",
        Level::D => "D",
    }
}

/// One execution time by itself. Without a known deadline, only its lower limit is looked at.
fn check_length(
    length: Duration,
    place: Location,
    subject: &str,
    what: &str,
    deadline: Option<Duration>,
    draft: &DraftTask,
    out: &mut Collector,
) -> Option<()> {
    if length < SHORTEST_JOB {
        let limit = format!("less than the {SHORTEST_JOB} that every job takes");
        out.out_of_range(place, subject, what, length, limit, "raise it");
        return None;
    }
    match deadline {
        Some(deadline) if length > deadline => {
            let name = if draft.deadline.is_absent() { "period" } else { "deadline" };
            let limit = format!("more than its {name} of {deadline}");
            out.out_of_range(place, subject, what, length, limit, format!("lower it or lengthen the {name}"));
            None
        }
        _ => Some(()),
    }
}

/// A more critical level never assumes less (Vestal 2007).
fn check_order(levels: &[Given<Duration>; 4], subject: &str, out: &mut Collector) -> bool {
    let given: Vec<_> =
        Level::ALL.iter().filter_map(|level| levels[level.index()].get().map(|at| (level, at))).collect();
    let mut sound = true;
    for pair in given.windows(2) {
        let ((above, more), (below, less)) = (pair[0], pair[1]);
        if less.value > more.value {
            let limit = format!("more than the {} at level {above}", more.value);
            let remedy = "a more critical level must assume at least as much: lower this one or raise that";
            let what = format!("execution at level {below}");
            out.out_of_range(less.place, subject, what, less.value, limit, remedy);
            sound = false;
        }
    }
    sound
}

/// The least that a job takes, if it is given: no more than the most that it may take at the task's own level.
fn check_minimum(
    draft: &DraftTask,
    level: Option<Level>,
    execution: Option<&[Option<Duration>; 4]>,
    out: &mut Collector,
) -> Option<Option<Duration>> {
    let at = match &draft.minimum {
        Given::Absent => return Some(None),
        Given::Broken => return None,
        Given::Is(at) => at,
    };
    let most = execution?[level.unwrap_or_default().index()]?;
    if at.value > most {
        let limit = format!("more than its execution time of {most}");
        out.out_of_range(at.place, &draft.subject, "minimum", at.value, limit, "lower it or raise execution");
        return None;
    }
    Some(Some(at.value))
}

/// What jobs really take; by default the time at the task's own level.
fn demand(
    draft: &DraftTask,
    level: Option<Level>,
    execution: Option<&[Option<Duration>; 4]>,
    out: &mut Collector,
) -> Option<Demand> {
    let at = match &draft.actual {
        Given::Broken => return None,
        Given::Absent => return execution?[level.unwrap_or_default().index()].map(Demand::Fixed),
        Given::Is(at) => at,
    };
    let wanted = match &at.value {
        DraftDemand::Demand(demand) => return Some(demand.clone()),
        DraftDemand::Level(wanted) => *wanted,
    };
    let execution = execution?;
    if level.is_none() {
        let why = "its jobs are to take the time of a level, but the policy knows no levels";
        out.refuse(at.place, &draft.subject, why, "write a time, or choose kind = \"mc2\"");
        return None;
    }
    match execution[wanted.index()] {
        Some(length) => Some(Demand::Fixed(length)),
        None => {
            let why = format!("its jobs are to take the time of level {wanted}, but it has no execution time there");
            out.refuse(at.place, &draft.subject, why, "add one to execution, or choose another level");
            None
        }
    }
}
