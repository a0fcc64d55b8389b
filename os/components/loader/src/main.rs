//! The loader: in each of its jobs one step, so that its budget bounds what it does at once.
//!
//! What comes and goes stands in the system file; the packages lie in the image, where nobody but the loader sees them. Nothing that a
//! package says is believed before it was checked (`tactus-package`, the same code that the host has), and a slot is not touched
//! before nothing can refuse the package any more. The kernel keeps what this component must not do: it reaches its own window and
//! those of its slots, and no page there is written and executed.
//!
//! Loads and unloads are done one after another. One begins with the first job that is released at its instant or later. What comes over
//! the [`network`] is looked for between them.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod network;
mod pages;
mod snapshot;
#[cfg(feature = "memory-errors")]
mod wear;

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use network::{Arrivals, Found, Request};
use snapshot::{Restoring, Snapshot};
use tactus_package::admission::{Order, Supply, Work, MOST_TASKS};
use tactus_package::keys::TrustedKey;
use tactus_package::load::{unload_step, Loading, Step, UnloadStep, PAGES};
use tactus_package::manifest::{Manifest, Right, RightKind, MOST_RIGHTS};
use tactus_package::program::Program;
use tactus_package::slot::{Replaced, Slot};
use tactus_package::snapshot::Seal;
use tactus_record::SlotRefusal;
use tactus_rt::abi::layout::{PAGE, PROGRAM, WINDOW_PAGES};
use tactus_rt::abi::slot::{label_text, load as what, LoadCard, SlotCard, SlotChange, SlotReport, LABEL_BYTES, SLOT};
use tactus_rt::time::{Duration, Instant};
use tactus_rt::{calls, grant, slots, Error, Job, Single};

tactus_rt::component! { job: load, services: [] }

/// The most slots.
const MOST_SLOTS: usize = 8;
/// The most keys of a slot.
const MOST_KEYS: usize = 8;

static LOADER: Single<Loader> = Single::new();

fn load(job: &Job) {
    LOADER.with_first(Loader::new, |loader| loader.step(job.release()));
}

/// What is known of a slot.
struct Filled {
    /// The program in it.
    program: Option<Program<'static>>,
    /// The package that it came with.
    package: &'static [u8],
    /// What was saved of the slot.
    snapshot: Snapshot,
    /// The least sequence number that it accepts.
    least: u64,
    /// How many tasks the program has, and their periods (ns).
    tasks: usize,
    periods: &'static [AtomicU64; MOST_TASKS],
}

/// By slot: the periods of its program's tasks. Beside the loader, which is made on a stack that has no room for them.
static PERIODS: [[AtomicU64; MOST_TASKS]; MOST_SLOTS] =
    [const { [const { AtomicU64::new(0) }; MOST_TASKS] }; MOST_SLOTS];

/// Which slots a load is about.
#[derive(Clone, Copy)]
struct Target {
    /// The one that the program comes into, or goes from.
    slot: usize,
    /// The one of the program that it is to replace.
    from: Option<usize>,
}

/// What is under way.
#[derive(Clone, Copy)]
enum Doing {
    /// A load; whether its first step has been taken.
    Load(bool),
    /// Steps taken so far.
    Unload(u64),
    /// Steps taken so far.
    Save(u64),
    Restore(Restoring),
    /// A new version is on trial for this number of jobs yet.
    Trial(Target, u64),
    /// The program that is not in use any more is given back: steps taken so far.
    GiveBack(Target, u64),
    /// The kernel did not do what was asked, and this is why: this number of pages of the program is still to be taken back.
    Abandon(u64, SlotRefusal),
}

/// What becomes of what is under way by a step: what follows, nothing if it is over.
type Outcome = Result<Option<Doing>, SlotRefusal>;

