//! Disks in a simulation: each runs by itself, from event to event, with the very state machine that a component has.

use tactus_disk::{Finished, Station};
use tactus_time::{Duration, Instant};
use tactus_trace::Served;

/// The requests that a disk serves within `duration`.
pub fn disk(mut station: Station, duration: Duration) -> Vec<Served> {
    let end = Instant::ZERO.saturating_add(duration);
    let mut all = Vec::new();
    while station.next() < end {
        all.extend(station.advance().0.map(served));
    }
    all
}

/// A request that was served, as traces have it.
pub fn served(it: Finished) -> Served {
    Served {
        client: it.request.client(),
        number: it.request.number(),
        from: it.from,
        row: it.request.granule,
        after_pause: it.after_pause,
        arrived: it.request.arrival,
        dispatched: it.started,
        ended: it.ended,
        expected: it.expected,
    }
}
