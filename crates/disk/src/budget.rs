//! The budget of a best-effort client: how long the drive may be busy for it, however many requests it has outstanding.
//!
//! A request is charged when it is let in, with the longest that it may take, and again when it has ended, with what it took. What
//! requests took that have ended is paid back at the rate of the budget; one is let in while less than the budget is charged. So
//! the drive is busy for the client within any length of time for at most [`Limit::within`] it. What a drive takes beyond its
//! longest is charged as well, so that the client waits for it afterwards.

use crate::client::Client;
use tactus_time::{Duration, Instant};

/// How long the drive may be busy for a best-effort client, within each length of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// This long
    pub time: Duration,
    /// within this.
    pub per: Duration,
}

impl Budget {
    /// What is paid back within a length of time, rounded down.
    fn paid(&self, length: Duration) -> Duration {
        let nanos = u128::from(length.as_nanos()) * u128::from(self.time.as_nanos());
        let paid = nanos / u128::from(self.per.as_nanos().max(1));
        u64::try_from(paid).map_or(Duration::MAX, Duration::from_nanos)
    }
    /// How long it is until this is paid back.
    fn until_paid(&self, owed: Duration) -> Duration {
        let nanos = u128::from(owed.as_nanos()) * u128::from(self.per.as_nanos());
        let length = nanos.div_ceil(u128::from(self.time.as_nanos().max(1)));
        u64::try_from(length).map_or(Duration::MAX, Duration::from_nanos)
    }
}

/// A budget, and the longest request that it is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The budget.
    pub budget: Budget,
    /// How long one request takes at most on a drive that keeps to its map.
    pub request: Duration,
}

impl Limit {
    /// The budget of a client, where any request takes `after_pause` at most and the drive keeps this number of writes, which one
    /// request of a client that writes may have to wait for.
    pub fn new(budget: Budget, client: &Client, after_pause: Duration, write_cache: u32) -> Limit {
        let writes = if client.write { write_cache.max(1) } else { 1 };
        Limit { budget, request: after_pause.checked_mul(writes.into()).unwrap_or(Duration::MAX) }
    }
    /// How long the drive is busy for the client at most within any time of this length: the budget, what is paid back of it
    /// meanwhile, and one request. Of a request that takes longer than it may, no more than it may counts.
    pub fn within(&self, length: Duration) -> Duration {
        let all = [self.budget.paid(length), self.request];
        all.iter().fold(self.budget.time, |sum, more| sum.checked_add(*more).unwrap_or(Duration::MAX))
    }
}

/// Why no request may come now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exhausted {
    /// Until then, as long as no other ends.
    Until(Instant),
    /// Until one of those that are outstanding ends.
    Outstanding,
}

/// What a client has used of its budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    limit: Limit,
    /// What requests that have ended took and was not paid back then,
    used: Duration,
    /// when the last of them ended.
    last: Instant,
}

impl Account {
    /// An account of which nothing is used.
    pub(crate) fn new(limit: Limit) -> Account {
        Account { limit, used: Duration::ZERO, last: Instant::ZERO }
    }
    fn used(&self, now: Instant) -> Duration {
        self.used.saturating_sub(self.limit.budget.paid(now.since(self.last)))
    }
    /// Whether one more request may come, where this number is outstanding.
    pub(crate) fn admit(&self, now: Instant, outstanding: u32) -> Result<(), Exhausted> {
        let charged = self.limit.request.checked_mul(outstanding.into()).unwrap_or(Duration::MAX);
        let rest = self.limit.budget.time.saturating_sub(charged);
        if rest.is_zero() {
            return Err(Exhausted::Outstanding);
        }
        let rest = rest.saturating_sub(Duration::from_nanos(1));
        if self.used(now) <= rest {
            return Ok(());
        }
        let again = self.last.saturating_add(self.limit.budget.until_paid(self.used.saturating_sub(rest)));
        Err(Exhausted::Until(again))
    }
    /// A request has ended that took this long.
    pub(crate) fn ended(&mut self, now: Instant, took: Duration) {
        self.used = self.used(now).checked_add(took).unwrap_or(Duration::MAX);
        self.last = now;
    }
}
