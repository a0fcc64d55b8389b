//! What the loader has done to slots: noted call by call, and told to the policy with the last one. Nobody else is listened to, and of
//! the loader nothing is taken that is not about tasks of slots.

use crate::root::state::{CoreState, RootProgram};
use crate::root::{at_home, kill, Root, NOT_DECLARED, NO_JOB, SLOTTED};
use crate::runtime::decide_locked;
use tactus_policy::{Input, Policy, SlotAction};
use tactus_record::{slot_loaded_level, EventKind, Sink, SlotUpdate, SlotValue, Stored, Subject};
use tactus_rt::abi::call::SWITCH_RETURN;
use tactus_rt::abi::image::role;
use tactus_rt::abi::slot::{SlotChange, SlotReport};
use tactus_rt::cards::components;
use tactus_rt::scheduler::RingWriter;
use tactus_rt::time::{CoreId, Instant, TaskId};
use tactus_rt::Caller;

/// The loader tells of a slot; see [`tactus_rt::abi::slot`]. Gives 0, [`NO_JOB`] or [`NOT_DECLARED`]. It goes on when it has a core
/// again.
pub fn tell<R: RootProgram>(caller: Caller, words: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    let Some(mut running) = at_home::<R>(core, &caller) else { return NO_JOB };
    let is_loader = components().get(usize::from(caller.component())).is_some_and(|card| card.role & role::LOADER != 0);
    let report = SlotReport::of(words).filter(|_| is_loader);
    if let Some(SlotReport::Ask(change)) = report {
        let running = &mut *running;
        return [0, running.policy.is_loaded(&mut running.own, change.slot).into()];
    }
    let noted = report.and_then(|report| running.state.slots.as_mut()?.note(report));
    match noted {
        None => NOT_DECLARED,
        Some(false) => [0; 2],
        Some(true) => {
            decide_locked::<Root<R>>(Some(running), core, 0, SLOTTED, SWITCH_RETURN);
            [0; 2]
        }
    }
}

/// Tells the policy what was noted.
#[cold]
#[inline(never)]
pub fn pass_on<P: Policy>(
    (policy, own): (&P, &mut P::Core),
    state: &mut CoreState,
    (mut writer, core): (RingWriter, CoreId),
    now: Instant,
) -> RingWriter {
    let Some(reports) = &mut state.slots else { return writer };
    let Some((SlotChange { slot, load }, action)) = reports.change.take() else { return writer };
    for (task, values) in reports.tasks.drain(..) {
        for value in SlotValue::ALL {
            let arg = match value {
                SlotValue::Execution => values.time.as_nanos(),
                SlotValue::Period => values.period.as_nanos(),
                SlotValue::Deadline => values.deadline.as_nanos(),
                SlotValue::Priority => values.priority.into(),
            };
            writer.store(Stored::about(Subject::new(task, value as u8), now, core, EventKind::SlotTask, 0, arg));
        }
        policy.input(own, Input::SlotTask { task, values });
    }
    if let (SlotAction::Restore { .. }, Some((first, count))) = (action, reports.slots.get(usize::from(slot))) {
        (*first..first + count).for_each(|task| kill::go_on(TaskId(task)));
    }
    let mut arg = u64::from(load);
    let (kind, level) = match action {
        SlotAction::Update { from, trial } => {
            arg = SlotUpdate { load, from, trial }.arg();
            (EventKind::SlotUpdate, 0)
        }
        SlotAction::Settle => (EventKind::SlotUpdate, 1),
        SlotAction::Load => (EventKind::SlotLoaded, 0),
        SlotAction::Unload => (EventKind::SlotUnloaded, 0),
        SlotAction::Save => (EventKind::SlotUnloaded, 1),
        SlotAction::Restore { from } => (EventKind::SlotLoaded, slot_loaded_level(slot, Some(from))),
        SlotAction::Refuse(why) => (EventKind::SlotRefused, why as u8),
    };
    let subject = Subject::NONE.with_level(level);
    writer.store(Stored::about(subject, now, core, kind, slot.into(), arg));
    policy.input(own, Input::Slot { slot, load, action });
    writer
}
