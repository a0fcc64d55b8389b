//! The map of a drive that is known: every pair of places of its clients, one after the other.

use crate::cache::CacheSettings;
use crate::client::Client;
use crate::drive::Drive;
use crate::geometry::Geometry;
use crate::map::{Form, LatencyMap, MapError, CODES};
use crate::request::Request;
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// The most places of all clients together: a survey serves two requests for each pair.
pub const MOST_PLACES: u32 = 1_024;

/// Angles are rounded to nanoseconds in each step of the model, so that a sector that was just reached may be just missed
/// another time. What is surveyed holds for as much earlier and later.
const ROUNDING: Duration = Duration::from_nanos(100);

/// How long a request of these clients takes at most, wherever the drive is.
pub fn longest(geometry: &Geometry, clients: &[Client]) -> Duration {
    let each = clients.iter().map(|client| geometry.longest(client.blocks, client.write)).max();
    Duration::from_nanos(each.unwrap_or(0))
}

/// The map that has seen each pair of places once, back to back. A code is a fifteenth of the [`longest`].
///
/// # Errors
/// Where clients have no places, or more than [`MOST_PLACES`].
pub fn survey(geometry: &Geometry, clients: &[Client], form: Form) -> Result<LatencyMap, MapError> {
    let places = |client: &Client| (0..client.places).map(move |place| (*client, place)).collect::<Vec<_>>();
    let rows = clients.iter().map(|client| u64::from(client.places)).sum::<u64>();
    if rows > u64::from(MOST_PLACES) {
        return Err(MapError::TooMany(usize::try_from(rows).unwrap_or(usize::MAX)));
    }
    let rows: Vec<(Client, u32)> = clients.iter().flat_map(places).collect();
    let quantum = longest(geometry, clients).as_nanos().div_ceil(u64::from(CODES)).div_ceil(10_000) * 10_000;
    let mut map = LatencyMap::new(form, rows.len(), Duration::from_nanos(quantum))?;
    let mut drive = Drive::new(geometry.clone(), CacheSettings::default());
    let request = |&(client, place): &(Client, u32)| Request {
        id: 0,
        granule: 0,
        block: client.block(place),
        blocks: client.blocks,
        write: client.write,
        arrival: Instant::ZERO,
        deadline: Instant::NEVER,
    };
    let mut now = Instant::ZERO;
    for (from, before) in rows.iter().enumerate() {
        now = drive.serve(now, &request(before)).end;
        for (to, after) in rows.iter().enumerate() {
            let after = request(after);
            let early = Instant::from_nanos(now.as_nanos().saturating_sub(ROUNDING.as_nanos()));
            for start in [early, now, now + ROUNDING] {
                map.learn(from as u32, to as u32, drive.predict(start, &after).since(start) + ROUNDING);
            }
        }
    }
    Ok(map)
}

/// For each client the longest cell that leads to one of its places.
pub fn services(map: &LatencyMap, clients: &[Client]) -> Vec<Duration> {
    let mut first = 0;
    let most = |client: &Client| {
        let own = first..first + client.places;
        first = own.end;
        let cells = (0..map.granules()).flat_map(|from| own.clone().map(move |to| map.careful(from, to)));
        cells.max().unwrap_or(Duration::ZERO)
    };
    clients.iter().map(most).collect()
}
