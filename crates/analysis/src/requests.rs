//! How long a client waits for a server: a component, or a node of its own, that handles one request at a time and leaves none in the
//! middle.
//!
//! A client has one request outstanding at most, and sends the next one a gap after the last. Handling one takes its *service*; an
//! operation that takes long, of a device, say, is left to itself then, and when it is over the server goes on with it for its
//! *continuation*, before all requests that wait (Kluge, Triquet, Rochange and Ungerer, "Operating systems for manycore processors from the
//! perspective of safety-critical systems", OSPERT 2012, section 4: what a client waits for are all requests that are pending, and the
//! continuations, which overtake them). The source gives no formula; these follow from its rules.
//!
//! *In their order*: whoever has a request outstanding is ahead with it, or sends the next one behind; its continuation may overtake.
//! So of each other client there is one service and one continuation. *By priority*: of a more urgent one there is what is pending, and
//! what it sends meanwhile; of a less urgent one a service that has begun, of one of them, and a continuation of each. *In slots*: each
//! client has one of its own in every round. *With a limit* on how many clients may have a request outstanding at a time, kept by
//! whoever lets requests through (a token for each core, say), requests in their order wait for the largest of so many alone.

use tactus_time::Duration;

/// What a client asks of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Client {
    /// The longest that the server is at its request.
    pub service: Duration,
    /// The longest that the server goes on with it later; zero if its requests are over with their service.
    pub continuation: Duration,
    /// The least time from one request to the next.
    pub gap: Duration,
}

impl Client {
    fn both(&self) -> Option<Duration> {
        self.service.checked_add(self.continuation)
    }
}

/// The longest that a client waits until its request was served, if those are served in the order in which they come; `limit` clients
/// may have one outstanding at a time, the one itself among them.
pub fn in_order(clients: &[Client], client: usize, limit: usize) -> Option<Duration> {
    let own = clients.get(client)?.service;
    let others = clients.iter().enumerate().filter(|(n, _)| *n != client);
    let mut others = others.map(|(_, it)| it.both()).collect::<Option<Vec<_>>>()?;
    others.sort_unstable_by(|a, b| b.cmp(a));
    others.into_iter().take(limit.max(1) - 1).try_fold(own, Duration::checked_add)
}

/// The same if the more urgent request is served first; the clients are in the order of their priorities. Nothing if more urgent ones may
/// keep the server busy for ever, or for longer than any gap.
pub fn by_priority(clients: &[Client], client: usize) -> Option<Duration> {
    let own = clients.get(client)?.service;
    let (urgent, less) = (&clients[..client], &clients[client + 1..]);
    let begun = less.iter().map(|it| it.service).max().unwrap_or(Duration::ZERO);
    let once = less.iter().try_fold(begun, |sum, it| sum.checked_add(it.continuation))?;
    let most = clients.iter().map(|it| it.gap).max()?;
    let mut wait = once;
    loop {
        // One that is pending, and those that are sent while this one waits.
        let sum = urgent.iter().try_fold(once, |sum, it| {
            let sent = wait.as_nanos().checked_div(it.gap.as_nanos())?.checked_add(2)?;
            sum.checked_add(it.both()?.checked_mul(sent)?)
        })?;
        if sum == wait {
            return wait.checked_add(own);
        }
        if sum > most.checked_mul(1_000)? {
            return None;
        }
        wait = sum;
    }
}

/// The same if each client has a slot of its own in every round, as long as the longest service and continuation.
pub fn in_slots(clients: &[Client], client: usize) -> Option<Duration> {
    let slot = clients.iter().map(|it| it.service.max(it.continuation)).max()?;
    slot.checked_mul(clients.len() as u64)?.checked_add(clients.get(client)?.service)
}
