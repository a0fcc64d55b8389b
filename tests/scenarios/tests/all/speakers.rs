//! Whatever a component can have recorded belongs to somebody, and whoever else says it changes no verdict: every kind of record × who
//! tries to cause it. One run covers many cells; a forger (`tests/scenarios/forger`) stops at the first attempt that is believed.

use crate::services::part;
use crate::slots::{by_job, load, system, unload, Shop};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tactus_record::{EventKind, InputKind};
use tactus_scenarios::{file, Finished, Scratch};

/// The attempts that would cause such a record, or change what it tells; none where no component can, whatever it calls.
fn attempts(kind: EventKind) -> &'static [&'static str] {
    match kind {
        EventKind::Input => &["answer", "request", "event", "await", "arrival", "wait", "section"],
        EventKind::Release | EventKind::ArrivalLost | EventKind::ArrivalEarly => &["arrival"],
        EventKind::Complete | EventKind::Dropped => &["completion"],
        EventKind::Wait | EventKind::Wake | EventKind::WaitLimited => &["wait", "await", "event"],
        EventKind::SectionExceeded | EventKind::SectionRefused => &["section"],
        EventKind::Observed | EventKind::Concluded => &["signal", "observed", "channel", "violation"],
        EventKind::Fault | EventKind::Aborted | EventKind::Restarted | EventKind::Removed => &["restart"],
        EventKind::Dispatch | EventKind::Preempt | EventKind::Idle => &["dispatch", "tree"],
        EventKind::Notify | EventKind::Enter | EventKind::Leave | EventKind::Stage => &["notify", "brand"],
        EventKind::DeadlineMissed => &["deadline"],
        EventKind::End => &["finish"],
        EventKind::SlotTask
        | EventKind::SlotLoaded
        | EventKind::SlotUnloaded
        | EventKind::SlotRefused
        | EventKind::SlotUpdate
        | EventKind::SlotSwitched => &["slot"],
        // Those of budgets, modes, windows and changes are decided from time alone; refusals are the speaker's own, and so is what its counts of
        // mailboxes say.
        EventKind::Exhausted
        | EventKind::Replenish
        | EventKind::GhostBegin
        | EventKind::GhostEnd
        | EventKind::ServerExhausted
        | EventKind::ServerReplenish
        | EventKind::Mode
        | EventKind::ChangeApplied
        | EventKind::ChangeRequested
        | EventKind::ChangeRefused
        | EventKind::Schedule
        | EventKind::CallRefused
        | EventKind::Untold
        | EventKind::Mailed
        | EventKind::Refused => &[],
    }
}

/// What the policy is told by each attempt that [`EventKind::Input`] has.
fn told_by(kind: InputKind) -> &'static [&'static str] {
    match kind {
        InputKind::Signal => &["answer", "request", "event"],
        InputKind::Await => &["await"],
        InputKind::Arrival => &["arrival"],
        InputKind::Wait => &["wait"],
        InputKind::Section => &["section"],
        // Of schedulers and counters.
        InputKind::Absent | InputKind::Sleep | InputKind::Misses | InputKind::Sample | InputKind::WriteBacks => &[],
    }
}

/// What a task has recorded of it that calls for nothing but the end of its jobs.
fn is_everybodys(kind: EventKind) -> bool {
    use EventKind::{CallRefused, Complete, Dispatch, Enter, Leave, Preempt, Refused, Release};
    matches!(kind, Release | Dispatch | Preempt | Complete | Enter | Leave | Refused | CallRefused)
        || matches!(kind, EventKind::Exhausted | EventKind::Replenish | EventKind::ServerExhausted)
}

