//! A slot, and whether a package may be loaded into it.
//!
//! The check of the system has counted the slot's server at its full budget, so what is loaded moves nobody outside. What is decided
//! here is about the newcomer alone: who made it, whether it fits, whether it may have what it wants, and whether its own tasks meet
//! their deadlines inside the slot's supply. Every step is bounded: the signature covers at most
//! [`crate::manifest::LONGEST_MANIFEST`] bytes, the digest of the program is taken a piece at a time, the admission has its [`Work`].

use crate::admission::{admit, Demand, Order, Supply, Work, MOST_TASKS};
use crate::envelope::Envelope;
use crate::keys::TrustedKey;
use crate::manifest::{Manifest, PackageTask, Right};
use crate::program::Program;
use crate::refusal::Refusal;
use hmac_sha256::Hash;
use tactus_time::Duration;

/// What a slot offers and allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot<'s> {
    /// Its kind: packages say for which one they are made.
    pub class: &'s str,
    /// The processor, as [`crate::manifest::Processor::number`] has it.
    pub processor: u16,
    /// Programs lie between these addresses.
    pub addresses: (u64, u64),
    /// Pages for the program.
    pub pages: u64,
    /// Bytes of heap.
    pub heap: u64,
    /// The most tasks.
    pub tasks: usize,
    /// Rights that a program here may have.
    pub rights: &'s [Right<'s>],
    /// What its server gives at least.
    pub supply: Supply,
    /// Who runs first inside.
    pub order: Order,
    /// The system's own work for each job, charged to its task.
    pub cost_of_job: Duration,
    /// The least sequence number that is accepted: the greatest that ran here, or 0 where the file allows the way back.
    pub least_sequence_number: u64,
    /// What it has to go on from, if it is to replace a program.
    pub replaces: Option<Replaced<'s>>,
}

/// A program that is to be replaced while it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replaced<'s> {
    /// The periods of its tasks: each task of the new version has the releases of the one in its place.
    pub periods: &'s [Duration],
    /// The service that keeps its state, which both use.
    pub state: &'s str,
}

/// A package that may be loaded, once the whole of its program has been read.
#[derive(Clone)]
pub struct Candidate<'b> {
    /// What it says of itself.
    pub manifest: Manifest<'b>,
    program: &'b [u8],
    addresses: (u64, u64),
    pages: u64,
    read: usize,
    hash: Hash,
}

/// Judges a package by all that does not need its whole program: signature, manifest, rights, admission.
pub fn judge<'b>(
    package: &'b [u8],
    keys: &[TrustedKey],
    slot: &Slot<'_>,
    work: Work,
) -> Result<Candidate<'b>, Refusal<'b>> {
    let candidate = vouched(package, keys, slot)?;
    admitted(&candidate.manifest, slot, work)?;
    Ok(candidate)
}

/// Judges a package by what is signed: by whom, and whether what the manifest asks for is there.
pub fn vouched<'b>(package: &'b [u8], keys: &[TrustedKey], slot: &Slot<'_>) -> Result<Candidate<'b>, Refusal<'b>> {
    let envelope = Envelope::read(package).map_err(Refusal::Malformed)?;
    let manifest = envelope.verified(keys)?;
    fits(&manifest, slot)?;
    if envelope.program.len() as u64 != manifest.image_size {
        return Err(Refusal::ImageSize { said: manifest.image_size, is: envelope.program.len() as u64 });
    }
    Ok(Candidate {
        manifest,
        program: envelope.program,
        addresses: slot.addresses,
        pages: slot.pages,
        read: 0,
        hash: Hash::new(),
    })
}

