//! The page as a whole: the template and what goes into its places.

use crate::colours::{self, ColourUse};
use crate::{budget, disk, history, monitor, pack, partition, tables, text, verdict};
use serde::{Deserialize, Serialize};
use tactus_trace::{Bound, Culprit, Summary, Trace, View};
use text::{counted, escape, put};

/// What the page says beside the judgement.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The machine that the run was on, for people: `QEMU 7.2.15, 1 instruction = 8 ns`.
    pub machine: String,
    /// Seed of everything that was drawn at random.
    pub seed: u64,
    /// The command that gives this run again.
    pub command: String,
    /// Names of the components by number, for those who faulted.
    pub components: Vec<String>,
    /// What components said when they panicked, in order: the component's number, then place and text.
    pub panics: Vec<(u32, String)>,
    /// Where components were stopped, in their sources.
    pub stops: Vec<Stop>,
    /// What the check found, with remedies, in the command's words.
    pub findings: Vec<String>,
    /// Lines that components printed, each behind its component's name.
    pub console: Vec<String>,
    /// Who has which pages of memory; nothing where nobody looked.
    pub colours: Option<ColourUse>,
    /// More lines for the key facts, in order: name, then value.
    pub facts: Vec<(String, String)>,
}

/// A place at which a component was stopped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stop {
    /// The component's number.
    pub component: u32,
    /// The instruction, as `0x200040`; of a panic the place that it told, as `src/main.rs:41`.
    pub at: String,
    /// In words: the function, and file and line where `at` does not say them.
    pub source: String,
}

impl Stop {
    /// Whether it is where this component was stopped.
    pub(crate) fn is_of(&self, culprit: &Culprit) -> bool {
        let at = match culprit.panicked {
            true => culprit.fault.strip_prefix("panicked at ").is_some_and(|rest| {
                rest.strip_prefix(self.at.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
            }),
            false => culprit.instruction.is_some_and(|instruction| format!("{instruction:#x}") == self.at),
        };
        at && self.component == culprit.component
    }
}

const TEMPLATE: &str = include_str!("page/template.html");
const STYLE: &str = include_str!("page/report.css");
const PLOT_STYLE: &str = include_str!("../third_party/uplot/uPlot.min.css");
const PLOT_SCRIPT: &str = include_str!("../third_party/uplot/uPlot.iife.min.js");

/// The page's script: each file holds one idea, and all share one scope.
const SCRIPTS: [&str; 14] = [
    include_str!("page/format.js"),
    include_str!("page/palette.js"),
    include_str!("page/data.js"),
    include_str!("page/strips.js"),
    include_str!("page/marks.js"),
    include_str!("page/servers.js"),
    include_str!("page/windows.js"),
    include_str!("page/tips.js"),
    include_str!("page/pointer.js"),
    include_str!("page/gantt.js"),
    include_str!("page/overview.js"),
    include_str!("page/plots.js"),
    include_str!("page/tables.js"),
    include_str!("page/main.js"),
];

/// A task as the page's script sees it. Times in nanoseconds.
#[derive(Serialize)]
struct PageTask<'a> {
    name: &'a str,
    level: Option<u8>,
    core: Option<u8>,
    period: u64,
    deadline: u64,
    /// The longest response that was promised.
    bound: Option<u64>,
    removed: Option<u64>,
}

/// A component that was stopped, as the page's script sees it.
#[derive(Serialize)]
struct PageFault {
    time: u64,
    core: u8,
    task: Option<u16>,
    what: String,
}

/// A server on one core as the page's script sees it. Times in nanoseconds.
#[derive(Serialize)]
struct PageServer<'a> {
    name: &'a str,
    core: u8,
    budget: u64,
    period: u64,
}

/// What the page's script knows besides the packed columns.
#[derive(Serialize)]
struct PageData<'a> {
    name: &'a str,
    /// How long the time axis is.
    duration: u64,
    /// When the trace ends.
    end: u64,
    cores: usize,
    tasks: Vec<PageTask<'a>>,
    faults: Vec<PageFault>,
    /// Each server on each of its cores; its budget over time is in the packed columns.
    servers: Vec<PageServer<'a>>,
    partitions: Vec<partition::PagePartition<'a>>,
    streams: &'a pack::Directory,
}

