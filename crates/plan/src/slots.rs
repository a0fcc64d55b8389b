//! What each slot offers, and what becomes of each load: the step from the system file to what loader and simulator go by.
//!
//! What a load takes, and whether it is refused, follows from the packages, the slots and the order of the file: nothing in a run alters
//! it. So it is worked out here, by the code that the loader has.

mod update;

use tactus_analysis::{slot_supplies, CacheDelay, SlotSupply};
use tactus_model::{Costs, Load, LoadKind, Slot, System, TaskOrder};
use tactus_package::admission::{Demand, Order, Supply, Work};
use tactus_package::keys::TrustedKey;
use tactus_package::load::{self, Outcome};
use tactus_package::manifest::{Manifest, Processor, Right, RightKind, Version};
use tactus_package::slot::Slot as Offered;
use tactus_record::SlotRefusal;
use tactus_task::{LoaderSteps, SlotLoad, SlotTaskValues, SlotTold};
use tactus_time::{Duration, TaskId};

/// Programs lie between these addresses.
const ADDRESSES: (u64, u64) = (0x20_0000, 0x40_0000);

/// What a slot offers to a program: what its server gives, who runs first in it, and what the system's own work adds to each job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotOffer {
    /// What its server gives at least; a budget of zero, for which nothing is admitted, where nothing is sure.
    pub supply: Supply,
    /// Who runs first inside.
    pub order: Order,
    /// The system's own work for each job, charged to its task.
    pub cost_of_job: Duration,
}

/// What each slot offers, in the order of the file.
pub fn offers(system: &System, costs: &Costs) -> Vec<SlotOffer> {
    let found = slot_supplies(system, costs, CacheDelay::None);
    let mut all: Vec<SlotOffer> =
        system.slots.iter().zip(found).map(|(slot, found)| offer(system, slot, found)).collect();
    // What fits one slot of a pair is to fit the other: each offers the least of both.
    for load in &system.loads {
        let LoadKind::Update { other, .. } = load.what else { continue };
        let (a, b) = (all[load.slot], all[other]);
        let supply = Supply {
            budget: a.supply.budget.min(b.supply.budget),
            period: a.supply.period.max(b.supply.period),
            blackout: a.supply.blackout.max(b.supply.blackout),
        };
        let both = SlotOffer { supply, order: a.order, cost_of_job: a.cost_of_job.max(b.cost_of_job) };
        (all[load.slot], all[other]) = (both, both);
    }
    all
}

fn offer(system: &System, slot: &Slot, found: Option<SlotSupply>) -> SlotOffer {
    let server = &system.scheduling.servers[slot.server];
    let nothing = Supply { budget: Duration::ZERO, period: server.period, blackout: server.period };
    let supply = found.map_or(nothing, |it| Supply {
        budget: it.supply.budget,
        period: it.supply.period,
        blackout: it.supply.blackout,
    });
    let order = match server.order {
        TaskOrder::FixedPriority => Order::FixedPriority,
        _ => Order::EarliestDeadline,
    };
    SlotOffer { supply, order, cost_of_job: found.map_or(Duration::ZERO, |it| it.completion) }
}

/// The rights that a program in the slot may have.
pub fn rights<'s>(system: &'s System, slot: &Slot) -> Vec<Right<'s>> {
    let uses = &system.components[slot.component].uses;
    uses.iter().map(|grant| Right { kind: RightKind::Service, name: &grant.name }).collect()
}

impl SlotOffer {
    /// The slot as packages are judged by it. `rights`: what programs in there may have, `least` the least sequence number that may come.
    pub fn judged<'s>(&self, slot: &'s Slot, rights: &'s [Right<'s>], least: u64) -> Offered<'s> {
        Offered {
            class: &slot.class,
            processor: Processor::X86_64.number(),
            addresses: ADDRESSES,
            pages: slot.pages,
            heap: slot.heap,
            tasks: slot.tasks.len(),
            rights,
            supply: self.supply,
            order: self.order,
            cost_of_job: self.cost_of_job,
            least_sequence_number: least,
            replaces: None,
        }
    }
}

