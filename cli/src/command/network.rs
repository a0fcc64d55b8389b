//! A network file: what each node's slots make of what is delivered, and the run of the whole, simulated and judged.

pub(super) mod data;

use super::check;
use crate::arguments::{Check, Simulate, Subject};
use std::fmt::Write;
use tactus_machine::costs;
use tactus_machine::failure::{Failure, Outcome};
use tactus_model::network::Network;
use tactus_model::Costs;
use tactus_network::field::{Happened, Run};
use tactus_network::frame::{Name, Version};
use tactus_network::refusals::Refusal;
use tactus_network::verdict::{judge, Finding, Verdict, Wrong};
use tactus_package::envelope::Envelope;
use tactus_plan::network::{admit, SystemFit};
use tactus_record::SlotRefusal;
use tactus_terminal::lines::{self, brief, grouped};

/// The network of a file that tells of one, with the options that it takes.
pub fn read(subject: &Subject) -> Result<Option<Network>, Failure> {
    let input = |problems: tactus_model::Problems| Failure::Input(problems.to_string());
    let Some(mut network) = Network::read_if(&subject.file).map_err(input)? else { return Ok(None) };
    if subject.at_level.is_some() {
        let why = "--at-level: nodes of a network are systems of their own; leave the option out";
        return Err(Failure::Input(format!("{}: {why}", subject.file.display())));
    }
    network.field.seed = subject.seed.unwrap_or(network.field.seed);
    network.field.duration = subject.duration.unwrap_or(network.field.duration);
    Ok(Some(network))
}

pub(super) fn announce(network: &Network) {
    let (nodes, seed) = (grouped(network.nodes.len() as u64), network.field.seed);
    let length = lines::seconds(network.field.duration);
    lines::put(&format!("{} · {nodes} nodes · {length} · seed {seed}\n", lines::bold(&network.name)));
}

/// Lets the slots of all nodes rule over all packages.
pub(super) fn rule(network: &mut Network, named: &str) -> Result<Vec<SystemFit>, Failure> {
    let all: Vec<Costs> = network.systems.iter().map(|it| costs::read(named, it)).collect::<Result<_, _>>()?;
    Ok(admit(network, &all))
}

/// Checks each system, and tells for each version where it belongs and what becomes of it there.
pub fn check(arguments: &Check, mut network: Network) -> Result<Outcome, Failure> {
    announce(&network);
    let mut held = true;
    for system in &network.systems {
        held &= check::one(arguments, system)? == Outcome::Held;
    }
    let fits = rule(&mut network, &arguments.costs)?;
    let (mut told, mut rows, mut refused) = (Vec::new(), Vec::new(), 0);
    for it in &network.field.deliveries {
        let (app, version) = (it.package.app, it.package.version);
        if told.contains(&(app, version)) || it.package.removed {
            continue;
        }
        told.push((app, version));
        let members = network.field.members.iter().enumerate();
        let covered = members.filter(|(_, member)| it.package.scope.covers(&member.description));
        let mut free = 0;
        for (n, member) in covered {
            let Some(slots) = &member.slots else {
                free += 1;
                continue;
            };
            refused += usize::from(slots.admitting(app, version).next().is_none());
            let of = |it: &&SystemFit| (it.app, it.version, Some(it.system)) == (app, version, network.system_of[n]);
            let fit = fits.iter().find(of).map_or(&[][..], |it| &it.fits);
            let words = match fit.iter().find_map(|fit| Some((fit, fit.result.as_ref().ok()?))) {
                Some((slot, fitting)) => {
                    let task = |it: &tactus_plan::FittingTask| {
                        format!("{} ≤ {} of {}", it.name, brief(it.bound), brief(it.deadline))
                    };
                    let tasks: Vec<String> = fitting.tasks.iter().map(task).collect();
                    format!("slot {}: {}", slot.slot, tasks.join(", "))
                }
                None => {
                    // The reason that a node would tell its owner.
                    let all: Vec<Refusal> = slots.refusals(app, version).map(|it| it.1).collect();
                    let why = slots.telling(all.into_iter()).unwrap_or(Refusal { reason: slots.full, task: None });
                    let unfit = fit.iter().filter_map(|fit| Some((&fit.slot, fit.result.as_ref().err()?)));
                    let told = unfit.into_iter().find(|(_, it)| it.reason as u8 == why.reason);
                    let told = told.map_or(reason(why.reason).to_string(), |(slot, it)| format!("slot {slot}: {it}"));
                    lines::bad(format!("refused: {told}"))
                }
            };
            rows.push(vec![
                app.as_str().to_string(),
                version_text(&network, app, version),
                network.nodes[n].clone(),
                words,
            ]);
        }
        if free > 0 {
            let nodes = lines::count(free, "node");
            let words = "hosted: no system file says what there is room for".to_string();
            rows.push(vec![app.as_str().to_string(), version_text(&network, app, version), nodes, words]);
        }
    }
    if !rows.is_empty() {
        lines::line("network", lines::table(&["application", "version", "in its scope", "admission"], &rows));
    }
    held &= data::check(&network);
    if refused > 0 {
        let times = lines::count(refused, "time");
        lines::line("verdict", lines::bad(format!("a node in scope does not admit an application: {times}")));
    }
    Ok(Outcome::held_if(held && refused == 0))
}

