//! SimSo's configurations (projects.laas.fr/simso), `<simulation>`.
//!
//! Times are milliseconds, durations and overheads cycles. What a task set can say is read: periodic tasks with `WCET`, `period`,
//! `deadline`, `activationDate`, the fields `priority` and `cpu`, the number of processors, the scheduler. What would
//! change the schedule is refused: other kinds of tasks, chains, speeds, overheads. Written files
//! have times that SimSo, which multiplies doubles and cuts off, turns into exactly as many cycles as there are nanoseconds.

use crate::fault::Reason;
use crate::format::{Format, Found, Written};
use crate::number::Round;
use crate::set::{Lossy, Task, TaskSet, Times};
use crate::xml::{children, document, escape, line, needed, number};
use roxmltree::Node;
use std::fmt::Write;
use tactus_model::{LONGEST, MAX_PRIORITY};
use tactus_time::Duration;

const MS: Duration = Duration::from_millis(1);

/// What SimSo gives `cycles_per_ms` and the duration if a file does not.
const CYCLES_PER_MS: u64 = 1_000_000;
const DURATION: u64 = 50_000;

/// SimSo's schedulers that are orders of ours, by the last part of their name. The first of a policy is the one that is written.
const SCHEDULERS: [(&str, &str); 8] = [
    ("EDF", "global-edf"),
    ("EDF2", "global-edf"),
    ("RM", "global-rm"),
    ("FP", "global-fp"),
    ("LLF", "global-llf"),
    ("Fixed_PEDF", "partitioned-edf"),
    ("P_EDF", "partitioned-edf"),
    ("P_RM", "partitioned-rm"),
];
/// Of one processor.
const ON_ONE: [(&str, &str); 2] = [("EDF_mono", "partitioned-edf"), ("RM_mono", "partitioned-rm")];

/// Reads a configuration.
pub(crate) fn read(text: &str, name: &str) -> Found<Vec<TaskSet>> {
    let document = document(text)?;
    let root = document.root_element();
    if !root.has_tag_name("simulation") {
        return Err((line(root), Reason::UnknownRoot { found: root.tag_name().name().into() }));
    }
    let section = |name: &'static str| {
        let missing = || (line(root), Reason::Missing { what: format!("<{name}>"), of: "the simulation".into() });
        children(root, name).next().ok_or_else(missing)
    };
    let mut set = TaskSet { name: name.to_string(), ..TaskSet::default() };
    let rate = attribute_or(root, "cycles_per_ms", CYCLES_PER_MS)?.max(1);
    let cycles = attribute_or(root, "duration", DURATION)?;
    let length = u128::from(cycles) * 1_000_000 / u128::from(rate);
    set.duration = u64::try_from(length).ok().map(Duration::from_nanos);
    match root.attribute("etm") {
        None | Some("wcet") => {}
        Some(etm) => {
            set.notes.push(format!("execution times by SimSo's {etm:?} model: every job is taken to last its WCET"))
        }
    }

    let cores = processors(section("processors")?)?;
    set.cores = Some(cores);
    set.policy = policy(section("sched")?, cores, &mut set.notes)?;
    let mut times = Times::of(MS);
    let mut aborted = 0;
    let tasks = section("tasks")?;
    for node in children(tasks, "task") {
        set.tasks.push(task(node, &mut times)?);
        aborted += usize::from(node.attribute("abort_on_miss").is_none_or(|said| said == "yes"));
    }
    if aborted > 0 {
        set.notes.push(format!("{aborted} tasks are aborted in SimSo when they miss a deadline; here they go on"));
    }
    times.note(&mut set.notes);
    Ok(vec![set.finish(line(tasks))?])
}

fn attribute_or(node: Node<'_, '_>, key: &str, default: u64) -> Found<u64> {
    node.attribute(key).map_or(Ok(default), |text| number(node, text, key.to_string(), 1 << 60))
}

/// How many processors there are.
fn processors(node: Node<'_, '_>) -> Found<usize> {
    zero(node, &["migration_overhead"], "the processors")?;
    let mut cores = 0;
    for processor in children(node, "processor") {
        zero(processor, &["cl_overhead", "cs_overhead"], "a processor")?;
        if let Some(speed) = processor.attribute("speed") {
            if speed.trim().parse() != Ok(1.0) {
                let what = format!("a processor has the speed {speed}, and all cores have one speed here");
                return Err((line(processor), Reason::Refused { what, remedy: "give it the speed 1.0".into() }));
            }
        }
        cores += 1;
    }
    match cores {
        0 => Err((line(node), Reason::Missing { what: "processor".into(), of: "the simulation".into() })),
        n => Ok(n),
    }
}