/// A load as it is planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedLoad {
    /// What it is, in words: `blink 1.0.0`; nothing for an unload.
    pub program: Option<String>,
    /// The names of the program's tasks.
    pub tasks: Vec<String>,
    /// Why it is refused, in full.
    pub refused: Option<String>,
}

/// What is in a slot while the plan is made.
#[derive(Clone, Default)]
struct Inside {
    /// Pages of the program that is there.
    pages: Option<u64>,
    /// The greatest sequence number that was there.
    newest: u64,
    /// The load of the program that is there, or was there last, by its place in [`System::loads`].
    load: usize,
    /// That of the program that was saved last, and its pages.
    saved: Option<(usize, u64)>,
    /// What its tasks ask for, the system's own work included.
    demands: Vec<Demand>,
}

/// What becomes of each load, in the order of [`System::loads`], and what the loader does for it; nothing if there is no loader.
pub fn loads(system: &System, offers: &[SlotOffer]) -> Option<(LoaderSteps, Vec<PlannedLoad>)> {
    let (_, task) = system.loader()?;
    let mut inside = vec![Inside::default(); system.slots.len()];
    let (mut steps, mut planned, mut trials) = (Vec::new(), Vec::new(), Vec::new());
    for (n, it) in system.loads.iter().enumerate() {
        if let LoadKind::Update { .. } = it.what {
            let period = system.tasks[task].period;
            let (taken, plan) = update::plan(system, (it, &offers[it.slot]), &mut inside, period);
            trials.push(match &taken.told {
                SlotTold::Update(trial) => trial.settles_after,
                _ => 0,
            });
            steps.push(taken.of(it));
            planned.push(plan);
            continue;
        }
        let saved = match it.what {
            LoadKind::Restore { from } => inside[from].saved,
            _ => None,
        };
        let (slot, inside) = (&system.slots[it.slot], &mut inside[it.slot]);
        let offer = &offers[it.slot];
        let (taken, plan) = match (&it.what, inside.pages) {
            (LoadKind::Update { .. }, _) => unreachable!("it concerns two slots"),
            (LoadKind::Load { bytes, .. }, None) => {
                let outcome = outcome(system, slot, offer, inside.newest, bytes);
                if let Ok((manifest, pages)) = &outcome.result {
                    let newest = inside.newest.max(manifest.sequence_number);
                    let demands = asked(manifest, offer);
                    *inside = Inside { pages: Some(*pages), newest, load: n, demands, ..*inside };
                }
                judged(slot, offer, outcome)
            }
            (LoadKind::Load { .. } | LoadKind::Restore { .. }, Some(_)) => refused(SlotRefusal::Full),
            (LoadKind::Save, Some(pages)) => {
                (inside.pages, inside.saved) = (None, Some((inside.load, pages)));
                let (mut taken, _) = judged(slot, offer, of_load(system, slot, offer, inside, inside.load));
                if let SlotTold::Loaded(tasks) = taken.told {
                    taken.told = SlotTold::Saved(tasks);
                }
                (taken.steps, taken.rest) = (1, slot.extent(pages).save_steps() - 1);
                (taken, PlannedLoad { program: None, tasks: Vec::new(), refused: None })
            }
            (LoadKind::Restore { from }, None) => match saved {
                None => refused(SlotRefusal::Unsaved),
                Some((load, pages)) => {
                    let outcome = of_load(system, slot, offer, inside, load);
                    if let Ok((manifest, _)) = &outcome.result {
                        inside.demands = asked(manifest, offer);
                        inside.newest = inside.newest.max(manifest.sequence_number);
                    }
                    let (mut taken, plan) = judged(slot, offer, outcome);
                    let extent = slot.extent(pages);
                    match taken.told {
                        SlotTold::Loaded(tasks) => {
                            (inside.pages, inside.load) = (Some(pages), load);
                            taken.told = SlotTold::Restored { from: *from as u16, tasks };
                            taken.steps = extent.restore_steps(taken.steps);
                        }
                        // An older one than what was there since.
                        _ => taken.steps += extent.verify_steps(),
                    }
                    (taken, plan)
                }
            },
            (LoadKind::Unload, Some(pages)) => {
                inside.pages = None;
                let rest = load::unload_steps(pages) - 1;
                (
                    Taken { steps: 1, rest, told: SlotTold::Unloaded },
                    PlannedLoad { program: None, tasks: Vec::new(), refused: None },
                )
            }
            (LoadKind::Unload | LoadKind::Save, None) => refused(SlotRefusal::Empty),
        };
        steps.push(taken.of(it));
        planned.push(plan);
    }
    let own = &system.tasks[task];
    let steps = LoaderSteps { task: TaskId(task as u16), offset: own.offset, period: own.period, loads: steps, trials };
    Some((steps, planned))
}

