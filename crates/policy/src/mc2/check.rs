//! What makes a set-up usable for MC²: each core has its table, and every task a way to run.

use crate::check::cores_of_tasks;
use crate::{Mc2, PolicyConfig, PolicyConfigError, Table};
use tactus_time::{CoreId, Duration, Level, TaskId};

/// Finds the first thing that is wrong.
pub(super) fn check(setup: &PolicyConfig, mc2: &Mc2, absent: &[TaskId]) -> Result<(), PolicyConfigError> {
    cores_of_tasks(setup, |task| task.level <= Level::B)?;
    if mc2.tables.len() != setup.cores {
        return Err(PolicyConfigError::TableCount(mc2.tables.len()));
    }
    for (n, table) in mc2.tables.iter().enumerate() {
        slots(setup, CoreId(n as u8), table)?;
    }
    for (n, task) in setup.tasks.iter().enumerate() {
        let id = TaskId(n as u16);
        let in_slot = || mc2.tables.iter().flat_map(|table| &table.slots).any(|slot| slot.task == id);
        if task.level == Level::A && !in_slot() && !absent.contains(&id) {
            return Err(PolicyConfigError::NoSlot(id));
        }
        if mc2.enforce && task.level != Level::D && task.budget.is_zero() {
            return Err(PolicyConfigError::ZeroBudget(id));
        }
    }
    Ok(())
}

/// Finds the first slot of a core's table that is wrong.
pub(super) fn slots(setup: &PolicyConfig, core: CoreId, table: &Table) -> Result<(), PolicyConfigError> {
    let mut free_from = Duration::ZERO;
    for (place, slot) in table.slots.iter().enumerate() {
        if slot.start < free_from || slot.end <= slot.start || slot.end > table.cycle {
            return Err(PolicyConfigError::SlotBounds(core, place));
        }
        free_from = slot.end;
        match setup.tasks.get(slot.task.index()) {
            Some(task) if task.level == Level::A && task.core == Some(core) => {}
            _ => return Err(PolicyConfigError::SlotTask(core, place)),
        }
    }
    Ok(())
}