/// Every cell of these forgers was tried and refused, and nothing that they said was recorded.
fn nothing_is_believed(run: &Finished, forgers: &[&str]) {
    let all: BTreeSet<&str> = (0..=u8::MAX).filter_map(EventKind::from_u8).flat_map(attempts).copied().collect();
    let inputs: BTreeSet<&str> = (0..=u8::MAX).filter_map(InputKind::from_u8).flat_map(told_by).copied().collect();
    assert!(inputs.iter().eq(BTreeSet::from_iter(attempts(EventKind::Input)).iter().copied()));
    assert_eq!(run.summary.stopped(), [], "{}", run.said.output);
    for forger in forgers {
        for attempt in &all {
            assert!(
                run.log.contains(&format!("| {forger}: refused {attempt}\n")),
                "{forger} and {attempt}: {}",
                run.log
            );
        }
    }
    println!("{} records × {} who cause none", all.len(), forgers.len());
    let names: Vec<&str> = run.summary.tasks().map(|task| task.name()).collect();
    for r in run.trace().cores.iter().flatten() {
        let forged = r.task.is_some_and(|task| forgers.contains(&names[task.index()]));
        assert!(!forged || is_everybodys(r.kind), "{r:?}");
        let of_nobody = [EventKind::Observed, EventKind::Concluded, EventKind::Fault, EventKind::Restarted];
        assert!(!of_nobody.contains(&r.kind), "{r:?}");
    }
}

/// What a run amounts to for everybody but these: the outcome, chains, and the figures of tasks that rest on what was recorded.
fn verdicts(run: &Finished, but: &[&str]) -> Vec<String> {
    let chains = run.summary.json["chains"].as_array().expect("a list").iter();
    let chains = chains.map(|it| format!("{} {} {} {}", it["name"], it["begun"], it["completed"], it["missed"]));
    let tasks = run.summary.tasks().filter(|task| !but.contains(&task.name()));
    let tasks = tasks.map(|it| format!("{} {} {} {}", it.name(), it.released(), it.completed(), it.missed()));
    [run.summary.outcome().to_string()].into_iter().chain(chains).chain(tasks).collect()
}

/// A component of the forgers' program. Without a console it says nothing.
fn forger(name: &str, forges: bool) -> String {
    let folder = file("tests/scenarios/forger");
    let uses = if forges { "uses = { console = 'console.write' }" } else { "" };
    format!("[[component]]\nname = '{name}'\ncrate = '{}'\n{uses}\n", folder.display())
}

fn console() -> String {
    let folder = file("os/components/services");
    format!("[[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n", folder.display())
}

/// Two services in partitions. `server`: the component that serves the first; `forge`: whether the forgers do.
fn partitions(scratch: &Scratch, server: &str, forge: bool) -> PathBuf {
    let mut text =
        "[system]\ncores = 1\nduration = '440 ms'\n[policy]\nkind = 'partitions'\nmajor-frame = '20 ms'\n".to_string();
    text += &console();
    text += &part("asker", "");
    text += &if server == "server" { part("server", "") } else { forger(server, false) };
    FORGERS.iter().for_each(|name| text += &forger(name, forge));
    for (n, partition) in ["serves", "asks", "forges", "others", "keeps", "own"].iter().enumerate() {
        text += &format!(
            "[[partition]]\nname = '{partition}'\npolicy = 'partitioned-fp'\n\
             windows = [{{ core = 0, start = '{} ms', length = '3 ms' }}]\n",
            3 * n
        );
    }
    for (task, partition, priority, offset, component) in [
        ("serve", "serves", 2, 0, server),
        ("sibling", "serves", 1, 0, "sibling"),
        ("ask", "asks", 1, 3, "asker"),
        ("client", "forges", 1, 6, "client"),
        ("unrelated", "others", 1, 9, "unrelated"),
        ("keep", "keeps", 1, 12, ""),
        ("process", "own", 1, 15, "process"),
    ] {
        text += &format!(
            "[[task]]\nname = '{task}'\npartition = '{partition}'\npriority = {priority}\nperiod = '20 ms'\n\
             offset = '{offset} ms'\nexecution = '1 ms'\n"
        );
        if !component.is_empty() {
            text += &format!("component = '{component}'\n");
        }
    }
    for (service, server, clients) in [("storage", "serve", "['ask', 'client']"), ("log", "keep", "['unrelated']")] {
        text += &format!(
            "[[service]]\nname = '{service}'\nserver = '{server}'\nclients = {clients}\norder = 'turns'\nrequests = 2\n\
             size = '64 B'\nlatency = '80 ms'\n"
        );
    }
    text += "[[monitor]]\nname = 'silent'\nproperty = 'always not told'\nevents = { told = 'signal asker.ready' }\n";
    scratch.write(&format!("{server}-{forge}.toml"), &text)
}

const FORGERS: [&str; 4] = ["client", "sibling", "unrelated", "process"];

