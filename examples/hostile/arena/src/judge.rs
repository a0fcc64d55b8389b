//! The root of the arena: in every period each core goes to the witness, then to the others, picked at random, with the
//! root's own random calls in between, then it sleeps for a moment. Keeps count of every call's every end, and tells at
//! the end of the run.
#![no_std]
#![no_main]

mod common;

use common::{card, cards, dispatch, kind, seal, take_events, Random, CALLS, ERRORS};
use core::fmt::{self, Write};
use core::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Relaxed, SeqCst},
};
use tactus_rt::abi::call::{BrandOperation, Call, Error, SchedulerOperation, IDLE, NO_TIMEOUT, SWITCH_UPCALL_DONE};
use tactus_rt::abi::layout::MAX_BRANDS;
use tactus_rt::abi::shared::{cause::Cause, event, name_text, slot};
use tactus_rt::clock::time_stamp;
use tactus_rt::{calls, clock, info, Caller};

tactus_rt::component! { upcall: upcall, services: [complete, tell] }

/// Ticks of a period, and of its parts: the witness's, that of the others; the rest is a pause.
const PERIOD: u64 = 4_000_000;
const WITNESS: u64 = 400_000;
const OTHERS: u64 = 3_500_000;
/// The longest that one of the others has at once.
const AT_ONCE: u64 = 200_000;
/// Jobs of the witness on each core whose order is compared.
const COMPARED: u64 = 50;
/// Threads of the witness on each core.
const THREADS: u64 = 2;
/// Slots of the root's regions that the others get; the witness has those from here on.
const SLOTS: u64 = 200;
const END: u8 = 0x10;
/// The kind of fault that is nobody's (`FaultKind::Gone` of `tactus-record`).
const GONE: u64 = 9;

/// What is kept for each core.
struct Book {
    /// When the witness got the core; how long it had it, at least in one period, and how often.
    given: AtomicU64,
    had: AtomicU64,
    times: AtomicU64,
    /// What the witness did: how many jobs, and a digest of which one after which.
    jobs: AtomicU64,
    order: AtomicU64,
    /// State of the core's random numbers.
    random: AtomicU64,
}

static BOOKS: [Book; 8] = [const {
    Book {
        given: AtomicU64::new(0),
        had: AtomicU64::new(0),
        times: AtomicU64::new(0),
        jobs: AtomicU64::new(0),
        order: AtomicU64::new(0),
        random: AtomicU64::new(0),
    }
}; 8];
/// How often each call ended in each way.
static COUNTS: [[AtomicU64; ERRORS]; CALLS] = [const { [const { AtomicU64::new(0) }; ERRORS] }; CALLS];
/// What must not be: memory, read-only pages, registers of the witness; others' word about themselves.
static BROKEN: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
/// How often a component was stopped, by its number.
static STOPPED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// What the first one of them was (plus one), where, its address, and the thread.
static FIRST: [[AtomicU64; 4]; 64] = [const { [const { AtomicU64::new(0) }; 4] }; 64];
static READY: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);
/// Where the restart of the root's victim goes on.
static STEP: AtomicU64 = AtomicU64::new(0);
static RESTARTING: AtomicBool = AtomicBool::new(false);
/// How often what was to be broken is.
static PLANTED: AtomicU64 = AtomicU64::new(0);
/// Odd: some ways put right what they have broken before.
const MOST_PLANTED: u64 = 3;
/// The period from which on it is asked for.
const PLANTS: u64 = 8;

struct Console;

impl Write for Console {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        calls::text(words);
        Ok(())
    }
}

macro_rules! tell {
    ($($words:tt)*) => {{ let _ = writeln!(Console, $($words)*); }};
}

/// What is looked up once: the seed, the number of threads, the witness's number, first thread and first upcall, the
/// first upcalls of three schedulers, and the numbers of the two that the root promotes.
static FACTS: [AtomicU64; 10] = [const { AtomicU64::new(0) }; 10];

fn fact(place: usize) -> u64 {
    FACTS[place].load(Relaxed)
}

fn look_up() {
    let (witness, its) = card("witness");
    let first = |name| u64::from(card(name).1.first_upcall);
    let facts = [
        number_of_name(),
        count_threads(),
        witness,
        its.first_spare.into(),
        its.first_upcall.into(),
        first("scheduler-a"),
        first("scheduler-b"),
        first("scheduler-e"),
        card("scheduler-a").0,
        card("scheduler-b").0,
    ];
    FACTS.iter().zip(facts).for_each(|(place, fact)| place.store(fact, Relaxed));
}

fn seed() -> u64 {
    fact(0)
}

