//! `tactus explain`: what a task's bound adds up from.

use crate::arguments::Explain as Arguments;
use crate::subject;
use serde_json::{json, Value};
use tactus_analysis::terms::{Equation, Source, Term, Terms};
use tactus_analysis::{CacheDelay, Check, TaskCheck, TaskVerdict};
use tactus_machine::costs;
use tactus_machine::failure::{Failure, Outcome};
use tactus_model::{Sandboxes, System, SystemFile};
use tactus_task::Bound;
use tactus_terminal::lines::{self, grouped};
use tactus_time::Duration;

/// Explains the bound of one task, in each sandbox that has one of that name.
pub fn explain(arguments: &Arguments) -> Result<Outcome, Failure> {
    let systems = match subject::read_file(&arguments.subject)? {
        SystemFile::System(system) => vec![*system],
        SystemFile::Sandboxes(Sandboxes { parts, .. }) => parts.into_iter().map(|part| part.system).collect(),
    };
    let mut held = Vec::new();
    for system in &systems {
        if let Some(n) = system.tasks.iter().position(|task| task.name == arguments.task) {
            held.push(one(arguments, system, n)?);
        }
    }
    if held.is_empty() {
        let names: Vec<&str> = systems.iter().flat_map(|it| &it.tasks).map(|task| task.name.as_str()).collect();
        return Err(Failure::Input(unknown(arguments, &names)));
    }
    Ok(Outcome::held_if(held.iter().all(|held| *held)))
}

/// What to say of a task that is not there.
fn unknown(arguments: &Arguments, names: &[&str]) -> String {
    const MOST: usize = 12;
    let more = match names.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let some = names[..names.len().min(MOST)].join(", ");
    let file = arguments.subject.file.display();
    format!("{file}: there is no task `{}`; choose one of {some}{more}", arguments.task)
}

/// Explains the bound of the task at this place; whether its promise is kept.
fn one(arguments: &Arguments, system: &System, n: usize) -> Result<bool, Failure> {
    let costs = costs::read(&arguments.costs, system)?;
    let cache = arguments.cache_delay.unwrap_or_default();
    if cache == CacheDelay::Geometry && system.platform.caches.is_none() {
        return Err(Failure::Input(format!(
            "{}: --cache-delay geometry: the file names no caches: add a line like geometry = \"i7-2600\" under [machine]",
            system.source.display()
        )));
    }
    let check = tactus_analysis::check_with_cache(system, &costs, cache);
    let terms = tactus_analysis::check::explain(system, &costs, cache, &[n]).swap_remove(n);
    let terms = terms.map(|mut terms| {
        sort(&mut terms);
        terms
    });
    match arguments.json {
        true => lines::put(&format!("{:#}\n", as_json(system, &check, n, terms.as_ref()))),
        false => {
            subject::announce(system);
            show(system, &check, n, terms.as_ref());
        }
    }
    Ok(!check.tasks[n].fails())
}

/// Puts terms of the same kind together, and the greatest of others first.
fn sort(terms: &mut Terms) {
    let key = |term: &Term| match term.source {
        Source::Own => 0,
        Source::Other(_) | Source::Server(_) => 1,
        Source::Blocking(_) => 2,
        Source::Reload(_) => 3,
        Source::Supply => 4,
        Source::EntryUnderWay | Source::Releases | Source::Recurring => 5,
        Source::Withheld => 6,
        Source::Jitter => 7,
        Source::Arrival => 8,
    };
    let mut all: Vec<Term> = Vec::new();
    for term in terms.list.drain(..) {
        match all.iter_mut().find(|other| other.source == term.source && other.each == term.each) {
            Some(other) => other.times += term.times,
            None => all.push(term),
        }
    }
    all.sort_by_key(|term| (key(term), std::cmp::Reverse(term.amount())));
    terms.list = all;
}

/// The paper of the test that gave a bound.
fn source_of(by: &str) -> Option<&'static str> {
    let tests = tactus_analysis::check::tests();
    tests.iter().filter(|test| by.starts_with(test.name)).max_by_key(|test| test.name.len()).map(|test| test.source)
}

/// Whose a term is, in words.
fn words(system: &System, source: Source) -> String {
    let task = |n: usize| system.tasks.get(n).map_or("?", |task| task.name.as_str());
    match source {
        Source::Own => "its own jobs".into(),
        Source::Other(n) => format!("jobs of `{}`", task(n)),
        Source::Server(s) => format!("budgets of server `{}`", system.scheduling.servers[s].name),
        Source::Blocking(Some(n)) => format!("blocked by `{}`, which is less urgent and has begun", task(n)),
        Source::Blocking(None) => "blocked by less urgent work that has begun".into(),
        Source::EntryUnderWay => "an entry of the scheduler under way".into(),
        Source::Releases => "entries of the scheduler for releases".into(),
        Source::Recurring => "entries for waits, kills, turns and budgets".into(),
        Source::Reload(Some(n)) => format!("loaded again into caches after jobs of `{}`", task(n)),
        Source::Reload(None) => "loaded again into caches after entries of the scheduler".into(),
        Source::Supply => "not given by its server or its partition's windows".into(),
        Source::Withheld => "kept from it by the processor".into(),
        Source::Jitter => "from arrival to release".into(),
        Source::Arrival => "less: it arrives so long after the window begins".into(),
    }
}

/// Microseconds to the nanosecond, so that a reader can add them up.
fn exact(time: Duration) -> String {
    format!("{}.{:03}", grouped(time.as_nanos() / 1_000), time.as_nanos() % 1_000)
}