/// Simulates the network and says what became of each application.
pub fn simulate(arguments: &Simulate, mut network: Network) -> Result<Outcome, Failure> {
    if arguments.arrivals.is_some() || arguments.out.is_some() {
        let why = "--arrivals and --out are for systems: a network's simulation leaves no trace of tasks";
        return Err(Failure::Input(format!("{}: {why}", network.source.display())));
    }
    announce(&network);
    let costs = if arguments.costs == "none" { "measured" } else { &arguments.costs };
    rule(&mut network, costs)?;
    let bounds = match data::promised(&network) {
        Ok(bounds) => bounds,
        Err(why) => {
            lines::line("verdict", why);
            return Ok(Outcome::Broken);
        }
    };
    let run = network.field.run();
    let verdict = judge(&network.field, &run, &network.within);
    told_of(&network, &run, &verdict);
    let all = |of: fn(&tactus_network::field::Sent) -> u64| run.sent.iter().map(of).sum::<u64>();
    let (frames, bytes) = (all(|it| it.frames), all(|it| it.bytes));
    let most = run.sent.iter().map(|it| it.frames).max().unwrap_or(0);
    let [frames, bytes, most, received, lost] = [frames, bytes, most, run.received, run.lost].map(grouped);
    lines::line(
        "frames",
        format!("{frames} sent, {bytes} B, by one node {most} at most · {received} received, {lost} lost"),
    );
    let mut all = verdict.wrong.is_empty();
    if !network.field.deliveries.is_empty() {
        lines::line("verdict", held(&network, &verdict));
    }
    if !network.field.streams.is_empty() {
        let (text, held) = data::judged(&network, &run, &bounds);
        lines::line("verdict", text);
        all &= held;
    }
    Ok(Outcome::held_if(all))
}

/// Tells what happened, and what became of each version.
pub(super) fn told_of(network: &Network, run: &Run, verdict: &Verdict) {
    if network.field.deliveries.is_empty() {
        return;
    }
    if network.nodes.len() <= MOST_TOLD {
        lines::line("run", events(network, run));
    }
    lines::line("network", table(network, verdict));
}

/// Of larger networks not each event is told.
const MOST_TOLD: usize = 32;

