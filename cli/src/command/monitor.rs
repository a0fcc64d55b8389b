//! `tactus monitor`: the monitors of a system file as tables and graphs, and what they say of an earlier run.

use crate::arguments::Monitor as Arguments;
use std::fs;
use std::path::Path;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::results::Results;
use tactus_model::System;
use tactus_monitor::{
    Action, Built, Composed, Encoded, Encoding, LanguageError, Monitor, Occurrence, Property, Specification,
    SubjectKind, Verdict, DEFAULT_TABLE_LIMIT,
};
use tactus_terminal::lines;
use tactus_trace::{Conclusion, Finding, Trace, View};

/// Larger than any file of automata that a person wrote.
const MOST_TEXT: u64 = 4 << 20;

/// Shows the monitors, or lets them judge.
pub fn monitor(arguments: &Arguments) -> Result<Outcome, Failure> {
    let ending = arguments.file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if matches!(ending, "oil" | "dot" | "hoa") {
        return foreign(arguments, ending);
    }
    if arguments.toml {
        return only_oil(&arguments.file);
    }
    if !arguments.event.is_empty() {
        let why = "says in events what each event is; leave --event out";
        return Err(Failure::Input(format!("{} {why}", arguments.file.display())));
    }
    let system = System::read(&arguments.file).map_err(|problems| Failure::Input(problems.to_string()))?;
    if system.monitors.is_empty() {
        let file = arguments.file.display();
        return Err(Failure::Input(format!("{file} has no monitor; add one with [[monitor]], see docs/monitors.md")));
    }
    let built = system.monitors.iter().map(Monitor::build).collect::<Result<Vec<Built>, _>>();
    let built = built.map_err(|error| Failure::Input(error.to_string()))?;
    if let Some(folder) = &arguments.dot {
        write_graphs(folder, &system.monitors, &built)?;
    }
    if let Some(results) = &arguments.results {
        return judge(&system, results);
    }
    let rows: Vec<Vec<String>> = system.monitors.iter().zip(&built).map(row).collect();
    lines::put(&lines::table(&["monitor", "states", "events", "bytes", "encoding", "clock", "property"], &rows));
    if arguments.table {
        for (monitor, built) in system.monitors.iter().zip(&built) {
            lines::put(&format!("\n{}\n{}", lines::bold(&monitor.name), built.table_text()));
        }
    }
    Ok(Outcome::Held)
}

fn only_oil(file: &Path) -> Result<Outcome, Failure> {
    let why = "is no OIL, whose events say which task they are of; leave --toml out to see its monitors";
    Err(Failure::Input(format!("{} {why}", file.display())))
}

/// The monitors of another tool's file: their sizes in each encoding, as they come and minimised.
fn foreign(arguments: &Arguments, ending: &str) -> Result<Outcome, Failure> {
    let file = &arguments.file;
    if arguments.dot.is_some() || (arguments.results.is_some() && ending == "oil") {
        let remedy =
            "take its automata and properties into a [[monitor]] of a system file, as --toml does with those of OIL";
        return Err(Failure::Input(format!("{} tells of no system that could have run; {remedy}", file.display())));
    }
    let text = tactus_model::read_ordinary_text(file, MOST_TEXT)
        .map_err(|why| Failure::Input(format!("{}: {why}", file.display())))?;
    let input = |error: &dyn std::fmt::Display| Failure::Input(error.to_string());
    let located = |error: LanguageError| match error.line {
        0 => Failure::Input(format!("{}: {}", file.display(), error.reason)),
        line => Failure::Input(format!("{}:{line}: {}", file.display(), error.reason)),
    };
    if arguments.toml && ending != "oil" {
        return only_oil(file);
    }
    let machines: Vec<(String, Composed)> = if ending == "oil" {
        let oil = tactus_monitor::read_oil(&text).map_err(located)?;
        if arguments.toml {
            lines::put(oil.monitors_text().trim_start());
            return Ok(Outcome::Held);
        }
        oil.rules.into_iter().map(|rule| (rule.name, rule.composed)).collect()
    } else {
        let read = if ending == "hoa" { tactus_monitor::read_hoa } else { tactus_monitor::read_dot };
        let name = file.file_stem().map_or("automaton".into(), |stem| stem.to_string_lossy());
        let specification = read(&text, &name).map_err(located)?;
        if let Some(results) = &arguments.results {
            return judge_by(specification, &arguments.event, results);
        }
        let composed = Composed::new(&specification);
        let composed = composed.map_err(|error| Failure::Input(format!("{}: {error}", file.display())))?;
        vec![(specification.automata[0].name.clone(), composed)]
    };
    let mut rows = Vec::new();
    for (name, composed) in &machines {
        for (which, composed) in [("as composed", composed), ("minimised", &composed.minimised())] {
            let sizes = Encoding::ALL.map(|encoding| match Encoded::new(composed, Some(encoding)) {
                Ok(encoded) => encoded.bytes.len().to_string(),
                Err(_) => "–".into(),
            });
            let counts = [composed.machine.states(), composed.events.len()].map(|n| n.to_string());
            rows.push([name.clone(), which.into()].into_iter().chain(counts).chain(sizes).collect());
        }
    }
    let head = ["monitor", "", "states", "events", "plain", "row-per-word", "packed-words", "bit-string"];
    lines::put(&lines::table(&head, &rows));
    if arguments.table {
        for (name, composed) in machines {
            let encoded = Encoded::new(&composed, Some(Encoding::BitString)).map_err(|error| input(&error))?;
            let built = Built::Untimed { composed, encoded };
            lines::put(&format!("\n{}\n{}", lines::bold(&name), built.table_text()));
        }
    }
    Ok(Outcome::Held)
}