/// Refuses overheads, which a task set cannot say.
fn zero(node: Node<'_, '_>, keys: &[&str], of: &str) -> Found<()> {
    for key in keys {
        if node.attribute(*key).is_some_and(|text| text.trim().parse() != Ok(0.0)) {
            let what = format!("{key} of {of} is not 0, and a task set has no overheads");
            let remedy = "set it to 0, and give the costs to the check or the simulation".into();
            return Err((line(node), Reason::Refused { what, remedy }));
        }
    }
    Ok(())
}

fn policy(node: Node<'_, '_>, cores: usize, notes: &mut Vec<String>) -> Found<Option<String>> {
    zero(node, &["overhead", "overhead_activate", "overhead_terminate"], "the scheduler")?;
    let class = node.attribute("class").or_else(|| node.attribute("className")).unwrap_or_default();
    let last = class.rsplit(['.', '/']).find(|part| *part != "py").unwrap_or_default();
    let found = SCHEDULERS.into_iter().chain(ON_ONE.into_iter().filter(|_| cores == 1)).find(|(name, _)| *name == last);
    match found {
        Some((name, policy)) => {
            if matches!(name, "P_EDF" | "P_RM") && cores > 1 {
                notes.push(format!("SimSo's {name} chooses a core for each task itself: they have none here"));
            }
            Ok(Some(policy.to_string()))
        }
        None => {
            notes.push(format!("SimSo's scheduler {class:?} is no policy here: the set has none"));
            Ok(None)
        }
    }
}

fn task(node: Node<'_, '_>, times: &mut Times) -> Found<Task> {
    let here = line(node);
    let name = needed(node, "name", "a task")?.trim().to_string();
    let of = format!("task {name:?}");
    let kind = match (node.attribute("task_type"), node.attribute("periodic")) {
        (Some(kind), _) => kind,
        (None, Some("no")) => "APeriodic",
        (None, _) => "Periodic",
    };
    if kind != "Periodic" {
        let what = format!("{of} is of the type {kind}, whose releases have no period");
        return Err((here, Reason::Refused { what, remedy: "make it Periodic, or take it out".into() }));
    }
    if let Some(next) = node.attribute("followed_by") {
        let what = format!("{of} is followed by task {next}, and tasks wait for time only here");
        return Err((here, Reason::Refused { what, remedy: "take followed_by out".into() }));
    }
    zero(node, &["preemption_cost"], &of)?;
    let mut time = |key: &str, round, text: &str| match cycles(text) {
        Some(length) => Ok(length),
        None => times.read(text, MS, round, (here, &format!("{of}: {key}"))),
    };
    let needed = |key: &str| needed(node, key, &of);
    let execution = time("WCET", Round::Up, needed("WCET")?)?;
    let period = time("period", Round::Down, needed("period")?)?;
    let deadline = time("deadline", Round::Down, needed("deadline")?)?;
    let offset = time("activationDate", Round::Down, node.attribute("activationDate").unwrap_or("0"))?;
    let field = |key: &str, most: u64| -> Found<Option<u64>> {
        node.attribute(key).map(|text| number(node, text, format!("{of}: {key}"), most)).transpose()
    };
    let priority = field("priority", MAX_PRIORITY.into())?.map(|n| n as u32);
    let core = field("cpu", 4_096)?.and_then(|id| core_of(node, id));
    let task = Task { name, execution, period, deadline, offset, core, priority, ..Task::default() };
    task.sound(here)?;
    Ok(task)
}

/// The time, if it is a whole number of nanoseconds but for what doubles cannot say: SimSo computes with doubles and
/// writes what came out.
fn cycles(text: &str) -> Option<Duration> {
    let scaled = text.trim().parse::<f64>().ok().filter(|ms| *ms > 0.0)? * 1e6;
    let n = scaled.round();
    let near = (scaled - n).abs() <= n * 2.0 * f64::EPSILON && n <= LONGEST.as_nanos() as f64;
    near.then(|| Duration::from_nanos(n as u64))
}

/// The place of the processor with this number; files count them as they like.
fn core_of(task: Node<'_, '_>, id: u64) -> Option<usize> {
    let simulation = task.document().root_element();
    let processors = children(simulation, "processors").flat_map(|all| children(all, "processor"));
    processors.into_iter().position(|p| p.attribute("id").and_then(|text| text.trim().parse().ok()) == Some(id))
}