fn show(system: &System, check: &Check, n: usize, terms: Option<&Terms>) {
    let task = &check.tasks[n];
    let core = task.core.map_or(String::new(), |core| format!(" on core {core}"));
    let bound = match (&task.verdict, task.bound()) {
        (TaskVerdict::Untested(why), _) => format!("no promise: {why}"),
        (_, Some(Bound::Response(time))) => format!("response ≤ {} µs, deadline {}", exact(time), task.deadline),
        (_, Some(Bound::Tardiness(time))) => format!("tardiness ≤ {} µs, deadline {}", exact(time), task.deadline),
        (TaskVerdict::Fails { why, .. }, None) => format!("no bound: {why}"),
        (TaskVerdict::Bounded { .. }, None) => "no bound".into(),
    };
    lines::line("task", format!("{}{core}: {bound}", task.name));
    if let Some(other) = task.exceeded_by {
        let name = &system.tasks[other.index()].name;
        lines::line("", format!("no promise of a run: jobs of `{name}` may take longer than the bound assumes"));
    }
    if let TaskVerdict::Bounded { by, .. } | TaskVerdict::Fails { by, .. } = &task.verdict {
        lines::line("test", source_of(by).map_or(by.clone(), |source| format!("{by}: {source}")));
    }
    match terms {
        Some(terms) => lines::line("terms", table(system, terms)),
        None if task.bound().is_some() => lines::line("terms", without_terms(task)),
        None => {}
    }
}

/// Why nothing adds up to a bound.
fn without_terms(task: &TaskCheck) -> &'static str {
    match task.bound() {
        Some(Bound::Tardiness(_)) => {
            "none: a tardiness is bounded for all tasks of the queue together, by their shares and the heaviest of them"
        }
        _ => "none: this test compares or looks up, and adds nothing up",
    }
}

fn table(system: &System, terms: &Terms) -> String {
    let head = ["in µs", "times", "each", "of that costs, waits", "in all"];
    let mut rows: Vec<Vec<String>> = Vec::new();
    let row = |term: &Term| {
        let added = if term.added.is_zero() { "–".into() } else { exact(term.added) };
        let minus = if term.source == Source::Arrival { "−" } else { "" };
        let all = format!("{minus}{}", exact(term.amount()));
        vec![words(system, term.source), grouped(term.times), exact(term.each), added, all]
    };
    rows.extend(terms.list.iter().map(row));
    let sum = match terms.equation {
        Equation::Response => "adds up to the bound".to_string(),
        Equation::Demand => format!("adds up to the work due within {} µs", exact(terms.window)),
    };
    let dash = || "–".to_string();
    rows.push(vec![sum, dash(), dash(), dash(), exact(terms.sum())]);
    let mut text = lines::table(&head, &rows);
    if terms.cores > 1 {
        text += &format!(
            "Time of other jobs keeps it off only where all {} cores are busy: a {} part counts.\n",
            terms.cores,
            ordinal(terms.cores)
        );
    }
    text += &match terms.equation {
        Equation::Response => format!("counted in a window of {} µs", exact(terms.window)),
        Equation::Demand => "the window with the least room of those that the test looks at; all work fits, so the deadline is the bound".into(),
    };
    text
}

fn ordinal(n: u64) -> String {
    match n {
        2 => "2nd".into(),
        3 => "3rd".into(),
        n => format!("{n}th"),
    }
}

/// The word of a term's source in JSON, and the task or server that it is.
fn named(system: &System, source: Source) -> (&'static str, Option<&str>) {
    let task = |n: usize| system.tasks.get(n).map(|task| task.name.as_str());
    match source {
        Source::Own => ("own", None),
        Source::Other(n) => ("task", task(n)),
        Source::Server(s) => ("server", Some(system.scheduling.servers[s].name.as_str())),
        Source::Blocking(by) => ("blocking", by.and_then(task)),
        Source::EntryUnderWay => ("entry", None),
        Source::Releases => ("releases", None),
        Source::Recurring => ("recurring", None),
        Source::Reload(by) => ("reload", by.and_then(task)),
        Source::Supply => ("supply", None),
        Source::Withheld => ("withheld", None),
        Source::Jitter => ("jitter", None),
        Source::Arrival => ("arrival", None),
    }
}

fn as_json(system: &System, check: &Check, n: usize, terms: Option<&Terms>) -> Value {
    let task = &check.tasks[n];
    let (response, tardiness) = match task.bound() {
        Some(Bound::Response(time)) => (Some(time.as_nanos()), None),
        Some(Bound::Tardiness(time)) => (None, Some(time.as_nanos())),
        None => (None, None),
    };
    let (verdict, test, why) = match &task.verdict {
        TaskVerdict::Bounded { by, .. } => ("bounded", Some(by.as_str()), None),
        TaskVerdict::Fails { by, why, .. } => ("fails", Some(by.as_str()), Some(why.as_str())),
        TaskVerdict::Untested(why) => ("untested", None, Some(why.as_str())),
    };
    let term = |term: &Term| {
        let (of, name) = named(system, term.source);
        json!({
            "of": of, "name": name, "times": term.times, "each_ns": term.each.as_nanos(), "added_ns": term.added.as_nanos(),
            "amount_ns": term.amount().as_nanos(),
        })
    };
    let terms = terms.map(|terms| {
        json!({
            "adds_up_to": match terms.equation { Equation::Response => "response", Equation::Demand => "demand" },
            "window_ns": terms.window.as_nanos(),
            "cores": terms.cores,
            "sum_ns": terms.sum().as_nanos(),
            "list": terms.list.iter().map(term).collect::<Vec<_>>(),
        })
    });
    json!({
        "system": system.name, "task": task.name, "core": task.core.map(|core| core.index()), "deadline_ns": task.deadline.as_nanos(),
        "verdict": verdict, "why": why, "test": test, "source": test.and_then(source_of), "response_ns": response, "tardiness_ns": tardiness,
        "terms": terms,
    })
}