#[test]
fn nobody_forges_what_belongs_to_a_service_or_its_clients() {
    let scratch = Scratch::new("forged-answers");
    for (server, outcome) in [("server", "held"), ("quiet", "broken")] {
        let run = Finished::run(&partitions(&scratch, server, true), &[]);
        nothing_is_believed(&run, &FORGERS);
        assert_eq!(run.summary.outcome(), outcome, "{}", run.said.output);
        let unsaid = Finished::run(&partitions(&scratch, server, false), &[]);
        assert_eq!(verdicts(&run, &FORGERS), verdicts(&unsaid, &FORGERS));
        // The culprits are told, with how often they were refused, and nothing is owed to them any more.
        for name in ["client", "unrelated"] {
            let task = run.summary.task(name);
            assert!(task.json()["refused"].as_u64() >= Some(40), "{name}: {}", task.json());
            let why = task.json()["void"].as_str().unwrap_or_default();
            assert!(why.contains("called for what its task does not declare"), "{name}: {why}");
            assert!(run.said.output.contains(&format!("refused to {name}")), "{}", run.said.output);
        }
        let honest = ["serve", "ask", "keep"].map(|name| run.summary.task(name).json()["void"].clone());
        assert_eq!(honest, [Value::Null, Value::Null, Value::Null]);
    }
}

#[test]
fn a_server_that_signals_answers_without_sending_them_is_found_out() {
    let scratch = Scratch::new("liar");
    let run = Finished::run(&partitions(&scratch, "liar", false), &[]);
    assert_eq!(run.summary.outcome(), "void", "{}", run.said.output);
    let task = run.summary.task("serve");
    assert!(task.json()["refused"].as_u64() >= Some(20), "{}", task.json());
    assert!(task.json()["void"].as_str().unwrap_or_default().contains("signalled a message that it had not sent"));
}

/// Waits, sections, arrivals and restarts, and forgers beside those whose they are.
fn fixed_priorities(scratch: &Scratch, forge: bool) -> PathBuf {
    let mut text = "[system]\ncores = 1\nduration = '440 ms'\n[policy]\nkind = 'partitioned-fp'\n".to_string();
    text += &console();
    for (name, more) in [
        ("raiser", ""),
        ("keeper", ""),
        ("quiet", "restarted-by = 'keeper'"),
        ("client", ""),
        ("unrelated", ""),
        ("scheduler", "scheduler = true\nbrands = 2\nthreads = 2"),
    ] {
        let forges = forge && FORGERS_BESIDE.contains(&name);
        text += &forger(name, forges).replace("uses = {", &format!("{more}\nuses = {{"));
        if !forges {
            text += &format!("{more}\n");
        }
    }
    for (n, (task, more)) in [
        ("waiter", "waits = [{ after = '100 us', length = '1 ms' }]"),
        ("holder", "sections = [{ resource = 'bus', after = '100 us', length = '300 us' }]"),
        ("sharer", "sections = [{ resource = 'bus', after = '100 us', length = '300 us' }]"),
        ("raised", "release = 'sporadic'\nraised-by = 'raiser'"),
        ("raiser", "component = 'raiser'"),
        ("keeper", "component = 'keeper'"),
        ("quiet", "component = 'quiet'"),
        ("client", "component = 'client'"),
        ("unrelated", "component = 'unrelated'"),
        ("scheduler", "component = 'scheduler'"),
    ]
    .into_iter()
    .enumerate()
    {
        text += &format!(
            "[[task]]\nname = '{task}'\ncore = 0\npriority = {}\nperiod = '20 ms'\nexecution = '1 ms'\n{more}\n",
            20 - n
        );
    }
    text += "[[resource]]\nname = 'bus'\nprotocol = 'ceiling'\n";
    text += "[[monitor]]\nname = 'silent'\nproperty = 'always not told'\nevents = { told = 'signal quiet.ready' }\n";
    scratch.write(&format!("beside-{forge}.toml"), &text)
}

const FORGERS_BESIDE: [&str; 3] = ["client", "unrelated", "scheduler"];

