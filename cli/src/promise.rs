//! What a check found, as people read it, and what follows from it for a run.

use crate::disks;
use tactus_analysis::check::added_by_others;
use tactus_analysis::inflation::working_sets::WorkingSets;
use tactus_analysis::{check_with_cache, Bound, CacheDelay, Check, Growth, Reloads, TaskCheck, TaskVerdict};
use tactus_machine::restart::RestartBound;
use tactus_model::{Costs, Scheduling, System, Window};
use tactus_plan::costs::CostModel;
use tactus_plan::plan;
use tactus_plan::RunPlan;
use tactus_terminal::lines::{self, brief};
use tactus_time::{Duration, Level};
use tactus_trace::View;

/// Checks the system and writes the line about it.
pub fn promised(system: &System, costs: impl Into<CostModel>) -> RunPlan {
    let costs = costs.into();
    let check = tactus_analysis::check(system, &costs.counted);
    line(system, &check);
    let promised = plan(system, &check, costs);
    disks::lines(system, &promised.disks);
    promised
}

/// Whether the policy can be set up at all: a system that the check refused may lack a table of level A. If it cannot, a
/// line says so.
pub fn can_run(promised: &RunPlan) -> bool {
    match tactus_policy::Scheduler::new(&promised.setup) {
        Ok(_) => true,
        Err(error) => {
            lines::line("run", lines::bad(format!("not possible before the above is mended: {error}")));
            false
        }
    }
}

/// `chain    sensor to actuator: ≤ 11.8 ms of 20 ms (…)`, one line for each; then one for each channel.
pub fn chains(check: &Check) {
    check.chains.iter().for_each(|chain| lines::line("chain", chain));
    check.channels.iter().for_each(|channel| lines::line("channel", channel));
}

