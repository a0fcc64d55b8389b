//! The network flit by flit, cycle by cycle.

use crate::mesh::{Link, Mesh};
use crate::slots::Table;
use crate::{Cycles, Flow, NetworkError};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// What a node's application does with a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sender {
    /// It sends a message each period from this cycle on.
    Periodic(Cycles),
    /// It has a message to send at every cycle.
    Floods,
    /// It sends nothing.
    Silent,
}

/// What is done below applications about how much they send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// The interface lets a message in no sooner than a period after the last one.
    Declared,
    /// Everything is let in. There is no bound.
    None,
}

/// What became of a flow's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Messages that arrived.
    pub messages: u64,
    /// The longest from a message's entry to the arrival of its last flit.
    pub longest: Cycles,
    /// The sum over all.
    pub total: Cycles,
}

impl Traffic {
    fn arrived(&mut self, taken: u64) {
        self.messages += 1;
        self.longest = self.longest.max(Cycles(taken));
        self.total = self.total + Cycles(taken);
    }
}

struct Flit {
    flow: usize,
    hop: usize,
    entered: u64,
    last: bool,
}

/// Links serve in the order of arrival; `length` cycles of it.
///
/// # Errors
/// [`NetworkError::NoFlow`].
pub fn with_rates(
    mesh: &Mesh,
    flows: &[Flow],
    senders: &[Sender],
    limit: Limit,
    length: Cycles,
) -> Result<Vec<Traffic>, NetworkError> {
    let routes = mesh.routes(flows)?;
    let mut traffic = vec![Traffic::default(); flows.len()];
    let mut queues: Vec<VecDeque<Flit>> = (0..mesh.links()).map(|_| VecDeque::new()).collect();
    let mut busy: Vec<Link> = Vec::new();
    // What arrives at its next link in how many cycles.
    let mut under_way: VecDeque<Vec<Flit>> = (0..=mesh.router.0).map(|_| Vec::new()).collect();
    let mut entries = Entries::new(flows, senders, limit);
    for now in 0..length.0 {
        let mut arrivals = under_way.pop_front().unwrap_or_default();
        entries.at(now, |flow| {
            let flits = flows[flow].flits;
            arrivals.extend((0..flits).map(|n| Flit { flow, hop: 0, entered: now, last: n + 1 == flits }));
        });
        for flit in arrivals {
            let link = routes[flit.flow][flit.hop];
            let queue = &mut queues[link.index()];
            if queue.is_empty() {
                busy.push(link);
            }
            queue.push_back(flit);
        }
        let mut sent = Vec::new();
        busy.retain(|link| {
            let queue = &mut queues[link.index()];
            sent.extend(queue.pop_front());
            !queue.is_empty()
        });
        let mut next = Vec::new();
        for flit in sent {
            if flit.hop + 1 < routes[flit.flow].len() {
                next.push(Flit { hop: flit.hop + 1, ..flit });
            } else if flit.last {
                traffic[flit.flow].arrived(now + 1 - flit.entered);
            }
        }
        under_way.push_back(next);
    }
    Ok(traffic)
}

/// Each flow has its slots; `length` cycles of it.
///
/// # Errors
/// [`NetworkError::NoFlow`].
///
/// # Panics
/// Two flits meet on a link, which no table lets happen.
pub fn with_slots(
    mesh: &Mesh,
    flows: &[Flow],
    senders: &[Sender],
    table: &Table,
    length: Cycles,
) -> Result<Vec<Traffic>, NetworkError> {
    let routes = mesh.routes(flows)?;
    let mut traffic = vec![Traffic::default(); flows.len()];
    let mut waiting: Vec<VecDeque<Flit>> = flows.iter().map(|_| VecDeque::new()).collect();
    let mut owners: Vec<Vec<usize>> = vec![Vec::new(); table.length as usize];
    for (flow, slots) in table.slots.iter().enumerate() {
        slots.iter().for_each(|slot| owners[*slot as usize].push(flow));
    }
    let mut under_way: VecDeque<Vec<Flit>> = (0..=mesh.router.0).map(|_| Vec::new()).collect();
    let mut entries = Entries::new(flows, senders, Limit::Declared);
    let mut carried = vec![u64::MAX; mesh.links()];
    for now in 0..length.0 {
        entries.at(now, |flow| {
            let flits = flows[flow].flits;
            waiting[flow].extend((0..flits).map(|n| Flit { flow, hop: 0, entered: now, last: n + 1 == flits }));
        });
        let mut sent = under_way.pop_front().unwrap_or_default();
        for flow in &owners[(now % u64::from(table.length)) as usize] {
            sent.extend(waiting[*flow].pop_front());
        }
        let mut next = Vec::new();
        for flit in sent {
            let link = routes[flit.flow][flit.hop].index();
            assert_ne!(carried[link], now, "two flits on one link");
            carried[link] = now;
            if flit.hop + 1 < routes[flit.flow].len() {
                next.push(Flit { hop: flit.hop + 1, ..flit });
            } else if flit.last {
                traffic[flit.flow].arrived(now + 1 - flit.entered);
            }
        }
        under_way.push_back(next);
    }
    Ok(traffic)
}

/// When messages enter.
struct Entries {
    /// By flow: the next time at which a message enters, and how long after that the one behind it.
    next: Vec<(u64, u64)>,
}

impl Entries {
    fn new(flows: &[Flow], senders: &[Sender], limit: Limit) -> Entries {
        let silent = core::iter::repeat(&Sender::Silent);
        let one = |(flow, sender): (&Flow, &Sender)| match (sender, limit) {
            (Sender::Periodic(from), _) => (from.0, flow.period.0),
            (Sender::Floods, Limit::Declared) => (0, flow.period.0),
            (Sender::Floods, Limit::None) => (0, 1),
            (Sender::Silent, _) => (u64::MAX, 1),
        };
        Entries { next: flows.iter().zip(senders.iter().chain(silent)).map(one).collect() }
    }

    fn at(&mut self, now: u64, mut enters: impl FnMut(usize)) {
        for (flow, (next, step)) in self.next.iter_mut().enumerate() {
            if *next == now {
                *next += *step;
                enters(flow);
            }
        }
    }
}
