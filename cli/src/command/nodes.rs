//! `tactus run` of a network file: boots each node on an emulated machine of its own, lets their cards hear each other, judges each by
//! its own promises, and the whole by where applications came to.
//!
//! Each machine repeats by itself, but frames come in the host's time: no two runs are alike to the bit.

mod data;

use super::network::{announce, held, rule, told_of};
use super::run::{built, Booted, Shown};
use crate::arguments::Run;
use crate::promise::{can_run, promised};
use crate::subject;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use tactus_machine::air::{self, Air, Carried, Hearer, Pace};
use tactus_machine::boot::{assemble, boot_with, machine, Assembled, Emulation, Onlooker, Ran};
use tactus_machine::emulator::{Emulator, LOG};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::results::Results;
use tactus_machine::{costs, place};
use tactus_model::network::Network;
use tactus_model::{Costs, DeviceKind, Load, LoadKind, System};
use tactus_network::field::{Happened, Run as Happenings, Sent};
use tactus_network::frame::NodeId;
use tactus_network::frame::{Name, Version};
use tactus_network::refusals::Refusal;
use tactus_network::setup::{Handed, Setup};
use tactus_network::verdict::data::booted::Evidence;
use tactus_network::verdict::judge;
use tactus_plan::{plan, RunPlan};
use tactus_record::EventKind;
use tactus_task::SlotTold;
use tactus_terminal::lines;
use tactus_terminal::progress::{self, waiting};
use tactus_time::{Duration, Instant};
use tactus_trace::{in_order, Trace};

/// The most nodes that are booted.
const MOST: usize = 8;
/// The component that speaks with other nodes, in each node's system.
const EXCHANGE: &str = "exchange";

/// A node that is ready to be booted.
struct Node {
    system: System,
    costs: Costs,
    plan: RunPlan,
    built: Assembled,
    kernel_bytes: u64,
    results: Results,
}

/// Checks, builds, boots, judges and writes the results of all nodes.
pub fn run(arguments: &Run, mut network: Network) -> Result<Outcome, Failure> {
    if arguments.caches || arguments.in_sandbox {
        let why = "--caches and --in-sandbox are for a file of one system: leave them out";
        return Err(Failure::Input(format!("{}: {why}", network.source.display())));
    }
    announce(&network);
    can_boot(&network)?;
    rule(&mut network, &arguments.costs)?;
    let emulator = Emulator::find(network.systems[0].machine.processor).map_err(machine)?;
    let folder = arguments.out.clone().unwrap_or_else(|| place::results(&network.name));
    let mut nodes = Vec::new();
    for n in 0..network.nodes.len() {
        match node(arguments, &network, n, &folder.join(&network.nodes[n]))? {
            Some(node) => nodes.push(node),
            None => return Ok(Outcome::Broken),
        }
    }
    let (ran, (sent, lost), kept) = boot(arguments, &network, &nodes)?;
    let (mut all, mut evidence) = (true, Evidence::default());
    data::seen(&kept, &mut evidence);
    let mut happened = Happenings { sent: vec![Sent::default(); nodes.len()], lost, ..Happenings::default() };
    for (n, (node, ran)) in nodes.iter().zip(ran).enumerate() {
        lines::put(&format!("{}\n", lines::bold(&network.nodes[n])));
        let log = fs::read(node.results.file(LOG)).unwrap_or_default();
        read_log(&network, n, &String::from_utf8_lossy(&log), (&mut happened, &mut evidence));
        let plan = came(&network, node, &ran.trace);
        let booted = Booted {
            arguments,
            system: &node.system,
            built: &node.built,
            kernel_bytes: node.kernel_bytes,
            results: &node.results,
            emulator: &emulator,
            caches: false,
        };
        all &= booted.conclude(plan, ran)? == Outcome::Held;
    }
    happened.events.sort_by_key(|it| it.0);
    lines::put(&format!("{}\n", lines::bold(&network.name)));
    // Clocks of nodes are their own: no time from one to another is held.
    let verdict = judge(&network.field, &happened, &std::collections::BTreeMap::new());
    told_of(&network, &happened, &verdict);
    lines::line("frames", format!("{} sent, {} lost on the way", lines::grouped(sent), lines::grouped(lost)));
    let mut held_data = true;
    if !network.field.streams.is_empty() {
        let (text, held) = data::judged(&network, &happened, &evidence);
        lines::line("verdict", text);
        held_data = held;
    }
    let nodes = if all { "every node holds its own promises" } else { "a node does not hold its own promises" };
    let whole = if network.field.deliveries.is_empty() { String::new() } else { held(&network, &verdict) + "; " };
    let text = format!("{whole}{nodes}; no run is like another to the bit: machines of their own");
    lines::line("verdict", if all { text } else { lines::bad(text) });
    Ok(Outcome::held_if(all && held_data && verdict.wrong.is_empty()))
}

