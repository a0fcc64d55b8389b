//! `tactus network`: applications are delivered across a network of nodes, in simulation, and the run is judged.

use crate::arguments::NetworkRun as Arguments;
use std::fmt::Write;
use tactus_machine::failure::{Failure, Outcome};
use tactus_model::network::Network;
use tactus_network::verdict::{judge, Finding, Verdict, Wrong};
use tactus_terminal::lines::{self, brief, grouped};

/// Simulates the network and says what became of each application.
pub fn network(arguments: &Arguments) -> Result<Outcome, Failure> {
    let network = Network::read(&arguments.file).map_err(|problems| Failure::Input(problems.to_string()))?;
    let Network { name, nodes, mut field, within, .. } = network;
    field.seed = arguments.seed.unwrap_or(field.seed);
    let run = field.run();
    let verdict = judge(&field, &run, &within);
    let length = lines::seconds(field.duration);
    lines::line("network", format!("{name} · {} nodes · {length} · seed {}", grouped(nodes.len() as u64), field.seed));
    lines::put(&table(&verdict));
    let all = |of: fn(&tactus_network::field::Sent) -> u64| run.sent.iter().map(of).sum::<u64>();
    let (frames, bytes) = (all(|it| it.frames), all(|it| it.bytes));
    lines::line(
        "frames",
        format!(
            "{} sent, {} B, by {} at most · {} received, {} lost",
            grouped(frames),
            grouped(bytes),
            grouped(run.sent.iter().map(|it| it.frames).max().unwrap_or(0)),
            grouped(run.received),
            grouped(run.lost)
        ),
    );
    let text = match verdict.wrong.first() {
        None => lines::good("every application came to its scope and nowhere else").to_string(),
        Some(first) => {
            let mut text = sentence(first, &nodes);
            if verdict.wrong.len() > 1 {
                let _ = write!(text, "; {} more", grouped(verdict.wrong.len() as u64 - 1));
            }
            lines::bad(text).to_string()
        }
    };
    lines::line("verdict", text);
    Ok(Outcome::held_if(verdict.wrong.is_empty()))
}

fn table(verdict: &Verdict) -> String {
    let rows = verdict.outcomes.iter().map(|it| {
        vec![
            it.app.as_str().to_string(),
            it.version.0.to_string(),
            grouped(it.expected as u64),
            grouped(it.installed as u64),
            it.longest.map_or("–".to_string(), brief),
        ]
    });
    lines::table(&["application", "version", "in reach at the end", "installed", "longest"], &rows.collect::<Vec<_>>())
}

/// `blinds on light-a: …, at 3.2 s`
fn sentence(it: &Finding, nodes: &[String]) -> String {
    let what = match it.wrong {
        Wrong::OutOfScope => "installed out of its scope".to_string(),
        Wrong::NotInstalled => "in scope and in reach, and not installed".to_string(),
        Wrong::Older(version) => format!("still in version {}, though a newer one was in reach", version.0),
        Wrong::Twice => "installed twice in one life of the node".to_string(),
        Wrong::Bytes => "its bytes are not those that were delivered".to_string(),
        Wrong::Late(limit) => format!("installed after more than {limit}"),
    };
    format!("{:?} on {}: {what}, at {}", it.app, nodes[it.node], it.time)
}
