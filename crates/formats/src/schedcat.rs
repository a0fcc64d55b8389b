//! SchedCAT's task sets (github.com/brandenburg/schedcat): `<taskset>`, and `<testpoint>` with several of them.
//!
//! Times are numbers without a unit; SchedCAT's generators and overhead models take them as microseconds. A `<task>` has `wcet` and
//! `period`, and may have `id`, `deadline`, `partition`, `wss` (working set, KiB) and an `<affinity>`. Requests of
//! resources are refused: tasks share no locks here, and a set without them would look better than it is.

use crate::fault::Reason;
use crate::format::{Format, Found, Options, Written};
use crate::number::{whole, Round};
use crate::set::{Lossy, Task, TaskSet, Times};
use crate::xml::{children, document, escape, line, needed, number};
use roxmltree::Node;
use std::fmt::Write;
use tactus_time::Duration;

/// The highest number of a core that makes sense.
const MOST_CORES: u64 = 4_096;

/// Reads the sets.
pub(crate) fn read(text: &str, name: &str, options: &Options) -> Found<Vec<TaskSet>> {
    let document = document(text)?;
    let root = document.root_element();
    match root.tag_name().name() {
        "taskset" => Ok(vec![set(root, name.to_string(), options)?]),
        "testpoint" => {
            let sets = children(root, "taskset").enumerate();
            let sets = sets.map(|(n, node)| set(node, format!("{name}-{}", n + 1), options));
            let sets = sets.collect::<Found<Vec<TaskSet>>>()?;
            match sets.is_empty() {
                true => Err((line(root), Reason::Missing { what: "taskset".into(), of: "the test point".into() })),
                false => Ok(sets),
            }
        }
        found => Err((line(root), Reason::UnknownRoot { found: found.into() })),
    }
}

fn set(node: Node<'_, '_>, name: String, options: &Options) -> Found<TaskSet> {
    let mut times = Times::of(options.unit);
    let mut set = TaskSet { name, ..TaskSet::default() };
    for (n, child) in children(node, "task").enumerate() {
        let id = child.attribute("id").map_or_else(|| format!("{}", n + 1), str::to_string);
        set.tasks.push(task(child, &id, &mut times)?);
    }
    times.note(&mut set.notes);
    set.finish(line(node))
}

fn task(node: Node<'_, '_>, id: &str, times: &mut Times) -> Found<Task> {
    let here = line(node);
    let of = format!("task {id}");
    let unit = times.unit;
    let mut time = |key: &str, round| -> Found<Duration> {
        times.read(needed(node, key, &of)?, unit, round, (here, &format!("{of}: {key}")))
    };
    let (execution, period) = (time("wcet", Round::Up)?, time("period", Round::Down)?);
    let deadline = match node.attribute("deadline") {
        Some(_) => time("deadline", Round::Down)?,
        None => period,
    };
    for (element, inside) in [("resources", "requirement"), ("critical_sections", "critical_section")] {
        if let Some(request) = children(node, element).flat_map(|found| children(found, inside)).next() {
            let what = format!("{of} requests resources (<{inside}>), and tasks share no locks here");
            return Err((line(request), Reason::Refused { what, remedy: "take the requests out of all tasks".into() }));
        }
    }
    let whole = |key: &str, most| -> Found<Option<u64>> {
        let text = node.attribute(key).filter(|text| *text != "None");
        text.map(|text| number(node, text, format!("{of}: {key}"), most)).transpose()
    };
    let partition = whole("partition", MOST_CORES)?;
    let wss = whole("wss", 1 << 32)?.unwrap_or(0);
    let core = affinity(node, &of)?.or(partition);
    // What this writer adds; SchedCAT's own files name tasks by number.
    let name = node.attribute("name").map_or_else(|| format!("t{id}"), str::to_string);
    let core = core.map(|core| core as usize);
    let task = Task { name, execution, period, deadline, core, memory: wss << 10, ..Task::default() };
    task.sound(here)?;
    Ok(task)
}

/// The one core of an affinity mask.
fn affinity(node: Node<'_, '_>, of: &str) -> Found<Option<u64>> {
    let cores = children(node, "affinity").flat_map(|mask| children(mask, "cpu"));
    let cores: Vec<_> = cores
        .map(|cpu| number(cpu, needed(cpu, "id", "a <cpu>")?, format!("{of}: id of <cpu>"), MOST_CORES))
        .collect::<Found<_>>()?;
    match cores[..] {
        [] => Ok(None),
        [core] => Ok(Some(core)),
        _ => {
            let what =
                format!("{of} may run on {} cores of its <affinity>, and here a task has one core or all", cores.len());
            Err((line(node), Reason::Refused { what, remedy: "name one core, or take the mask out".into() }))
        }
    }
}

/// Writes a `<taskset>`, or a `<testpoint>` where there are several.
pub(crate) fn write(sets: &[TaskSet], options: &Options) -> Result<Written, Reason> {
    let mut written = Written { text: String::from("<?xml version=\"1.0\"?>\n"), lost: Vec::new() };
    let several = sets.len() != 1;
    if several {
        written.text += "<testpoint>\n";
    }
    for set in sets {
        one(&mut written.text, set, options)?;
        for lost in set.lost(Format::SchedCat, &[Lossy::Offset, Lossy::Jitter, Lossy::Priority]) {
            written.lost.push(if several { format!("set {:?}: {lost}", set.name) } else { lost });
        }
    }
    if several {
        written.text += "</testpoint>\n";
    }
    if sets.iter().any(|set| set.policy.is_some() || set.cores.is_some() || set.duration.is_some()) {
        written.lost.push("policy, number of cores and duration: schedcat has tasks only".into());
    }
    Ok(written)
}

fn one(text: &mut String, set: &TaskSet, options: &Options) -> Result<(), Reason> {
    let unit = options.unit;
    let number = |task: &Task, what: &str, length: Duration| {
        whole(length, unit).ok_or_else(|| Reason::Unwritable {
            format: Format::SchedCat,
            what: format!("task {:?}: {what} of {length} is no whole number of units of {unit}", task.name),
            remedy: "choose a smaller unit, such as ns".into(),
        })
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "<taskset>\n  <properties count=\"{}\" utilization=\"{}\"/>",
        set.tasks.len(),
        set.utilisation()
    );
    for (n, task) in set.tasks.iter().enumerate() {
        let (period, wcet) = (number(task, "period", task.period)?, number(task, "execution time", task.execution)?);
        let _ = write!(text, "  <task id=\"{}\" period=\"{period}\" wcet=\"{wcet}\"", n + 1);
        if task.deadline != task.period {
            let _ = write!(text, " deadline=\"{}\"", number(task, "deadline", task.deadline)?);
        }
        if let Some(core) = task.core {
            let _ = write!(text, " partition=\"{core}\"");
        }
        if task.memory > 0 {
            let _ = write!(text, " wss=\"{}\"", task.memory.div_ceil(1 << 10));
        }
        // SchedCAT passes attributes over that it does not know.
        let _ = writeln!(text, " name=\"{}\"/>", escape(&task.name));
    }
    text.push_str("</taskset>\n");
    Ok(())
}
