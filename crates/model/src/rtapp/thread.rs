//! One thread object of rt-app.

use super::cycle::{self, Cycle, Phase};
use super::fields::{describe, Fields, Reader};
use super::json::{Member, Node};
use super::policy::{self, Class};
use super::threads;
use crate::draft::{At, DraftDemand, DraftExecution, DraftPlace, DraftTask, Given};
use crate::problem::{Complaint, Location};
use crate::{Demand, MAX_TASKS};
use tactus_time::{CoreId, Duration, Instant, Level};

const THREAD: [&str; 17] = [
    "instance",
    "loop",
    "phases",
    "delay",
    "policy",
    "priority",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "cpus",
    "nodes_membind",
    "util_min",
    "util_max",
    "taskgroup",
    "period",
    "deadline",
    "comment",
];
const PHASE: [&str; 12] = [
    "loop",
    "policy",
    "priority",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "cpus",
    "nodes_membind",
    "util_min",
    "util_max",
    "taskgroup",
    "comment",
];
/// Keys that change a thread's scheduling at the beginning of a phase.
const SCHEDULING: [&str; 6] = ["policy", "priority", "dl-runtime", "dl-period", "dl-deadline", "cpus"];

/// A thread that waits so that its releases come at a fixed distance.
pub(super) struct Thread {
    pub name: String,
    pub subject: String,
    pub place: Location,
    pub instances: At<u64>,
    pub class: At<Class>,
    pub priority: Option<At<i64>>,
    pub reservation: Reservation,
    pub cpus: Option<At<Vec<u64>>>,
    pub delay: Duration,
    pub cycle: Cycle,
}

/// `dl-runtime`, `dl-period`, `dl-deadline`, as far as they are given.
pub(super) struct Reservation {
    pub runtime: Given<Duration>,
    pub period: Given<Duration>,
    pub deadline: Given<Duration>,
}

/// Reads one thread; nothing if something is wrong with it, or if it has no instance.
pub(super) fn read(member: &Member, default_class: Class, reader: &mut Reader<'_>) -> Option<Thread> {
    let name: String = member.key.chars().take(40).collect();
    let subject = format!("task {name:?}");
    let Some(value) = &member.value else {
        let found = describe(None);
        let complaint = Complaint::Malformed { what: subject, found, expected: "an object in { }".into() };
        reader.out.add(member.place, "", complaint);
        return None;
    };
    let fields = Fields::open(value, subject.clone(), reader)?;
    let members = constant_parameters(&fields);
    let fields = fields.with(&members);
    reader.thread.clone_from(&subject);
    let phases = read_phases(&fields, reader);
    let instances = match fields.integer("instance", "a whole number from 0", reader) {
        Given::Is(at) if at.value < 0 || at.value > MAX_TASKS as i64 => {
            let limit = format!("not between 0 and {MAX_TASKS}");
            reader.out.out_of_range(at.place, &subject, "instance", at.value, limit, "choose a number of them");
            return None;
        }
        Given::Is(at) => At { value: at.value as u64, place: at.place },
        Given::Absent => At { value: 1, place: member.place },
        Given::Broken => return None,
    };
    if instances.value == 0 {
        reader.note(format!("{subject} has 0 instances and is left out"));
        reader.timers.retain(|timer| timer.thread != subject);
        return None;
    }
    let class = match policy::read(&fields, "policy", reader) {
        Given::Is(at) => at,
        Given::Absent => At { value: default_class, place: member.place },
        Given::Broken => return None,
    };
    let cpus = read_cpus(&fields, reader)?;
    let priority = read_priority(&fields, class.value, reader)?;
    let reservation = read_reservation(&fields, class.value, reader);
    let delay = match fields.microseconds("delay", reader) {
        Given::Broken => return None,
        delay => delay.value().unwrap_or_default(),
    };
    ignore(&fields, reader);
    let phases = phases?;
    let cycle = match reader.waits_for_others {
        true => threads::of(&phases, &fields, &member.key, instances.value, reader)?,
        false => cycle::of(&phases, &fields, instances.value, reader)?,
    };
    check_reservation(&reservation, class.value, &cycle, &subject, reader);
    Some(Thread {
        name: member.key.clone(),
        subject,
        place: member.place,
        instances,
        class,
        priority,
        reservation,
        cpus,
        delay,
        cycle,
    })
}