fn threads() -> u64 {
    fact(1)
}

/// The number at the end of the system's name; 0 lets nobody make calls.
fn number_of_name() -> u64 {
    name_text(&info().system).rsplit('-').next().and_then(|it| it.parse().ok()).unwrap_or(1)
}

/// What the kernel is asked to break, by the number after `plant-` in the system's name: whether it finds that out is for a test
/// to see. Another kernel than one made for that knows no such call. What another core has put right before the kernel looked is broken
/// again.
fn plant() {
    let name = name_text(&info().system);
    let way = name.strip_prefix("plant-").and_then(|rest| rest.split('-').next()?.parse::<u64>().ok());
    let Some(way) = way.filter(|_| PLANTED.load(SeqCst) < MOST_PLANTED) else { return };
    let status = calls::raw(0x7461_6374_0000 + way, [0; 6]);
    if status == 0 {
        tell!("planted: {way}");
        PLANTED.fetch_add(1, SeqCst);
    }
}

/// How many threads there are.
fn count_threads() -> u64 {
    let ends = cards().iter().map(|card| {
        let upcalls =
            if card.first_upcall < 1 << 16 { u64::from(card.first_upcall) + u64::from(info().cores) } else { 0 };
        (u64::from(card.first_spare) + u64::from(card.spares)).max(upcalls)
    });
    ends.filter(|&end| end < 1 << 16).max().unwrap_or(1)
}

fn complete(_: Caller, _: [u64; 5]) -> [u64; 2] {
    [1, 0]
}

