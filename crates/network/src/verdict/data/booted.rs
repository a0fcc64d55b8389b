//! Whether data of booted nodes came to whom it is for: from what each node says, and from what was seen between them.
//!
//! Each node is a machine of its own. What it says is what its log has: what its programs published and took, by its own clock. What is
//! between machines carries each frame, and knows which machine sent it, whatever stands in the frame, and to whom it came. So who speaks
//! in another one's name, sends what is not its own, or says what it did not do, is found. Clocks of machines have nothing to do with each
//! other: no delay is judged.

use super::{hosted, hosts, Finding, Hosted, Outcome, Verdict, Wrong};
use crate::field::{Field, Run};
use crate::frame::NodeId;
use crate::tree::{Hop, Tree};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// A message that a node says one of its programs published, or took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stated {
    /// The node.
    pub node: usize,
    /// When, by its clock.
    pub time: Instant,
    /// Of which stream.
    pub stream: usize,
    /// Which.
    pub sequence: u32,
    /// The [checksum](crate::field::data::checksum) of its bytes.
    pub checksum: u64,
}

/// A frame of data that was seen between machines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Carried {
    /// The machine that sent it,
    pub node: usize,
    /// and how far its clock was when that was last looked at.
    pub time: Instant,
    /// Who it says that it is of.
    pub sender: NodeId,
    /// Of which stream.
    pub stream: usize,
    /// Which message.
    pub sequence: u32,
    /// Which of its frames.
    pub repetition: u8,
    /// The checksum of the message.
    pub checksum: u64,
    /// To which machines it came, and how far their clocks were.
    pub heard: Vec<(usize, Instant)>,
}

/// All that is known of a run's data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Evidence {
    /// What nodes say that was published, of each in the order of its log.
    pub published: Vec<Stated>,
    /// What nodes say that was taken, likewise.
    pub taken: Vec<Stated>,
    /// Messages that a node says it refused to publish: node, when, stream.
    pub refused: Vec<(usize, Instant, usize)>,
    /// Frames between machines, in their order.
    pub carried: Vec<Carried>,
}

/// Beside the stream's deadline, nothing is owed for as long as this after a run has begun or an application was installed, and before the
/// end of either: how wrong the clock of another machine may be known, and more. But what comes before something that was taken is owed.
pub const MARGIN: Duration = Duration::from_millis(1_000);

/// By stream and message, the checksum of what was published.
type Published = BTreeMap<(usize, u32), u64>;
/// By stream, message, frame and node: which, and when.
type Heard = BTreeMap<(usize, u32, u8, usize), (u64, Instant)>;

struct Judge<'a> {
    field: &'a Field,
    trees: Vec<Tree>,
    hosted: Hosted,
    verdict: Verdict,
    heard: Heard,
    /// Frames that were sent by whom they are to be, by stream, message, frame and node.
    sent: BTreeSet<(usize, u32, u8, usize)>,
}

/// Judges what booted nodes did with data. `run` says which of them hosted what and when, by their own clocks.
pub fn judge(field: &Field, run: &Run, evidence: &Evidence) -> Verdict {
    let outcomes = field.streams.iter().map(|_| Outcome::default()).collect();
    let mut judge = Judge {
        field,
        trees: field.trees(),
        hosted: hosted(run),
        verdict: Verdict { outcomes, wrong: Vec::new() },
        heard: Heard::new(),
        sent: BTreeSet::new(),
    };
    for &(node, time, stream) in &evidence.refused {
        judge.find(stream, node, time, Wrong::Refused);
    }
    let published = judge.published(&evidence.published);
    judge.carried(&evidence.carried, &published);
    judge.taken(&evidence.taken, &published);
    judge.not_sent(&evidence.published);
    judge.not_taken(&evidence.published, &evidence.taken);
    let mut verdict = judge.verdict;
    verdict.wrong.sort_by_key(|it| (it.time, it.node));
    verdict
}

