//! Stands in for the root scheduler and decides nothing: it dispatches what is to be measured next.
//!
//! Tasks, in order: the client, the listener, the victims. On a machine of two cores only inter-core events are
//! measured. State is in atomics; on one core nobody runs here while somebody else does.
#![no_std]
#![no_main]

use core::hint::spin_loop;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use tactus_bench_book::{is_followed, order, Book, Series};
use tactus_rt::abi::call::{IDLE, NO_TIMEOUT, SWITCH_UPCALL_DONE};
use tactus_rt::abi::image::role;
use tactus_rt::abi::shared::event;
use tactus_rt::calls::{self, BrandOperation, SchedulerOperation};
use tactus_rt::cards::components;
use tactus_rt::clock::time_stamp;
use tactus_rt::scheduler::OwnRegion;
use tactus_rt::{region_field, Caller, Error};

tactus_rt::component! { upcall: upcall, services: [complete, slot] }

static BOOK: Book = Book::new();

/// How often each thing is done.
fn rounds() -> u64 {
    if is_followed(tactus_rt::info().tasks) {
        40
    } else {
        3_000
    }
}
/// Time between interrupts; a prime, so that they hit every place of the interrupted loop.
const BETWEEN: u64 = 5_003;
/// The whole run came to its end.
const END: u8 = 0x10;
/// A victim's address without the time in it.
const NOWHERE: u64 = 1 << 46;

/// When the last thing to be measured began.
static STAMP: AtomicU64 = AtomicU64::new(0);
/// Interrupts still to be measured.
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);
/// What the timer was set for.
static EXPIRY: AtomicU64 = AtomicU64::new(0);
/// Inter-core events that arrived; the second core counts one when it is ready.
static ARRIVED: AtomicU64 = AtomicU64::new(0);

fn client() -> u64 {
    tactus_rt::info().cores.into()
}

fn listener() -> u64 {
    client() + 1
}

/// Dispatches; comes back when the caller is dispatched again, with false if an event came first.
fn switch(core: u8, thread: u64, flags: u64, timeout: u64) -> bool {
    OwnRegion::of(core).set_next_thread(thread);
    match calls::switch_thread(thread, flags, timeout) {
        Ok(()) => true,
        Err(Error::Again) => false,
        Err(_) => calls::give_up(),
    }
}

fn upcall(core: u8) -> ! {
    let now = time_stamp();
    if tactus_rt::info().cores > 1 {
        inter_core(core, now);
    }
    let events = OwnRegion::of(core).take_events();
    if events & event::START != 0 {
        BOOK.write(Series::First, now);
        switch(core, client(), SWITCH_UPCALL_DONE, NO_TIMEOUT);
    } else if events & event::FAULT != 0 {
        let fault = OwnRegion::of(core).fault();
        BOOK.write(Series::Fault, now - (fault.address & !NOWHERE));
        switch(core, client(), SWITCH_UPCALL_DONE, NO_TIMEOUT);
    } else if events & event::TIMER == 0 {
        // An upcall has ended, or left word in its slot.
        switch(core, client(), SWITCH_UPCALL_DONE, NO_TIMEOUT);
    } else {
        BOOK.write(Series::Upcall, now);
        BOOK.write(Series::Expiry, EXPIRY.load(Relaxed));
        let left = INTERRUPTS.load(Relaxed);
        if left == 0 {
            switch(core, client(), SWITCH_UPCALL_DONE, NO_TIMEOUT);
        }
        INTERRUPTS.store(left - 1, Relaxed);
        let expiry = time_stamp() + BETWEEN;
        EXPIRY.store(expiry, Relaxed);
        OwnRegion::of(core).set_next_thread(listener());
        BOOK.write(Series::Dispatched, time_stamp());
        let _ = calls::switch_thread(listener(), SWITCH_UPCALL_DONE, expiry);
    }
    calls::give_up()
}

/// The client wants to go on; the listener wants to help.
fn complete(caller: Caller, [order, words @ ..]: [u64; 5]) -> [u64; 2] {
    let core = caller.core();
    if order != 0 {
        return help(caller, order, words).map_or_else(|error| [0, error as u64], |value| [value, 0]);
    }
    if u64::from(caller.thread()) != client() {
        // Switches: to the client, which has just come here or is in `switches`.
        while STAMP.load(Relaxed) != 0 {
            BOOK.write(Series::Switch, time_stamp() - STAMP.load(Relaxed));
            bare_switch(core, client());
        }
        return [0; 2];
    }
    locks(core, caller);
    switches(core);
    interrupts(core);
    faults(core);
    calls::finish(END)
}