/// The report of one run: a whole HTML document that needs nothing beside it.
///
/// `summary` is the judge's reading of `trace` against `view`. A task that the trace names and the view does not
/// have is left out.
pub fn html(view: &View, trace: &Trace, summary: &Summary, extra: &Details) -> String {
    let history = history::read(view, trace);
    let budgets = budget::read(view, trace, &history);
    let packed = pack::pack(&history, &budgets);
    let end = tactus_trace::run_end(trace).as_nanos();
    let data = PageData {
        name: &view.name,
        duration: view.duration.as_nanos().max(end).max(1),
        end,
        cores: view.cores.max(trace.cores.len()),
        tasks: page_tasks(view, summary),
        faults: page_faults(summary, extra).into_iter().chain(violations(view, summary)).collect(),
        servers: budgets
            .iter()
            .map(|b| PageServer { name: &b.name, core: b.core, budget: b.full, period: b.period })
            .collect(),
        partitions: partition::page(view),
        streams: &packed.directory,
    };
    let script = SCRIPTS.concat();
    fill(
        TEMPLATE,
        &[
            ("title", &escape(&format!("{} · Tactus report", view.name))),
            ("style", &[PLOT_STYLE, STYLE].concat()),
            ("name", &escape(&view.name)),
            ("subtitle", &escape(&subtitle(view))),
            ("verdict", &verdict::section(view, summary, extra)),
            ("facts", &facts(view, summary, extra)),
            ("levels", &tables::levels(summary)),
            ("tasks", &(tables::tasks(summary) + &tables::chains(summary))),
            (
                "disks",
                &(partition::section(view, trace)
                    + &disk::section(summary)
                    + &monitor::section(summary)
                    + &colours::section(extra.colours.as_ref())),
            ),
            ("cores", &tables::cores(summary)),
            ("overheads", &tables::overheads(summary)),
            ("data", &text::json_in_script(&data)),
            ("columns", &packed.to_text()),
            ("uplot", PLOT_SCRIPT),
            ("script", &script),
        ],
    )
}

/// Puts values into the places `{{name}}` of the template, in one pass: a value is never searched for places.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + values.iter().map(|(_, v)| v.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        match after.split_once("}}") {
            Some((name, tail)) => {
                out.extend(values.iter().find(|(n, _)| *n == name).map(|(_, value)| *value));
                rest = tail;
            }
            None => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

fn page_tasks<'a>(view: &'a View, summary: &Summary) -> Vec<PageTask<'a>> {
    let removed = |i: usize| summary.tasks.get(i).and_then(|t| t.removed_at).map(|t| t.as_nanos());
    let tasks = view.tasks.iter().enumerate().map(|(i, task)| PageTask {
        name: &task.name,
        level: task.level.map(|l| l as u8),
        core: task.core.map(|c| c.0),
        period: task.period.as_nanos(),
        deadline: task.deadline.as_nanos(),
        bound: match task.promise {
            Some(Bound::Response(bound)) => Some(bound.as_nanos()),
            Some(Bound::Tardiness(bound)) => Some(task.deadline.as_nanos().saturating_add(bound.as_nanos())),
            None => None,
        },
        removed: removed(i),
    });
    tasks.collect()
}

fn page_faults(summary: &Summary, extra: &Details) -> Vec<PageFault> {
    let faults = summary.culprits.iter().map(|c| PageFault {
        time: c.time.as_nanos(),
        core: c.core,
        task: c.task_id.map(|t| t.0),
        what: format!("{}: {}", component_name(extra, c.component), c.what()),
    });
    faults.collect()
}

