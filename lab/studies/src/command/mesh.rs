//! `tactus study mesh`: nodes on a network on chip, each simulated alone.

use super::kept::{csv, markdown, put};
use super::runs::{at_once, processors};
use crate::mesh::{Network, Outcome as Node, Received, Shape, Sharing};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;
use tactus_time::Duration;

/// How links are shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Links {
    /// Each flow has slots of its own
    Slots,
    /// Interfaces limit rates, links serve in the order of arrival
    Rates,
}

/// Options of `study mesh`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Nodes from left to right
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(2..=32))]
    columns: u32,
    /// Nodes from top to bottom
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(2..=32))]
    rows: u32,
    /// How links are shared
    #[arg(long, value_name = "WAY", value_enum, default_value_t = Links::Slots)]
    links: Links,
    /// The part of each node's time that its tasks ask for
    #[arg(long, value_name = "PART", default_value_t = 0.7, value_parser = load)]
    load: f64,
    /// How long each node is simulated
    #[arg(long, value_name = "TIME", value_parser = length, default_value = "1 s")]
    duration: Duration,
    /// What all is drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Where the results go
    #[arg(long, value_name = "FOLDER", default_value = "out/study/mesh")]
    out: PathBuf,
}

fn length(text: &str) -> Result<Duration, String> {
    match tactus_model::parse_duration(text) {
        Ok(time) if (Duration::from_millis(20)..=Duration::from_secs(60)).contains(&time) => Ok(time),
        _ => Err("a time from 20 ms to 60 s, like '1 s'".to_string()),
    }
}

fn load(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|part| (0.05..=0.95).contains(part)).ok_or("a number from 0.05 to 0.95".to_string())
}

/// Draws the network, simulates each node, and holds all messages to their bounds.
pub fn study(arguments: &Arguments) -> Result<Outcome, Failure> {
    let sharing = match arguments.links {
        Links::Slots => Sharing::Slots,
        Links::Rates => Sharing::Rates,
    };
    let Arguments { columns, rows, load, seed, .. } = *arguments;
    let network = Network::new(Shape { columns, rows, sharing, load, seed })
        .map_err(|error| Failure::Input(format!("{error}; or take another --seed")))?;
    let nodes: Vec<usize> = (0..network.flows.len()).collect();
    lines::line(
        "study",
        format!("{} nodes, {} each, one by one", lines::grouped(nodes.len() as u64), arguments.duration),
    );
    let mut found: Vec<Option<Node>> = vec![None; nodes.len()];
    let work = |_, node: &usize| {
        network.run(*node, arguments.duration).map_err(|error| Failure::Machine(format!("node {node}: {error}")))
    };
    at_once(processors(), &nodes, work, |number, node| found[number] = Some(node))?;
    let found: Vec<Node> = found.into_iter().flatten().collect();

    // A message is promised where it leaves in time and is taken in time.
    let promised = |it: &&Received| it.bound.is_some() && found[it.flow].accepted;
    let received = || found.iter().flat_map(|node| &node.received);
    let share = |it: &Received| it.longest.as_secs_f64() / it.bound.map_or(f64::INFINITY, |bound| bound.as_secs_f64());
    let worst = received().filter(promised).map(share).fold(0.0, f64::max);
    let crossed = network.longest.iter().zip(&network.bounds);
    let crossing = crossed.map(|(longest, bound)| longest.as_secs_f64() / bound.as_secs_f64()).fold(0.0, f64::max);
    let messages: u64 = received().map(|it| it.messages).sum();
    let slowest = network.bounds.iter().max().copied().unwrap_or_default();
    let accepted = found.iter().filter(|node| node.accepted).count();
    let held = found.iter().filter(|node| node.accepted && node.held).count();
    let row = |name: &str, value: String| vec![name.to_string(), value];
    let rows = [
        row("nodes accepted by their checks", accepted.to_string()),
        row("of them with every promise held", held.to_string()),
        row("jobs", lines::grouped(found.iter().map(|node| node.jobs).sum())),
        row("flows promised", received().filter(promised).count().to_string()),
        row("messages", lines::grouped(messages)),
        row("longest bound of a way through the network", slowest.to_string()),
        row("nearest to it, all nodes sending as soon as they may", format!("{crossing:.3}")),
        row("nearest to a bound from job to job", format!("{worst:.3}")),
    ];
    let head = ["", "figure"];
    lines::put(&lines::table(&head, &rows));
    write(arguments, &network, &found, &markdown(&head, &rows))?;
    lines::line("results", arguments.out.display());
    let kept = held == accepted && worst <= 1.0 && crossing <= 1.0;
    lines::line("verdict", if kept { "every bound held" } else { "A BOUND WAS BEATEN" });
    Ok(Outcome::held_if(kept))
}

/// The table of all flows, and the page.
fn write(arguments: &Arguments, network: &Network, found: &[Node], table: &str) -> Result<(), Failure> {
    let head = ["from", "to", "messages", "longest (ns)", "bound (ns)", "network, longest (ns)", "network, bound (ns)"];
    let mut rows = Vec::new();
    for (node, outcome) in found.iter().enumerate() {
        for it in &outcome.received {
            let bound = it.bound.filter(|_| found[it.flow].accepted);
            let nanos = |time: Duration| time.as_nanos().to_string();
            rows.push(vec![
                it.flow.to_string(),
                node.to_string(),
                it.messages.to_string(),
                nanos(it.longest),
                bound.map_or("none".to_string(), nanos),
                nanos(network.longest[it.flow]),
                nanos(network.bounds[it.flow]),
            ]);
        }
    }
    put(&arguments.out, "mesh.csv", &csv(&head, &rows))?;
    let page = format!(
        "# Nodes on a mesh\n\nMade by `./tactus study mesh --columns {} --rows {} --links {} --load {} --duration '{}' --seed {}`. \
         Every flow: [CSV](mesh.csv).\n\n{table}",
        arguments.columns,
        arguments.rows,
        if arguments.links == Links::Slots { "slots" } else { "rates" },
        arguments.load,
        arguments.duration,
        arguments.seed,
    );
    put(&arguments.out, "mesh.md", &page)
}
