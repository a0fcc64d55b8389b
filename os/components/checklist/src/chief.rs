//! The root scheduler: dispatches the puppet that the driver names, and comes back to the driver.
//!
//! Everything here runs on one core, where nobody is in this component while somebody else is, except between a dispatch
//! and its return.

use crate::puppet::order;
use crate::statements;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::abi::call::{
    BrandOperation, Call, SchedulerOperation, IDLE, NO_TIMEOUT, SWITCH_SUSPEND, SWITCH_UPCALL_DONE,
};
use tactus_rt::abi::layout::MAX_THREADS;
use tactus_rt::abi::shared::{event, name_text, slot, ComponentCard, Slot};
use tactus_rt::cards::components;
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, info, Caller, Error};

/// The whole run came to its end.
const END: u8 = 0x10;

/// The driver's thread, once it was made.
static DRIVER: AtomicU64 = AtomicU64::new(u64::MAX);
/// Who told something last, and what.
static WHO: AtomicU64 = AtomicU64::new(u64::MAX);
static SAID: [AtomicU64; 5] = [const { AtomicU64::new(0) }; 5];
/// The order of each thread, 0 if there is none, how many words it has, and the words.
static ORDERS: [[AtomicU64; 8]; MAX_THREADS] = [const { [const { AtomicU64::new(0) }; 8] }; MAX_THREADS];
/// What the upcall found since somebody asked: events, and how often it was entered.
static EVENTS: AtomicU64 = AtomicU64::new(0);
static UPCALLS: AtomicU64 = AtomicU64::new(0);

/// A field of the region of the only core, which the kernel writes only while nobody runs here.
#[macro_export]
macro_rules! field {
    ($($field:tt)+) => { tactus_rt::region_field!(0, $($field)+).read() };
}

/// Sets a field of the region.
#[macro_export]
macro_rules! set_field {
    ($value:expr, $($field:tt)+) => { tactus_rt::region_field!(0, $($field)+).write($value) };
}

/// Takes what was posted: the events.
pub fn take_events() -> u64 {
    set_field!(0, event_pending);
    let events = field!(events);
    set_field!(0, events);
    EVENTS.fetch_or(events, Relaxed);
    events
}

/// The events since the last time, and how often the upcall was entered.
pub fn seen() -> (u64, u64) {
    take_events();
    (EVENTS.swap(0, Relaxed), UPCALLS.swap(0, Relaxed))
}

/// Dispatches, whatever is posted meanwhile; comes back when the caller is dispatched again.
pub fn switch(thread: u64, flags: u64, timeout: u64) -> Result<(), Error> {
    loop {
        take_events();
        set_field!(thread, next_thread);
        match calls::switch_thread(thread, flags, timeout) {
            Err(Error::Again) => {}
            other => return other,
        }
    }
}

/// The kernel has events: the driver finds them.
pub fn upcall(core: u8) -> ! {
    if take_events() & event::START != 0 && core == 0 {
        let _ = calls::scheduler_control(SchedulerOperation::Region, 0, 0);
        match calls::create_thread(info().component.into(), [0; 2]) {
            Ok(driver) => DRIVER.store(driver, Relaxed),
            Err(_) => calls::give_up(),
        }
    } else {
        UPCALLS.fetch_add(1, Relaxed);
    }
    let events = EVENTS.load(Relaxed);
    let route =
        |place: &AtomicU64, event: u64| if events & event != 0 { place.swap(u64::MAX, Relaxed) } else { u64::MAX };
    let routed = route(&ON_COMPLETE, event::UPCALL_COMPLETE).min(route(&ON_TIMER, event::TIMER));
    let next = if routed == u64::MAX { DRIVER.load(Relaxed) } else { routed };
    let _ = switch(next, SWITCH_UPCALL_DONE, NO_TIMEOUT);
    calls::give_up()
}

/// Whom the upcall dispatches in place of the driver when a time-out comes, or an upcall is complete; once each.
pub static ON_TIMER: AtomicU64 = AtomicU64::new(u64::MAX);
/// See [`ON_TIMER`].
pub static ON_COMPLETE: AtomicU64 = AtomicU64::new(u64::MAX);

/// The driver's thread.
pub fn driver() -> u64 {
    DRIVER.load(Relaxed)
}

/// The driver.
pub fn drive() {
    statements::all();
    calls::finish(END)
}