impl Judge<'_> {
    fn find(&mut self, stream: usize, node: usize, time: Instant, wrong: Wrong) {
        // What is of no stream is told of the first one.
        let stream = if stream < self.field.streams.len() { stream } else { 0 };
        self.verdict.wrong.push(Finding { stream, node, time, wrong });
    }

    /// A node's part of a stream.
    fn hop(&self, stream: usize, node: usize) -> Option<Hop> {
        self.trees.get(stream)?.hops.iter().find(|hop| hop.node == node).copied()
    }

    /// Whether a node hosts the application whose data it is, all of this time.
    fn may(&self, stream: usize, node: usize, time: (Instant, Instant)) -> bool {
        self.field.streams[stream].application.is_none_or(|app| hosts(&self.hosted, node, app, time))
    }

    /// Whether a node hosts it at any time.
    fn ever(&self, stream: usize, node: usize) -> bool {
        self.field.streams[stream].application.is_none_or(|app| self.hosted.contains_key(&(node, app)))
    }

    /// What is owed of something that came to a node then is to be done in this time; nothing if the run has hardly begun, or ends before.
    fn span(&self, stream: usize, time: Instant) -> Option<(Instant, Instant)> {
        let since = Instant::from_nanos(time.as_nanos().checked_sub(MARGIN.as_nanos())?);
        let until = time.saturating_add(self.field.streams[stream].deadline).saturating_add(MARGIN);
        (until < Instant::ZERO.saturating_add(self.field.duration)).then_some((since, until))
    }

    /// Whether a node surely hosts the application when something comes to it then.
    fn hosts_around(&self, stream: usize, node: usize, time: Instant) -> bool {
        let Some(since) = time.as_nanos().checked_sub(MARGIN.as_nanos()) else { return false };
        self.may(stream, node, (Instant::from_nanos(since), time.saturating_add(MARGIN)))
    }

    /// Whether that is owed by a node that has to host the application.
    fn owes(&self, stream: usize, node: usize, time: Instant) -> bool {
        self.span(stream, time).is_some_and(|span| self.may(stream, node, span))
    }

    fn published(&mut self, told: &[Stated]) -> Published {
        let mut all = Published::new();
        let mut next = alloc::vec![0; self.field.streams.len()];
        for it in told {
            let own = self.field.streams.get(it.stream).is_some_and(|stream| stream.from == it.node);
            if !own || !self.may(it.stream, it.node, (it.time, it.time)) {
                self.find(it.stream, it.node, it.time, Wrong::NotForIt);
                continue;
            }
            if it.sequence != next[it.stream] {
                self.find(it.stream, it.node, it.time, Wrong::Order);
            }
            next[it.stream] = it.sequence.wrapping_add(1);
            self.verdict.outcomes[it.stream].published += 1;
            all.insert((it.stream, it.sequence), it.checksum);
        }
        all
    }

    fn carried(&mut self, carried: &[Carried], published: &Published) {
        let mut last: BTreeMap<(usize, usize), (u32, u8)> = BTreeMap::new();
        let mut messages: Vec<BTreeSet<u32>> = self.field.streams.iter().map(|_| BTreeSet::new()).collect();
        for it in carried {
            let Carried { node, stream, sequence, repetition, .. } = *it;
            if it.sender != NodeId(node as u32) {
                self.find(stream, node, it.time, Wrong::Speaker(it.sender.0));
                continue;
            }
            let Some(hop) = self.hop(stream, node).filter(|hop| hop.relays) else {
                self.find(stream, node, it.time, Wrong::Foreign);
                continue;
            };
            // A node sends what was published there, or what came to it: the same bytes, and in their order.
            let origin = match hop.hops {
                0 => published.get(&(stream, sequence)).copied(),
                _ => self.heard.get(&(stream, sequence, repetition, node)).map(|it| it.0),
            };
            match origin.filter(|_| repetition <= self.field.streams[stream].repetitions) {
                None => self.find(stream, node, it.time, Wrong::Unknown),
                Some(checksum) if checksum != it.checksum => self.find(stream, node, it.time, Wrong::Bytes),
                Some(_) => {}
            }
            let before = last.insert((stream, node), (sequence, repetition));
            if before.is_some_and(|before| before >= (sequence, repetition)) {
                self.find(stream, node, it.time, Wrong::Order);
            }
            self.sent.insert((stream, sequence, repetition, node));
            if hop.hops == 0 {
                messages[stream].insert(sequence);
            }
            let hops = &self.trees[stream].hops;
            for &(to, time) in &it.heard {
                if hops.iter().any(|hop| hop.node == to && hop.hops > 0 && hops[hop.parent].node == node) {
                    self.heard.entry((stream, sequence, repetition, to)).or_insert((it.checksum, time));
                }
            }
        }
        for (stream, all) in messages.iter().enumerate() {
            let it = &self.field.streams[stream];
            let time = self.field.duration.as_nanos().saturating_add(it.jitter.as_nanos());
            let time = time.saturating_add(self.field.members[it.from].forward.as_nanos());
            if all.len() as u64 > time / it.period.as_nanos().max(1) + 1 {
                self.find(stream, it.from, Instant::ZERO, Wrong::TooMany);
            }
        }
    }

    fn taken(&mut self, taken: &[Stated], published: &Published) {
        let mut last: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for it in taken {
            let Stated { node, time, stream, sequence, .. } = *it;
            let is_for_it = self.hop(stream, node).is_some_and(|hop| hop.receives);
            if !is_for_it || !self.may(stream, node, (time, time)) {
                self.find(stream, node, time, Wrong::NotForIt);
                continue;
            }
            if last.insert((stream, node), sequence).is_some_and(|last| last >= sequence) {
                self.find(stream, node, time, Wrong::Order);
            }
            let came = (0..=u8::MAX).any(|frame| self.heard.contains_key(&(stream, sequence, frame, node)));
            match published.get(&(stream, sequence)).filter(|_| came) {
                None => self.find(stream, node, time, Wrong::Unknown),
                Some(checksum) if *checksum != it.checksum => self.find(stream, node, time, Wrong::Bytes),
                Some(_) => {}
            }
            self.verdict.outcomes[stream].received += 1;
        }
    }

    /// What was published, or came to a node that passes it on, and was not sent.
    fn not_sent(&mut self, published: &[Stated]) {
        let mut wrong = Vec::new();
        for it in published {
            let Some(stream) = self.field.streams.get(it.stream).filter(|stream| stream.from == it.node) else {
                continue;
            };
            let all =
                (0..=stream.repetitions).all(|frame| self.sent.contains(&(it.stream, it.sequence, frame, it.node)));
            if !all && self.owes(it.stream, it.node, it.time.saturating_add(stream.last_frame())) {
                wrong.push((it.stream, it.node, it.time));
            }
        }
        for (&(stream, sequence, frame, node), &(_, time)) in &self.heard {
            // Whether it hosts the application or not.
            let passes = self.hop(stream, node).is_some_and(|hop| hop.relays) && self.span(stream, time).is_some();
            if passes && !self.sent.contains(&(stream, sequence, frame, node)) {
                wrong.push((stream, node, time));
            }
        }
        wrong.into_iter().for_each(|(stream, node, time)| self.find(stream, node, time, Wrong::NotSent));
    }

    /// What came to a receiver and was not taken there, and what did not come.
    fn not_taken(&mut self, published: &[Stated], taken: &[Stated]) {
        let mut last: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for it in taken {
            last.entry((it.stream, it.node)).and_modify(|last| *last = (*last).max(it.sequence)).or_insert(it.sequence);
        }
        let taken: BTreeSet<(usize, u32, usize)> = taken.iter().map(|it| (it.stream, it.sequence, it.node)).collect();
        let mut first: BTreeMap<(usize, u32, usize), Instant> = BTreeMap::new();
        for (&(stream, sequence, _, node), &(_, time)) in &self.heard {
            let known = first.entry((stream, sequence, node)).or_insert(time);
            *known = (*known).min(time);
        }
        for (n, stream) in self.field.streams.iter().enumerate() {
            let messages: Vec<&Stated> =
                published.iter().filter(|it| it.stream == n && it.node == stream.from).collect();
            let tree = self.trees[n].clone();
            for (at, hop) in tree.hops.iter().enumerate().filter(|(_, hop)| hop.receives) {
                for it in &messages {
                    let came = first.get(&(n, it.sequence, hop.node)).copied();
                    // What did not come is judged by the publisher's clock, for want of another one.
                    let time = came.unwrap_or(it.time.saturating_add(stream.last_frame()));
                    // Whoever took a later one has had this one, whatever the clocks say.
                    let before = last.get(&(n, hop.node)).is_some_and(|last| *last > it.sequence);
                    let surely = came.is_some() && before && self.hosts_around(n, hop.node, time);
                    if !surely && !self.owes(n, hop.node, time) {
                        continue;
                    }
                    self.verdict.outcomes[n].due += 1;
                    match came {
                        Some(_) if taken.contains(&(n, it.sequence, hop.node)) => {}
                        None if tree.loses(at) => self.verdict.outcomes[n].lost += 1,
                        _ => self.find(n, hop.node, time, Wrong::Missing),
                    }
                }
            }
            // Where its application is hosted at no end, nothing of its data is owed.
            let some = self.ever(n, stream.from) && tree.hops.iter().any(|hop| hop.receives && self.ever(n, hop.node));
            if some && self.verdict.outcomes[n].due == 0 {
                self.find(n, stream.from, Instant::ZERO, Wrong::Silent);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Link, Member};
    use crate::frame::Name;
    use crate::node::Settings;
    use crate::scope::{Description, Requirement, Scope};
    use crate::stream::Stream;
    use crate::trickle::TrickleSettings;
    use alloc::vec;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// Four nodes in a row, each of which hears its neighbours; the first publishes for the third and fourth, ten messages a second.
    fn field() -> Field {
        let millis = Duration::from_millis;
        let member = |n: usize| Member {
            description: Description {
                sensors: if n >= 2 { vec!["eye".into()] } else { Vec::new() },
                ..Description::default()
            },
            comes: Instant::ZERO,
            goes: Instant::NEVER,
            links: [n.checked_sub(1), Some(n + 1).filter(|n| *n < 4)]
                .into_iter()
                .flatten()
                .map(|to| Link { to, delay: Duration::ZERO, loss: 0 })
                .collect(),
            slots: None,
            forward: millis(20),
        };
        Field {
            settings: Settings {
                trickle: TrickleSettings { shortest: millis(100), doublings: 5, redundancy: 2 },
                patience: millis(80),
                pace: millis(10),
                keep: millis(5_000),
                applications: 4,
                largest: 65_536,
            },
            byte: Duration::from_nanos(10),
            members: (0..4).map(member).collect(),
            deliveries: Vec::new(),
            streams: vec![Stream {
                name: Name::new("light").expect("a name"),
                from: 0,
                application: None,
                scope: Scope { areas: Vec::new(), requires: vec![Requirement::Sensor("eye".into())] },
                start: None,
                period: millis(100),
                jitter: millis(20),
                deadline: millis(100),
                bytes: 4,
                priority: 1,
                repetitions: 1,
            }],
            duration: millis(4_000),
            seed: 1,
        }
    }

    /// What a run of such nodes leaves.
    fn evidence() -> Evidence {
        let mut all = Evidence::default();
        for sequence in 0..40 {
            let checksum = 1_000 + u64::from(sequence);
            let time = at(100 * u64::from(sequence));
            let told = |node| Stated { node, time, stream: 0, sequence, checksum };
            all.published.push(told(0));
            for (repetition, node) in (0..2).flat_map(|frame| (0..3_usize).map(move |node| (frame, node))) {
                let heard = [node.checked_sub(1), Some(node + 1)].into_iter().flatten().map(|to| (to, time)).collect();
                let sender = NodeId(node as u32);
                all.carried.push(Carried { node, time, sender, stream: 0, sequence, repetition, checksum, heard });
            }
            all.taken.extend([told(2), told(3)]);
        }
        all
    }

    fn found(evidence: &Evidence) -> Vec<(usize, Wrong)> {
        let mut all: Vec<(usize, Wrong)> =
            judge(&field(), &Run::default(), evidence).wrong.iter().map(|it| (it.node, it.wrong)).collect();
        all.dedup();
        all
    }

    #[test]
    fn nodes_that_do_what_they_should_are_held_and_what_is_too_late_to_be_done_is_not_owed() {
        let verdict = judge(&field(), &Run::default(), &evidence());
        assert_eq!(verdict.wrong, []);
        let it = &verdict.outcomes[0];
        // Of forty messages, those of the first second are not owed, nor is the last one, since none was taken after it.
        assert_eq!((it.published, it.received, it.due, it.lost), (40, 80, 58, 0));
        let mut cut = evidence();
        cut.taken.retain(|it| it.sequence < 33);
        assert_eq!(found(&cut), []);
    }

    #[test]
    fn no_lie_of_a_node_is_held() {
        type Lie = (&'static str, fn(&mut Evidence), &'static [(usize, Wrong)]);
        let lies: [Lie; 16] = [
            (
                "it speaks in its neighbour's name",
                |it| it.carried[30].sender = NodeId(1),
                &[(0, Wrong::Speaker(1)), (1, Wrong::Unknown)],
            ),
            ("it takes another stream", |it| it.carried[30].stream = 7, &[(0, Wrong::Foreign)]),
            (
                "it sends what it should only take",
                |it| {
                    let frame = it.carried[200].clone();
                    it.carried.push(Carried { node: 3, sender: NodeId(3), ..frame });
                },
                &[(3, Wrong::Foreign)],
            ),
            (
                "it makes a message up",
                |it| {
                    let frame = it.carried[200].clone();
                    it.carried.push(Carried { node: 0, sender: NodeId(0), sequence: 999, ..frame });
                },
                &[(0, Wrong::Unknown)],
            ),
            (
                "it makes one up on the way",
                |it| {
                    let frame = it.carried[200].clone();
                    it.carried.push(Carried { node: 1, sender: NodeId(1), sequence: 999, ..frame });
                },
                &[(1, Wrong::Unknown)],
            ),
            (
                "it sends a message again",
                |it| {
                    let frame = it.carried[60].clone();
                    it.carried.push(frame);
                },
                &[(0, Wrong::Order)],
            ),
            ("it changes bytes on the way", |it| it.carried[61].checksum = 5, &[(1, Wrong::Bytes), (2, Wrong::Bytes)]),
            ("it changes bytes of its own", |it| it.carried[60].checksum = 5, &[(0, Wrong::Bytes), (1, Wrong::Bytes)]),
            (
                "it passes nothing on",
                |it| it.carried.retain(|frame| frame.node != 2),
                &[(2, Wrong::NotSent), (3, Wrong::Unknown)],
            ),
            (
                "it says it published and sends nothing",
                |it| {
                    it.carried.retain(|frame| frame.sequence != 20);
                    it.taken.retain(|told| told.sequence != 20);
                },
                &[(0, Wrong::NotSent), (2, Wrong::Missing), (3, Wrong::Missing)],
            ),
            ("it publishes nothing at all", |it| *it = Evidence::default(), &[(0, Wrong::Silent)]),
            ("it takes nothing", |it| it.taken.retain(|told| told.node != 3), &[(3, Wrong::Missing)]),
            (
                "it says it took what did not come",
                |it| {
                    let told = Stated { sequence: 77, ..it.taken[40] };
                    it.taken.push(told);
                },
                &[(2, Wrong::Unknown)],
            ),
            ("it says it took a message twice", |it| it.taken.push(it.taken[40]), &[(2, Wrong::Order)]),
            (
                "it says it published another one's",
                |it| {
                    let told = Stated { node: 1, ..it.published[20] };
                    it.published.insert(20, told);
                },
                &[(1, Wrong::NotForIt)],
            ),
            ("it counts as it likes", |it| it.published[20].sequence = 90, &[(0, Wrong::Order)]),
        ];
        for (what, lie, expected) in lies {
            let mut all = evidence();
            lie(&mut all);
            let found = found(&all);
            for it in expected {
                assert!(found.contains(it), "{what}: {it:?} is not among {found:?}");
            }
        }
        let mut many = evidence();
        let last = many.published[39];
        many.published.extend((40..60).map(|sequence| Stated { sequence, ..last }));
        let more: Vec<Carried> = (40..60).map(|sequence| Carried { sequence, ..many.carried[234].clone() }).collect();
        many.carried.extend(more);
        assert!(found(&many).contains(&(0, Wrong::TooMany)), "it sends more than it declared");
        let mut refused = evidence();
        refused.refused.push((0, at(50), 0));
        assert_eq!(found(&refused), [(0, Wrong::Refused)]);
    }

    #[test]
    fn whatever_frame_or_word_is_changed_the_run_is_not_held() {
        let honest = evidence();
        let (mut state, mut tried) = (7_u64, 0);
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..2_000 {
            let mut all = honest.clone();
            // Only what is owed: neither the first nor the last messages.
            let (of, n) = (draw(3), 11 + draw(17));
            match of {
                0 => {
                    let place = 6 * n + draw(6);
                    let it = &mut all.carried[place];
                    match draw(5) {
                        0 => it.sender = NodeId(1 + (it.node as u32 + draw(3) as u32) % 3 + 4 * draw(2) as u32),
                        1 => it.sequence = it.sequence.wrapping_add(1 + draw(1_000) as u32),
                        2 => it.stream = 1 + draw(9),
                        3 => it.repetition += 2,
                        _ => it.checksum ^= 1 << draw(64),
                    }
                    if it.sender == NodeId(it.node as u32) && *it == honest.carried[place] {
                        continue;
                    }
                }
                1 => match draw(3) {
                    0 => all.published[n].checksum ^= 1 << draw(64),
                    1 => all.published[n].sequence ^= 1 << draw(32),
                    _ => _ = all.published.remove(n),
                },
                _ => {
                    let place = 2 * n + draw(2);
                    match draw(4) {
                        0 => all.taken[place].checksum ^= 1 << draw(64),
                        1 => all.taken[place].sequence ^= 1 << draw(32),
                        2 => all.taken[place].node = draw(2),
                        _ => _ = all.taken.remove(place),
                    }
                }
            }
            tried += 1;
            assert!(!judge(&field(), &Run::default(), &all).wrong.is_empty(), "{of} {n}");
        }
        assert!(tried > 1_900);
    }
}
