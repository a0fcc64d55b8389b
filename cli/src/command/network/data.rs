//! The data of a network: what is promised of it, and what became of it.

use super::MOST_TOLD;
use std::collections::BTreeMap;
use tactus_analysis::streams::{streams, Path, StreamsCheck};
use tactus_model::network::Network;
use tactus_network::field::Run;
use tactus_network::stream::Stream;
use tactus_network::verdict::data::{judge, Finding, Outcome, Wrong};
use tactus_terminal::lines::{self, brief, count, grouped};
use tactus_time::Duration;

/// By stream, what each receiver is promised.
pub type Bounds = Vec<BTreeMap<usize, Duration>>;

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

/// What each receiver is promised, and how many are promised nothing; a line with who would have to send for too long, where one would.
pub fn promised(network: &Network) -> Result<(Bounds, usize), String> {
    let check = streams(&network.field);
    if !check.overloaded.is_empty() {
        return Err(verdict(network, &check, (0, 0)));
    }
    let of = |paths: &Vec<Path>| paths.iter().filter_map(|it| Some((it.to, it.bound?))).collect();
    let each = network.field.streams.iter().zip(&check.paths);
    let without = each.map(|(stream, paths)| paths.iter().filter(|path| !path.holds(stream)).count()).sum();
    Ok((check.paths.iter().map(of).collect(), without))
}

/// Tells what became of data in a run, and holds it against what was promised; a part of the verdict in one line, and whether all of it is held.
pub fn judged(network: &Network, run: &Run, (bounds, without): &(Bounds, usize)) -> (String, bool) {
    let field = &network.field;
    let judged = judge(field, run, bounds);
    let row = |(stream, outcome): (&Stream, &Outcome)| {
        let nearest = outcome.nearest.map_or("–".to_string(), |it| {
            let to = &network.nodes[it.node];
            format!("{} of {}, {:.1} % ({to})", brief(it.taken), brief(it.bound), 100.0 * it.ratio())
        });
        vec![
            stream.name.as_str().to_string(),
            network.nodes[stream.from].clone(),
            grouped(outcome.published),
            grouped(outcome.due),
            grouped(outcome.received),
            grouped(outcome.lost),
            nearest,
        ]
    };
    let rows: Vec<_> = field.streams.iter().zip(&judged.outcomes).map(row).collect();
    let head = ["data", "from", "messages", "due", "received", "lost", "nearest to its bound"];
    lines::line("data", lines::table(&head, &rows));
    let Some(first) = judged.wrong.first() else {
        let received: u64 = judged.outcomes.iter().map(|it| it.received).sum();
        let lost: u64 = judged.outcomes.iter().map(|it| it.lost).sum();
        let lost = if lost > 0 { format!(", {} lost with all their frames", grouped(lost)) } else { String::new() };
        let text = format!(
            "{} deliveries of data, each whole, in order, to its scope alone and within its bound{lost}",
            grouped(received)
        );
        let text = match without {
            0 => text,
            n => format!("{text}; {} promised nothing, see check", count(*n, "path")),
        };
        return (lines::good(text), true);
    };
    let more = judged.wrong.len() - 1;
    let more = if more > 0 { format!("; {} more", grouped(more as u64)) } else { String::new() };
    (lines::bad(format!("{}{more}", sentence(network, first))), false)
}

/// `light of light-a at blind-a: …, at 3.2 s`
pub fn sentence(network: &Network, it: &Finding) -> String {
    let stream = &network.field.streams[it.stream];
    let what = match it.wrong {
        Wrong::NotForIt => "it is not for this node".to_string(),
        Wrong::Unknown => "nobody published it".to_string(),
        Wrong::Bytes => "its bytes are not those that were published".to_string(),
        Wrong::Order => "it came after a later message, or twice".to_string(),
        Wrong::Late(taken) => format!("it came after {}, and was promised sooner", brief(taken)),
        Wrong::Overdue(taken) => {
            format!("it came after {}, beyond its deadline of {}", brief(taken), brief(stream.deadline))
        }
        Wrong::Missing => "it did not come, though not all of its frames were lost".to_string(),
        Wrong::Refused => "its node refused to send it".to_string(),
        Wrong::Speaker(number) => {
            let name = network.nodes.get(number as usize).map_or("a node that is none", |it| it);
            format!("it sent a frame in the name of {name}")
        }
        Wrong::Foreign => "it sent a frame of data that is not its own and that it does not pass on".to_string(),
        Wrong::NotSent => "it did not send, or pass on, what it should have".to_string(),
        Wrong::TooMany => "it sent more messages than were declared".to_string(),
        Wrong::Silent => "nothing came of it that could be judged".to_string(),
    };
    let (name, from, at) = (stream.name.as_str(), &network.nodes[stream.from], &network.nodes[it.node]);
    format!("data {name:?} of {from} at {at}: {what}, at {}", it.time)
}
