//! A disk as the system file has it, ready to run: what the host makes a simulation from and what the image tells the component
//! that serves the disk, so that both run the same station.

use crate::budget::{Budget, Limit};
use crate::cache::CacheSettings;
use crate::client::{Arrivals, Client};
use crate::drive::Drive;
use crate::map::LatencyMap;
use crate::parameters::Model;
use crate::saved::{DriveName, LoadError};
use crate::scheduler::Policy;
use crate::service::Service;
use crate::station::{Faults, Station};
use alloc::vec::Vec;
use core::fmt;
use tactus_time::Duration;

/// A client of the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClientSetup {
    /// Extent and requests.
    pub client: Client,
    /// How long the drive may be busy for it, where it is best-effort and limited.
    pub budget: Option<Budget>,
    /// The number, among the buffers of the system file, of the one by which a component sends its requests; nothing if they are
    /// made by the disk itself.
    pub buffer: Option<u32>,
}

/// See above.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskSetup {
    /// Its number in the system file, counted from 0.
    pub number: u32,
    /// Seed of what is drawn: places of requests, power cuts.
    pub seed: u64,
    /// The drive that the map is of.
    pub drive: Model,
    /// The drive that answers.
    pub actual: Model,
    /// Rule of the queue.
    pub queue: Policy,
    /// Writes that the drive answers before they are on the platter.
    pub write_cache: u32,
    /// What the drive does wrong.
    pub faults: Faults,
    /// The longest that any request takes.
    pub after_pause: Duration,
    /// The drive's map, as it was surveyed.
    pub map: LatencyMap,
    /// Its clients, in file order.
    pub clients: Vec<ClientSetup>,
}

/// Why bytes are no set-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetupError {
    /// They end too soon, or hold what no set-up holds.
    Malformed,
    /// The map in them cannot be read.
    Map(LoadError),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetupError::Malformed => write!(f, "no set-up of a disk; build the image anew"),
            SetupError::Map(error) => error.fmt(f),
        }
    }
}

/// By what a drive is known whose parameters are published.
fn name_of(model: Model) -> DriveName {
    DriveName::of(model.name(), "model", 0)
}

impl DiskSetup {
    /// The clients as the queue knows them.
    pub fn streams(&self) -> Vec<Client> {
        self.clients.iter().map(|it| it.client).collect()
    }

    /// The disk at time zero; nothing where the drive's parameters make no drive. With `external`, requests of clients that have a
    /// buffer come from outside; else the disk makes them itself, as often as they may come.
    pub fn station(&self, external: bool) -> Option<Station> {
        let clients = self.streams();
        let cache = CacheSettings { writes: self.write_cache as usize, ..CacheSettings::default() };
        let drive = Drive::new(self.actual.geometry().ok()?, cache);
        let service = Service::new(self.queue, Station::room(&clients), self.map.clone(), self.after_pause)
            .with_write_cache(self.write_cache, clients.iter().map(|it| it.write));
        let mut station = Station::new(service, drive, clients, self.seed).with_faults(self.faults);
        for (n, client) in self.clients.iter().enumerate() {
            if external && client.buffer.is_some() {
                station = station.external(n);
            }
            if let Some(budget) = client.budget {
                let limit = Limit::new(budget, &client.client, self.after_pause, self.write_cache);
                station = station.limited(n, limit);
            }
        }
        Some(station)
    }

