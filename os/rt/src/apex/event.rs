//! Events: up or down, waited for by any number of processes.

use super::hypervisor::{Apex, MOST_OBJECTS};
use super::pool::{Name, Named, Table};
use super::process::{awaited, waiting};
use super::time;
use a653rs::bindings::{ApexEventP1, ApexSystemTime, ErrorReturnCode, EventId, EventName, EventState, EventStatus};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

struct Event {
    name: Name,
    up: AtomicBool,
    /// How often it was set: whoever waits goes on, though it is down again before its next job.
    set: AtomicU32,
}

impl Named for Event {
    fn name(&self) -> &Name {
        &self.name
    }
}

static EVENTS: Table<Event> = Table {
    count: AtomicUsize::new(0),
    life: AtomicU32::new(0),
    objects: [const { Event { name: Name::new(), up: AtomicBool::new(false), set: AtomicU32::new(0) } }; MOST_OBJECTS],
};

impl ApexEventP1 for Apex {
    fn create_event(event_name: EventName) -> Result<EventId, ErrorReturnCode> {
        EVENTS.create(&event_name, |event| {
            event.up.store(false, Ordering::Relaxed);
            Ok(())
        })
    }

    fn set_event(event_id: EventId) -> Result<(), ErrorReturnCode> {
        EVENTS.get(event_id).map(|event| {
            event.up.store(true, Ordering::SeqCst);
            event.set.fetch_add(1, Ordering::SeqCst);
        })
    }

    fn reset_event(event_id: EventId) -> Result<(), ErrorReturnCode> {
        EVENTS.get(event_id).map(|event| event.up.store(false, Ordering::SeqCst))
    }

    fn wait_event(event_id: EventId, time_out: ApexSystemTime) -> Result<(), ErrorReturnCode> {
        let event = EVENTS.get(event_id)?;
        let before = event.set.load(Ordering::SeqCst);
        time::wait_for(awaited::object(awaited::EVENT, event_id), time_out, || {
            (event.up.load(Ordering::SeqCst) || event.set.load(Ordering::SeqCst) != before).then_some(())
        })
    }

    fn get_event_id(event_name: EventName) -> Result<EventId, ErrorReturnCode> {
        EVENTS.find(&event_name).map(|(id, _)| id).ok_or(ErrorReturnCode::InvalidConfig)
    }

    fn get_event_status(event_id: EventId) -> Result<EventStatus, ErrorReturnCode> {
        let event = EVENTS.get(event_id)?;
        let event_state = if event.up.load(Ordering::SeqCst) { EventState::Up } else { EventState::Down };
        Ok(EventStatus { event_state, waiting_processes: waiting(awaited::object(awaited::EVENT, event_id)) })
    }
}
