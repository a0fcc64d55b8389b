//! Disks in a simulation: each runs by itself, from event to event, with the very state machine that a component has.

use tactus_disk::{Asked, Event, Finished, Station};
use tactus_time::{Duration, Instant};
use tactus_trace::{DiskInput, DiskTrace, Served};

/// What a disk does within `duration`.
pub fn disk(station: Station, duration: Duration) -> DiskTrace {
    replay(station, duration, &[]).unwrap_or_default()
}

/// The same where clients of the disk are programs of their own: what they asked for, and when, is an input. Each is asked of the
/// station at its instant; what becomes of it is decided anew.
///
/// # Errors
/// The first input that the station does not take, although the machine's did.
pub fn replay(mut station: Station, duration: Duration, inputs: &[DiskInput]) -> Result<DiskTrace, String> {
    let end = Instant::ZERO.saturating_add(duration);
    let mut all = DiskTrace::default();
    let mut rest = inputs.iter().peekable();
    loop {
        let now = rest.peek().map_or(end, |input| input.at);
        // Whoever hands over requests has done before all that was due by then.
        while station.next() < end && station.next() <= now {
            advance(&mut station, &mut all);
        }
        if rest.peek().is_none() {
            let unanswered = station.service().unanswered(end).map(served);
            all.served.extend(unanswered.map(|it| Served { outcome: None, ..it }));
            return Ok(all);
        }
        while let Some(input) = rest.next_if(|input| input.at == now) {
            let DiskInput { client, number, place, blocks, write, .. } = *input;
            let client = client as usize;
            if input.cancels {
                all.served.extend(station.cancel(now, client, number).map(served));
                continue;
            }
            let asked = Asked { place, blocks, write };
            match station.ask(now, client, &asked) {
                Ok(request) if request.number() == number => {}
                Ok(request) => {
                    return Err(format!("request {number} of client {client} is number {}", request.number()))
                }
                Err(why) => return Err(format!("request {number} of client {client} at {now} is refused: {why}")),
            }
        }
        station.start(now);
    }
}

fn advance(station: &mut Station, all: &mut DiskTrace) {
    station.advance(&mut |event| match event {
        Event::Ended(finished) => all.served.push(served(finished)),
        Event::PowerCut(at) => all.power_cuts.push(at),
        Event::Dispatched(_) | Event::Lost(_) => {}
    });
}

/// A request that ended, as traces have it.
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
        outcome: Some(it.outcome),
    }
}