/// The loader's, which has nothing to tell.
fn slot(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [0, Error::BadArgument as u64]
}

/// What the client asks for, by [`order`].
fn help(caller: Caller, order: u64, [a, b, c, _]: [u64; 4]) -> Result<u64, Error> {
    let core = caller.core();
    OwnRegion::of(core).take_events();
    match order {
        order::BIND => bind(core, caller.thread().into(), a, b).map(|()| 0),
        order::ADOPT => {
            let upcall = calls::brand_control(BrandOperation::AddUpcall, a, 0)?;
            bind(core, upcall, b, c).map(|()| upcall)
        }
        order::URGE => {
            urge(core, a, b);
            Ok(0)
        }
        order::DISPATCH => {
            switch(core, a, 0, NO_TIMEOUT);
            Ok(0)
        }
        _ => Err(Error::BadArgument),
    }
}

/// The thread has the slot, and the slot the urgency.
fn bind(core: u8, thread: u64, slot: u64, urgency: u64) -> Result<(), Error> {
    calls::scheduler_control(SchedulerOperation::Region, 0, 0)?;
    if slot != 0 {
        urge(core, slot, urgency);
    }
    calls::scheduler_control(SchedulerOperation::Slot, thread, slot)
}

fn urge(core: u8, slot: u64, urgency: u64) {
    region_field!(core, slots[slot as usize].urgency).write(urgency as u16);
}

/// Takes the scheduler lock and releases it.
fn locks(core: u8, caller: Caller) {
    let region = OwnRegion::of(core);
    for _ in 0..rounds() {
        let begin = time_stamp();
        drop(region.lock(caller.thread().into()));
        BOOK.write(Series::Lock, time_stamp() - begin);
    }
}

/// Notes the time and switches, with nothing in between that a scheduler could do without.
#[inline(always)]
fn bare_switch(core: u8, thread: u64) {
    OwnRegion::of(core).set_next_thread(thread);
    STAMP.store(time_stamp(), Relaxed);
    let _ = calls::switch_thread(thread, 0, NO_TIMEOUT);
}

fn switches(core: u8) {
    // The first one ends in the listener's beginning, which is no switch inside the scheduler; it comes here at once.
    for _ in 0..rounds() {
        bare_switch(core, listener());
        BOOK.write(Series::Switch, time_stamp() - STAMP.load(Relaxed));
    }
    STAMP.store(0, Relaxed);
}

/// Lets the listener run and interrupts it again and again.
fn interrupts(core: u8) {
    INTERRUPTS.store(rounds(), Relaxed);
    let expiry = time_stamp() + BETWEEN;
    EXPIRY.store(expiry, Relaxed);
    switch(core, listener(), 0, expiry);
}

/// Lets every victim fault.
fn faults(core: u8) {
    // The loader and its slot come last, with a task each.
    let others = components().iter().filter(|it| it.role & (role::LOADER | role::SLOT) != 0).count();
    let threads = client() + u64::from(tactus_rt::info().tasks) - others as u64;
    for victim in listener() + 1..threads {
        switch(core, victim, 0, NO_TIMEOUT);
    }
}

/// Core 0 sends, core 1 receives.
fn inter_core(core: u8, now: u64) -> ! {
    if core == 0 {
        for round in 0..rounds() {
            // Looks on until the other core is there and asleep: each `pause` lets it run.
            while ARRIVED.load(SeqCst) <= round {
                spin_loop();
            }
            for _ in 0..10 {
                spin_loop();
            }
            STAMP.store(time_stamp(), SeqCst);
            let _ = calls::notify(1);
        }
        calls::finish(END)
    }
    let mut now = now;
    loop {
        let events = OwnRegion::of(core).take_events();
        if events & event::NOTIFY != 0 {
            BOOK.write(Series::InterCore, now - STAMP.load(SeqCst));
        }
        if events & (event::NOTIFY | event::START) != 0 {
            ARRIVED.fetch_add(1, SeqCst);
        }
        switch(core, IDLE, SWITCH_UPCALL_DONE, NO_TIMEOUT);
        // An event came in between.
        now = time_stamp();
    }
}
