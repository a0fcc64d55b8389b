//! What the loader has told of slots and the policy does not know yet. Nothing is noted that is not about tasks of slots.

use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_policy::{PolicyConfig, PolicySpec, SlotAction, Values};
use tactus_record::SlotRefusal;
use tactus_rt::abi::slot::{SlotChange, SlotReport};
use tactus_rt::time::{Duration, TaskId};

/// The longest time that a task of a slot may name.
const LONGEST: u64 = 1 << 42;

/// What the loader has told and the policy does not know yet.
pub struct Reports {
    /// The tasks of each slot: the first, and how many.
    pub slots: Vec<(u16, u16)>,
    /// What tasks are to have.
    pub tasks: Vec<(TaskId, Values)>,
    /// What was done.
    pub change: Option<(SlotChange, SlotAction)>,
}

impl Reports {
    /// Nothing yet; nothing at all where the system has no slots.
    pub fn new(setup: &PolicyConfig) -> Option<Box<Reports>> {
        let PolicySpec::ReconfigurableTree(changing) = &setup.kind else { return None };
        let slots: Vec<_> = changing.slots.iter().map(|slot| (slot.first.0, slot.tasks)).collect();
        let most = slots.iter().map(|(_, tasks)| usize::from(*tasks)).max()?;
        Some(Box::new(Reports { slots, tasks: Vec::with_capacity(most), change: None }))
    }

    /// Whether the task is one of a slot.
    fn has(&self, task: u16) -> bool {
        self.slots.iter().any(|(first, tasks)| task.checked_sub(*first).is_some_and(|n| n < *tasks))
    }

    /// Notes what is told; whether the policy is to be called now. Nothing if it makes no sense.
    pub fn note(&mut self, report: SlotReport) -> Option<bool> {
        let change = match report {
            SlotReport::Task { task, execution, period, deadline, priority } => {
                let sound = 0 < execution && execution <= deadline && deadline <= period && period <= LONGEST;
                if !sound || !self.has(task) || self.tasks.len() == self.tasks.capacity() {
                    return None;
                }
                let [time, period, deadline] = [execution, period, deadline].map(Duration::from_nanos);
                self.tasks.push((TaskId(task), Values { time, period, deadline, priority }));
                return Some(false);
            }
            SlotReport::Loaded(change) => (change, SlotAction::Load),
            SlotReport::Unloaded(change) => (change, SlotAction::Unload),
            SlotReport::Saved(change) => (change, SlotAction::Save),
            SlotReport::Restored { change, from } => {
                self.slots.get(usize::from(from))?;
                (change, SlotAction::Restore { from })
            }
            SlotReport::Update { change, from, trial } => {
                self.slots.get(usize::from(from))?;
                (change, SlotAction::Update { from, trial })
            }
            SlotReport::Settle(change) => (change, SlotAction::Settle),
            SlotReport::Ask(_) => return None,
            SlotReport::Refused(change, why) => (change, SlotAction::Refuse(SlotRefusal::from_u8(why)?)),
        };
        self.slots.get(usize::from(change.0.slot))?;
        self.change = Some(change);
        Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports() -> Reports {
        Reports { slots: alloc::vec![(4, 2)], tasks: Vec::with_capacity(2), change: None }
    }

    fn task(task: u16, [execution, deadline, period]: [u64; 3]) -> SlotReport {
        SlotReport::Task { task, execution, period, deadline, priority: 0 }
    }

    #[test]
    fn what_is_no_task_of_a_slot_or_no_slot_is_not_noted() {
        let mut all = reports();
        for wrong in [3, 6, u16::MAX] {
            assert_eq!(all.note(task(wrong, [1, 2, 3])), None);
        }
        for values in [[0, 2, 3], [3, 2, 3], [1, 4, 3], [1, 2, LONGEST + 1]] {
            assert_eq!(all.note(task(4, values)), None, "{values:?}");
        }
        let change = |slot| SlotChange { slot, load: 0 };
        assert_eq!(all.note(SlotReport::Loaded(change(1))), None);
        assert_eq!(all.note(SlotReport::Refused(change(0), 255)), None, "no such reason");
        assert_eq!((all.tasks.len(), all.change), (0, None));
        assert_eq!(all.note(task(4, [1, 2, 3])), Some(false));
        assert_eq!(all.note(task(5, [1, 2, LONGEST])), Some(false));
        assert_eq!(all.note(task(5, [1, 2, 3])), None, "more than a slot has");
        assert_eq!(all.note(SlotReport::Loaded(change(0))), Some(true));
        assert_eq!(all.change, Some((change(0), SlotAction::Load)));
    }
}
