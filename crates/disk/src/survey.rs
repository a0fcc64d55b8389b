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

/// A survey that is made row by row, so that a component can do so within its budget.
#[derive(Clone, Debug)]
pub struct Survey {
    drive: Drive,
    rows: Vec<Request>,
    map: LatencyMap,
    done: usize,
    now: Instant,
}

impl Survey {
    /// A survey that has seen nothing. A code is a fifteenth of the [`longest`].
    ///
    /// # Errors
    /// Where clients have no places, or more than [`MOST_PLACES`].
    pub fn new(geometry: &Geometry, clients: &[Client], form: Form) -> Result<Survey, MapError> {
        let many = clients.iter().map(|client| u64::from(client.places)).sum::<u64>();
        if many > u64::from(MOST_PLACES) {
            return Err(MapError::TooMany(usize::try_from(many).unwrap_or(usize::MAX)));
        }
        let request = |client: &Client, place| Request {
            id: 0,
            granule: 0,
            block: client.block(place),
            blocks: client.blocks,
            write: client.write,
            arrival: Instant::ZERO,
            deadline: Instant::NEVER,
        };
        let mut rows = Vec::with_capacity(many as usize);
        for client in clients {
            rows.extend((0..client.places).map(|place| request(client, place)));
        }
        let quantum = longest(geometry, clients).as_nanos().div_ceil(u64::from(CODES)).div_ceil(10_000) * 10_000;
        let map = LatencyMap::new(form, rows.len(), Duration::from_nanos(quantum))?;
        let drive = Drive::new(geometry.clone(), CacheSettings::default());
        Ok(Survey { drive, rows, map, done: 0, now: Instant::ZERO })
    }
    /// Serves the next place, and after it each other one. Tells whether there are more.
    pub fn step(&mut self) -> bool {
        let Some(before) = self.rows.get(self.done) else { return false };
        self.now = self.drive.serve(self.now, before).end;
        let early = Instant::from_nanos(self.now.as_nanos().saturating_sub(ROUNDING.as_nanos()));
        for (to, after) in self.rows.iter().enumerate() {
            for start in [early, self.now, self.now + ROUNDING] {
                let took = self.drive.predict(start, after).since(start) + ROUNDING;
                self.map.learn(self.done as u32, to as u32, took);
            }
        }
        self.done += 1;
        self.done < self.rows.len()
    }
    /// What has been seen so far.
    pub fn into_map(self) -> LatencyMap {
        self.map
    }
}

/// The map that has seen each pair of places, back to back.
///
/// # Errors
/// As [`Survey::new`].
pub fn survey(geometry: &Geometry, clients: &[Client], form: Form) -> Result<LatencyMap, MapError> {
    let mut survey = Survey::new(geometry, clients, form)?;
    while survey.step() {}
    Ok(survey.into_map())
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