/// Writes a configuration.
pub(crate) fn write(set: &TaskSet) -> Result<Written, Reason> {
    let unwritable =
        |what: String, remedy: &str| Reason::Unwritable { format: Format::SimSo, what, remedy: remedy.into() };
    let cores = set.cores.unwrap_or(1).max(1);
    let mut lost = set.lost(Format::SimSo, &[Lossy::Jitter, Lossy::Memory]);
    let policy = set.policy.as_deref().unwrap_or("global-edf");
    if set.policy.is_none() {
        lost.push("nothing says the policy: SimSo is told global EDF".into());
    }
    let one = ON_ONE.into_iter().find(|(_, of)| cores == 1 && *of == policy);
    let many = SCHEDULERS.into_iter().find(|(_, of)| *of == policy);
    let Some((scheduler, _)) = one.or(many) else {
        return Err(unwritable(
            format!("SimSo has no scheduler for {policy}"),
            "choose global-edf, global-rm, global-fp, global-llf or partitioned-edf",
        ));
    };
    let fixed = scheduler == "Fixed_PEDF";
    if scheduler == "P_RM" {
        return Err(unwritable("SimSo's P_RM chooses the cores itself".into(), "choose another policy, or one core"));
    }
    if fixed && set.tasks.iter().any(|task| task.core.is_none_or(|core| core >= cores)) {
        return Err(unwritable("not every task has a core".into(), "bind every task to one"));
    }
    if !fixed && cores > 1 {
        lost.extend(set.lost(Format::SimSo, &[Lossy::Core]));
    }
    let priorities = set.tasks.iter().any(|task| task.priority.is_some());
    let text = text(set, cores, scheduler, fixed, priorities);
    Ok(Written { text, lost })
}

fn text(set: &TaskSet, cores: usize, scheduler: &str, fixed: bool, priorities: bool) -> String {
    let mut text = String::from("<?xml version=\"1.0\" ?>\n");
    let duration = set.duration.unwrap_or(Duration::from_secs(1)).as_nanos();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "<simulation duration=\"{duration}\" cycles_per_ms=\"{CYCLES_PER_MS}\" etm=\"wcet\">\n\
         \t<sched overhead=\"0\" overhead_activate=\"0\" overhead_terminate=\"0\" class=\"simso.schedulers.{scheduler}\"/>\n\
         \t<caches memory_access_time=\"100\"/>\n\t<processors migration_overhead=\"0\">"
    );
    for core in 0..cores {
        let _ = writeln!(
            text,
            "\t\t<processor name=\"CPU {core}\" id=\"{core}\" cl_overhead=\"0\" cs_overhead=\"0\" speed=\"1.0\"/>"
        );
    }
    text.push_str("\t</processors>\n\t<tasks>\n");
    for (field, there) in [("priority", priorities), ("cpu", fixed)] {
        if there {
            let _ = writeln!(text, "\t\t<field name=\"{field}\" type=\"int\"/>");
        }
    }
    for (n, task) in set.tasks.iter().enumerate() {
        let _ = write!(
            text,
            "\t\t<task name=\"{}\" id=\"{}\" task_type=\"Periodic\" abort_on_miss=\"no\" period=\"{}\" activationDate=\"{}\" \
             list_activation_dates=\"\" deadline=\"{}\" base_cpi=\"1.0\" instructions=\"0\" mix=\"0.5\" WCET=\"{}\" ACET=\"0\" \
             preemption_cost=\"0\" et_stddev=\"0\"",
            escape(&name(&task.name)),
            n + 1,
            milliseconds(task.period),
            milliseconds(task.offset),
            milliseconds(task.deadline),
            milliseconds(task.execution),
        );
        if priorities {
            let _ = write!(text, " priority=\"{}\"", task.priority.unwrap_or(0));
        }
        if let Some(core) = task.core.filter(|_| fixed) {
            let _ = write!(text, " cpu=\"{core}\"");
        }
        text.push_str("/>\n");
    }
    text.push_str("\t</tasks>\n</simulation>\n");
    text
}

/// The name as SimSo takes it: a letter, then letters, digits, spaces, `_` and `-`.
fn name(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || " _-".contains(c) { c } else { '_' };
    let name: String = name.chars().map(fits).collect();
    match name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => name,
        false => format!("t{name}"),
    }
}

/// A number of milliseconds that, times a million and cut off as SimSo does it, is the number of nanoseconds.
fn milliseconds(length: Duration) -> String {
    let n = length.as_nanos();
    let mut ms = n as f64 / 1e6;
    if ((ms * 1e6) as u64) < n {
        // The next larger double: a length is never negative.
        ms = f64::from_bits(ms.to_bits() + 1);
    }
    format!("{ms:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_times_are_cut_off_at_the_nanosecond_that_was_meant() {
        let mut n = 1_u64;
        for _ in 0..200_000 {
            n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let length = (n >> 20) % 86_400_000_000_000;
            let text = milliseconds(Duration::from_nanos(length));
            let read: f64 = text.parse().expect("a number");
            assert_eq!((read * 1e6) as u64, length, "{text}");
            assert_eq!(cycles(&text), Some(Duration::from_nanos(length)).filter(|d| !d.is_zero()), "{text}");
            assert!(!text.contains('e') || length < 100, "{text}");
        }
        assert_eq!(milliseconds(Duration::from_micros(1_001)).parse::<f64>().map(|x| (x * 1e6) as u64), Ok(1_001_000));
    }
}