/// All of it lies in the component's own memory and is changed there: a stack has no room for a package's manifest twice.
struct Loader {
    /// The load or unload that is under way, or comes next.
    next: usize,
    doing: Option<Doing>,
    loading: Loading<'static>,
    /// The digest of what is saved, or compared.
    seal: Seal,
    slots: [Filled; MOST_SLOTS],
    arrivals: Arrivals,
    /// How many loads and unloads the network has caused.
    caused: usize,
}

/// A step of the kernel's did not come about.
struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Failed {
        Failed
    }
}

impl Loader {
    fn new() -> Loader {
        let slots = core::array::from_fn(|slot| Filled {
            program: None,
            package: &[],
            snapshot: Snapshot::NONE,
            least: 0,
            tasks: 0,
            periods: &PERIODS[slot],
        });
        Loader {
            next: 0,
            doing: None,
            loading: Loading::new(&[], 0),
            seal: Seal::new(),
            slots,
            arrivals: Arrivals::new(),
            caused: 0,
        }
    }

    /// Takes one step, in a job that was released then.
    fn step(&mut self, release: Instant) {
        if self.arrivals.under_way.is_some() {
            return self.step_of_network();
        }
        let due = |load: &&LoadCard| self.doing.is_some() || release.as_nanos() >= load.at;
        let Some(load) = slots::loads().get(self.next).filter(due) else { return self.arrivals.listen() };
        if self.one(load, slots::package(load), self.next as u16).is_some() {
            self.next += 1;
        }
    }

    /// Takes one step of what the network has asked for.
    fn step_of_network(&mut self) {
        let Some((request, place, found)) = self.arrivals.under_way else { return };
        let (what, package) = match request {
            Request::Host(package) => (what::LOAD, package),
            Request::End => (what::UNLOAD, &[][..]),
        };
        // Slots that have a program are left out.
        let mut slots = place..slots::slots().len();
        let slot = match request {
            Request::Host(_) if self.doing.is_none() => slots.find(|slot| !self.is_full(*slot as u32)),
            _ => slots.next(),
        };
        let Some(slot) = slot else {
            let full = Found { reason: SlotRefusal::Full, task: None };
            return self.arrivals.answer(Err(found.unwrap_or(full)));
        };
        let load = LoadCard {
            at: 0,
            slot: slot as u32,
            what,
            offset: 0,
            bytes: 0,
            settles_after: 0,
            other: 0,
            trial: 0,
            state: [0; LABEL_BYTES],
        };
        let number = slots::loads().len() + self.caused;
        let ended = self.one(&load, package, number as u16);
        self.caused += usize::from(ended.is_some());
        match (ended, request) {
            (None, _) => self.arrivals.under_way = Some((request, slot, found)),
            (Some(Ok(())), _) => self.arrivals.answer(Ok(slot)),
            (Some(Err(reason)), Request::Host(_)) => {
                let new = Found { reason, task: self.loading.blamed() };
                let first = found.filter(|it| it.reason != SlotRefusal::Kind || reason == SlotRefusal::Kind);
                self.arrivals.under_way = Some((request, slot + 1, Some(first.unwrap_or(new))));
            }
            (Some(Err(reason)), Request::End) => self.arrivals.answer(Err(Found { reason, task: None })),
        }
    }