/// Violated properties, on the core and the task of the event that brought each, or of the first that it names.
fn violations(view: &View, summary: &Summary) -> Vec<PageFault> {
    let pairs = view.monitors.iter().zip(&summary.monitors);
    let violation = |(monitor, it): (&tactus_monitor::Monitor, &tactus_trace::MonitorSummary)| {
        let what = it.violation()?;
        let of = monitor.events.iter().find(|(name, _)| Some(name) == it.event.as_ref()).or(monitor.events.first());
        let of = of.and_then(|(_, what)| what.of.as_ref());
        let task = view.tasks.iter().position(|task| Some(&task.name) == of);
        let core = task.and_then(|task| view.tasks[task].core).map_or(0, |core| core.0);
        Some(PageFault { time: it.at?.as_nanos(), core, task: task.map(|task| task as u16), what })
    };
    pairs.filter_map(violation).collect()
}

/// The component's name, or its number where none was given.
pub(crate) fn component_name(extra: &Details, component: u32) -> String {
    let name = usize::try_from(component).ok().and_then(|i| extra.components.get(i));
    name.cloned().unwrap_or_else(|| format!("component {component}"))
}

/// `4 cores · 24 tasks (A 6, B 6, C 10, D 2) · MC² · 10 s`.
fn subtitle(view: &View) -> String {
    let mut tasks = counted(view.tasks.len() as u64, "task", "tasks");
    let of_level = |level| view.tasks.iter().filter(|t| t.level == Some(level)).count();
    let levels: Vec<String> = tactus_time::Level::ALL
        .into_iter()
        .map(|level| (level, of_level(level)))
        .filter(|(_, n)| *n > 0)
        .map(|(level, n)| format!("{level} {n}"))
        .collect();
    if !levels.is_empty() {
        tasks += &format!(" ({})", levels.join(", "));
    }
    format!("{} · {tasks} · {} · {}", counted(view.cores as u64, "core", "cores"), view.policy, view.duration)
}

fn facts(view: &View, summary: &Summary, extra: &Details) -> String {
    let mut out = String::new();
    let mut fact = |name: &str, value: &str| {
        if !value.is_empty() {
            put(&mut out, format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value)));
        }
    };
    fact("Machine", &extra.machine);
    fact("Cores", &view.cores.to_string());
    fact("Policy", &view.policy);
    fact("Duration", &format!("{} of virtual time", view.duration));
    fact("Seed", &extra.seed.to_string());
    fact("Analysis", if view.accepted { "accepted" } else { "not accepted" });
    let jobs = &summary.total;
    let (released, completed) = (text::count(jobs.released), text::count(jobs.completed));
    fact("Jobs", &format!("{released} released, {completed} completed"));
    if summary.dropped > 0 {
        fact("Records dropped", &text::count(summary.dropped));
    }
    if summary.refused > 0 {
        fact("Requests refused", &text::count(summary.refused));
    }
    for (name, value) in &extra.facts {
        fact(name, value);
    }
    for heap in &summary.heaps {
        fact(&format!("heap of {}", heap.component), &heap.to_string());
    }
    if !extra.command.is_empty() {
        put(
            &mut out,
            format_args!(
                "<div class=\"wide\"><dt>Run again</dt><dd><code id=\"command\">{}</code></dd></div>\n",
                escape(&extra.command)
            ),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_looks_like_a_place_stays_text() {
        assert_eq!(fill("<{{a}}|{{b}}|{{none}}>{{", &[("a", "{{b}}"), ("b", "2")]), "<{{b}}|2|>{{");
    }

    #[test]
    fn every_place_of_the_template_is_filled_by_name() {
        let names: Vec<&str> = TEMPLATE.split("{{").skip(1).filter_map(|s| s.split("}}").next()).collect();
        let known = [
            "title",
            "style",
            "name",
            "subtitle",
            "verdict",
            "facts",
            "levels",
            "tasks",
            "disks",
            "cores",
            "overheads",
            "data",
            "columns",
            "uplot",
            "script",
        ];
        for name in &known {
            assert!(names.contains(name), "{name} is filled in but has no place");
        }
        assert_eq!(names.len(), known.len(), "a place without a value: {names:?}");
    }
}