/// See [`crate::next`].
pub fn next(caller: Caller, said: [u64; 5]) -> [u64; 2] {
    let me = caller.thread();
    for (place, word) in SAID.iter().zip(said) {
        place.store(word, Relaxed);
    }
    WHO.store(me.into(), Relaxed);
    loop {
        let _ = switch(DRIVER.load(Relaxed), 0, NO_TIMEOUT);
        let orders = &ORDERS[usize::from(me)];
        let order = orders[0].swap(0, Relaxed);
        if order != 0 {
            return [order, orders[1].load(Relaxed)];
        }
        // Dispatched by somebody else than the driver: who that was wants to know.
        SAID[0].store(WOKEN, Relaxed);
        WHO.store(me.into(), Relaxed);
    }
}

/// A puppet that waited for an order was dispatched by somebody else.
pub const WOKEN: u64 = 110;

/// See [`crate::words`].
pub fn words(caller: Caller, place: u64) -> [u64; 2] {
    let orders = &ORDERS[usize::from(caller.thread())];
    let at = 2 + 2 * (place as usize % 3);
    [orders[at].load(Relaxed), orders[at + 1].load(Relaxed)]
}

/// See [`crate::suspend`].
pub fn suspend(caller: Caller) -> [u64; 2] {
    SAID[0].store(WOKEN, Relaxed);
    WHO.store(caller.thread().into(), Relaxed);
    let _ = switch(DRIVER.load(Relaxed), SWITCH_SUSPEND, NO_TIMEOUT);
    [0; 2]
}

/// Whom [`leave`] dispatches.
pub mod whom {
    /// The driver.
    pub const DRIVER: u64 = 0;
    /// The calling thread itself.
    pub const ITSELF: u64 = 1;
    /// Nobody, for a while.
    pub const NOBODY: u64 = 2;
    /// The driver, where an event has come in between.
    pub const TOO_LATE: u64 = 3;
}

/// What [`leave`] gives beside the error where its dispatch comes back to it.
pub const INSIDE: u64 = 77;

/// Dispatches with these flags, once. A thread that comes back here says so, with the error.
pub fn leave(caller: Caller, flags: u64, whom: u64) -> [u64; 2] {
    let me = u64::from(caller.thread());
    SAID[0].store(WOKEN, Relaxed);
    WHO.store(me, Relaxed);
    take_events();
    let (thread, timeout) = match whom {
        whom::ITSELF => (me, NO_TIMEOUT),
        whom::NOBODY => (IDLE, time_stamp() + 20_000),
        _ => (DRIVER.load(Relaxed), NO_TIMEOUT),
    };
    set_field!(thread, next_thread);
    set_field!(u64::from(whom == whom::TOO_LATE), event_pending);
    let error = calls::switch_thread(thread, flags, timeout).err().unwrap_or(Error::None);
    // Whoever leaves the root while events wait for it is taken back.
    take_events();
    [error as u64, INSIDE]
}

/// See [`crate::wake`].
pub fn wake(thread: u64) -> [u64; 2] {
    take_events();
    set_field!(thread, next_thread);
    [0; 2]
}

/// What a puppet told.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    /// Which thread; `u64::MAX` if nobody told anything before an event or the time-out came.
    pub who: u64,
    /// The words.
    pub words: [u64; 5],
}

impl Said {
    /// The status of a call.
    pub fn error(&self) -> Option<Error> {
        Error::from_u64(self.words[0])
    }
}

/// Gives the core to a thread until somebody tells something, an event comes or the time-out does.
pub fn run(thread: u64, timeout: u64) -> Said {
    WHO.store(u64::MAX, Relaxed);
    if let Err(error) = switch(thread, 0, timeout) {
        return Said { who: u64::MAX, words: [error as u64; 5] };
    }
    let words = core::array::from_fn(|i| SAID[i].load(Relaxed));
    Said { who: WHO.load(Relaxed), words }
}

/// Gives a thread an order, and the core until the time-out.
pub fn ask_until(thread: u64, order: u64, words: &[u64], timeout: u64) -> Said {
    let place = &ORDERS[thread as usize % MAX_THREADS];
    place[1].store(words.len() as u64, Relaxed);
    for (place, word) in place[2..].iter().zip(words) {
        place.store(*word, Relaxed);
    }
    place[0].store(order, Relaxed);
    run(thread, timeout)
}