/// Refuses what cannot be booted.
fn can_boot(network: &Network) -> Result<(), Failure> {
    let refuse = |why: String| Err(Failure::Input(format!("{}: {why}", network.source.display())));
    if network.nodes.len() > MOST {
        return refuse(format!("{} nodes are more than the {MOST} that are booted; use simulate", network.nodes.len()));
    }
    let always = |n: &usize| {
        let it = &network.field.members[*n];
        it.comes == Instant::ZERO && it.goes == Instant::NEVER
    };
    if let Some(n) = (0..network.nodes.len()).find(|n| !always(n)) {
        let name = &network.nodes[n];
        return refuse(format!("node {name:?} comes or goes, and a booted one is always there; use simulate"));
    }
    for (name, system) in network.nodes.iter().zip(&network.system_of) {
        let Some(system) = system.map(|it| &network.systems[it]) else {
            return refuse(format!(
                "node {name:?} has no system to boot; write system = \"node.toml\", or use simulate"
            ));
        };
        let file = system.source.display();
        let Some(exchange) = system.components.iter().position(|it| it.name == EXCHANGE) else {
            let crates = "os/components/exchange";
            return refuse(format!(
                "{file}: nothing there speaks with other nodes; add a component {EXCHANGE:?} with the crate {crates}"
            ));
        };
        let card = DeviceKind::Pci { vendor: 0x1af4, devices: [0x1041, 0x1000], bar: 4 };
        if !system.platform.devices.iter().any(|it| it.component == exchange && it.kind == card) {
            return refuse(format!(
                "{file}: its component {EXCHANGE:?} drives no [[device]] of kind \"virtio-net\"; add it"
            ));
        }
        if !system.loads.is_empty() {
            return refuse(format!("{file}: loads of its own would take the network's slots; leave them out"));
        }
    }
    data::refusal(network).map_or(Ok(()), refuse)
}

/// Checks and builds a node; nothing if it cannot run.
fn node(arguments: &Run, network: &Network, n: usize, folder: &std::path::Path) -> Result<Option<Node>, Failure> {
    let system = network.system_of[n].map(|it| network.systems[it].clone());
    let Some(mut system) = system else { return Ok(None) };
    system.name.clone_from(&network.nodes[n]);
    let input = |problems: tactus_model::Problems| Failure::Input(problems.to_string());
    system.set_duration(network.field.duration, "the network's duration").map_err(input)?;
    subject::announce(&system);
    let costs = costs::read(&arguments.costs, &system)?;
    let mut plan = promised(&system, &costs);
    if !can_run(&plan) {
        return Ok(None);
    }
    let handed = network.field.deliveries.iter().filter(|it| it.node == n);
    let handed = handed.map(|it| Handed { time: it.time, package: it.package.clone(), bytes: it.bytes.clone() });
    let setup = Setup {
        id: NodeId(n as u32),
        seed: network.field.seed,
        description: network.field.members[n].description.clone(),
        settings: network.field.settings,
        deliveries: handed.collect(),
        parts: data::parts(network, n),
        slots: data::slots(&system),
    };
    let exchange = system.components.iter().position(|it| it.name == EXCHANGE);
    plan.told.extend(exchange.map(|place| (place, setup.encode())));
    let reach = arguments.building.network();
    let assembled = waiting("build", "kernel and components", |tell| assemble(&system, &plan, reach, tell))?;
    let kernel_bytes = built(&assembled.kernel, &assembled.image)?;
    let results = Results::make(folder)?;
    Ok(Some(Node { system, costs, plan, built: assembled, kernel_bytes, results }))
}

