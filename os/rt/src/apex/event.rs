//! Events: up or down, waited for by any number of processes.

use super::hypervisor::{Apex, MOST_OBJECTS};
use super::pool::{Name, Named, Table};
use super::time;
use a653rs::bindings::{ApexEventP1, ApexSystemTime, ErrorReturnCode, EventId, EventName, EventState, EventStatus};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering};

struct Event {
    name: Name,
    up: AtomicBool,
    waiting: AtomicI32,
}

impl Named for Event {
    fn name(&self) -> &Name {
        &self.name
    }
}

static EVENTS: Table<Event> = Table {
    count: AtomicUsize::new(0),
    life: AtomicU32::new(0),
    objects: [const { Event { name: Name::new(), up: AtomicBool::new(false), waiting: AtomicI32::new(0) } };
        MOST_OBJECTS],
};

impl ApexEventP1 for Apex {
    fn create_event(event_name: EventName) -> Result<EventId, ErrorReturnCode> {
        EVENTS.create(&event_name, |event| {
            event.up.store(false, Ordering::Relaxed);
            event.waiting.store(0, Ordering::Relaxed);
            Ok(())
        })
    }

    fn set_event(event_id: EventId) -> Result<(), ErrorReturnCode> {
        EVENTS.get(event_id).map(|event| event.up.store(true, Ordering::SeqCst))
    }

    fn reset_event(event_id: EventId) -> Result<(), ErrorReturnCode> {
        EVENTS.get(event_id).map(|event| event.up.store(false, Ordering::SeqCst))
    }

    fn wait_event(event_id: EventId, time_out: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let event = EVENTS.get(event_id)?;
        event.waiting.fetch_add(1, Ordering::Relaxed);
        let result = time::wait_for(time_out, || event.up.load(Ordering::SeqCst).then_some(()));
        event.waiting.fetch_sub(1, Ordering::Relaxed);
        result
    }

    fn get_event_id(event_name: EventName) -> Result<EventId, ErrorReturnCode> {
        EVENTS.find(&event_name).map(|(id, _)| id).ok_or(ErrorReturnCode::InvalidConfig)
    }

    fn get_event_status(event_id: EventId) -> Result<EventStatus, ErrorReturnCode> {
        let event = EVENTS.get(event_id)?;
        let event_state = if event.up.load(Ordering::SeqCst) { EventState::Up } else { EventState::Down };
        Ok(EventStatus { event_state, waiting_processes: event.waiting.load(Ordering::Relaxed) })
    }
}