/// Whether a slot has what a manifest asks for; not yet whether its tasks meet their deadlines there.
pub fn fits<'b>(manifest: &Manifest<'b>, slot: &Slot<'_>) -> Result<(), Refusal<'b>> {
    if manifest.processor != slot.processor {
        return Err(Refusal::Processor { wanted: slot.processor, is: manifest.processor });
    }
    if manifest.class != slot.class {
        return Err(Refusal::Class { is: manifest.class });
    }
    if manifest.sequence_number < slot.least_sequence_number {
        return Err(Refusal::Older { is: manifest.sequence_number, least: slot.least_sequence_number });
    }
    if manifest.tasks.len() > slot.tasks {
        return Err(Refusal::TooManyTasks { wanted: manifest.tasks.len(), most: slot.tasks });
    }
    if manifest.heap > slot.heap {
        return Err(Refusal::Heap { wanted: manifest.heap, most: slot.heap });
    }
    for right in manifest.rights.iter() {
        let allowed = |own: &Right<'_>| (own.kind, own.name) == (right.kind, right.name);
        if !slot.rights.iter().any(allowed) {
            return Err(Refusal::Right { kind: right.kind, name: right.name });
        }
    }
    if let Some(old) = &slot.replaces {
        if !manifest.rights.iter().any(|right| right.name == old.state) {
            return Err(Refusal::State);
        }
        let same = |(task, period): (&PackageTask<'_>, &Duration)| task.demand.period == *period;
        if manifest.tasks.len() != old.periods.len() || !manifest.tasks.iter().zip(old.periods).all(same) {
            return Err(Refusal::Releases);
        }
    }
    Ok(())
}

/// Whether a manifest's tasks meet their deadlines in a slot's supply.
pub fn admitted<'b>(manifest: &Manifest<'b>, slot: &Slot<'_>, work: Work) -> Result<(), Refusal<'b>> {
    let (demands, count) = demands(manifest, slot.cost_of_job);
    admit(&demands[..count], slot.order, &slot.supply, work).map_err(|why| Refusal::Unschedulable {
        why,
        task: why.task().and_then(|n| manifest.tasks.iter().nth(n)).map(|task| task.name),
    })?;
    // The bounds of others count the system's own work for each task in here once in every period of the server.
    let least = slot.supply.period;
    if let Some(task) = manifest.tasks.iter().find(|task| task.demand.period < least) {
        return Err(Refusal::TooOften { task: task.name, period: task.demand.period, least });
    }
    Ok(())
}

/// What a manifest's tasks ask for with the system's own work for each job, and how many they are.
pub fn demands(manifest: &Manifest<'_>, cost_of_job: Duration) -> ([Demand; MOST_TASKS], usize) {
    const NONE: Demand =
        Demand { execution: Duration::ZERO, period: Duration::ZERO, deadline: Duration::ZERO, priority: 0 };
    let mut demands = [NONE; MOST_TASKS];
    let mut count = 0;
    for (place, task) in demands.iter_mut().zip(manifest.tasks.iter()) {
        // A task that executes nothing is none, whatever its jobs cost.
        let execution = match task.demand.execution {
            Duration::ZERO => Duration::ZERO,
            own => own.checked_add(cost_of_job).unwrap_or(Duration::MAX),
        };
        *place = Demand { execution, ..task.demand };
        count += 1;
    }
    (demands, count)
}

impl<'b> Candidate<'b> {
    /// Reads up to `bytes` more of the program; true when all of it has been read.
    pub fn read(&mut self, bytes: usize) -> bool {
        let end = self.program.len().min(self.read.saturating_add(bytes));
        self.hash.update(&self.program[self.read..end]);
        self.read = end;
        end == self.program.len()
    }

    /// The program, once it has been read whole: its digest and segments are checked.
    pub fn program(mut self) -> Result<Program<'b>, Refusal<'b>> {
        self.read(usize::MAX);
        if self.hash.finalize() != self.manifest.image_digest {
            return Err(Refusal::ImageDigest);
        }
        let (from, to) = self.addresses;
        let program = Program::read(self.program, self.manifest.processor, from, to).map_err(Refusal::Program)?;
        if program.pages() > self.pages {
            return Err(Refusal::Memory { wanted: program.pages(), most: self.pages });
        }
        Ok(program)
    }
}