/// The thread's members, and behind them the scheduling parameters that stand in its phases and never change.
fn constant_parameters(fields: &Fields<'_>) -> Vec<Member> {
    let mut members = fields.members().to_vec();
    let Some(Node::Object(phases)) = fields.get("phases").map(|phases| &phases.node) else { return members };
    for key in SCHEDULING {
        let own = fields.members().iter().rev().find(|member| member.key == key);
        let in_phase = |phase: &Member| match phase.value.as_ref().map(|value| &value.node) {
            Some(Node::Object(members)) => members.iter().rev().find(|member| member.key == key).cloned(),
            _ => None,
        };
        let set: Vec<Option<Member>> = phases.iter().map(in_phase).collect();
        let Some(first) = set.first().cloned().flatten().or(own.cloned()) else { continue };
        let node = |member: &Member| member.value.as_ref().map(|value| value.node.clone());
        let same = |member: &Member| alike(node(member).as_ref(), node(&first).as_ref());
        if set.iter().flatten().all(same) {
            members.push(first);
        }
    }
    members
}

/// Whether two values are the same, wherever they stand.
fn alike(a: Option<&Node>, b: Option<&Node>) -> bool {
    match (a, b) {
        (Some(Node::List(a)), Some(Node::List(b))) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(Some(&a.node), Some(&b.node)))
        }
        (a, b) => a == b,
    }
}

/// Keys without bearing on what Tactus decides, and keys that ask for something it does not have.
fn ignore(fields: &Fields<'_>, reader: &mut Reader<'_>) {
    for key in ["nodes_membind", "util_min", "util_max"] {
        if fields.get(key).is_some() {
            reader.note(format!("{key:?} is ignored: memory is in one place, cores have one speed"));
        }
    }
    if let Given::Is(group) = fields.text("taskgroup", reader) {
        if !group.value.is_empty() && group.value != "/" {
            let why = format!("\"taskgroup\" {:?}: groups of tasks share no budget here", group.value);
            reader.out.refuse(group.place, &fields.subject, why, "take the task out of its group");
        }
    }
}