/// What becomes of a package in the slot.
fn outcome<'b>(system: &System, slot: &Slot, offer: &SlotOffer, newest: u64, bytes: &'b [u8]) -> Outcome<'b> {
    let rights = rights(system, slot);
    let least = if slot.older { 0 } else { newest };
    let keys: Vec<TrustedKey> = slot.keys.iter().filter_map(|key| TrustedKey::new(*key)).collect();
    let offered = offer.judged(slot, &rights, least);
    load::steps(bytes, slot.set_back_steps(), &keys, &offered, Work::OF_AN_ADMISSION)
}

/// As [`outcome`], of the package of a load that was before.
fn of_load<'s>(system: &'s System, slot: &Slot, offer: &SlotOffer, inside: &Inside, load: usize) -> Outcome<'s> {
    match &system.loads[load].what {
        LoadKind::Load { bytes, .. } | LoadKind::Update { bytes, .. } => {
            outcome(system, slot, offer, inside.newest, bytes)
        }
        LoadKind::Unload | LoadKind::Save | LoadKind::Restore { .. } => unreachable!("a program comes with a package"),
    }
}

/// What the loader does for a load.
struct Taken {
    steps: u64,
    rest: u64,
    told: SlotTold,
}

impl Taken {
    fn of(self, load: &Load) -> SlotLoad {
        SlotLoad { at: load.at, slot: load.slot as u16, steps: self.steps, rest: self.rest, told: self.told }
    }
}

/// What the tasks of a program ask for in the slot.
fn asked(manifest: &Manifest<'_>, offer: &SlotOffer) -> Vec<Demand> {
    let (demands, count) = tactus_package::slot::demands(manifest, offer.cost_of_job);
    demands[..count].to_vec()
}

fn refused(why: SlotRefusal) -> (Taken, PlannedLoad) {
    let planned = PlannedLoad { program: None, tasks: Vec::new(), refused: Some(why.words().into()) };
    (Taken { steps: 1, rest: 0, told: SlotTold::Refused(why) }, planned)
}

fn judged(slot: &Slot, offer: &SlotOffer, outcome: Outcome<'_>) -> (Taken, PlannedLoad) {
    let Outcome { steps, result } = outcome;
    match result {
        Ok((manifest, _)) => {
            let told = SlotTold::Loaded(values(slot, offer, &manifest));
            let program = Some(format!("{} {}", manifest.name, Version::of(manifest.sequence_number)));
            let tasks = manifest.tasks.iter().map(|task| format!("{}.{}", manifest.name, task.name)).collect();
            (Taken { steps, rest: 0, told }, PlannedLoad { program, tasks, refused: None })
        }
        Err(refusal) => {
            let told = SlotTold::Refused(refusal.reason());
            let refused = Some(refusal.to_string());
            (Taken { steps, rest: 0, told }, PlannedLoad { program: None, tasks: Vec::new(), refused })
        }
    }
}

/// What the scheduler is told of the tasks of a program.
fn values(slot: &Slot, offer: &SlotOffer, manifest: &Manifest<'_>) -> Vec<SlotTaskValues> {
    let tasks = manifest.tasks.iter().zip(slot.tasks.clone());
    let one = |(task, n): (&tactus_package::manifest::PackageTask<'_>, usize)| SlotTaskValues {
        task: TaskId(n as u16),
        execution: task.demand.execution + offer.cost_of_job,
        demand: task.demand.execution,
        period: task.demand.period,
        deadline: task.demand.deadline,
        // In a package the smaller is more urgent.
        priority: u32::MAX - task.demand.priority,
    };
    tasks.map(one).collect()
}
