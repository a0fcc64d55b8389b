//! What one run of the study is told: the host writes it as the root scheduler's plan, components ask the scheduler.

use crate::STREAMS;

/// How interrupts are scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Setup {
    /// One interrupt thread for all packets, above both tasks.
    OneThread = 0,
    /// A brand for each stream, each just above its task.
    Brands = 1,
    /// One interrupt thread above both tasks, within one deferrable server.
    OneServer = 2,
    /// A brand for each stream, each just above its task and within a deferrable server of its own.
    Servers = 3,
}

impl Setup {
    /// All of them, in the order of the source.
    pub const ALL: [Setup; 4] = [Setup::OneThread, Setup::Brands, Setup::OneServer, Setup::Servers];

    /// The set-up with this number.
    pub fn from_u64(number: u64) -> Option<Setup> {
        Setup::ALL.into_iter().find(|setup| *setup as u64 == number)
    }

    /// The letter that the source gives it.
    pub const fn letter(self) -> char {
        match self {
            Setup::OneThread => 'a',
            Setup::Brands => 'b',
            Setup::OneServer => 'c',
            Setup::Servers => 'd',
        }
    }

    /// Whether each stream has a brand, and so a queue, of its own.
    pub const fn brand_for_each(self) -> bool {
        matches!(self, Setup::Brands | Setup::Servers)
    }

    /// Whether upcalls run within deferrable servers.
    pub const fn served(self) -> bool {
        matches!(self, Setup::OneServer | Setup::Servers)
    }
}

/// The parameters of a run. Times in ns, work in instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// See [`Setup`].
    pub setup: Setup,
    /// Packets per second of each stream; 0 for none.
    pub rates: [u64; STREAMS],
    /// Protocol work for each packet, in the upcall.
    pub upcall_work: u64,
    /// The driver's work for each packet, beyond what it has to do.
    pub driver_work: u64,
    /// Work of a task for each packet.
    pub task_work: u64,
    /// Round robin's quantum.
    pub quantum: u64,
    /// Period of the deferrable servers.
    pub period: u64,
    /// Budget of the one server, or of the first stream's.
    pub budgets: [u64; STREAMS],
    /// Length of what one count is for.
    pub bin: u64,
    /// Length of the run.
    pub duration: u64,
    /// The device interrupts at most once in this time.
    pub moderation: u64,
    /// Places of a queue between driver and upcall.
    pub ring: u64,
    /// Places of a mailbox between upcall and task.
    pub mailbox: u64,
    /// Seed of the times between packets.
    pub seed: u64,
    /// The interrupt line of the device.
    pub line: u64,
}

impl Parameters {
    /// Words of the stored form.
    pub const WORDS: usize = 17;

    /// The stored form.
    pub const fn words(&self) -> [u64; Parameters::WORDS] {
        [
            self.setup as u64,
            self.rates[0],
            self.rates[1],
            self.upcall_work,
            self.task_work,
            self.quantum,
            self.period,
            self.budgets[0],
            self.budgets[1],
            self.bin,
            self.duration,
            self.moderation,
            self.ring,
            self.mailbox,
            self.seed,
            self.line,
            self.driver_work,
        ]
    }

    /// Reads the stored form; nothing if there is no such set-up.
    pub fn from_words(words: [u64; Parameters::WORDS]) -> Option<Parameters> {
        let [setup, first, second, upcall_work, task_work, quantum, period, one, two, bin, duration, moderation, ring, mailbox, seed, line, driver_work] =
            words;
        Some(Parameters {
            setup: Setup::from_u64(setup)?,
            rates: [first, second],
            upcall_work,
            task_work,
            quantum,
            period,
            budgets: [one, two],
            bin,
            duration,
            moderation,
            ring,
            mailbox,
            seed,
            line,
            driver_work,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_as_they_were_written() {
        let words = core::array::from_fn(|place| place as u64 + 2);
        let parameters = Parameters::from_words(words).expect("set-up 2 exists");
        assert_eq!(parameters.words(), words);
        assert_eq!(parameters.setup, Setup::OneServer);
        assert_eq!(Parameters::from_words([4; Parameters::WORDS]), None);
    }
}
