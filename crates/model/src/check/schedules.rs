//! The rules for schedules of windows: their names, and when one follows on another.

use crate::draft::{At, Draft};
use crate::problem::{nearest, Collector, Complaint};
use crate::{MAX_SCHEDULES, MAX_START_FRAME, MAX_SWITCHES};
use tactus_task::ScheduleSwitch;

/// The names of the schedules, that in which the system begins first.
pub(super) fn names(draft: &Draft, out: &mut Collector) -> Vec<String> {
    if let Some(extra) = draft.schedules.get(MAX_SCHEDULES) {
        let limit = format!("more than {MAX_SCHEDULES}");
        let count = draft.schedules.len();
        out.out_of_range(extra.place, "[policy]", "the number of schedules", count, limit, "leave some out");
        return Vec::new();
    }
    let mut names: Vec<String> = Vec::new();
    for at in &draft.schedules {
        super::names::check_name(&at.value, at.place, "[policy]", "the name of a schedule", out);
        if names.contains(&at.value) {
            let why = format!("schedule {:?} is named twice", at.value);
            out.refuse(at.place, "[policy]", why, "give each schedule one name");
        }
        names.push(at.value.clone());
    }
    if let Some(at) = draft.schedules.get(1..).into_iter().flatten().find(|at| !has_windows(draft, &at.value)) {
        let why = format!("no partition has a window in schedule {:?}", at.value);
        let remedy =
            format!("give some, like {{ core = 0, start = \"0 ms\", length = \"5 ms\", schedule = {:?} }}", at.value);
        out.refuse(at.place, "[policy]", why, remedy);
    }
    names
}

fn has_windows(draft: &Draft, schedule: &str) -> bool {
    let windows = draft.partitions.iter().filter_map(|it| it.windows.get()).flat_map(|at| &at.value);
    windows.into_iter().any(|at| at.value.schedule.get().is_some_and(|name| name.value == schedule))
}

/// The number of the schedule that is named.
pub(super) fn number(named: &At<String>, names: &[String], subject: &str, out: &mut Collector) -> Option<u8> {
    let number = names.iter().position(|name| *name == named.value);
    if number.is_none() {
        let complaint = Complaint::UnknownName {
            what: "schedule",
            nearest: nearest(&named.value, names.iter().map(String::as_str)),
            name: named.value.chars().take(40).collect(),
            remedy: "name it in `schedules` of [policy], the one in which the system begins first".into(),
        };
        out.add(named.place, subject, complaint);
    }
    number.map(|number| number as u8)
}

/// The switches, each to another schedule than that before and in a later frame.
pub(super) fn switches(draft: &Draft, names: &[String], out: &mut Collector) -> Vec<ScheduleSwitch> {
    if let Some(extra) = draft.switches.get(MAX_SWITCHES) {
        let limit = format!("more than {MAX_SWITCHES}");
        let count = draft.switches.len();
        out.out_of_range(extra.place, "[policy]", "the number of switches", count, limit, "leave some out");
        return Vec::new();
    }
    let mut made: Vec<ScheduleSwitch> = Vec::new();
    for at in &draft.switches {
        let (Some(frame), Some(named)) = (at.value.frame.get(), at.value.schedule.get()) else { continue };
        let Some(schedule) = number(named, names, "[policy]", out) else { continue };
        let last = made.last().copied().unwrap_or(ScheduleSwitch { frame: 0, schedule: 0 });
        if frame.value <= last.frame || frame.value > MAX_START_FRAME {
            let limit = match frame.value > MAX_START_FRAME {
                true => format!("more than {MAX_START_FRAME}"),
                false => format!("not after frame {}, where the schedule before begins", last.frame),
            };
            let remedy = "give switches in the order of their frames, from frame 1 on";
            out.out_of_range(frame.place, "[policy]", "the frame of a switch", frame.value, limit, remedy);
            continue;
        }
        if schedule == last.schedule {
            let why = format!("schedule {:?} holds already in frame {}", named.value, frame.value);
            out.refuse(named.place, "[policy]", why, "remove the switch, or name another schedule");
            continue;
        }
        made.push(ScheduleSwitch { frame: frame.value, schedule });
    }
    made
}
