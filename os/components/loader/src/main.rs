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

use tactus_package::admission::{Order, Supply, Work};
use tactus_package::keys::TrustedKey;
use tactus_package::load::{unload_step, Loading, Step, UnloadStep};
use tactus_package::manifest::{Right, RightKind, MOST_RIGHTS};
use tactus_package::program::Program;
use tactus_package::slot::Slot;
use tactus_record::SlotRefusal;
use tactus_rt::abi::layout::{PAGE, PROGRAM, WINDOW_PAGES};
use tactus_rt::abi::slot::{label_text, LoadCard, SlotCard, SlotChange, SlotReport, SLOT};
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
#[derive(Clone, Copy)]
struct Filled {
    /// The program in it.
    program: Option<Program<'static>>,
    /// The least sequence number that it accepts.
    least: u64,
}

/// What is under way. There is one of them, in the component's own memory.
#[allow(clippy::large_enum_variant)]
enum Doing {
    Load(Loading<'static>),
    /// Steps taken so far.
    Unload(u64),
    /// The kernel gave less than the image promised: this number of pages of the program is still to be taken back.
    Abandon(Program<'static>, u64),
}

struct Loader {
    /// The load or unload that is under way, or comes next.
    next: usize,
    doing: Option<Doing>,
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
        Loader { next: 0, doing: None, slots: [Filled { program: None, least: 0 }; MOST_SLOTS] }
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
        let first = self.doing.is_none();
        let doing = match self.doing.take() {
            Some(doing) => Ok(doing),
            None => begin(load, card, filled),
        };
        let after = doing.and_then(|doing| match doing {
            Doing::Load(loading) => load_step(loading, first, (card, filled), change),
            Doing::Unload(step) => Ok(unload(step, card, filled, change)),
            Doing::Abandon(program, pages) => abandon(program, pages, card),
        });
        match after {
            Ok(after) => self.doing = after,
            Err(why) => tell(SlotReport::Refused(change, why as u8)),
        }
        self.next += usize::from(self.doing.is_none());
    }
}

/// Begins a load or an unload, unless the slot is in no state for it.
fn begin(load: &'static LoadCard, card: &SlotCard, filled: &Filled) -> Result<Doing, SlotRefusal> {
    match (load.unload != 0, filled.program) {
        (true, None) => Err(SlotRefusal::Empty),
        (true, Some(_)) => Ok(Doing::Unload(0)),
        (false, Some(_)) => Err(SlotRefusal::Full),
        (false, None) => Ok(Doing::Load(Loading::new(slots::package(load), card.set_back))),
    }
}

/// The next step of a load; what is under way after it.
fn load_step(
    mut loading: Loading<'static>,
    first: bool,
    (card, filled): (&'static SlotCard, &mut Filled),
    change: SlotChange,
) -> Result<Option<Doing>, SlotRefusal> {
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
    let step = loading.step(keys, &slot, Work::OF_AN_ADMISSION);
    let done = match step.map_err(|refusal| refusal.reason())? {
        None => return Ok(None),
        Some(Step::Look) => Ok(()),
        Some(Step::SetBack { from, count }) => set_back(card, loading.program().map_or(0, |it| it.entry), from, count),
        Some(Step::Write { from, count }) => pages::write(card, &loading, from, count),
        Some(Step::HandOver) => {
            return match hand_over(&loading, card, filled, change) {
                Ok(()) => Ok(None),
                Err(Failed) => Ok(loading.program().map(|it| Doing::Abandon(*it, it.pages()))),
            }
        }
    };
    Ok(match done {
        Ok(()) => Some(Doing::Load(loading)),
        Err(Failed) => loading.program().map(|it| Doing::Abandon(*it, it.pages())),
    })
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
    change: SlotChange,
) -> Result<(), Failed> {
    let (Some(program), Some(manifest)) = (loading.program(), loading.manifest()) else { return Err(Failed) };
    let last = pages::patiently(|| calls::restart_at(card.component.into(), card.set_back, program.entry))?;
    if last != 0 {
        return Err(Failed);
    }
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
    filled.program = Some(*program);
    filled.least = if card.older == 0 { filled.least.max(manifest.sequence_number) } else { 0 };
    tell(SlotReport::Loaded(change));
    Ok(())
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
fn abandon(program: Program<'static>, left: u64, card: &SlotCard) -> Result<Option<Doing>, SlotRefusal> {
    let count = left.min(tactus_package::load::PAGES);
    pages::take_away(card, &program, left - count, count);
    if left > count {
        Ok(Some(Doing::Abandon(program, left - count)))
    } else {
        Err(SlotRefusal::Resources)
    }
}

/// Tells the root scheduler, which takes what its loader says.
fn tell(report: SlotReport) {
    if !matches!(grant(SLOT).call(report.words()), Ok([0, _])) {
        calls::give_up();
    }
}
