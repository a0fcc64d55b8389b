//! What the judge found, in the words of the terminal: one line, then a table by level.

use tactus_terminal::lines::{self, brief, grouped};
use tactus_trace::{
    Bound, ChainSummary, ChangeSummary, Fate, JobCounts, LevelSummary, MonitorSummary, Summary, TaskSummary, Verdict,
};

/// The verdict and the table below it.
pub fn text(summary: &Summary) -> String {
    let mut text =
        format!("{}\n{}\n{}{}", headline(summary), by_level(summary), by_task(summary), crate::disks::verdict(summary));
    if !summary.chains.is_empty() {
        text = format!("{text}\n{}", by_chain(summary));
    }
    if !summary.monitors.is_empty() {
        text = format!("{text}\n{}", by_monitor(summary));
    }
    for change in &summary.changes {
        text += &changed(change);
    }
    for slot in &summary.slots {
        text += &format!("slot {}: {}\n", slot.name, slot.words());
        for update in slot.updates() {
            text += &format!("update: {update}\n");
        }
        for (load, why) in slot.refused() {
            let at = load.decided.map_or(String::new(), |time| format!(" at {time}"));
            text += &lines::bad(format!("slot {}: refused{at}: {why}", slot.name));
            text.push('\n');
        }
    }
    for culprit in &summary.culprits {
        let task = culprit.task.as_deref().map(|task| format!(" in task {task}")).unwrap_or_default();
        let (core, time) = (culprit.core, culprit.time);
        let component = culprit.component_name.clone().unwrap_or_else(|| culprit.component.to_string());
        let what = format!("component {component} was stopped{task}: {}", culprit.what());
        text += &lines::bad(format!("{what}, core {core}, at {time}"));
        text.push('\n');
    }
    for task in summary.tasks.iter().filter(|task| task.refused > 0) {
        let plural = if task.refused == 1 { " was" } else { "s were" };
        text += &lines::bad(format!("{} call{plural} refused to {}", grouped(task.refused), task.name));
        text.push('\n');
    }
    for task in &summary.tasks {
        let reasons = [
            (task.arrivals_lost, "lost: as many jobs as may wait waited already"),
            (task.arrivals_dropped, "dropped, since they came early"),
        ];
        for (count, why) in reasons.into_iter().filter(|(count, _)| *count > 0) {
            let (plural, were) = if count == 1 { ("", "was") } else { ("s", "were") };
            text += &lines::bad(format!("{} arrival{plural} of {} {were} {why}", grouped(count), task.name));
            text.push('\n');
        }
    }
    for restart in &summary.restarts {
        let component = restart.component_name.clone().unwrap_or_else(|| restart.component.to_string());
        let (count, time) = (restart.count, restart.time);
        text += &match restart.given_up {
            false => {
                let by = restart.by.map(|by| restart.by_name.clone().unwrap_or_else(|| by.to_string()));
                let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
                format!("component {component} runs again, {time} (restart {count}{by})")
            }
            true => lines::bad(format!(
                "component {component} stays stopped, {time}: it was restarted as often as it may ({count} in all)"
            )),
        };
        text.push('\n');
    }
    for (jobs, how) in
        [(summary.total.aborted, "unfinished with the component"), (summary.total.early, "before the task's minimum")]
    {
        if jobs > 0 {
            let plural = if jobs == 1 { "" } else { "s" };
            text += &lines::bad(format!("{} job{plural} ended {how}", grouped(jobs)));
            text.push('\n');
        }
    }
    text
}

/// `remove task log, requested at 22 ms: applied at 26 ms`
fn changed(change: &ChangeSummary) -> String {
    let decided = change.decided.map_or(String::new(), |at| at.to_string());
    let fate = match change.fate {
        Fate::Applied => format!("applied at {decided}"),
        Fate::Refused => {
            let why = change.why.as_deref().unwrap_or("it was not admitted");
            format!("{} at {decided}: {why}", lines::bad("refused"))
        }
        Fate::Waiting => "still waiting at the end of the run: no idle instant had come".to_string(),
        Fate::NotRequested => "the run ended before".to_string(),
    };
    format!("{}, requested at {}: {fate}\n", change.what, change.requested)
}

/// The verdict in a sentence, and the cause where a promise was broken.
fn headline(summary: &Summary) -> String {
    let text = summary.headline();
    match &summary.verdict {
        Verdict::Held => lines::good(text),
        Verdict::NothingPromised => text,
        Verdict::Broken(broken) => lines::bad(text) + "\n" + &broken.cause.text,
        _ => lines::bad(text),
    }
}

