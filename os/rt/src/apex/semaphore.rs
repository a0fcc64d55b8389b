//! Counting semaphores. Of several that wait, the one whose job comes first takes the count: the order is that of the processes.

use super::hypervisor::{Apex, MOST_OBJECTS};
use super::pool::{Name, Named, Table};
use super::process::{awaited, waiting};
use super::time;
use a653rs::bindings::{
    ApexSemaphoreP1, ApexSystemTime, ErrorReturnCode, QueuingDiscipline, SemaphoreId, SemaphoreName, SemaphoreStatus,
    SemaphoreValue,
};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};

/// The largest value (ARINC 653 part 1).
const LARGEST: SemaphoreValue = 32_767;

struct Semaphore {
    name: Name,
    value: AtomicI32,
    most: AtomicI32,
}

impl Named for Semaphore {
    fn name(&self) -> &Name {
        &self.name
    }
}

static SEMAPHORES: Table<Semaphore> = Table {
    count: AtomicUsize::new(0),
    life: AtomicU32::new(0),
    objects: [const { Semaphore { name: Name::new(), value: AtomicI32::new(0), most: AtomicI32::new(0) } };
        MOST_OBJECTS],
};

impl Semaphore {
    /// Changes the value unless it would leave its range.
    fn change(&self, by: i32) -> Option<()> {
        let most = self.most.load(Ordering::Relaxed);
        let next = |value: i32| value.checked_add(by).filter(|value| (0..=most).contains(value));
        self.value.fetch_update(Ordering::SeqCst, Ordering::SeqCst, next).ok().map(|_| ())
    }
}

impl ApexSemaphoreP1 for Apex {
    fn create_semaphore(
        semaphore_name: SemaphoreName,
        current_value: SemaphoreValue,
        maximum_value: SemaphoreValue,
        _: QueuingDiscipline,
    ) -> Result<SemaphoreId, ErrorReturnCode> {
        SEMAPHORES.create(&semaphore_name, |semaphore| {
            if !(0..=LARGEST).contains(&maximum_value) || !(0..=maximum_value).contains(&current_value) {
                return Err(ErrorReturnCode::InvalidParam);
            }
            semaphore.value.store(current_value, Ordering::Relaxed);
            semaphore.most.store(maximum_value, Ordering::Relaxed);
            Ok(())
        })
    }

    fn wait_semaphore(semaphore_id: SemaphoreId, time_out: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let semaphore = SEMAPHORES.get(semaphore_id)?;
        time::wait_for(awaited::object(awaited::SEMAPHORE, semaphore_id), time_out, || semaphore.change(-1))
    }

    fn signal_semaphore(semaphore_id: SemaphoreId) -> Result<(), ErrorReturnCode> {
        SEMAPHORES.get(semaphore_id)?.change(1).ok_or(ErrorReturnCode::NoAction)
    }

    fn get_semaphore_id(semaphore_name: SemaphoreName) -> Result<SemaphoreId, ErrorReturnCode> {
        SEMAPHORES.find(&semaphore_name).map(|(id, _)| id).ok_or(ErrorReturnCode::InvalidConfig)
    }

    fn get_semaphore_status(semaphore_id: SemaphoreId) -> Result<SemaphoreStatus, ErrorReturnCode> {
        let semaphore = SEMAPHORES.get(semaphore_id)?;
        Ok(SemaphoreStatus {
            current_value: semaphore.value.load(Ordering::SeqCst),
            maximum_value: semaphore.most.load(Ordering::Relaxed),
            waiting_processes: waiting(awaited::object(awaited::SEMAPHORE, semaphore_id)),
        })
    }
}