/// Gives a thread an order, and the core.
pub fn ask(thread: u64, order: u64, words: &[u64]) -> Said {
    ask_until(thread, order, words, NO_TIMEOUT)
}

/// Lets a thread make a kernel call.
pub fn call(thread: u64, call: Call, words: [u64; 5]) -> Said {
    ask(thread, order::CALL, &[call as u64, words[0], words[1], words[2], words[3], words[4]])
}

/// The status of a kernel call that comes back to the thread itself.
pub fn status(thread: u64, kind: Call, words: [u64; 5]) -> Error {
    let said = call(thread, kind, words);
    if said.who != thread {
        return Error::Faulted;
    }
    said.error().unwrap_or(Error::Faulted)
}

/// The status of an operation on the tree by a thread.
pub fn tree(thread: u64, operation: SchedulerOperation, subject: u64, other: u64) -> Error {
    status(thread, Call::SchedulerControl, [operation as u64, subject, other, 0, 0])
}

/// The same by the root itself.
pub fn own_tree(operation: SchedulerOperation, subject: u64, other: u64) -> Error {
    calls::scheduler_control(operation, subject, other).err().unwrap_or(Error::None)
}

/// Makes a thread and lets it come to its first question.
pub fn make(component: u64) -> u64 {
    let Ok(thread) = calls::create_thread(component, [7, 9]) else { return u64::MAX };
    run(thread, NO_TIMEOUT);
    thread
}

/// The card of the component with this name, and its number.
pub fn card(name: &str) -> (u64, &'static ComponentCard) {
    match components().iter().enumerate().find(|(_, card)| name_text(&card.name) == name) {
        Some((number, card)) => (number as u64, card),
        None => calls::give_up(),
    }
}

/// The component's number.
pub fn component(name: &str) -> u64 {
    card(name).0
}

/// The upcall thread of a scheduler on core 0.
pub fn upcall_of(name: &str) -> u64 {
    card(name).1.first_upcall.into()
}

/// Makes a brand in the thread's component, with so many upcall threads: its number, and theirs.
pub fn make_brand(thread: u64, upcalls: usize) -> (u64, [u64; 4]) {
    let said = call(thread, Call::BrandControl, [BrandOperation::Create as u64, 0, 1, 0, 0]);
    let brand = if said.words[0] == 0 { said.words[1] } else { u64::MAX };
    let mut threads = [u64::MAX; 4];
    for thread in threads.iter_mut().take(upcalls) {
        *thread = calls::brand_control(BrandOperation::AddUpcall, brand, 0).unwrap_or(u64::MAX);
    }
    (brand, threads)
}

/// Binds the thread to a slot of the root's with this urgency.
pub fn bind(thread: u64, slot: u64, urgency: u16) -> Error {
    set_field!(urgency, slots[slot as usize].urgency);
    own_tree(SchedulerOperation::Slot, thread, slot)
}

/// Takes the cycles of all slots, the idle time and the upcall's own: their sum since the last time, and those of one slot.
pub fn take_cycles(one: u64) -> (u64, u64) {
    let (mut sum, mut its) = (0, 0);
    for place in 1..64 {
        let cycles = field!(slots[place].cycles);
        set_field!(0, slots[place].cycles);
        sum += cycles;
        if place as u64 == one {
            its = cycles;
        }
    }
    let own = field!(own) + field!(idle);
    set_field!(0, own);
    set_field!(0, idle);
    (sum + own, its)
}

/// Walks the list of slots as a library does: what each was told, OR-ed, for one slot; how many were linked.
pub fn take_slots(one: u64) -> (u16, u64) {
    set_field!(0, event_pending);
    let head: Slot = field!(slots[0]);
    set_field!(Slot { next: 0, flags: 0, ..head }, slots[0]);
    let (mut at, mut flags, mut count) = (head.next, 0, 0);
    while at != 0 && count < 300 {
        let found: Slot = field!(slots[at as usize]);
        set_field!(Slot { next: 0, flags: 0, ..found }, slots[at as usize]);
        if u64::from(at) == one {
            flags |= found.flags;
        }
        (at, count) = (found.next, count + 1);
    }
    (flags & !slot::LINKED, count)
}

/// Nobody.
pub const NOBODY: u64 = IDLE;