fn row((monitor, built): (&Monitor, &Built)) -> Vec<String> {
    let layout = built.layout();
    let clock = if matches!(built, Built::Timed(_)) { "yes" } else { "no" };
    let numbers = [layout.states, layout.events, layout.bytes].map(|number| number.to_string());
    let words = [layout.encoding.name().into(), clock.into(), monitor.property.to_string()];
    std::iter::once(monitor.name.clone()).chain(numbers).chain(words).collect()
}

fn write_graphs(folder: &Path, monitors: &[Monitor], built: &[Built]) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::Machine(format!("{}: {error}", folder.display())))?;
    for (monitor, built) in monitors.iter().zip(built) {
        let path = folder.join(format!("{}.dot", monitor.name));
        fs::write(&path, built.dot(&monitor.name))
            .map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))?;
        lines::line("graph", path.display());
    }
    Ok(())
}

/// Lets an automaton of another tool judge what has run.
fn judge_by(specification: Specification, events: &[String], results: &Path) -> Result<Outcome, Failure> {
    let results = Results::find(results)?;
    let (kept, trace) = results.read()?;
    let input = |text: String| Failure::Input(text);
    let mut named = Vec::new();
    for text in events {
        let Some((name, what)) = text.split_once('=').map(|(name, what)| (name.trim(), what.trim())) else {
            return Err(input(format!(
                "--event {text:?} says of no event what it is; write NAME=WHAT, as read=start control"
            )));
        };
        if !specification.events.iter().any(|event| event == name) {
            let known = specification.events.join(", ");
            return Err(input(format!("--event {text:?}: the automaton has no event {name:?}; it has {known}")));
        }
        let occurrence = Occurrence::parse(what).map_err(|error| input(format!("--event {text:?}: {error}")))?;
        if let Some(why) = unknown(&kept.view, &occurrence) {
            return Err(input(format!("--event {text:?}: {why}")));
        }
        named.push((name.to_owned(), occurrence));
    }
    let is_named = |event: &&String| named.iter().any(|(name, _)| name == *event);
    if let Some(event) = specification.events.iter().find(|event| !is_named(event)) {
        return Err(input(format!("nothing says what the event {event:?} is; write --event '{event}=start control'")));
    }
    let Specification { automata, properties, .. } = specification;
    let Some((automaton, property)) = automata.first().zip(properties.first()) else { return Ok(Outcome::Held) };
    let monitor = Monitor {
        name: automaton.name.clone(),
        property: Property::Formula(property.clone()),
        events: named,
        encoding: None,
        minimise: true,
        reset: false,
        table_limit: DEFAULT_TABLE_LIMIT,
        action: Action::Note,
        line: 0,
        automata,
    };
    judged(&kept.view, &trace, &[monitor])
}

