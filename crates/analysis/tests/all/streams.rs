//! Bounds of data across a network, by hand and beside published ones.

mod attack;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tactus_analysis::streams::{streams, StreamsCheck};
use tactus_model::network::Network;
use tactus_time::Duration;

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

/// Nodes a, b, c, … in a row, each of which hears the next ones; with further lines.
fn row(nodes: usize, byte: &str, more: &str) -> Network {
    let node = |n: usize| format!("[[node]]\nname = '{}'\nat = [{n}, 0]\n", char::from(b'a' + n as u8));
    let all: String = (0..nodes).map(node).collect();
    let text = format!("[network]\nduration = '1 s'\nhears = 1.0\nbyte = '{byte}'\n{all}{more}");
    Network::parse(&text, Path::new("n.toml")).unwrap_or_else(|problems| panic!("{problems}"))
}

/// An area with one node of the row, and data for it that takes this number of bytes with what is around it.
fn data(name: &str, to: usize, bytes: u64, period: &str, more: &str) -> String {
    let size = bytes - if bytes > 255 + 14 { 14 } else { 13 };
    format!(
        "[[area]]\nname = '{name}'\ncentre = [{to}, 0]\nradius = 0.5\n[[data]]\nname = '{name}'\nfrom = ['a']\nareas = ['{name}']\n\
         size = '{size} B'\nperiod = '{period}'\n{more}"
    )
}

fn bounds(check: &StreamsCheck) -> Vec<Option<Duration>> {
    check.paths.iter().map(|paths| paths[0].bound).collect()
}

#[test]
fn two_streams_over_two_hops_by_hand() {
    let streams_of = |more: &str| {
        let high = data("high", 2, 100, "1 ms", "priority = 1\n");
        row(3, "1 us", &(high + &data("low", 2, 200, "1 ms", more)))
    };
    let network = streams_of("");
    let check = streams(&network.field);
    // The urgent one waits for the other's frame (200 µs) at a: 300 µs. It arrives at b between 100 and 300 µs, and waits there as long
    // again: 100 + 200 + 200 + 100. The other one waits for a frame of the plane (8 bytes) and the urgent one: 308 µs at a; at b its
    // jitter is 108 µs, and again one urgent frame passes it: 200 + 108 + 8 + 100 + 200.
    assert_eq!(bounds(&check), [Some(us(600)), Some(us(616))]);
    assert_eq!((check.paths[0][0].hops, check.paths[0][0].least, check.overloaded.len()), (2, us(200), 0));
    assert!(check.paths.iter().zip(&network.field.streams).all(|(paths, it)| paths[0].holds(it)));
    // What the sender's node needs comes to the jitter once, and what the others need each time.
    let slow = streams_of("").field;
    let mut slow_members = slow.clone();
    slow_members.members.iter_mut().for_each(|it| it.forward = us(10));
    assert_eq!(streams(&slow_members).paths[0][0].bound, Some(us(630)));
    // An equal priority counts as a larger one.
    let equal = streams(&streams_of("priority = 1\n").field);
    assert_eq!(equal.paths[0][0].bound, Some(us(616)));
}

#[test]
fn one_hop_is_the_published_example_of_can() {
    // Davis, Burns, Bril and Lukkien 2007, table 2: frames of 1 ms, periods 2.5, 3.5 and 3.5 ms respond in 2, 3 and 3.5 ms. Here the last
    // one may also find eight bytes of the plane in front of it.
    let all: String = [("a", "2500 us", 3), ("b", "3500 us", 2), ("c", "3500 us", 1)]
        .map(|(name, period, priority)| data(name, 1, 1_000, period, &format!("priority = {priority}\n")))
        .concat();
    let check = streams(&row(2, "1 us", &all).field);
    assert_eq!(bounds(&check), [Some(us(2_000)), Some(us(3_000)), Some(us(3_500) + us(8))]);
}

#[test]
fn what_is_too_much_for_a_node_is_named_and_costs_the_more_urgent_data_nothing() {
    let three = [("urgent", 3, "1 ms"), ("much", 2, "250 us"), ("more", 1, "150 us")];
    let all =
        three.map(|(name, priority, period)| data(name, 2, 100, period, &format!("priority = {priority}\n"))).concat();
    let network = row(3, "1 us", &all);
    let check = streams(&network.field);
    assert_eq!(bounds(&check), [Some(us(400)), Some(us(600)), None]);
    let named: Vec<_> = check.overloaded.iter().map(|it| (it.node, it.millionths, &it.streams[..])).collect();
    assert_eq!(named, [(0, 1_166_667, &[0, 1, 2][..]), (1, 1_166_667, &[0, 1, 2])]);
}

#[test]
fn where_frames_are_lost_only_what_is_repeated_is_promised_and_its_last_frame_counts() {
    let link = "[[link]]\nbetween = ['a', 'b']\nloss = 0.1\n";
    let of = |repetitions: &str| {
        let network = row(3, "1 us", &format!("{link}{}", data("d", 2, 100, "1 ms", repetitions)));
        let path = streams(&network.field).paths[0][0];
        (path.bound, path.loses, path.holds(&network.field.streams[0]))
    };
    assert_eq!(of(""), (Some(us(216)), true, false));
    assert_eq!(of("repetitions = 3\n"), (Some(us(750 + 216)), true, true));
    assert_eq!(of("repetitions = 3\ndeadline = '900 us'\n"), (Some(us(750 + 216)), true, false));
}