#[test]
fn nobody_forges_waits_sections_arrivals_or_restarts_of_others() {
    let scratch = Scratch::new("forged-steps");
    let run = Finished::run(&fixed_priorities(&scratch, true), &[]);
    nothing_is_believed(&run, &FORGERS_BESIDE);
    let unsaid = Finished::run(&fixed_priorities(&scratch, false), &[]);
    assert_eq!(verdicts(&run, &FORGERS_BESIDE), verdicts(&unsaid, &FORGERS_BESIDE));
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert_eq!(run.summary.task("raised").released(), 0);
    assert!(run.summary.task("waiter").completed() >= 21 && run.summary.task("sharer").completed() >= 21);
}

/// A forger whose scheduler is its server's own.
fn per_server(scratch: &Scratch, forge: bool) -> PathBuf {
    let mut text =
        "[system]\ncores = 1\nduration = '440 ms'\n[policy]\nkind = 'partitioned-edf'\nschedulers = 'per-server'\n"
            .to_string();
    text += &(console() + &forger("inside", forge) + &forger("unrelated", forge));
    text += "[[server]]\nname = 'outer'\nkind = 'cbs-hard'\nbudget = '6 ms'\nperiod = '10 ms'\npolicy = 'partitioned-edf'\n";
    for (task, more) in [
        ("inside", "server = 'outer'\ncomponent = 'inside'"),
        ("beside", "server = 'outer'"),
        ("unrelated", "component = 'unrelated'"),
        ("steady", ""),
    ] {
        text += &format!("[[task]]\nname = '{task}'\ncore = 0\nperiod = '20 ms'\nexecution = '1 ms'\n{more}\n");
    }
    scratch.write(&format!("inside-{forge}.toml"), &text)
}

const FORGERS_INSIDE: [&str; 2] = ["inside", "unrelated"];

#[test]
fn nobody_forges_anything_below_a_scheduler_of_its_own() {
    let scratch = Scratch::new("forged-inside");
    let run = Finished::run(&per_server(&scratch, true), &[]);
    nothing_is_believed(&run, &FORGERS_INSIDE);
    let unsaid = Finished::run(&per_server(&scratch, false), &[]);
    assert_eq!(verdicts(&run, &FORGERS_INSIDE), verdicts(&unsaid, &FORGERS_INSIDE));
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
}

/// A slot in which a forger comes and goes, and another forger beside it. Without a console both say nothing.
fn with_a_slot(shop: &Shop, forge: bool) -> PathBuf {
    let mut text = system("1100 ms", "guest", &[load(10, "guest", "forger"), unload(1000, "guest")]);
    text += &forger("unrelated", forge);
    text += "[[task]]\nname = 'unrelated'\ncomponent = 'unrelated'\ncore = 0\nperiod = '20 ms'\nexecution = '400 us'\n";
    if !forge {
        text = text
            .replace("memory = '128 KiB'\nheap", "memory = '128 KiB'\nolder = true\nheap")
            .replace("uses = { console = 'console.write' }\nkeys = ['dev.pub']\nolder = true", "keys = ['dev.pub']");
    }
    shop.scratch.write(&format!("slot-{forge}.toml"), &text)
}

#[test]
fn nobody_but_the_loader_tells_of_slots_neither_a_guest_nor_who_is_beside_it() {
    let shop = Shop::new("forged-slots");
    shop.pack_with(("tests/scenarios/forger", "client"), ("forger", ""), &[("forge", "300 us", "40 ms")], "dev");
    let run = Finished::run(&with_a_slot(&shop, true), &[]);
    let unsaid = Finished::run(&with_a_slot(&shop, false), &[]);
    let all: BTreeSet<&str> = (0..=u8::MAX).filter_map(EventKind::from_u8).flat_map(attempts).copied().collect();
    for forger in ["guest", "unrelated"] {
        for attempt in &all {
            assert!(
                run.log.contains(&format!("| {forger}: refused {attempt}\n")),
                "{forger} and {attempt}: {}",
                run.log
            );
        }
    }
    assert_eq!(run.summary.stopped(), [], "{}", run.said.output);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let but = ["unrelated", "guest.0", "guest.1"];
    assert_eq!(verdicts(&run, &but), verdicts(&unsaid, &but));
    assert_eq!(by_job(&run), by_job(&unsaid));
    let kinds: Vec<EventKind> = by_job(&run).iter().map(|it| it.1).collect();
    assert_eq!(kinds, [EventKind::SlotLoaded, EventKind::SlotUnloaded]);
}