    /// The set-up as bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut put = |word: u64| out.extend_from_slice(&word.to_le_bytes());
        let model = |model: Model| Model::ALL.iter().position(|it| *it == model).unwrap_or(0) as u64;
        let (kind, ahead) = match self.queue {
            Policy::GMatrix(k) => (1, k as u64),
            _ => (0, 0),
        };
        let Faults { failed, short, silent, unasked, power_cuts } = self.faults;
        [u64::from(self.number), self.seed, model(self.drive), model(self.actual), kind, ahead]
            .into_iter()
            .for_each(&mut put);
        [u64::from(self.write_cache), self.after_pause.as_nanos()].into_iter().for_each(&mut put);
        [failed, short, silent, unasked].into_iter().for_each(|it| put(it.into()));
        [power_cuts.as_nanos(), self.clients.len() as u64].into_iter().for_each(&mut put);
        for ClientSetup { client, budget, buffer } in &self.clients {
            let times = match client.arrivals {
                Arrivals::Periodic { offset, period, deadline } => {
                    [0, offset.as_nanos(), period.as_nanos(), deadline.as_nanos()]
                }
                Arrivals::BestEffort { outstanding } => [1, outstanding.into(), 0, 0],
            };
            times.into_iter().for_each(&mut put);
            [client.first, client.extent, client.places.into(), client.blocks.into(), client.write.into()]
                .into_iter()
                .for_each(&mut put);
            budget.map_or([0; 2], |it| [it.time.as_nanos(), it.per.as_nanos()]).into_iter().for_each(&mut put);
            put(buffer.map_or(0, |it| u64::from(it) + 1));
        }
        let map = self.map.save(name_of(self.drive));
        put(map.len() as u64);
        out.extend_from_slice(&map);
        out
    }

    /// The set-up from bytes; what follows them does not count.
    ///
    /// # Errors
    /// Where they are none.
    pub fn decode(bytes: &[u8]) -> Result<DiskSetup, SetupError> {
        let mut rest = Words(bytes);
        let [number, seed, drive, actual, kind, ahead] = rest.some()?;
        let model =
            |at: u64| usize::try_from(at).ok().and_then(|at| Model::ALL.get(at).copied()).ok_or(SetupError::Malformed);
        let [write_cache, after_pause] = rest.some()?;
        let [failed, short, silent, unasked] = rest.some()?.map(|it: u64| it as u32);
        let [power_cuts, clients] = rest.some()?;
        let (power_cuts, drive) = (Duration::from_nanos(power_cuts), model(drive)?);
        let mut setup = DiskSetup {
            number: number as u32,
            seed,
            drive,
            actual: model(actual)?,
            queue: if kind == 1 { Policy::GMatrix(ahead as usize) } else { Policy::Edf },
            write_cache: write_cache as u32,
            faults: Faults { failed, short, silent, unasked, power_cuts },
            after_pause: Duration::from_nanos(after_pause),
            map: LatencyMap::new(crate::map::Form::Symmetric, 1, Duration::from_nanos(1))
                .map_err(|_| SetupError::Malformed)?,
            clients: Vec::new(),
        };
        for _ in 0..clients {
            let [kind, offset, period, deadline] = rest.some()?;
            let [first, extent, places, blocks, write] = rest.some()?;
            let [time, per, buffer] = rest.some()?;
            let [offset_time, period, deadline, time, per] =
                [offset, period, deadline, time, per].map(Duration::from_nanos);
            let arrivals = match kind {
                0 => Arrivals::Periodic { offset: offset_time, period, deadline },
                _ => Arrivals::BestEffort { outstanding: offset as u32 },
            };
            let client =
                Client { arrivals, first, extent, places: places as u32, blocks: blocks as u32, write: write == 1 };
            let budget = (!per.is_zero()).then_some(Budget { time, per });
            setup.clients.push(ClientSetup { client, budget, buffer: buffer.checked_sub(1).map(|it| it as u32) });
        }
        let [length] = rest.some()?;
        let map = usize::try_from(length).ok().and_then(|length| rest.0.get(..length)).ok_or(SetupError::Malformed)?;
        setup.map = LatencyMap::load(map, name_of(drive)).map_err(SetupError::Map)?;
        Ok(setup)
    }
}

/// Bytes that are read word by word.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn some<const N: usize>(&mut self) -> Result<[u64; N], SetupError> {
        let mut words = [0; N];
        for word in &mut words {
            let (first, rest) = self.0.split_first_chunk().ok_or(SetupError::Malformed)?;
            (*word, self.0) = (u64::from_le_bytes(*first), rest);
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Form;
    use crate::survey::{longest, survey};

    #[test]
    fn a_setup_comes_back_as_it_was_and_a_damaged_one_is_refused() {
        let millis = Duration::from_millis;
        let periodic = Arrivals::Periodic { offset: millis(3), period: millis(50), deadline: millis(40) };
        let client = Client { arrivals: periodic, first: 0, extent: 1 << 20, places: 8, blocks: 8, write: true };
        let best = Client { arrivals: Arrivals::BestEffort { outstanding: 3 }, first: 1 << 20, write: false, ..client };
        let (clients, drive) = ([client, best], Model::Source10k);
        let geometry = drive.geometry().unwrap();
        let setup = DiskSetup {
            number: 2,
            seed: 9,
            drive,
            actual: Model::Atlas10k,
            queue: Policy::GMatrix(4),
            write_cache: 2,
            faults: Faults { failed: 7, power_cuts: millis(300), ..Faults::default() },
            after_pause: longest(&geometry, &clients),
            map: survey(&geometry, &clients, Form::Directed).unwrap(),
            clients: alloc::vec![
                ClientSetup { client, budget: None, buffer: Some(0) },
                ClientSetup { client: best, budget: Some(Budget { time: millis(20), per: millis(100) }), buffer: None },
            ],
        };
        let mut bytes = setup.encode();
        bytes.extend_from_slice(&[0; 100]);
        assert_eq!(DiskSetup::decode(&bytes), Ok(setup));
        assert_eq!(DiskSetup::decode(&bytes[..200]), Err(SetupError::Malformed));
        let last = bytes.len() - 110;
        bytes[last] ^= 1;
        assert_eq!(DiskSetup::decode(&bytes), Err(SetupError::Map(LoadError::Damaged)));
    }
}
