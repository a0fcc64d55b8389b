//! The data of a network: what is promised of it.

use super::MOST_TOLD;
use tactus_analysis::streams::{streams, Path, StreamsCheck};
use tactus_model::network::Network;
use tactus_network::stream::Stream;
use tactus_terminal::lines::{self, brief, count, grouped};

/// Tells the bound of each path of data beside its deadline; whether all are promised.
pub fn check(network: &Network) -> bool {
    let field = &network.field;
    if field.streams.is_empty() {
        return true;
    }
    let check = streams(field);
    let each = || field.streams.iter().zip(&check.paths);
    let all = check.paths.iter().map(Vec::len).sum();
    let mut rows = Vec::new();
    for (stream, paths) in each() {
        // Of many, the one of each stream that is nearest to its deadline, or beyond it.
        let worst = paths.iter().max_by_key(|it| (!it.holds(stream), it.bound.is_none(), it.bound));
        let told: Vec<&Path> = if all <= MOST_TOLD { paths.iter().collect() } else { worst.into_iter().collect() };
        for path in told {
            let to = match all <= MOST_TOLD {
                true => network.nodes[path.to].clone(),
                false => format!("{}, worst {}", count(paths.len(), "node"), network.nodes[path.to]),
            };
            let from = network.nodes[stream.from].clone();
            rows.push(vec![stream.name.as_str().to_string(), from, to, path.hops.to_string(), promise(stream, path)]);
        }
    }
    lines::line("data", lines::table(&["data", "from", "to", "hops", "promise"], &rows));
    let held: usize = each().map(|(stream, paths)| paths.iter().filter(|path| path.holds(stream)).count()).sum();
    lines::line("verdict", verdict(network, &check, (held, all)));
    held == all
}

fn promise(stream: &Stream, path: &Path) -> String {
    let deadline = brief(stream.deadline);
    let Some(bound) = path.bound else { return lines::bad("nothing: a sender on its way has no bound") };
    let order = if bound > stream.deadline { '>' } else { '≤' };
    let text = format!("{} {order} {deadline}", brief(bound));
    if path.loses && stream.repetitions == 0 {
        return lines::bad(format!("nothing: it is not repeated, and its way loses frames; of those that come {text}"));
    }
    let text = match path.loses {
        true => format!("{text}, if one of {} frames comes", u32::from(stream.repetitions) + 1),
        false => text,
    };
    if bound > stream.deadline {
        return lines::bad(text);
    }
    text
}

/// The verdict in one line, with what to do.
fn verdict(network: &Network, check: &StreamsCheck, (held, all): (usize, usize)) -> String {
    if let Some(it) = check.overloaded.first() {
        let mut names: Vec<&str> = it.streams.iter().map(|&n| network.field.streams[n].name.as_str()).collect();
        names.dedup();
        return lines::bad(format!(
            "node {} would have to send {} % of the time, for {}: lengthen periods, shorten messages, or repeat them less",
            network.nodes[it.node],
            grouped(it.millionths.div_ceil(10_000)),
            names.join(", ")
        ));
    }
    match held == all {
        true => lines::good(format!("{} of data, each with a bound within its deadline", count(all, "path"))),
        false => {
            let remedy = "lengthen periods or deadlines, raise priorities, or repeat where frames are lost";
            lines::bad(format!("{} of {} of data not promised: {remedy}", all - held, count(all, "path")))
        }
    }
}