/// `monitors` and a table: what each takes, and what the bounds count for them.
pub fn monitors(system: &System, costs: &Costs) {
    if system.monitors.is_empty() {
        return;
    }
    let row = |it: &tactus_plan::monitors::MonitorCost| {
        let numbers = [it.states, it.bytes].map(|number| number.to_string());
        let clock = if it.timed { "yes" } else { "no" };
        let words = [it.encoding.name().to_string(), clock.into(), brief(it.step), it.told.to_string()];
        [it.name.clone()].into_iter().chain(numbers).chain(words).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = tactus_plan::monitors::costs_of(system).iter().map(row).collect();
    let head = ["monitor", "states", "bytes", "encoding", "clock", "a step at most", "events that the scheduler tells"];
    lines::line("monitors", lines::table(&head, &rows));
    let (entry, event) =
        (tactus_plan::monitors::longer_entry(system), tactus_plan::monitors::longest_event(system, costs));
    let text = format!(
        "an entry of the scheduler is up to {} longer, which the bounds count; a call that a monitor watches takes its caller up to {} more",
        brief(entry),
        brief(event)
    );
    lines::line("", text);
}

/// What a run through modelled caches is held to: the bounds that count them, if the file names caches. Writes a line.
pub fn through_caches(system: &System, costs: &Costs) -> Option<View> {
    system.platform.caches.as_ref()?;
    let check = check_with_cache(system, costs, CacheDelay::Geometry);
    caches(system, &check, CacheDelay::Geometry);
    line(system, &check);
    Some(plan(system, &check, costs).view)
}

/// `caches` and a table: what each task has in the caches, loses there, and what its bound counts of that.
pub fn caches(system: &System, check: &Check, cache: CacheDelay) {
    let Some(sets) = WorkingSets::of(system).filter(|_| cache == CacheDelay::Geometry) else { return };
    let added = added_by_others(system);
    let row = |(n, verdict): (usize, &TaskCheck)| {
        let (lines, held) = sets.lines(n);
        let lines = match (lines, held) {
            (0, _) => "no memory given".to_string(),
            (lines, true) => lines.to_string(),
            (lines, false) => format!("{lines}, too many for its colours"),
        };
        let others = match added.get(n) {
            Some(Ok(time)) => format!("{} a job", brief(*time)),
            Some(Err(_)) => "not bounded".into(),
            None => "not counted".into(),
        };
        let counted = match (verdict.bound(), verdict.reloads) {
            (None, _) | (_, Reloads::None) => "nothing".into(),
            (_, Reloads::OfEachTask) => "each task's own".to_string(),
            (_, Reloads::Longest(time)) => format!("{} at each entry", brief(time)),
        };
        let after = [sets.after_entry(n), sets.after_all(system, n)].map(|it| it.map_or("not bounded".into(), brief));
        [verdict.name.clone(), lines].into_iter().chain(after).chain([others, counted]).collect()
    };
    let rows: Vec<Vec<String>> = check.tasks.iter().enumerate().map(row).collect();
    let head = ["task", "lines", "reload after an entry", "after a preemption", "other cores add", "its bound counts"];
    lines::line("caches", lines::table(&head, &rows));
}

/// `windows  flight-control (A): core 0 from 0 ns to 4 ms, …`, a line for each partition.
pub fn windows(system: &System) {
    let Scheduling { servers, partitions, .. } = &system.scheduling;
    for (server, partition) in servers.iter().zip(&partitions.list) {
        let one = |it: &Window| format!("core {} from {} to {}", it.core, it.start, it.end());
        let within = |schedule: u8| {
            let own: Vec<String> = partition.windows.iter().filter(|it| it.schedule == schedule).map(one).collect();
            match (own.is_empty(), partitions.schedules.get(usize::from(schedule))) {
                (true, name) => format!("none in {}", name.map_or("a frame", String::as_str)),
                (false, Some(name)) => format!("in {name} {}", own.join(", ")),
                (false, None) => own.join(", "),
            }
        };
        let all: Vec<String> = partitions.numbers().map(within).collect();
        let level = partition.criticality.map_or_else(String::new, |level| format!(" ({level})"));
        let start = match partition.start_frame {
            0 => String::new(),
            _ => format!(", starts at {}", partition.start(partitions.frame)),
        };
        lines::line("windows", format!("{}{level}: {}{start}", server.name, all.join("; ")));
    }
    for switch in &partitions.switches {
        let at = partitions.frame.checked_mul(switch.frame).unwrap_or(Duration::MAX);
        let name = &partitions.schedules[usize::from(switch.schedule)];
        lines::line("schedule", format!("{name} from frame {} on, at {at}", switch.frame));
    }
}

/// `check    A tables built on cores 1–3 · …      accepted`, and what fails if it is not.
pub fn line(system: &System, check: &Check) {
    // A task that a change brings is promised something from then on.
    let later = |n: usize| check.changes.iter().any(|ruling| ruling.admitted() && ruling.tasks[n].bound().is_some());
    let promised = (0..check.tasks.len()).filter(|n| check.tasks[*n].bound().is_some() || later(*n)).count();
    let verdict = match (check.accepted, promised == check.tasks.len()) {
        (false, _) => lines::bad("not accepted"),
        (true, true) => lines::good("accepted"),
        (true, false) => lines::good(format!("accepted: {promised} of {} tasks promised", check.tasks.len())),
    };
    lines::line("check", format!("{}      {verdict}", check.summary));
    for finding in tactus_plan::findings(system, check) {
        lines::line("", finding);
    }
    for ruling in &check.changes {
        let verdict = match &ruling.refused {
            None => lines::good("admitted"),
            Some(why) => format!("{}: {why}", lines::bad("refused")),
        };
        lines::line("change", format!("at {}: {} · {verdict}", brief(ruling.at), ruling.change));
    }
}

/// `restart  the first job at most 53 ms after …`: of a sandbox whose kernel is started again.
pub fn restart(bound: Option<RestartBound>) {
    let Some(bound) = bound else {
        return lines::line("restart", "no bound: no periodic task's response time has one");
    };
    let silence = bound.silence.map_or("not known".into(), |it| brief(it).to_string());
    let parts = [("reload", bound.reload), ("start", bound.start), ("lead", bound.lead), ("job", bound.job)];
    let parts = parts.map(|(part, time)| format!("{part} {}", brief(time))).join(", ");
    let whole = brief(bound.from_notice());
    lines::line(
        "restart",
        format!(
            "the first job at most {whole} after a death is noticed ({parts}); silence is noticed within {silence}"
        ),
    );
}

/// Every task with its bound; `free` is the check of the same system without overheads.
pub fn table(check: &Check, free: Option<&Check>, growth: &[Growth]) -> String {
    let mut head = vec!["task", "level", "core", "utilisation", "deadline", "bound", "time may grow", ""];
    if free.is_some() {
        head.insert(6, "without overheads");
    }
    let rows = check.tasks.iter().zip(growth).enumerate().map(|(n, (verdict, growth))| {
        let mut row = row(verdict);
        let last = row.len() - 1;
        row.insert(last, grows(*growth));
        if let Some(free) = free {
            row.insert(last, bound(free.tasks[n].bound()));
        }
        row
    });
    lines::table(&head, &rows.collect::<Vec<_>>())
}

/// Why tasks are promised nothing, each reason once with the tasks that it is for.
pub fn untested(check: &Check) {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for task in &check.tasks {
        let TaskVerdict::Untested(reason) = &task.verdict else { continue };
        match reasons.iter_mut().find(|(why, _)| why == reason) {
            Some((_, names)) => names.push(&task.name),
            None => reasons.push((reason, vec![&task.name])),
        }
    }
    for (why, names) in reasons {
        lines::line("", format!("{}: {why}", names.join(", ")));
    }
}

/// `costs    one entry of the scheduler 3.2 µs …`: what the bounds count for the system's own work, and what comes of it.
pub fn overheads(check: &Check, free: &Check, costs: &Costs, cache: CacheDelay) {
    let entry = tactus_analysis::overhead::entry(costs);
    if entry.is_zero() && cache == CacheDelay::None {
        return;
    }
    let cached = match cache {
        CacheDelay::Time(time) => format!(", lost caches {} each", brief(time)),
        CacheDelay::None | CacheDelay::Geometry => String::new(),
    };
    let free = if free.accepted == check.accepted { "" } else { "; without overheads it would be accepted" };
    lines::line("costs", format!("one entry of the scheduler at most {}{cached}{free}", brief(entry)));
}

/// `growth   least of task …`: who has least room, or by how much the first task that fails is short; and what was not
/// looked for.
pub fn growth(system: &System, check: &Check, growth: &[Growth], patient: bool) {
    if let Some(n) = check.findings.iter().find_map(|finding| finding.task).map(|task| task.index()) {
        let told = match growth[n] {
            Growth::Short(less) => format!("would have to take {} less", brief(less)),
            Growth::NotAlone => "fails even with no execution time of its own; others would have to take less".into(),
            Growth::By(_) | Growth::Unknown => String::new(),
        };
        if !told.is_empty() {
            lines::line("growth", format!("task `{}`, the first that fails, {told}", check.tasks[n].name));
        }
    }
    let share = |n: usize, more: Duration| {
        let task = &system.tasks[n];
        let own = task.execution[task.level.unwrap_or(Level::A).index()].unwrap_or_default();
        more.as_nanos() as f64 / own.as_nanos().max(1) as f64
    };
    let grown = growth.iter().enumerate().filter_map(|(n, growth)| match growth {
        Growth::By(more) => Some((n, *more, share(n, *more))),
        _ => None,
    });
    if let Some((n, more, share)) = grown.min_by(|a, b| a.2.total_cmp(&b.2)) {
        let name = &check.tasks[n].name;
        lines::line(
            "growth",
            format!("least: task `{name}` may take {} more, {:.1} % of its time", brief(more), share * 100.0),
        );
    }
    let open = growth.iter().zip(&check.tasks).filter(|(g, t)| **g == Growth::Unknown && t.bound().is_some()).count();
    if open > 0 && !patient {
        let tasks = lines::count(open, "task");
        lines::line("growth", format!("not looked for in the time: {tasks}; `--growth` takes as long as it needs"));
    }
}

fn grows(growth: Growth) -> String {
    match growth {
        Growth::By(more) => format!("by {}", brief(more)),
        Growth::Short(less) => format!("must shrink by {}", brief(less)),
        Growth::NotAlone => "others must shrink".into(),
        Growth::Unknown => "–".into(),
    }
}

fn bound(bound: Option<Bound>) -> String {
    match bound {
        Some(Bound::Response(bound)) => format!("response ≤ {}", brief(bound)),
        Some(Bound::Tardiness(bound)) => format!("tardiness ≤ {}", brief(bound)),
        None => "–".to_string(),
    }
}

fn row(verdict: &TaskCheck) -> Vec<String> {
    let holds = match (&verdict.verdict, verdict.exceeded_by) {
        (TaskVerdict::Fails { .. }, _) => "fails",
        (TaskVerdict::Untested(_), _) => "no promise",
        (TaskVerdict::Bounded { .. }, None) => "holds",
        (TaskVerdict::Bounded { .. }, Some(_)) => "holds while nobody exceeds his time",
    };
    vec![
        verdict.name.clone(),
        verdict.level.map_or("–".to_string(), |level| level.to_string()),
        verdict.core.map_or("any".to_string(), |core| core.to_string()),
        format!("{:.3}", verdict.utilisation as f64 / 1e6),
        brief(verdict.deadline),
        bound(verdict.bound()),
        holds.to_string(),
    ]
}
