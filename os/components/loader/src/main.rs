//! The loader: in each of its jobs one step, so that its budget bounds what it does at once.
//!
//! What comes and goes stands in the system file; the packages lie in the image, where nobody but the loader sees them. Nothing that a
//! package says is believed before it was checked (`tactus-package`, the same code that the host has), and a slot is not touched
//! before nothing can refuse the package any more. The kernel keeps what this component must not do: it reaches its own window and
//! those of its slots, and no page there is written and executed.
//!
//! Loads and unloads are done one after another. One begins with the first job that is released at its instant or later.
#![no_std]
#![no_main]
#![forbid(unsafe_code)]

mod pages;
mod snapshot;
#[cfg(feature = "memory-errors")]
mod wear;

use snapshot::{Restoring, Snapshot};
use tactus_package::admission::{Order, Supply, Work};
use tactus_package::keys::TrustedKey;
use tactus_package::load::{unload_step, Loading, Step, UnloadStep};
use tactus_package::manifest::{Manifest, Right, RightKind, MOST_RIGHTS};
use tactus_package::program::Program;
use tactus_package::slot::Slot;
use tactus_package::snapshot::Seal;
use tactus_record::SlotRefusal;
use tactus_rt::abi::layout::{PAGE, PROGRAM, WINDOW_PAGES};
use tactus_rt::abi::slot::{label_text, load as what, LoadCard, SlotCard, SlotChange, SlotReport, SLOT};
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
        let filled = || Filled { program: None, package: &[], snapshot: Snapshot::NONE, least: 0 };
        let slots = core::array::from_fn(|_| filled());
        Loader { next: 0, doing: None, loading: Loading::new(&[], 0), seal: Seal::new(), slots }
    }

    /// Takes one step, in a job that was released then.
    fn step(&mut self, release: Instant) {
        let Some(load) = slots::loads().get(self.next) else { return };
        let (Some(card), Some(filled)) =
            (slots::slots().get(load.slot as usize), self.slots.get_mut(load.slot as usize))
        else {
            calls::give_up()
        };
        if self.doing.is_none() && release.as_nanos() < load.at {
            return;
        }
        let change = SlotChange { slot: load.slot as u16, load: self.next as u16 };
        let doing = match self.doing {
            Some(doing) => Ok(doing),
            None => begin(load, filled),
        };
        let (loading, seal) = (&mut self.loading, &mut self.seal);
        let after = match doing {
            Err(why) => Err(why),
            Ok(Doing::Load(begun)) => {
                if !begun {
                    *loading = Loading::new(slots::package(load), card.set_back);
                }
                load_step(loading, !begun, (card, filled), change)
            }
            Ok(Doing::Unload(step)) => Ok(unload(step, card, filled, change)),
            Ok(Doing::Save(step)) => snapshot::save(step, seal, (card, filled), change),
            Ok(Doing::Restore(restoring)) => restoring.step((loading, seal), (card, filled), change),
            Ok(Doing::Abandon(left, why)) => abandon(loading, (left, why), card),
        };
        match after {
            Ok(after) => self.doing = after,
            Err(why) => {
                tell(SlotReport::Refused(change, why as u8));
                self.doing = None;
            }
        }
        self.next += usize::from(self.doing.is_none());
    }
}

/// Begins a load or an unload, unless the slot is in no state for it.
fn begin(load: &'static LoadCard, filled: &Filled) -> Result<Doing, SlotRefusal> {
    match (load.what, &filled.program) {
        (what::UNLOAD | what::SAVE, None) => Err(SlotRefusal::Empty),
        (what::UNLOAD, Some(_)) => Ok(Doing::Unload(0)),
        (what::SAVE, Some(_)) => Ok(Doing::Save(0)),
        (_, Some(_)) => Err(SlotRefusal::Full),
        (what::RESTORE, None) => Restoring::new(filled).map(Doing::Restore).ok_or(SlotRefusal::Unsaved),
        (_, None) => Ok(Doing::Load(false)),
    }
}

/// The next step of a load; what is under way after it.
fn load_step(
    loading: &mut Loading<'static>,
    first: bool,
    (card, filled): (&'static SlotCard, &mut Filled),
    change: SlotChange,
) -> Outcome {
    let done = match next(loading, first, card, filled)? {
        None => return Ok(None),
        Some(Step::HandOver) => {
            let done = hand_over(loading, card, filled, SlotReport::Loaded(change));
            if done.is_ok() {
                filled.package = slots::loads().get(usize::from(change.load)).map_or(&[], slots::package);
                return Ok(None);
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
    first: bool,
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
    let slot = slot(card, filled, &rights[..given]);
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

/// Takes back what was written of a program that cannot be handed over.
fn abandon(loading: &Loading<'static>, (left, why): (u64, SlotRefusal), card: &SlotCard) -> Outcome {
    let count = left.min(tactus_package::load::PAGES);
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