fn by_level(summary: &Summary) -> String {
    let named = summary.levels.iter().any(|level| level.level.is_some());
    let head = [if named { "level" } else { "" }, "jobs", "missed", "worst ÷ bound", "of task", "tardiness (bound)"];
    let rows: Vec<Vec<String>> = summary.levels.iter().map(row).collect();
    lines::table(&head, &rows)
}

/// Every task: what was measured, and beside it what was promised.
fn by_task(summary: &Summary) -> String {
    let head = ["task", "level", "core", "jobs", "missed", "worst response", "deadline", "promised", ""];
    let rows: Vec<Vec<String>> = summary.tasks.iter().map(task_row).collect();
    lines::table(&head, &rows)
}

fn task_row(task: &TaskSummary) -> Vec<String> {
    let promised = match task.promise {
        Some(Bound::Response(bound)) => format!("≤ {}", brief(bound)),
        Some(Bound::Tardiness(bound)) => format!("late ≤ {}", brief(bound)),
        None => "–".to_string(),
    };
    vec![
        task.name.clone(),
        task.level.map_or("–".to_string(), |level| level.to_string()),
        task.core.map_or("any".to_string(), |core| core.to_string()),
        jobs(&task.jobs),
        grouped(task.jobs.missed),
        task.response.map_or("–".to_string(), |response| brief(response.max)),
        brief(task.deadline),
        promised,
        if task.removed_at.is_some() {
            "stopped".to_string()
        } else if task.void.is_some() {
            "void".to_string()
        } else {
            String::new()
        },
    ]
}

/// Every chain, from the release of its first task to the completion of its last.
fn by_chain(summary: &Summary) -> String {
    let head = ["chain", "passages", "missed", "worst", "deadline", "promised"];
    let row = |chain: &ChainSummary| {
        vec![
            chain.name.clone(),
            grouped(chain.begun),
            grouped(chain.missed),
            chain.response.map_or("–".to_string(), |response| brief(response.max)),
            chain.deadline.map_or("–".to_string(), brief),
            chain.bound.map_or("–".to_string(), |bound| format!("≤ {}", brief(bound))),
        ]
    };
    lines::table(&head, &summary.chains.iter().map(row).collect::<Vec<_>>())
}

/// Every monitor: its verdict, what led there, and on whose word that rests.
fn by_monitor(summary: &Summary) -> String {
    let head = ["property", "verdict", "at", "by", "events", "rests on", "judged by"];
    let row = |it: &MonitorSummary| {
        let at = it.at.map_or("–".to_string(), |at| at.to_string());
        let by = it.event.clone().unwrap_or("–".to_string());
        let bad = it.is_broken() || it.not_judged().is_some();
        let verdict = if bad { lines::bad(&it.verdict) } else { it.verdict.clone() };
        let events = match it.not_recorded {
            0 => grouped(it.events as u64),
            lost => format!("{}, {} not recorded", grouped(it.events as u64), grouped(lost)),
        };
        let rests_on = match it.rests_on {
            "scheduler" => "root scheduler",
            "component" => "its components",
            _ => "kernel alone",
        };
        vec![it.name.clone(), verdict, at, by, events, rests_on.into(), it.judged_by.into()]
    };
    let mut text = lines::table(&head, &summary.monitors.iter().map(row).collect::<Vec<_>>());
    for it in summary.monitors.iter().filter(|it| it.is_broken() && !it.path.is_empty()) {
        let steps = it.path.iter().map(|step| format!("{} {} → {}", step.at, step.event, step.state));
        text += &format!("path of {}: {}\n", it.name, steps.collect::<Vec<_>>().join(", "));
    }
    text
}

/// How many jobs there were, and how many more that found nothing to do.
fn jobs(counts: &JobCounts) -> String {
    let some = grouped(counts.released - counts.idle);
    match counts.idle {
        0 => some,
        idle => format!("{some} + {} idle", grouped(idle)),
    }
}

fn row(level: &LevelSummary) -> Vec<String> {
    let tardiness = match (level.tardiness_bound, level.tardiness_max.is_zero()) {
        (Some(bound), _) => format!("{} ({})", brief(level.tardiness_max), brief(bound)),
        (None, true) => "–".to_string(),
        (None, false) => brief(level.tardiness_max),
    };
    // Where promises of the level ceased to bind, the ratio is of the jobs before.
    let until = if level.void > 0 { " (until void)" } else { "" };
    vec![
        level.level.map_or("all".to_string(), |level| level.to_string()),
        jobs(&level.jobs),
        grouped(level.jobs.missed),
        level.worst_over_bound.map_or("–".to_string(), |ratio| format!("{ratio:.3}{until}")),
        level.worst_task.clone().unwrap_or("–".to_string()),
        tardiness,
    ]
}