fn tell(caller: Caller, [what, first, second, sealed, ..]: [u64; 5]) -> [u64; 2] {
    let sealed = sealed == seal(what, first, second);
    match what {
        kind::COUNT if sealed => {
            let place = first as usize;
            COUNTS[(place / ERRORS).min(CALLS - 1)][place % ERRORS].fetch_add(second, SeqCst);
        }
        kind::JOB if u64::from(caller.component()) == fact(2) => {
            let book = &BOOKS[usize::from(caller.core()) % BOOKS.len()];
            if book.jobs.fetch_add(1, SeqCst) < COMPARED {
                let word = first << 16 | u64::from(caller.thread());
                let mixed = (book.order.load(SeqCst) ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(7);
                book.order.store(mixed, SeqCst);
            }
        }
        kind::BROKEN if sealed => drop(BROKEN[first as usize % BROKEN.len()].fetch_add(1, SeqCst)),
        _ => {}
    }
    [seed(), threads() | u64::from(info().components) << 32]
}

/// The others: not the root, not the witness.
fn is_other(name: &str) -> bool {
    !matches!(name, "judge" | "witness")
}

/// Makes schedulers, and the first threads.
fn set_up() {
    look_up();
    if common::share().is_err() {
        calls::give_up();
    }
    let (witness, its) = card("witness");
    if calls::scheduler_control(SchedulerOperation::Promote, 0, witness).is_err() {
        calls::give_up();
    }
    let cores = u64::from(info().cores);
    for number in 0..cores * THREADS {
        match calls::create_thread(witness, [number / THREADS, number % THREADS]) {
            Ok(thread) => drop(calls::scheduler_control(SchedulerOperation::Grant, thread, witness)),
            Err(_) => calls::give_up(),
        }
    }
    // Nobody goes before the witness.
    let upcalls = (0..cores).map(|core| u64::from(its.first_upcall) + core);
    let its_own = (0..cores * THREADS).map(|thread| u64::from(its.first_spare) + thread).chain(upcalls);
    for (place, thread) in its_own.enumerate() {
        let slot = SLOTS + place as u64;
        urgency(slot, 0);
        if calls::scheduler_control(SchedulerOperation::Slot, thread, slot).is_err() {
            calls::give_up();
        }
    }
    for (number, card) in cards().iter().enumerate().filter(|(_, card)| is_other(name_text(&card.name))) {
        for thread in 0..card.spares / 2 {
            let _ = calls::create_thread(number as u64, [thread.into(), 0]);
        }
    }
    READY.store(1, SeqCst);
}

/// Sets a slot's urgency in all cores' regions.
fn urgency(slot: u64, urgency: u16) {
    for core in 0..info().cores as u8 {
        // SAFETY: the root's own regions; only the root's code writes urgencies.
        unsafe { (&raw mut (*common::region(core)).slots[slot as usize].urgency).write_volatile(urgency) };
    }
}

fn count(call: Call, status: u64) {
    COUNTS[call as usize][(status as usize).min(ERRORS - 1)].fetch_add(1, SeqCst);
}

fn status<T>(result: &Result<T, Error>) -> u64 {
    result.as_ref().err().map_or(0, |error| *error as u64)
}

/// One of the root's own calls.
fn act(random: &mut Random) {
    let components = u64::from(info().components);
    let other = loop {
        let number = random.mostly(components + 1);
        if number != fact(2) {
            break number;
        }
    };
    let thread = random.mostly(threads());
    let tree = |operation: SchedulerOperation, thread, other| {
        let result = calls::scheduler_control(operation, thread, other);
        count(Call::SchedulerControl, status(&result));
        result
    };
    match random.below(32) {
        0 => {
            let result = calls::create_thread(other, [thread, 0]);
            count(Call::CreateThread, status(&result));
        }
        1..4 => {
            let brand = random.mostly(MAX_BRANDS as u64);
            let result = calls::brand_control(BrandOperation::AddUpcall, brand, 0);
            count(Call::BrandControl, status(&result));
        }
        4..9 => {
            // Mostly its own children only: the others are for those to promote, down to the deepest.
            let other = if random.once_in(64) { other } else { fact(8 + random.below(2) as usize) };
            drop(tree(SchedulerOperation::Promote, 0, other));
        }
        9 if random.once_in(8) => drop(tree(SchedulerOperation::Demote, 0, other)),
        9..17 => drop(tree(SchedulerOperation::Grant, thread, other)),
        17..19 => drop(tree(SchedulerOperation::Revoke, thread, other)),
        19..25 if !is_witness(thread) => {
            let slot = random.below(SLOTS);
            if slot != 0 {
                let how = if random.once_in(10) { slot::DISABLED } else { 1 + random.below(40) as u16 };
                urgency(slot, how);
            }
            let _ = tree(SchedulerOperation::Slot, thread, slot);
        }
        25..29 => restart(random),
        29 => {
            let core = random.mostly(info().cores.into());
            count(Call::Notify, calls::raw(Call::Notify as u64, [core, 0, 0, 0, 0, 0]));
        }
        _ => {
            let call = [Call::Trigger, Call::UpcallDone, Call::MemoryControl, Call::TriggerRemote, Call::Return];
            let call = call[random.below(5) as usize];
            let words = [(); 6].map(|()| random.awkward());
            count(call, calls::raw(call as u64, words));
        }
    }
}

/// Whether the thread is one of the witness's.
fn is_witness(thread: u64) -> bool {
    let cores = u64::from(info().cores);
    (fact(3)..fact(3) + cores * THREADS).contains(&thread) || (fact(4)..fact(4) + cores).contains(&thread)
}

/// The root's victim goes on being restarted.
fn restart(random: &mut Random) {
    if RESTARTING.swap(true, SeqCst) {
        return;
    }
    let mine = cards().iter().position(|card| card.restarted_by == info().component);
    let mut step = STEP.load(SeqCst);
    for _ in 0..1 + random.below(4) {
        let result = calls::restart(mine.map_or(u64::MAX, |it| it as u64), step);
        count(Call::Restart, status(&result));
        if result == Err(Error::Busy) {
            break;
        }
        step = result.unwrap_or(0);
    }
    STEP.store(step, SeqCst);
    RESTARTING.store(false, SeqCst);
}

fn upcall(core: u8) -> ! {
    let entered = time_stamp();
    let book = &BOOKS[usize::from(core) % BOOKS.len()];
    let begin = clock::clock().epoch + PERIOD;
    let mut events = take_events(core);
    if events & event::START != 0 {
        if core == 0 {
            set_up();
        }
        while READY.load(SeqCst) == 0 {
            core::hint::spin_loop();
        }
    }
    let mut random = Random::new(book.random.fetch_add(1, SeqCst) ^ u64::from(core) << 56 ^ seed() << 40);
    let given = book.given.swap(0, SeqCst);
    if given != 0 {
        book.had.fetch_add(entered - given, SeqCst);
        book.times.fetch_add(1, SeqCst);
    }
    loop {
        if events & event::FAULT != 0 {
            // SAFETY: written before the event was posted.
            let fault = unsafe { (&raw const (*common::region(core)).fault).read_volatile() };
            let place = (fault.component as usize).min(STOPPED.len() - 1);
            // A thread whose job was ended by its scheduler is told of as well; that stops nobody.
            if fault.kind != GONE {
                STOPPED[place].fetch_add(1, SeqCst);
                let what = [fault.kind + 1, fault.instruction, fault.address, fault.thread];
                if FIRST[place][0].compare_exchange(0, what[0], SeqCst, SeqCst).is_ok() {
                    FIRST[place].iter().zip(what).for_each(|(kept, word)| kept.store(word, SeqCst));
                }
            }
        }
        // The part follows from the time alone.
        let now = time_stamp();
        if now < begin {
            let _ = dispatch(core, IDLE, SWITCH_UPCALL_DONE, begin);
        } else {
            let (period, within) = ((now - begin) / PERIOD, (now - begin) % PERIOD);
            if period >= info().duration / PERIOD {
                end(core);
            }
            if core == 0 && period >= PLANTS {
                plant();
            }
            let start = begin + period * PERIOD;
            if within < WITNESS {
                book.given.store(now, SeqCst);
                let thread = fact(4) + u64::from(core);
                let _ = dispatch(core, thread, SWITCH_UPCALL_DONE, start + WITNESS);
                book.given.store(0, SeqCst);
            } else if within < WITNESS + OTHERS {
                others(core, &mut random, start + WITNESS + OTHERS);
            } else {
                let _ = dispatch(core, IDLE, SWITCH_UPCALL_DONE, start + PERIOD);
            }
        }
        events = take_events(core);
    }
}

/// Gives the core to one of the others; comes back if an event is pending or nobody can run.
fn others(core: u8, random: &mut Random, end: u64) {
    if seed() != 0 {
        for _ in 0..random.below(6) {
            act(random);
        }
    }
    for _ in 0..12 {
        let until = (time_stamp() + 5_000 + random.below(AT_ONCE)).min(end);
        let thread = if random.once_in(2) {
            fact(5 + random.below(3) as usize) + u64::from(core)
        } else {
            random.below(threads())
        };
        if is_witness(thread) {
            continue;
        }
        COUNTS[Call::SwitchThread as usize][0].fetch_add(1, SeqCst);
        let result = dispatch(core, thread, SWITCH_UPCALL_DONE, until);
        COUNTS[Call::SwitchThread as usize][0].fetch_sub(1, SeqCst);
        count(Call::SwitchThread, status(&result));
        if result == Err(Error::Again) {
            return;
        }
    }
    let _ = dispatch(core, IDLE, SWITCH_UPCALL_DONE, (time_stamp() + 20_000).min(end));
}

/// This core is through; the last one tells.
fn end(core: u8) -> ! {
    let cores = u64::from(info().cores);
    if core != 0 {
        ENDED.fetch_or(1 << core, SeqCst);
        loop {
            let _ = dispatch(core, IDLE, SWITCH_UPCALL_DONE, NO_TIMEOUT);
            take_events(core);
        }
    }
    while ENDED.load(SeqCst).count_ones() + 1 < cores as u32 {
        core::hint::spin_loop();
    }
    let mut calls_made = 0;
    for (call, errors) in COUNTS.iter().enumerate() {
        for (error, count) in errors.iter().enumerate() {
            let count = count.load(SeqCst);
            calls_made += count;
            if count != 0 {
                let name = Error::from_u64(error as u64).unwrap_or(Error::None);
                tell!("ended: call {call} error {error} times {count} {name:?}");
            }
        }
    }
    for (number, count) in STOPPED.iter().enumerate().filter(|(_, count)| count.load(SeqCst) != 0) {
        let name = cards().get(number).map_or("(none)", |card| name_text(&card.name));
        let [kind, at, address, thread] = FIRST[number].each_ref().map(|word| word.load(SeqCst));
        let count = count.load(SeqCst);
        tell!(
            "stopped: {name} times {count}, first kind {} at {at:#x}, address {address:#x}, thread {thread}",
            kind - 1
        );
    }
    for (number, book) in BOOKS.iter().enumerate().take(cores as usize) {
        tell!(
            "core {number} witness: {} jobs, order {:016x}, had {} ticks in {} turns",
            book.jobs.load(SeqCst),
            book.order.load(SeqCst),
            book.had.load(SeqCst),
            book.times.load(SeqCst)
        );
        let region = common::region(number as u8);
        // SAFETY: the kernel writes each field in one piece.
        let (longest, why) = unsafe {
            ((&raw const (*region).longest).read_volatile(), (&raw const (*region).longest_cause).read_volatile())
        };
        let instructions = clock::ticks_to_nanos(longest) / info().instruction_nanos.max(1);
        tell!("core {number} longest in the kernel: {instructions} instructions, {}", Cause(why));
    }
    let [others, memory, pages, registers] = BROKEN.each_ref().map(|count| count.load(SeqCst));
    tell!("broken: memory {memory}, read-only pages {pages}, registers {registers}, told {others}");
    tell!("calls: {calls_made} in all, seed {}", seed());
    calls::finish(END)
}