    /// Takes one step of what is asked for: nothing as long as it is not over, then whether it was done.
    fn one(&mut self, load: &LoadCard, package: &'static [u8], number: u16) -> Option<Result<(), SlotRefusal>> {
        let doing = match self.doing {
            Some(doing) => Ok(doing),
            None => self.begin(load),
        };
        let target = self.target(load);
        let mut periods = [Duration::ZERO; MOST_TASKS];
        let old = target.from.and_then(|from| self.slots.get(from));
        let replaces = old.map(|old| {
            periods.iter_mut().zip(old.periods).for_each(|(it, ns)| *it = Duration::from_nanos(ns.load(Relaxed)));
            Replaced { periods: &periods[..old.tasks], state: label_text(&load.state) }
        });
        let least = old.map_or(0, |old| old.least);
        let is_restore = load.what == what::RESTORE;
        let other = self.slots.get(load.other as usize).filter(|_| is_restore);
        let saved = other.map(|it| (load.other as u16, it.snapshot));
        let (Some(card), Some(filled)) = (slots::slots().get(target.slot), self.slots.get_mut(target.slot)) else {
            calls::give_up()
        };
        filled.least = filled.least.max(least);
        let change = SlotChange { slot: load.slot as u16, load: number };
        let (loading, seal) = (&mut self.loading, &mut self.seal);
        let after = match doing {
            Err(why) => Err(why),
            Ok(Doing::Load(begun)) => {
                if !begun {
                    *loading = Loading::new(package, card.set_back);
                }
                load_step(loading, (!begun, replaces), (load, package), (card, filled), (target, change))
            }
            Ok(Doing::Unload(step)) => Ok(unload(step, card, filled, change)),
            Ok(Doing::Save(step)) => snapshot::save(step, seal, (card, filled), change),
            Ok(Doing::Restore(restoring)) => match saved {
                Some(saved) => restoring.step((loading, seal), saved, (card, filled), change),
                None => Err(SlotRefusal::Unsaved),
            },
            Ok(Doing::Trial(target, left)) if left > 1 => Ok(Some(Doing::Trial(target, left - 1))),
            Ok(Doing::Trial(target, _)) => {
                tell(SlotReport::Settle(change));
                Ok(Some(Doing::GiveBack(target, 0)))
            }
            Ok(Doing::GiveBack(target, step)) => Ok(give_back(&mut self.slots, target, step, change)),
            Ok(Doing::Abandon(left, why)) => abandon(loading, (left, why), card),
        };
        match after {
            Ok(after) => {
                self.doing = after;
                after.is_none().then_some(Ok(()))
            }
            Err(why) => {
                tell(SlotReport::Refused(change, why as u8));
                self.doing = None;
                Some(Err(why))
            }
        }
    }

    /// Which slots it is about: an update goes into that one of a pair that is empty.
    fn target(&self, load: &LoadCard) -> Target {
        let (slot, other) = (load.slot as usize, load.other as usize);
        if load.what != what::UPDATE {
            return Target { slot, from: None };
        }
        let (slot, from) = if self.is_full(load.slot) { (other, slot) } else { (slot, other) };
        Target { slot, from: Some(from) }
    }

    fn is_full(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(|it| it.program.is_some())
    }

    /// Begins what is asked for, unless the slot, or the pair, is in no state for it.
    fn begin(&self, load: &LoadCard) -> Result<Doing, SlotRefusal> {
        let (Some(filled), Some(other)) = (self.slots.get(load.slot as usize), self.slots.get(load.other as usize))
        else {
            return Err(SlotRefusal::Resources);
        };
        match (load.what, filled.program.is_some()) {
            (what::UPDATE, first) => match (first, self.is_full(load.other)) {
                (true, true) => Err(SlotRefusal::Full),
                (false, false) => Err(SlotRefusal::Empty),
                _ => Ok(Doing::Load(false)),
            },
            (what::UNLOAD | what::SAVE, false) => Err(SlotRefusal::Empty),
            (what::UNLOAD, true) => Ok(Doing::Unload(0)),
            (what::SAVE, true) => Ok(Doing::Save(0)),
            (_, true) => Err(SlotRefusal::Full),
            (what::RESTORE, false) => Restoring::new(other).map(Doing::Restore).ok_or(SlotRefusal::Unsaved),
            (_, false) => Ok(Doing::Load(false)),
        }
    }
}