/// What happened where and when.
fn events(network: &Network, run: &Run) -> String {
    let row = |(time, node, what): &(tactus_time::Instant, usize, Happened)| {
        let named = |app: &Name, version| format!("{} {}", app.as_str(), version_text(network, *app, version));
        let words = match what {
            Happened::Installed(app, version) => format!("hosts {}", named(app, *version)),
            Happened::Removed(app, version) => format!("ends {}", named(app, *version)),
            Happened::NoRoom(app, version) => format!("has no room for what it heard of {}", named(app, *version)),
            Happened::Refused(app, version, why) => format!("takes no delivery of {}: {why:?}", named(app, *version)),
            Happened::NotAdmitted(app, version, why) => {
                format!("refuses {}: {}", named(app, *version), why_text(network, (*app, *version), *why))
            }
            Happened::Reported(app, version, at, why) => {
                let why = why_text(network, (*app, *version), *why);
                format!("tells the owner of {} that {} refuses it: {why}", named(app, *version), network.nodes[*at])
            }
        };
        vec![brief(time.since(tactus_time::Instant::ZERO)), network.nodes[*node].clone(), words]
    };
    lines::table(&["time", "node", "what"], &run.events.iter().map(row).collect::<Vec<_>>())
}

fn table(network: &Network, verdict: &Verdict) -> String {
    let rows = verdict.outcomes.iter().map(|it| {
        vec![
            it.app.as_str().to_string(),
            version_text(network, it.app, it.version),
            grouped(it.expected as u64),
            grouped(it.installed as u64),
            grouped(it.refused as u64),
            it.longest.map_or("–".to_string(), brief),
        ]
    });
    let head = ["application", "version", "to be hosted at the end", "installed", "refused", "longest"];
    lines::table(&head, &rows.collect::<Vec<_>>())
}

/// The verdict in one line.
pub(super) fn held(network: &Network, verdict: &Verdict) -> String {
    let Some(first) = verdict.wrong.first() else {
        let refused: usize = verdict.outcomes.iter().map(|it| it.refused).sum();
        let mut text = "held: every application came to its scope and nowhere else".to_string();
        if refused > 0 {
            let _ = write!(text, ", and {} came back to their owners", lines::count(refused, "refusal"));
        }
        return lines::good(text);
    };
    let mut text = sentence(first, network);
    if verdict.wrong.len() > 1 {
        let _ = write!(text, "; {} more", grouped(verdict.wrong.len() as u64 - 1));
    }
    lines::bad(text)
}

/// `blinds on light-a: …, at 3.2 s`
fn sentence(it: &Finding, network: &Network) -> String {
    let what = match it.wrong {
        Wrong::OutOfScope => "installed out of its scope".to_string(),
        Wrong::NotInstalled => "in scope and in reach, and not installed".to_string(),
        Wrong::Older(version) => {
            let version = version_text(network, it.app, version);
            format!("still in version {version}, though a newer one was in reach")
        }
        Wrong::Twice => "installed twice in one life of the node".to_string(),
        Wrong::Bytes => "its bytes are not those that were delivered".to_string(),
        Wrong::Late(limit) => format!("installed after more than {limit}"),
        Wrong::NotAdmitted => "hosted, though no slot of the node admits it".to_string(),
        Wrong::Refused(why) => format!("refused because {}, which is not so", reason(why.reason)),
        Wrong::Unreported => "refused, and its owner's node does not know".to_string(),
    };
    format!("{:?} on {}: {what}, at {}", it.app, network.nodes[it.node], it.time)
}

/// `1.0.0` of a package, a plain number of what is drawn.
fn version_text(network: &Network, app: Name, version: Version) -> String {
    match network.packages.contains_key(&(app, version)) {
        true => tactus_package::manifest::Version::of(version.0.into()).to_string(),
        false => version.0.to_string(),
    }
}

fn reason(number: u8) -> &'static str {
    match SlotRefusal::from_u8(number) {
        Some(SlotRefusal::Full) => "all its slots are taken",
        Some(other) => other.words(),
        None => "of a reason that nobody knows",
    }
}

/// The reason, and the task that is to blame.
fn why_text(network: &Network, version: (Name, Version), why: Refusal) -> String {
    let named = why.task.and_then(|task| {
        let it = network.field.deliveries.iter().find(|it| (it.package.app, it.package.version) == version)?;
        let manifest = Envelope::read(&it.bytes).and_then(|it| it.claims()).ok()?;
        let name = manifest.tasks.iter().nth(task.into()).map(|task| task.name.to_string());
        name
    });
    match named {
        Some(task) => format!("{} (task {task})", reason(why.reason)),
        None => reason(why.reason).to_string(),
    }
}
