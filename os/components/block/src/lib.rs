//! A disk on the machine: the drive's model, its latency map and the block service, moved on by the jobs of a component.
//!
//! A real drive answers in its own time, an emulated one in the host's, so that no run could be repeated. Here a model
//! says when each request ends. Every job does what the disk has to do up to now, each thing at its own instant: which
//! request goes next is decided at the instant at which the one before ended, by the code that the simulator runs. So the
//! requests come out as in the simulation, whatever else the machine does; what a job does late is told late, not changed.
//!
//! First the map is surveyed, a row in each job, so that no job is long.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::vec::Vec;
use core::fmt::{self, Write};
use tactus_disk::{
    longest, CacheSettings, Client, Drive, Finished, Form, Geometry, Policy, Request, Service, Station, Survey,
};
use tactus_time::Instant;

/// What a disk is made from; the same figures as in the system file.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The drive that the map is surveyed on.
    pub drive: Geometry,
    /// The drive that answers.
    pub actual: Geometry,
    /// Rule of the queue.
    pub queue: Policy,
    /// Form of the map.
    pub map: Form,
    /// The clients.
    pub clients: Vec<Client>,
    /// The seed of the clients' places.
    pub seed: u64,
    /// The number of the disk in the system file, counted from 0.
    pub number: u32,
}

/// What holds the disk's bytes. It has a request from the instant at which it is dispatched to that at which the model says
/// that it ends: the answer is shaped.
pub trait Medium {
    /// A request is dispatched.
    fn begin(&mut self, request: &Request);
    /// The request that was dispatched last ends.
    fn end(&mut self, request: &Request);
}

/// No bytes: time alone.
impl Medium for () {
    fn begin(&mut self, _: &Request) {}
    fn end(&mut self, _: &Request) {}
}

/// A disk.
#[derive(Debug)]
pub struct Disk {
    settings: Settings,
    survey: Option<Survey>,
    station: Option<Station>,
}

impl Disk {
    /// A disk of which nothing is known yet.
    ///
    /// # Errors
    /// Where clients have no places, or too many.
    pub fn new(settings: Settings) -> Result<Disk, tactus_disk::MapError> {
        let survey = Survey::new(&settings.drive, &settings.clients, settings.map)?;
        Ok(Disk { settings, survey: Some(survey), station: None })
    }

    /// Does what is due: a row of the survey, or all that happens up to `now`, `most` things at most. Each request that ended is
    /// handed to `put` as a line of the run's table.
    pub fn work(&mut self, now: Instant, most: u32, medium: &mut impl Medium, put: &mut impl FnMut(&str)) {
        if let Some(mut survey) = self.survey.take() {
            if survey.step() {
                self.survey = Some(survey);
                return;
            }
            let Settings { drive, actual, queue, clients, seed, .. } = &self.settings;
            let service = Service::new(*queue, Station::room(clients), survey.into_map(), longest(drive, clients));
            let drive = Drive::new(actual.clone(), CacheSettings::default());
            self.station = Some(Station::new(service, drive, clients.clone(), *seed));
        }
        let Some(station) = &mut self.station else { return };
        for _ in 0..most {
            if station.next() > now {
                return;
            }
            let (finished, dispatched) = station.advance();
            if let Some(finished) = finished {
                medium.end(&finished.request);
                let mut line = Line::default();
                // A line has room for ten numbers.
                let _ = row(&mut line, self.settings.number, &finished);
                put(line.text());
            }
            if let Some(request) = dispatched {
                medium.begin(&request);
            }
        }
    }
}

/// `disk 0,1,2,…`: behind the first word a line of `disks.csv`.
fn row(line: &mut Line, disk: u32, it: &Finished) -> fmt::Result {
    let (client, number) = (it.request.client(), it.request.number());
    write!(line, "disk {disk},{client},{number},{},{},{},", it.from, it.request.granule, u8::from(it.after_pause))?;
    let times = [it.request.arrival, it.started, it.ended].map(Instant::as_nanos);
    writeln!(line, "{},{},{},{}", times[0], times[1], times[2], it.expected.as_nanos())
}

/// A line of text that takes no memory from the heap, which never gets any back.
struct Line {
    bytes: [u8; 224],
    length: usize,
}

impl Default for Line {
    fn default() -> Line {
        Line { bytes: [0; 224], length: 0 }
    }
}

impl Line {
    fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::String;
    use tactus_disk::{parameters, Arrivals};
    use tactus_time::Duration;

    fn settings() -> Settings {
        let period = Duration::from_millis(50);
        let arrivals = [
            Arrivals::Periodic { offset: Duration::ZERO, period, deadline: period },
            Arrivals::BestEffort { outstanding: 2 },
        ];
        let clients = arrivals.iter().zip([0, 1 << 21]).map(|(&arrivals, first)| Client {
            arrivals,
            first,
            extent: 1 << 20,
            places: 8,
            blocks: 16,
            write: false,
        });
        let drive = parameters::source_10k().unwrap();
        let (queue, map, clients) = (Policy::GMatrix(4), Form::Directed, clients.collect());
        Settings { actual: drive.clone(), drive, queue, map, clients, seed: 5, number: 0 }
    }

    fn told(looks: impl Iterator<Item = u64>) -> String {
        let mut disk = Disk::new(settings()).unwrap();
        let mut text = String::new();
        for at in looks {
            disk.work(Instant::from_nanos(at), 8, &mut (), &mut |line| text.push_str(line));
        }
        text
    }

    #[test]
    fn what_is_told_does_not_depend_on_when_the_component_looks() {
        let often = told((0..3_000).map(|n| n * 1_000_000));
        let rarely = told((0..600).map(|n| n * 5_000_000 + n % 7 * 900_000));
        assert!(often.lines().count() > 300, "{}", often.lines().count());
        let same = often.lines().zip(rarely.lines()).all(|(a, b)| a == b);
        assert!(same && rarely.lines().count() + 3 > often.lines().count());
    }
}