/// The next step of a load; what is under way after it.
fn load_step(
    loading: &mut Loading<'static>,
    (first, replaces): (bool, Option<Replaced<'_>>),
    (load, package): (&LoadCard, &'static [u8]),
    (card, filled): (&'static SlotCard, &mut Filled),
    (target, change): (Target, SlotChange),
) -> Outcome {
    let done = match next(loading, (first, replaces), card, filled)? {
        None => return Ok(None),
        Some(Step::HandOver) => {
            let report = match target.from {
                None => SlotReport::Loaded(change),
                Some(from) => {
                    let change = SlotChange { slot: target.slot as u16, ..change };
                    SlotReport::Update { change, from: from as u16, trial: load.trial }
                }
            };
            let done = hand_over(loading, card, filled, report);
            if done.is_ok() {
                filled.package = package;
                return Ok(target.from.map(|_| Doing::Trial(target, load.settles_after)));
            }
            done
        }
        Some(step) => take(loading, step, card),
    };
    Ok(match done {
        Ok(()) => Some(Doing::Load(true)),
        Err(Failed) => Some(Doing::Abandon(loading.pages(), SlotRefusal::Resources)),
    })
}

/// Looks at the package, as far as the next step does; what is left to do for it.
fn next(
    loading: &mut Loading<'static>,
    (first, replaces): (bool, Option<Replaced<'_>>),
    card: &'static SlotCard,
    filled: &Filled,
) -> Result<Option<Step>, SlotRefusal> {
    // Who may sign is asked for in the first step alone.
    let mut trusted = slots::keys(card).iter().filter(|_| first).filter_map(|key| TrustedKey::new(*key));
    let mut keys = trusted.next().map(|key| [key; MOST_KEYS]);
    let mut known = usize::from(keys.is_some());
    for (place, key) in keys.iter_mut().flat_map(|keys| &mut keys[1..]).zip(trusted) {
        *place = key;
        known += 1;
    }
    let keys = keys.as_ref().map_or(&[][..], |keys| &keys[..known]);
    let mut rights = [Right { kind: RightKind::Service, name: "" }; MOST_RIGHTS];
    let named = slots::rights(card).iter().map(|right| label_text(&right.name));
    let given = rights.iter_mut().zip(named).map(|(place, name)| place.name = name).count();
    let slot = Slot { replaces, ..slot(card, filled, &rights[..given]) };
    loading.step(keys, &slot, Work::OF_AN_ADMISSION).map_err(|refusal| refusal.reason())
}

/// Does what a step asks for, but for the last one.
fn take(loading: &Loading<'static>, step: Step, card: &SlotCard) -> Result<(), Failed> {
    match step {
        Step::Look | Step::HandOver => Ok(()),
        Step::SetBack { from, count } => set_back(card, loading.program().map_or(0, |it| it.entry), from, count),
        Step::Write { from, count } => pages::write(card, loading, from, count),
    }
}

/// The slot as a package is judged by it.
fn slot<'s>(card: &'s SlotCard, filled: &Filled, rights: &'s [Right<'s>]) -> Slot<'s> {
    Slot {
        class: label_text(&card.class),
        processor: card.processor as u16,
        addresses: (PROGRAM, PROGRAM + WINDOW_PAGES * PAGE),
        pages: card.pages,
        heap: card.heap,
        tasks: card.tasks as usize,
        rights,
        supply: Supply {
            budget: Duration::from_nanos(card.budget),
            period: Duration::from_nanos(card.period),
            blackout: Duration::from_nanos(card.blackout),
        },
        order: if card.order == 0 { Order::FixedPriority } else { Order::EarliestDeadline },
        cost_of_job: Duration::from_nanos(card.cost_of_job),
        least_sequence_number: filled.least,
        replaces: None,
    }
}

/// Some of the kernel's steps that set the slot's threads, which begin at the entry, and its own memory back.
fn set_back(card: &SlotCard, entry: u64, from: u64, count: u64) -> Result<(), Failed> {
    for step in from..from + count {
        pages::patiently(|| calls::restart_at(card.component.into(), step, entry))?;
    }
    Ok(())
}

/// The slot's component runs, and its tasks go to the scheduler.
fn hand_over(
    loading: &Loading<'static>,
    card: &SlotCard,
    filled: &mut Filled,
    report: SlotReport,
) -> Result<(), Failed> {
    let (Some(program), Some(manifest)) = (loading.program(), loading.manifest()) else { return Err(Failed) };
    let last = pages::patiently(|| calls::restart_at(card.component.into(), card.set_back, program.entry))?;
    if last != 0 {
        return Err(Failed);
    }
    tell_tasks(card, manifest);
    filled.program = Some(*program);
    filled.tasks = manifest.tasks.len();
    for (place, task) in filled.periods.iter().zip(manifest.tasks.iter()) {
        place.store(task.demand.period.as_nanos(), Relaxed);
    }
    filled.least = if card.older == 0 { filled.least.max(manifest.sequence_number) } else { 0 };
    tell(report);
    Ok(())
}

/// Tells what tasks the program has.
fn tell_tasks(card: &SlotCard, manifest: &Manifest<'_>) {
    for (task, of) in (card.first_task..).zip(manifest.tasks.iter()) {
        let demand = &of.demand;
        tell(SlotReport::Task {
            task: task as u16,
            execution: demand.execution.as_nanos() + card.cost_of_job,
            period: demand.period.as_nanos(),
            deadline: demand.deadline.as_nanos(),
            priority: u32::MAX - demand.priority,
        });
    }
}

/// The next step of an unload; what is under way after it.
fn unload(step: u64, card: &SlotCard, filled: &mut Filled, change: SlotChange) -> Option<Doing> {
    let program = filled.program?;
    match unload_step(step, program.pages())? {
        UnloadStep::HandBack => tell(SlotReport::Unloaded(change)),
        // A program that faulted has been stopped already.
        UnloadStep::Stop => _ = calls::stop(card.component.into()),
        UnloadStep::Unmap { from, count } => pages::take_away(card, &program, from, count),
    }
    if unload_step(step + 1, program.pages()).is_some() {
        return Some(Doing::Unload(step + 1));
    }
    filled.program = None;
    None
}

/// The next step of giving back the program that is not in use after an update; what is under way after it. There are as many for
/// each, whatever it took.
fn give_back(all: &mut [Filled; MOST_SLOTS], target: Target, step: u64, change: SlotChange) -> Option<Doing> {
    let from = target.from?;
    if step == 0 {
        let asked = SlotReport::Ask(SlotChange { slot: target.slot as u16, ..change });
        let is_kept = matches!(grant(SLOT).call(asked.words()), Ok([0, 1]));
        let (loser, winner) = if is_kept { (from, target.slot) } else { (target.slot, from) };
        let _ = calls::stop(slots::slots()[loser].component.into());
        return Some(Doing::GiveBack(Target { slot: winner, from: Some(loser) }, 1));
    }
    let (card, filled) = (&slots::slots()[from], &mut all[from]);
    let begins = (step - 1) * PAGES;
    if let Some(program) = &filled.program {
        let count = PAGES.min(program.pages().saturating_sub(begins));
        if count > 0 {
            pages::take_away(card, program, begins, count);
        }
    }
    if begins + PAGES < card.pages {
        return Some(Doing::GiveBack(target, step + 1));
    }
    filled.program = None;
    None
}

/// Takes back what was written of a program that cannot be handed over.
fn abandon(loading: &Loading<'static>, (left, why): (u64, SlotRefusal), card: &SlotCard) -> Outcome {
    let count = left.min(PAGES);
    if let Some(program) = loading.program() {
        pages::take_away(card, program, left - count, count);
    }
    if left > count {
        Ok(Some(Doing::Abandon(left - count, why)))
    } else {
        Err(why)
    }
}

/// Tells the root scheduler, which takes what its loader says.
fn tell(report: SlotReport) {
    if !matches!(grant(SLOT).call(report.words()), Ok([0, _])) {
        calls::give_up();
    }
}
