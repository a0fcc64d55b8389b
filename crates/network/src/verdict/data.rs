//! Whether data came to whom it is for, whole, in order and in time.
//!
//! What should come where follows from the network, from what was published, and from which frames links lost: a message is due at each
//! node of its stream's scope, by the time that it is promised there, unless every one of its frames was lost on the way. A node that
//! comes or goes in that time, or begins or ends to host the application whose data it is, is owed nothing of it. Nothing here asks a node what it thinks.

pub mod booted;

use crate::field::data::{checksum, message, Published};
use crate::field::{Field, Happened, Run};
use crate::frame::Name;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// What was found wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// It was there for a node for which it is not.
    NotForIt,
    /// Nobody published it.
    Unknown,
    /// Its bytes are not those that were published.
    Bytes,
    /// It came after a later one, or twice.
    Order,
    /// It came this long after the start of its period, and was promised sooner.
    Late(Duration),
    /// It came this long after the start of its period, beyond its deadline.
    Overdue(Duration),
    /// It did not come, though one of its frames was lost nowhere.
    Missing,
    /// Its node refused to send it, though it was published at the declared rate.
    Refused,
    /// Of booted nodes: a frame was sent in another one's name, that of the number.
    Speaker(u32),
    /// A frame was sent by a node that neither publishes the stream nor passes it on.
    Foreign,
    /// It was not sent, or passed on.
    NotSent,
    /// More messages were sent than the declared rate lets out.
    TooMany,
    /// Nothing came of it that could be judged.
    Silent,
}

/// Something wrong, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The stream.
    pub stream: usize,
    /// The node.
    pub node: usize,
    /// When; for what is missing, when it should have been there.
    pub time: Instant,
    /// What.
    pub wrong: Wrong,
}

/// What became of a stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Messages.
    pub published: u64,
    /// Deliveries that were due within the run, one for each receiver of a message.
    pub due: u64,
    /// Deliveries.
    pub received: u64,
    /// Of those that were due, all frames were lost on the way.
    pub lost: u64,
    /// The longest from the start of a period to the arrival of its message.
    pub longest: Duration,
    /// The delivery that was nearest to its bound.
    pub nearest: Option<Nearest>,
}

/// A delivery beside its bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nearest {
    /// The receiver.
    pub node: usize,
    /// From the start of the period to the arrival.
    pub taken: Duration,
    /// The bound.
    pub bound: Duration,
}

impl Nearest {
    /// Time as a part of the bound.
    pub fn ratio(&self) -> f64 {
        self.taken.as_secs_f64() / self.bound.as_secs_f64()
    }
}

/// What became of all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Verdict {
    /// By stream.
    pub outcomes: Vec<Outcome>,
    /// What was wrong, the first first.
    pub wrong: Vec<Finding>,
}

