//! Into which slots of a system a package fits, by the code that its loader has.

use crate::slots::{offers, rights};
use std::fmt;
use tactus_model::{Costs, System};
use tactus_package::admission::{bound, Work};
use tactus_package::envelope::Envelope;
use tactus_package::keys::TrustedKey;
use tactus_package::load;
use tactus_package::manifest::Version;
use tactus_package::slot::demands;
use tactus_package::Refusal;
use tactus_record::SlotRefusal;
use tactus_time::Duration;

/// What becomes of a package in a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlotFit {
    /// The slot's name.
    pub slot: String,
    /// Its pages for a program.
    pub pages: u64,
    /// What the package is there, or why it is refused.
    pub result: Result<Fitting, Unfit>,
}

/// Why a package does not fit a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfit {
    /// The kind of reason, as records have it.
    pub reason: SlotRefusal,
    /// The task of the package that is to blame, if one is, by its place in the manifest.
    pub task: Option<usize>,
    /// With the values that broke the rule.
    pub words: String,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// A refusal, and the place of the task that it names.
fn unfit(package: &[u8], refusal: &Refusal<'_>) -> Unfit {
    let manifest = Envelope::read(package).and_then(|it| it.claims()).ok();
    let task =
        refusal.task().zip(manifest).and_then(|(name, manifest)| manifest.tasks.iter().position(|it| it.name == name));
    Unfit { reason: refusal.reason(), task, words: refusal.to_string() }
}

/// A package that fits a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fitting {
    /// Its name and version.
    pub program: String,
    /// Pages that it takes.
    pub pages: u64,
    /// Jobs of the loader until its tasks begin.
    pub jobs: u64,
    /// Its tasks.
    pub tasks: Vec<FittingTask>,
}

/// A task of a package that fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FittingTask {
    /// Its name.
    pub name: String,
    /// The bound on its response: its deadline where the earliest deadline runs first.
    pub bound: Duration,
    /// Its deadline.
    pub deadline: Duration,
}

/// What becomes of a package in each slot of the system, if it is empty and nothing was there before.
pub fn slot_fits(system: &System, costs: &Costs, package: &[u8]) -> Vec<SlotFit> {
    let offers = offers(system, costs);
    let fit = |(slot, offer): (&tactus_model::Slot, &crate::SlotOffer)| {
        let rights = rights(system, slot);
        let keys: Vec<TrustedKey> = slot.keys.iter().filter_map(|key| TrustedKey::new(*key)).collect();
        let offered = offer.judged(slot, &rights, 0);
        let outcome = load::steps(package, slot.set_back_steps(), &keys, &offered, Work::OF_AN_ADMISSION);
        let fitting = |(manifest, pages): (tactus_package::manifest::Manifest<'_>, u64)| {
            let (demands, count) = demands(&manifest, offered.cost_of_job);
            let task = |(n, task): (usize, &tactus_package::manifest::PackageTask<'_>)| FittingTask {
                name: task.name.to_string(),
                bound: bound(&demands[..count], offered.order, &offered.supply, n).unwrap_or(task.demand.deadline),
                deadline: task.demand.deadline,
            };
            Fitting {
                program: format!("{} {}", manifest.name, Version::of(manifest.sequence_number)),
                pages,
                jobs: outcome.steps,
                tasks: manifest.tasks.iter().enumerate().map(task).collect(),
            }
        };
        let result = outcome.result.map(fitting).map_err(|refusal| unfit(package, &refusal));
        SlotFit { slot: slot.name.clone(), pages: slot.pages, result }
    };
    system.slots.iter().zip(&offers).map(fit).collect()
}
