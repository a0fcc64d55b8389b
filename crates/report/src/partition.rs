//! What the page says of partitions: their windows for the schedule, and a card with what each was given and used.

use crate::tables::num;
use crate::text::{count, escape, percent, put};
use serde::Serialize;
use tactus_task::{ScheduleSwitch, Window};
use tactus_time::{Duration, Instant};
use tactus_trace::{run_end, schedule, PartitionView, SegmentKind, Trace, View};

/// A partition as the page's script sees it. Times in nanoseconds.
#[derive(Serialize)]
pub(crate) struct PagePartition<'a> {
    name: &'a str,
    frame: u64,
    /// Core, start and end in the frame, schedule.
    windows: Vec<(u8, u64, u64, u8)>,
    /// Frame, and the schedule from then on.
    switches: Vec<(u64, u8)>,
    tasks: Vec<u16>,
}

/// The partitions for the page's script.
pub(crate) fn page(view: &View) -> Vec<PagePartition<'_>> {
    let window = |it: &Window| (it.core.0, it.start.as_nanos(), it.end().as_nanos(), it.schedule);
    let partitions = view.partitions.iter().map(|partition| PagePartition {
        name: &partition.name,
        frame: partition.frame.as_nanos(),
        windows: partition.windows.iter().map(window).collect(),
        switches: partition.switches.iter().map(|it| (it.frame, it.schedule)).collect(),
        tasks: partition.tasks.iter().map(|task| task.0).collect(),
    });
    partitions.collect()
}

/// The card, or nothing where the system has no partitions.
pub(crate) fn section(view: &View, trace: &Trace) -> String {
    if view.partitions.is_empty() {
        return String::new();
    }
    let mut used = vec![Duration::ZERO; view.tasks.len()];
    for run in schedule(trace).into_iter().filter(|it| it.kind == SegmentKind::Run) {
        if let Some(sum) = run.task.and_then(|task| used.get_mut(task.index())) {
            *sum = sum.checked_add(run.end.since(run.start)).unwrap_or(Duration::MAX);
        }
    }
    let mut out = String::from(
        "<section id=\"partitions\" class=\"card\">\n<h2>Partitions</h2>\n<div class=\"scroll\">\n<table class=\"figures\"><thead>\
         <tr><th>Partition</th><th>Criticality</th><th>Windows in a frame</th><th class=\"num\">Tasks</th>\
         <th class=\"num\">Given</th><th class=\"num\">Used of that</th></tr></thead><tbody>\n",
    );
    let end = run_end(trace);
    for partition in &view.partitions {
        row(&mut out, partition, end, &used);
    }
    out.push_str("</tbody></table>\n</div>\n</section>\n");
    out
}

fn row(out: &mut String, partition: &PartitionView, end: Instant, used: &[Duration]) {
    let criticality = if partition.criticality.is_empty() { "–" } else { &partition.criticality };
    let windows: Vec<String> = partition
        .windows
        .iter()
        .map(|it| format!("{}core {}: {} to {}", in_schedule(it), it.core, it.start, it.end()))
        .collect();
    put(
        out,
        format_args!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>",
            escape(&partition.name),
            escape(criticality),
            escape(&windows.join(" · "))
        ),
    );
    num(out, partition.tasks.len() as f64, &count(partition.tasks.len() as u64));
    // Of one core; a partition on several may have more than the whole of one.
    let given = given(partition, end);
    let end = end.as_nanos() as f64;
    let taken: u64 = partition.tasks.iter().filter_map(|task| used.get(task.index())).map(|sum| sum.as_nanos()).sum();
    let of_that = if given * end > 0.0 { taken as f64 / (given * end) } else { 0.0 };
    num(out, given, &percent(given));
    num(out, of_that, &percent(of_that));
    out.push_str("</tr>\n");
}

fn in_schedule(window: &Window) -> String {
    match window.schedule {
        0 => String::new(),
        number => format!("schedule {number}, "),
    }
}

/// What the windows of a partition gave it, as a share of a core, until the end of the run.
fn given(partition: &PartitionView, end: Instant) -> f64 {
    let frame = partition.frame.as_nanos().max(1);
    let in_frame = |schedule: u8| -> u64 {
        let own = partition.windows.iter().filter(|it| it.schedule == schedule);
        own.map(|it| it.length.as_nanos()).sum()
    };
    let last = end.as_nanos().div_ceil(frame).max(1);
    let bounds: Vec<u64> =
        partition.switches.iter().map(|it| it.frame).filter(|frame| *frame < last).chain([last]).collect();
    let (mut sum, mut from) = (0, 0);
    for until in bounds {
        sum += in_frame(ScheduleSwitch::schedule_in(&partition.switches, from)) * (until - from);
        from = until;
    }
    sum as f64 / (last * frame) as f64
}