/// Judges a run. `bounds` has, by stream, what each receiver is promised, from the start of a period; who has no bound is promised nothing.
pub fn judge(field: &Field, run: &Run, bounds: &[BTreeMap<usize, Duration>]) -> Verdict {
    let trees = field.trees();
    let (hosted, run) = (hosted(run), &run.data);
    let mut all = Verdict { outcomes: field.streams.iter().map(|_| Outcome::default()).collect(), wrong: Vec::new() };
    let mut periods: BTreeMap<(usize, u32), &Published> = BTreeMap::new();
    for it in &run.published {
        all.outcomes[it.stream].published += 1;
        periods.insert((it.stream, it.sequence), it);
    }
    for &(stream, time) in &run.refused {
        all.wrong.push(Finding { stream, node: field.streams[stream].from, time, wrong: Wrong::Refused });
    }
    let mut of_stream: Vec<Vec<&Published>> = field.streams.iter().map(|_| Vec::new()).collect();
    run.published.iter().for_each(|it| of_stream[it.stream].push(it));
    let mut last: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let mut there: BTreeSet<(usize, u32, usize)> = BTreeSet::new();
    for it in &run.received {
        let stream = &field.streams[it.stream];
        let mut find = |wrong| all.wrong.push(Finding { stream: it.stream, node: it.node, time: it.time, wrong });
        let hosts = stream.application.is_none_or(|app| hosts(&hosted, it.node, app, (it.time, it.time)));
        if it.node == stream.from || !hosts || !stream.scope.covers(&field.members[it.node].description) {
            find(Wrong::NotForIt);
        }
        if last.insert((it.stream, it.node), it.sequence).is_some_and(|last| last >= it.sequence) {
            find(Wrong::Order);
        }
        if it.checksum != checksum(&message(it.stream, it.sequence, stream.bytes)) {
            find(Wrong::Bytes);
        }
        let Some(published) = periods.get(&(it.stream, it.sequence)) else {
            find(Wrong::Unknown);
            continue;
        };
        let taken = it.time.since(published.period);
        // Who comes after the first frame may have the message by a repetition.
        let owed = field.members[it.node].comes <= published.period;
        if owed && taken > stream.deadline {
            find(Wrong::Overdue(taken));
        }
        let bound = bounds[it.stream].get(&it.node).copied().filter(|_| owed);
        if bound.is_some_and(|bound| taken > bound) {
            find(Wrong::Late(taken));
        }
        there.insert((it.stream, it.sequence, it.node));
        let outcome = &mut all.outcomes[it.stream];
        outcome.received += 1;
        outcome.longest = outcome.longest.max(taken);
        let new = bound.map(|bound| Nearest { node: it.node, taken, bound });
        let product = |a: Duration, b: Duration| u128::from(a.as_nanos()) * u128::from(b.as_nanos());
        let nearer = |new: &Nearest| {
            outcome.nearest.is_none_or(|it| product(new.taken, it.bound) > product(it.taken, new.bound))
        };
        if let Some(new) = new.filter(nearer) {
            outcome.nearest = Some(new);
        }
    }
    let lost: BTreeSet<&(usize, u32, u8, usize)> = run.lost.iter().collect();
    let end = Instant::ZERO.saturating_add(field.duration);
    for (n, (stream, tree)) in field.streams.iter().zip(&trees).enumerate() {
        for (at, hop) in tree.hops.iter().enumerate().filter(|(_, hop)| hop.receives) {
            let Some(&bound) = bounds[n].get(&hop.node) else { continue };
            let way = tree.way(at);
            let ends = [stream.from, hop.node].map(|n| &field.members[n]);
            for it in &of_stream[n] {
                let until = it.period.saturating_add(bound);
                let present = ends.iter().all(|node| node.comes <= it.period && until < node.goes);
                let hosts = stream.application.is_none_or(|app| hosts(&hosted, hop.node, app, (it.period, until)));
                if until >= end || !present || !hosts {
                    continue;
                }
                all.outcomes[n].due += 1;
                if there.contains(&(n, it.sequence, hop.node)) {
                    continue;
                }
                let comes =
                    |frame: &u8| way.iter().all(|&at| !lost.contains(&(n, it.sequence, *frame, tree.hops[at].node)));
                if (0..=stream.repetitions).any(|frame| comes(&frame)) {
                    all.wrong.push(Finding { stream: n, node: hop.node, time: until, wrong: Wrong::Missing });
                } else {
                    all.outcomes[n].lost += 1;
                }
            }
        }
    }
    all.wrong.sort_by_key(|it| (it.time, it.node));
    all
}

/// By node and application, from when to when it was hosted.
type Hosted = BTreeMap<(usize, Name), Vec<(Instant, Instant)>>;

fn hosted(run: &Run) -> Hosted {
    let mut all = Hosted::new();
    for &(time, node, what) in &run.events {
        match what {
            Happened::Installed(app, _) => {
                let times = all.entry((node, app)).or_default();
                match times.last_mut().filter(|it| it.1 == time) {
                    // A newer version goes on where the one before ended.
                    Some(last) => last.1 = Instant::NEVER,
                    None => times.push((time, Instant::NEVER)),
                }
            }
            Happened::Removed(app, _) => {
                all.entry((node, app)).or_default().last_mut().into_iter().for_each(|last| last.1 = time);
            }
            Happened::NoRoom(..) | Happened::Refused(..) | Happened::NotAdmitted(..) | Happened::Reported(..) => {}
        }
    }
    all
}

/// Whether a node hosted an application from one time to another one.
fn hosts(hosted: &Hosted, node: usize, app: Name, (from, to): (Instant, Instant)) -> bool {
    hosted.get(&(node, app)).is_some_and(|times| times.iter().any(|it| it.0 <= from && to <= it.1))
}
