//! Best-effort clients of a disk against their budgets: whether there is a time within which the drive was busy for a client longer
//! than [`Limit::within`] allows.

use crate::summary::DiskBroken;
use tactus_disk::{Budget, Limit};
use tactus_time::{Duration, Instant};

/// How long the drive had a request.
pub(crate) struct Taken {
    /// Its number.
    pub number: u32,
    /// From when,
    pub from: Instant,
    /// how long.
    pub time: Duration,
}

/// The first request of a client, in the order in which they ended, at whose end its budget had not been held: budget, the time within
/// which it is, and the longest request.
pub(crate) fn exceeded(client: &str, limit: [Duration; 3], own: impl Iterator<Item = Taken>) -> Option<DiskBroken> {
    let [time, per, request] = limit;
    let limit = Limit { budget: Budget { time, per }, request };
    let (time, per) = (u128::from(time.as_nanos()), u128::from(per.as_nanos()));
    let most = (time + u128::from(request.as_nanos())) * per;
    // The time that ends now for which most was taken beyond what is paid back of it: its beginning, how long the drive was busy in
    // it, and the rest, times `per`. With any other beginning the rest is smaller.
    let (mut from, mut busy, mut rest, mut now) = (Instant::ZERO, Duration::ZERO, 0, Instant::ZERO);
    for it in own {
        let paid = u128::from(it.from.since(now).as_nanos()) * time;
        rest = u128::saturating_sub(rest, paid);
        if rest == 0 {
            (from, busy) = (it.from, Duration::ZERO);
        }
        // What a drive takes beyond its longest is its doing, not the client's.
        let took = it.time.min(request);
        busy = busy.checked_add(took).unwrap_or(Duration::MAX);
        now = it.from.saturating_add(took);
        rest += u128::from(took.as_nanos()) * per.saturating_sub(time);
        if rest > most {
            let length = now.since(from);
            return Some(DiskBroken {
                client: client.to_string(),
                number: it.number,
                time: now,
                limit: limit.within(length),
                actual: busy,
                within: Some(length),
            });
        }
    }
    None
}