/// The phases of a thread, or the thread as its only phase.
fn read_phases(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Vec<Phase>> {
    let Some(phases) = fields.get("phases") else {
        return Some(vec![cycle::read_phase(fields, &THREAD, reader)?]);
    };
    for member in fields.members() {
        if cycle::is_event(&member.key) {
            let why = format!("event {:?} stands beside \"phases\", where rt-app passes over it", member.key);
            reader.out.refuse(member.place, &fields.subject, why, "put it into a phase");
        } else if !THREAD.contains(&member.key.as_str()) {
            fields.unknown(member, &THREAD, reader);
        }
    }
    let phases = Fields::open(phases, format!("{}: \"phases\"", fields.subject), reader)?;
    if phases.members().is_empty() {
        reader.out.refuse(phases.place, &phases.subject, "there is no phase in it", "describe at least one");
        return None;
    }
    let mut all = Vec::new();
    let mut sound = true;
    for member in phases.members() {
        let subject = format!("{}: phase {:?}", fields.subject, member.key.chars().take(40).collect::<String>());
        let Some(value) = &member.value else {
            let complaint =
                Complaint::Malformed { what: subject, found: describe(None), expected: "an object in { }".into() };
            reader.out.add(member.place, "", complaint);
            sound = false;
            continue;
        };
        let Some(phase) = Fields::open(value, subject, reader) else {
            sound = false;
            continue;
        };
        check_phase_keys(&phase, fields, reader);
        match cycle::read_phase(&phase, &PHASE, reader) {
            Some(phase) => all.push(phase),
            None => sound = false,
        }
    }
    sound.then_some(all)
}

/// A task keeps its scheduling parameters from beginning to end.
fn check_phase_keys(phase: &Fields<'_>, thread: &Fields<'_>, reader: &mut Reader<'_>) {
    let kept = |member: &Member| {
        alike(thread.get(&member.key).map(|value| &value.node), member.value.as_ref().map(|value| &value.node))
    };
    for member in phase.members().iter().filter(|member| SCHEDULING.contains(&member.key.as_str()) && !kept(member)) {
        let why = format!("{:?} would change from phase to phase", member.key);
        reader.out.refuse(member.place, &phase.subject, why, "set it once for the whole task, beside \"phases\"");
    }
    ignore(phase, reader);
}

fn read_cpus(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Option<At<Vec<u64>>>> {
    match fields.numbers("cpus", reader) {
        Given::Absent => Some(None),
        Given::Broken => None,
        Given::Is(at) if at.value.is_empty() => {
            reader.out.refuse(at.place, &fields.subject, "\"cpus\" is empty", "name a core, or remove it");
            None
        }
        Given::Is(mut at) => {
            at.value.sort_unstable();
            at.value.dedup();
            Some(Some(at))
        }
    }
}

fn read_priority(fields: &Fields<'_>, class: Class, reader: &mut Reader<'_>) -> Option<Option<At<i64>>> {
    let at = match fields.integer("priority", "a whole number", reader) {
        Given::Absent => return Some(None),
        Given::Broken => return None,
        Given::Is(at) => at,
    };
    let (least, most) = match class {
        Class::Fixed => (1, 99),
        Class::BestEffort => (-20, 19),
        Class::Deadline => (i64::MIN, i64::MAX),
    };
    if !(least..=most).contains(&at.value) {
        let limit = format!("not between {least} and {most}, as its policy needs it");
        reader.out.out_of_range(at.place, &fields.subject, "priority", at.value, limit, "choose a number of them");
        return None;
    }
    match class {
        Class::Fixed => return Some(Some(at)),
        Class::BestEffort => {
            reader.note("\"priority\" of SCHED_OTHER tasks (their nice value) is ignored: best-effort tasks are equal");
        }
        Class::Deadline => reader.note("\"priority\" of SCHED_DEADLINE tasks is ignored, as Linux does"),
    }
    Some(None)
}

fn read_reservation(fields: &Fields<'_>, class: Class, reader: &mut Reader<'_>) -> Reservation {
    let either = |key: &str, old: &str, reader: &mut Reader<'_>| match fields.microseconds(key, reader) {
        // The old names, as rt-app reads them where the new ones are absent.
        Given::Absent if class == Class::Deadline => fields.microseconds(old, reader),
        given => given,
    };
    let reservation = Reservation {
        runtime: either("dl-runtime", "runtime", reader),
        period: either("dl-period", "period", reader),
        deadline: either("dl-deadline", "deadline", reader),
    };
    if class != Class::Deadline {
        for key in ["dl-runtime", "dl-period", "dl-deadline"] {
            if fields.get(key).is_some() {
                reader.note(format!("{key:?} of tasks that are not SCHED_DEADLINE is ignored"));
            }
        }
        for key in ["period", "deadline"] {
            if let Some(value) = fields.get(key) {
                let why = format!("{key:?} belongs to the grammar of old versions of rt-app");
                reader.out.refuse(value.place, &fields.subject, why, "write a \"timer\" with a period");
            }
        }
    } else if reservation.runtime.is_absent() {
        let why = "a SCHED_DEADLINE task has no \"dl-runtime\"";
        reader.out.refuse(fields.place, &fields.subject, why, "add one, in microseconds");
    }
    reservation
}

/// A reservation is a task here, so it has the task's period.
fn check_reservation(reservation: &Reservation, class: Class, cycle: &Cycle, subject: &str, reader: &mut Reader<'_>) {
    // As in rt-app: the period is the runtime where the file does not say.
    let reserved = reservation.period.get().or(reservation.runtime.get());
    let Some(reserved) = reserved.filter(|at| class == Class::Deadline && at.value != cycle.period.value) else {
        return;
    };
    let what = if reservation.period.is_absent() {
        "the period of its reservation (\"dl-runtime\", since there is no \"dl-period\")"
    } else {
        "the period of its reservation"
    };
    let limit = format!("not the {} from release to release", cycle.period.value);
    reader.out.out_of_range(reserved.place, subject, what, reserved.value, limit, "set \"dl-period\" to that");
}

impl Thread {
    /// When the thread has done all its loops, if it ever has.
    pub fn end(&self) -> Option<Instant> {
        if self.releases_itself() {
            return None;
        }
        let jobs = self.cycle.loops.value()?;
        let length = self.cycle.period.value.checked_mul(jobs)?;
        let start = Instant::ZERO.saturating_add(self.delay).saturating_add(self.cycle.offset);
        Some(start.saturating_add(length))
    }

    /// Whether its next job comes as soon as the one before it is done.
    pub fn releases_itself(&self) -> bool {
        matches!(self.cycle.program, Some((_, true)))
    }

    /// One instance as a task. `level`, `core` and `priority` as the policy asks for them; `duration` is that of the run.
    pub fn task(
        &self,
        instance: u64,
        (level, core, priority): (Option<Level>, Option<CoreId>, Option<u64>),
        duration: Duration,
    ) -> DraftTask {
        let name = if self.instances.value == 1 { self.name.clone() } else { format!("{}-{instance}", self.name) };
        let place = self.cycle.period.place;
        let longest = self.cycle.jobs.iter().copied().max().unwrap_or_default();
        let (execution, at) = match (&self.reservation.runtime, self.class.value) {
            (Given::Is(runtime), Class::Deadline) => (runtime.value, runtime.place),
            _ => (longest, self.cycle.run),
        };
        let demand = match self.cycle.jobs.as_slice() {
            [length] => Demand::Fixed(*length),
            lengths => Demand::List(lengths.to_vec()),
        };
        DraftTask {
            place: self.place,
            subject: format!("task {:?}", name.chars().take(40).collect::<String>()),
            name: Given::is(name, self.place),
            level: level.map_or(Given::Absent, |level| Given::is(level, self.place)),
            core: core.map_or(Given::Absent, |core| Given::is(u64::from(core.0), self.place)),
            offset: Given::is(self.delay.checked_add(self.cycle.offset).unwrap_or(Duration::MAX), self.place),
            period: Given::is(if self.releases_itself() { duration } else { self.cycle.period.value }, place),
            deadline: match (&self.reservation.deadline, self.class.value) {
                (Given::Is(at), Class::Deadline) => Given::is(at.value, at.place),
                _ => Given::Absent,
            },
            execution: Given::is(DraftExecution::Plain(execution), at),
            actual: Given::is(DraftDemand::Demand(demand), self.cycle.run),
            minimum: Given::Absent,
            memory: Given::Absent,
            misses: Given::Absent,
            write_backs: Given::Absent,
            hitm: Given::Absent,
            component: Given::Absent,
            colours: Vec::new(),
            placing: DraftPlace {
                priority: priority.map_or(Given::Absent, |priority| Given::is(priority, self.place)),
                program: self.cycle.program.clone(),
                ..DraftPlace::default()
            },
        }
    }
}

/// The number of times that `loop` asks for; nothing for −1.
pub(super) fn read_loop(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Given<Option<u64>>> {
    match fields.integer("loop", "a whole number of times, or -1 for no end", reader) {
        Given::Absent => Some(Given::Absent),
        Given::Broken => None,
        Given::Is(at) if at.value == -1 => Some(Given::is(None, at.place)),
        Given::Is(at) if at.value > 0 => Some(Given::is(Some(at.value as u64), at.place)),
        Given::Is(at) => {
            let limit = "neither -1 nor more than 0";
            reader.out.out_of_range(at.place, &fields.subject, "loop", at.value, limit, "choose such a number");
            None
        }
    }
}