/// Why nothing that a run left tells of an event.
fn unknown(view: &View, what: &Occurrence) -> Option<String> {
    let name = what.of.as_ref()?;
    let tasks = || view.tasks.iter().map(|task| &task.name);
    let list = |all: Vec<&String>| all.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    match what.kind.subject() {
        SubjectKind::Task if !tasks().any(|task| task == name) => {
            Some(format!("the run had no task {name:?}; it had {}", list(tasks().collect())))
        }
        SubjectKind::TaskOrServer if !tasks().chain(&view.servers).any(|known| known == name) => {
            let servers = view.servers.iter().filter(|server| !server.is_empty());
            Some(format!("the run had no task or server {name:?}; it had {}", list(tasks().chain(servers).collect())))
        }
        SubjectKind::Channel | SubjectKind::Component | SubjectKind::Restarted => {
            let recorded = view.monitors.iter().any(|monitor| monitor.events.iter().any(|(_, known)| known == what));
            let why = "the run recorded no such event, which only a monitor of its system file would have made it do";
            (!recorded).then(|| format!("{why}; name the automaton there, as model = \"…\" in a [[monitor]]"))
        }
        _ => None,
    }
}

/// Lets the monitors judge what has run.
fn judge(system: &System, results: &Path) -> Result<Outcome, Failure> {
    let results = Results::find(results)?;
    let (kept, trace) = results.read()?;
    if kept.view.name != system.name
        || !kept.view.tasks.iter().map(|task| &task.name).eq(system.tasks.iter().map(|task| &task.name))
    {
        return Err(Failure::Input(format!(
            "{} holds a run of {:?} with other tasks than {}; give the file that was run",
            results.folder().display(),
            kept.view.name,
            system.source.display()
        )));
    }
    let servers = system.scheduling.servers.iter().map(|it| it.name.clone());
    let view = View { servers: std::iter::once(String::new()).chain(servers).collect(), ..kept.view };
    judged(&view, &trace, &system.monitors)
}

fn judged(view: &View, trace: &Trace, monitors: &[Monitor]) -> Result<Outcome, Failure> {
    let findings = tactus_trace::monitor(view, trace, monitors).map_err(|error| Failure::Input(error.to_string()))?;
    for (monitor, finding) in monitors.iter().zip(&findings) {
        lines::put(&told(monitor, finding));
        if let Some(text) = &finding.disputed {
            lines::line("note", lines::bad(text));
        }
        if finding.lost > 0 {
            let events = lines::count(finding.lost as usize, "event");
            let why = "found no room in the trace, and what came of them cannot be said";
            lines::line("note", lines::bad(format!("{}: {events} {why}", monitor.name)));
        }
    }
    let lost: u64 = trace.dropped.iter().sum();
    if lost > 0 {
        lines::line("note", format!("{lost} records did not fit into the trace; what they tell was not watched"));
    }
    let sound = |finding: &Finding| !finding.is_broken() && finding.disputed.is_none() && finding.lost == 0;
    Ok(Outcome::held_if(lost == 0 && findings.iter().all(sound)))
}

/// A line for each verdict, and the path to it where it is false.
fn told(monitor: &Monitor, finding: &Finding) -> String {
    let (name, events) = (lines::bold(&monitor.name), lines::count(finding.events, "event"));
    let mut text = String::new();
    for Conclusion { at, verdict, event, path } in &finding.conclusions {
        let cause = match event {
            Some(event) => format!("by {event}"),
            None => "since what it awaits did not come".to_owned(),
        };
        let word = if *verdict == Verdict::False { lines::bad("false") } else { lines::good("true") };
        text += &format!("{name}  {word} at {at} {cause}; {}\n", monitor.property);
        if *verdict == Verdict::False {
            let steps = path.iter().map(|step| format!("{} {} → {}", step.at, step.event, step.state));
            text += &format!("  path  {}\n", steps.collect::<Vec<_>>().join(", "));
        }
    }
    if finding.conclusions.is_empty() && finding.lost == 0 {
        text += &format!("{name}  {} after {events}; {}\n", lines::good("not yet"), monitor.property);
    }
    text
}