/// Who looks on at one of several machines.
struct Watched<'a> {
    shown: Option<Shown>,
    pace: &'a Pace,
    number: usize,
}

impl Onlooker for Watched<'_> {
    fn listens(&self) -> bool {
        false
    }
    fn printed(&mut self, _: &str) {}
    fn reached(&mut self, now: Duration) {
        self.pace.reached(self.number, now);
        if let Some(shown) = &mut self.shown {
            shown.reached(now);
        }
    }
    fn holds(&mut self) -> bool {
        self.pace.holds(self.number)
    }
}

/// What booted nodes left, how many frames were sent and lost between them, and those of data.
type Left = (Vec<Ran>, (u64, u64), Vec<Carried>);

/// Boots all, each on a thread of its own.
fn boot(arguments: &Run, network: &Network, nodes: &[Node]) -> Result<Left, Failure> {
    let folders: Vec<PathBuf> = nodes.iter().map(|node| node.results.folder().to_path_buf()).collect();
    let hearer = |link: &tactus_network::field::Link| Hearer { machine: link.to, loss: link.loss };
    let hearers: Vec<Vec<Hearer>> =
        network.field.members.iter().map(|it| it.links.iter().map(hearer).collect()).collect();
    let pace = Arc::new(Pace::new(nodes.len()));
    let air = Air::start(&folders, &hearers, network.field.seed, &pace, data::is_data).map_err(machine)?;
    let ran = thread::scope(|scope| {
        let one = |(number, node): (usize, &Node)| {
            let bar = (number == 0).then(|| progress::Run::new("run", network.field.duration));
            let shown = bar.map(|bar| Shown { bar, console: !arguments.no_console });
            let mut watched = Watched { shown, pace: &pace, number };
            let emulation = Emulation::Joined(air::card());
            let ran = boot_with(
                &node.system,
                (&node.built.kernel, &node.built.image),
                &node.results,
                Some(&mut watched),
                emulation,
            );
            watched.pace.ended(number);
            watched.shown.into_iter().for_each(|shown| shown.bar.end());
            ran
        };
        let threads: Vec<_> = nodes.iter().enumerate().map(|it| scope.spawn(move || one(it))).collect();
        let lost = || Err(Failure::Machine("a machine's thread ended early".into()));
        threads.into_iter().map(|it| it.join().unwrap_or_else(|_| lost())).collect::<Result<Vec<_>, _>>()
    })?;
    Ok((ran, air.frames(), air.kept()))
}

/// What the node's exchange component said, as what happened there: `exchange: hosts blinds 1000000 12345`.
fn read_log(network: &Network, n: usize, log: &str, (run, data): (&mut Happenings, &mut Evidence)) {
    let mut hosted: HashMap<Name, Version> = HashMap::new();
    for line in log.lines() {
        // A mark of the kernel's, and the speaker's name, stand before each line: what others say of the exchange is nothing.
        let said =
            |line| str::strip_prefix(line, "|")?.trim_start_matches(|it: char| it.is_ascii_digit()).strip_prefix(' ');
        let Some(words) = said(line).and_then(|it| it.strip_prefix(EXCHANGE)?.strip_prefix(": ")) else { continue };
        let words: Vec<&str> = words.split_whitespace().collect();
        data::read_line(n, &words, data);
        let [time, word, app, version, rest @ ..] = &words[..] else { continue };
        let number = |text: &str| text.parse::<i64>().ok();
        let (Some(time), Some(app), Some(version)) = (number(time), Name::new(app), number(version)) else { continue };
        let (time, version) = (Instant::from_nanos(time as u64), Version(version as u32));
        let why = |words: &[&str]| -> Option<Refusal> {
            let [reason, task] = words else { return None };
            Some(Refusal { reason: number(reason)? as u8, task: u8::try_from(number(task)?).ok() })
        };
        let what = match *word {
            "hosts" => {
                hosted.insert(app, version);
                Some(Happened::Installed(app, version))
            }
            "ends" => {
                if hosted.get(&app) == Some(&version) {
                    hosted.remove(&app);
                }
                Some(Happened::Removed(app, version))
            }
            "refuses" => why(rest).map(|why| Happened::NotAdmitted(app, version, why)),
            "told" => rest.split_first().and_then(|(node, words)| {
                Some(Happened::Reported(app, version, usize::try_from(number(node)?).ok()?, why(words)?))
            }),
            _ => None,
        };
        run.events.extend(what.map(|what| (time, n, what)));
    }
    // The digest of its bytes was compared by the node, that of its program by its loader.
    let bytes = |app, version| {
        let of = |it: &&tactus_network::field::Delivery| (it.package.app, it.package.version) == (app, version);
        network.field.deliveries.iter().find(of).map_or(Vec::new(), |it| it.bytes.clone())
    };
    run.hosted.extend(hosted.into_iter().map(|(app, version)| (n, app, version, bytes(app, version))));
    run.hosted.sort_by_key(|it| (it.0, it.1));
}