#[test]
fn delays_that_feed_each_other_without_end_have_no_bound() {
    // Seven nodes in a ring, each of which sends over three hops clockwise: every node sends three streams, none of them is too much, and
    // the jitter of each grows with that of the others.
    let ring = |period: &str| {
        let letter = |n: usize| char::from(b'a' + (n % 7) as u8);
        let link = |n: usize| format!("[[link]]\nbetween = ['{}', '{}']\n", letter(n), letter(n + 1));
        let area = |n: usize| format!("[[area]]\nname = '{}'\ncentre = [{n}, 0]\nradius = 0.5\n", letter(n));
        let data = |n: usize| {
            let (from, to) = (letter(n), letter(n + 3));
            format!(
                "[[data]]\nname = '{from}'\nfrom = ['{from}']\nareas = ['{to}']\nsize = '88 B'\nperiod = '{period}'\n"
            )
        };
        let more: String = (0..7).map(link).chain((0..7).map(area)).chain((0..7).map(data)).collect();
        streams(&row(7, "1 us", &more).field)
    };
    let (slow, fast) = (ring("1 ms"), ring("330 us"));
    assert!(slow.overloaded.is_empty() && bounds(&slow).iter().all(Option::is_some), "{slow:?}");
    assert!(fast.overloaded.is_empty() && bounds(&fast).iter().all(Option::is_none), "{fast:?}");
}

#[test]
fn bounds_over_several_hops_are_those_of_pycpa() {
    // `oracle/pycpa_networks.py`. With more than one frame of a stream in a busy period pyCPA takes the least distance of two for no less
    // than nothing, and may have more.
    let (mut equal, mut less) = (0, 0);
    for line in include_str!("../data/pycpa-networks.csv").lines() {
        let parts: Vec<&str> = line.split(';').collect();
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let (nodes, theirs) = (number(parts[0]) as usize, parts[2].split(' ').map(number));
        let stream = |(n, text): (usize, &str)| {
            let [c, t, from, to] = text.split(',').map(number).collect::<Vec<_>>()[..] else { panic!("{line}") };
            let from = char::from(b'a' + from as u8);
            let more = format!("priority = {}\n", 100 - n);
            data(&format!("d{n}"), to as usize, c, &format!("{t} us"), &more).replacen(
                "['a']",
                &format!("['{from}']"),
                1,
            )
        };
        let all: String = parts[1].split(' ').enumerate().map(stream).collect();
        let ours = bounds(&streams(&row(nodes, "1 us", &all).field));
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            assert!(ours <= Some(us(theirs)) && ours.is_some(), "{line}: {ours:?} instead of {theirs}");
            (equal, less) = if ours == Some(us(theirs)) { (equal + 1, less) } else { (equal, less + 1) };
        }
    }
    println!("{equal} equal, {less} less");
    assert!(equal > 20 * less && equal > 100, "{equal} equal, {less} less");
}

/// An example with data whose paths are all promised: it is simulated with some seeds and judged, and gives who received what of each stream.
fn example(file: &str) -> Vec<(String, BTreeSet<String>)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/network").join(file);
    let network = Network::read(&file).unwrap_or_else(|problems| panic!("{problems}"));
    let check = streams(&network.field);
    assert!(check.paths.iter().zip(&network.field.streams).all(|(paths, it)| paths.iter().all(|path| path.holds(it))));
    let of =
        |paths: &Vec<tactus_analysis::streams::Path>| paths.iter().filter_map(|it| Some((it.to, it.bound?))).collect();
    let bounds: Vec<BTreeMap<_, _>> = check.paths.iter().map(of).collect();
    let mut who = vec![BTreeSet::new(); bounds.len()];
    for seed in 0..10 {
        let field = tactus_network::field::Field { seed, ..network.field.clone() };
        let run = field.run();
        let verdict = tactus_network::verdict::data::judge(&field, &run, &bounds);
        assert_eq!(verdict.wrong, [], "seed {seed}");
        assert!(verdict.outcomes.iter().all(|it| it.due > 40), "seed {seed}: {verdict:?}");
        run.data.received.iter().for_each(|it| _ = who[it.stream].insert(network.nodes[it.node].clone()));
    }
    let named = network.field.streams.iter().map(|it| format!("{} of {}", it.name.as_str(), network.nodes[it.from]));
    named.zip(who).collect()
}

fn to(nodes: &[(String, BTreeSet<String>)], stream: &str) -> String {
    let names = nodes.iter().filter(|it| it.0 == stream).flat_map(|it| it.1.iter().cloned());
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_blinds_of_three_rooms_receive_the_light_of_their_own_room_alone_and_everybody_the_time() {
    let who = example("blinds.toml");
    for room in ["a", "b", "c"] {
        assert_eq!(to(&who, &format!("light-{room} of light-{room}")), format!("blind-{room}"));
    }
    assert_eq!(to(&who, "open of door"), "blind-a blind-b blind-c");
    assert_eq!(to(&who, "time of clock"), "blind-a blind-b blind-c door light-a light-b light-c");
}

#[test]
fn three_applications_of_a_conference_room_exchange_their_own_data_on_nodes_of_four_kinds() {
    let who = example("conference.toml");
    assert_eq!(to(&who, "distance of chair-1"), "screen");
    assert_eq!(to(&who, "taken of chair-2"), "lamp-1 lamp-2");
    assert_eq!(to(&who, "wish of panel"), "chair-1 chair-2 chair-3");
    assert_eq!(who.len(), 7);
}
