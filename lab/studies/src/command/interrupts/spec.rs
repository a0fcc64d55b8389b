//! The study's file: what is swept, and how a point becomes the parameters of a run.

use serde::Deserialize;
use std::path::Path;
use tactus_machine::failure::Failure;
use tactus_model::parse_duration;
use tactus_packets::counts::BINS;
use tactus_packets::queue::MOST;
use tactus_packets::{Parameters, Setup, STREAMS};
use tactus_time::Duration;

/// Instructions per second of the emulated machine.
const HERE: u64 = 1_000_000_000;
/// The fastest stream that is accepted (packets per second of the source's machine).
const FASTEST: u64 = 2_000_000;

/// The study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What the page of results is called.
    pub title: String,
    /// Cycles per second of the source's machine.
    pub clock: u64,
    work: Work,
    servers: Servers,
    device: Device,
    time: Time,
    /// What is swept.
    #[serde(rename = "sweep")]
    pub sweeps: Vec<Sweep>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Work {
    upcall: u64,
    path: u64,
    driver: u64,
    task: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Servers {
    quantum: String,
    period: u64,
    one: u64,
    each: [u64; STREAMS],
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Device {
    line: u64,
    moderation: String,
    ring: u64,
    mailbox: u64,
    seed: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Time {
    warm_up: u64,
    measured: u64,
}

/// Points of one plot: rates at which several set-ups run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Name, for files.
    pub name: String,
    /// What the plot is called.
    pub title: String,
    /// Letters of the set-ups.
    setups: String,
    /// The first stream's rate, if only the second one's is swept.
    pub first: Option<u64>,
    /// Another `path`, and another `driver`, than those of `[work]`.
    path: Option<u64>,
    driver: Option<u64>,
    /// The swept rate.
    pub rates: Vec<u64>,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Which sweep it belongs to.
    pub sweep: usize,
    /// The set-up.
    pub setup: Setup,
    /// The streams' rates (packets per second of the source's machine).
    pub rates: [u64; STREAMS],
}

impl Sweep {
    /// The set-ups, in the order of the source.
    pub fn setups(&self) -> Vec<Setup> {
        Setup::ALL.into_iter().filter(|setup| self.setups.contains(setup.letter())).collect()
    }
}

impl Spec {
    /// Reads the file.
    pub fn read(file: &Path) -> Result<Spec, Failure> {
        let text = tactus_model::read_ordinary_text(file, 1 << 20)
            .map_err(|error| Failure::Input(format!("{}: {error}", file.display())))?;
        let wrong = |why: String| Failure::Input(format!("{}: {why}", file.display()));
        let spec: Spec = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        spec.check().map_err(wrong)?;
        Ok(spec)
    }

    fn check(&self) -> Result<(), String> {
        let within = |what: &str, value: u64, least: u64, most: u64| {
            let fits = (least..=most).contains(&value);
            fits.then_some(()).ok_or_else(|| format!("{what} = {value}: choose a number from {least} to {most}"))
        };
        within("clock", self.clock, 100_000_000, 10_000_000_000)?;
        let work = &self.work;
        let mut works = vec![("[work] upcall", work.upcall, 2), ("[work] task", work.task, 2)];
        works.extend([("[work] path", work.path, 0), ("[work] driver", work.driver, 0)]);
        for sweep in &self.sweeps {
            works.extend(sweep.path.map(|path| ("[[sweep]] path", path, 0)));
            works.extend(sweep.driver.map(|driver| ("[[sweep]] driver", driver, 0)));
        }
        for (what, work, least) in works {
            within(what, work, least, 10_000_000)?;
            if work % 2 == 1 {
                return Err(format!(
                    "{what} = {work}: the loop that works takes two instructions; choose an even number"
                ));
            }
        }
        within("[servers] period", self.servers.period, 1, 1_000)?;
        for budget in self.servers.each.into_iter().chain([self.servers.one]) {
            within("[servers] budget", budget, 1, self.servers.period)?;
        }
        for (what, text) in [("quantum", &self.servers.quantum), ("moderation", &self.device.moderation)] {
            let length = parse_duration(text).map_err(|error| format!("{what}: {error}"))?;
            within(&format!("{what} (ns)"), length.as_nanos(), 1_000, 1_000_000_000)?;
        }
        within("[device] line", self.device.line, 0, 23)?;
        within("[device] ring", self.device.ring, 1, MOST as u64)?;
        within("[device] mailbox", self.device.mailbox, 1, MOST as u64)?;
        within("[time] warm-up", self.time.warm_up, 1, 20)?;
        within("[time] measured", self.time.measured, 1, BINS as u64 - 24)?;
        for sweep in &self.sweeps {
            let unknown = |c: &char| !Setup::ALL.iter().any(|setup| setup.letter() == *c);
            if let Some(letter) = sweep.setups.chars().find(unknown) {
                return Err(format!("sweep {:?}: there is no set-up {letter:?}, only a, b, c and d", sweep.name));
            }
            if sweep.name.is_empty() || !sweep.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                return Err(format!("sweep {:?}: its name is for files; use letters, digits and -", sweep.name));
            }
            for rate in sweep.rates.iter().copied().chain(sweep.first) {
                within(&format!("sweep {:?}: a rate", sweep.name), rate, 100, FASTEST)?;
            }
        }
        Ok(())
    }

    /// All runs, sweep by sweep.
    pub fn points(&self) -> Vec<Point> {
        let mut points = Vec::new();
        for (number, sweep) in self.sweeps.iter().enumerate() {
            for setup in sweep.setups() {
                let rates = sweep.rates.iter().map(|&rate| [sweep.first.unwrap_or(rate), rate]);
                points.extend(rates.map(|rates| Point { sweep: number, setup, rates }));
            }
        }
        points
    }

    fn length(text: &str) -> u64 {
        // Checked when the file was read.
        parse_duration(text).map_or(0, Duration::as_nanos)
    }

    /// A period of the servers (ns), which is also what one count is for.
    pub fn period(&self) -> u64 {
        self.servers.period * Spec::length(&self.servers.quantum)
    }

    /// The bins that are measured.
    pub fn measured(&self) -> std::ops::Range<usize> {
        self.time.warm_up as usize..(self.time.warm_up + self.time.measured) as usize
    }

    /// A rate of the source's machine on this one.
    fn here(&self, rate: u64) -> u64 {
        (u128::from(rate) * u128::from(HERE) / u128::from(self.clock)) as u64
    }

    /// A number of packets that were counted in the measured time, as a rate of the source's machine.
    pub fn there(&self, packets: u64) -> f64 {
        let seconds = (self.time.measured * self.period()) as f64 / 1e9;
        packets as f64 / seconds * self.clock as f64 / HERE as f64
    }

    /// What the run is told.
    pub fn parameters(&self, point: &Point) -> Parameters {
        let sweep = &self.sweeps[point.sweep];
        let quantum = Spec::length(&self.servers.quantum);
        let budgets = match point.setup {
            Setup::Servers => self.servers.each,
            _ => [self.servers.one, 0],
        };
        Parameters {
            setup: point.setup,
            rates: point.rates.map(|rate| self.here(rate)),
            upcall_work: self.work.upcall + sweep.path.unwrap_or(self.work.path),
            driver_work: sweep.driver.unwrap_or(self.work.driver),
            task_work: self.work.task,
            quantum,
            period: self.period(),
            budgets: budgets.map(|quanta| quanta * quantum),
            bin: self.period(),
            duration: (self.time.warm_up + self.time.measured) * self.period(),
            moderation: Spec::length(&self.device.moderation),
            ring: self.device.ring,
            mailbox: self.device.mailbox,
            seed: self.device.seed,
            line: self.device.line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        let spec: Spec = toml::from_str(include_str!("../../../interrupts.toml")).expect("our own file");
        spec.check().expect("our own file");
        spec
    }

    #[test]
    fn rates_of_the_source_become_rates_of_this_machine_and_back() {
        let spec = spec();
        let point = Point { sweep: 0, setup: Setup::Servers, rates: [24_000, 240_000] };
        let parameters = spec.parameters(&point);
        assert_eq!(parameters.rates, [10_000, 100_000]);
        assert_eq!(parameters.budgets, [50_000_000, 20_000_000]);
        // One second is measured.
        assert_eq!(spec.there(10_000) as u64, 24_000);
    }

    #[test]
    fn what_the_machine_cannot_do_is_refused_with_the_key() {
        let refused = |from: &str, to: &str| {
            let text = include_str!("../../../interrupts.toml").replace(from, to);
            toml::from_str::<Spec>(&text).map_err(|error| error.to_string()).and_then(|spec| spec.check()).unwrap_err()
        };
        assert!(refused("upcall = 14_000", "upcall = 14_001").contains("[work] upcall"));
        assert!(refused("one = 7", "one = 21").contains("[servers] budget"));
        assert!(refused("\"abcd\"", "\"abx\"").contains("'x'"));
        assert!(refused("ring = 200", "rings = 200").contains("rings"));
    }
}