/// What the node is held to, with what came to it over the network: each load of its trace is one of a package that the file has, with
/// the values or the refusal that admission gives. What is none is left to the judge, who finds that it was not planned.
fn came(network: &Network, node: &Node, trace: &Trace) -> RunPlan {
    let mut told: Vec<u64> = Vec::new();
    let (mut job, mut seen) = (0, Vec::new());
    in_order(trace, |r| match r.kind {
        EventKind::Enter => job = r.job,
        EventKind::SlotTask => told.push(r.arg),
        EventKind::SlotLoaded | EventKind::SlotUnloaded | EventKind::SlotRefused => {
            seen.push((r.kind, r.job as usize, r.level, std::mem::take(&mut told), u64::from(job), r.time));
        }
        _ => {}
    });
    let check = tactus_analysis::check(&node.system, &node.costs);
    let mut system = node.system.clone();
    let packages: Vec<(&PathBuf, Arc<[u8]>)> = network
        .packages
        .iter()
        .filter_map(|(version, path)| {
            let of = |it: &&tactus_network::field::Delivery| (it.package.app, it.package.version) == *version;
            network.field.deliveries.iter().find(of).map(|it| (path, Arc::from(&it.bytes[..])))
        })
        .collect();
    let planned = |system: &System| plan(system, &check, &node.costs);
    for (kind, slot, level, told, _, time) in &seen {
        let at = time.since(Instant::ZERO);
        let load = |what| Load { at, slot: *slot, what, line: 0 };
        if *kind == EventKind::SlotUnloaded {
            system.loads.push(load(LoadKind::Unload));
            continue;
        }
        let fits = packages.iter().find(|(path, bytes)| {
            let what = LoadKind::Load { path: (*path).clone(), bytes: bytes.clone() };
            let with = System { loads: [&system.loads[..], &[load(what)]].concat(), ..system.clone() };
            let plan = planned(&with);
            let newest = plan.view.slots.iter().flat_map(|it| &it.loads).max_by_key(|it| it.number);
            newest.is_some_and(|it| match &it.told {
                SlotTold::Refused(why) => (*kind, *level) == (EventKind::SlotRefused, *why as u8),
                SlotTold::Loaded(tasks) => {
                    let values = tasks.iter().flat_map(|it| {
                        let [a, b, c] = [it.execution, it.period, it.deadline].map(|it| it.as_nanos());
                        [a, b, c, u64::from(it.priority)]
                    });
                    *kind == EventKind::SlotLoaded && values.eq(told.iter().copied())
                }
                _ => false,
            })
        });
        let Some((path, bytes)) = fits else { break };
        system.loads.push(load(LoadKind::Load { path: (*path).clone(), bytes: bytes.clone() }));
    }
    let mut view = planned(&system).view;
    for load in view.slots.iter_mut().flat_map(|it| &mut it.loads) {
        // When it comes is the network's matter.
        load.job = seen.get(load.number).map_or(load.job, |it| it.4);
    }
    RunPlan { view, ..node.plan.clone() }
}
