//! A loader that forges: registers of threads, pages and frames that are not its to give. It says what the kernel took of it, and what the
//! kernel takes it lets run.
//!
//! Whether a state may be taken is said here once more, in other words than the kernel's: bit by bit, what a component can have.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::abi::call::{Call, ThreadState, THREAD_STATES};
use tactus_rt::abi::layout::{MAX_COMPONENTS, MAX_THREADS, PAGE, PROGRAM, WINDOW_PAGES};
use tactus_rt::abi::slot::{SlotCard, SlotChange, SlotReport, SLOT};
use tactus_rt::calls::{self, MemoryOperation, SnapshotOperation};
use tactus_rt::{grant, info, slots, Console, Error, Job};

tactus_rt::component! { job: go, services: [] }

/// Places in a state.
const VECTOR: usize = 15;
const RIP: usize = 16;
const CS: usize = 17;
const FLAGS: usize = 18;
const RSP: usize = 19;
const SS: usize = 20;
/// Pages of the own window: of the frame with states, and of the code.
const STATES: u64 = 0;
const CODE: u64 = 1;
/// `cli`, which faults, or else nobody else ever runs again.
const CLI: u8 = 0xfa;

/// The frame with states, that with code, and one that was given back.
static FRAMES: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
static JOBS: AtomicU64 = AtomicU64::new(0);
static TAKEN: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static CHANCE: AtomicU64 = AtomicU64::new(7);

fn card() -> &'static SlotCard {
    slots::slots().first().unwrap_or_else(|| calls::give_up())
}

fn memory(operation: MemoryOperation, component: u32, address: u64, page: u64) -> Result<u64, Error> {
    calls::memory_control(operation, component.into(), address, page).map(|[first, _]| first)
}

fn snapshot(operation: SnapshotOperation, what: u64, place: (u64, u64)) -> Result<(), Error> {
    calls::snapshot(operation, card().component.into(), what, place)
}

fn frame(number: usize) -> u64 {
    FRAMES[number].load(Relaxed)
}

/// What a thread may have.
const GOOD: ThreadState = {
    let mut state = [0x1234_5678; 32];
    let mut rest = SS + 1;
    while rest < 32 {
        state[rest] = 0;
        rest += 1;
    }
    (state[VECTOR], state[RIP], state[CS]) = (0, PROGRAM, 0x2b);
    (state[FLAGS], state[RSP], state[SS]) = (0x202, 0x7000, 0x23);
    state
};

/// Words that stand where one of them lets a thread do what it may not do, or stops the kernel.
const WORDS: [u64; 40] = [
    0,
    1,
    2,
    3,
    8,
    0x0b,
    0x10,
    0x13,
    0x18,
    0x1b,
    0x20,
    0x23,
    0x28,
    0x2b,
    0x33,
    0x40,
    0x42,
    0xff,
    0x100,
    0x102,
    258,
    259,
    0x102b,
    0x202,
    0x203,
    0x602,
    0xed7,
    0x3202,
    0x1_0202,
    0x2_0202,
    0x4_0202,
    0x20_0202,
    PROGRAM - 1,
    PROGRAM,
    PROGRAM + 0xfff,
    PROGRAM + WINDOW_PAGES * PAGE - 1,
    PROGRAM + WINDOW_PAGES * PAGE,
    1 << 47,
    0xffff_8000_0000_0000,
    u64::MAX,
];

/// Whether a component's thread can be in this state.
fn can_be(state: &ThreadState) -> bool {
    let flags = state[FLAGS];
    // Carry, parity, adjust, zero, sign, direction and overflow are a program's own; interrupts are on, and bit 1 is always set.
    let own = [0, 2, 4, 6, 7, 10, 11].iter().fold(0, |own, bit| own | 1 << bit);
    matches!(state[VECTOR], 0 | 0x40 | 256 | 257 | 258)
        && state[RIP] >> 21 == 1
        && (state[CS], state[SS]) == (0x2b, 0x23)
        && flags | own == 1 << 9 | 1 << 1 | own
        && state[RSP] >> 47 == 0
        && state[SS + 1..].iter().all(|word| *word == 0)
}

fn below(limit: usize) -> usize {
    let next = CHANCE.load(Relaxed).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    CHANCE.store(next, Relaxed);
    (next >> 33) as usize % limit
}

/// Gives the slot's first thread the state.
fn give(state: &ThreadState) -> Result<(), Error> {
    for (place, word) in state.iter().enumerate() {
        slots::fill(STATES, 8 * place, &word.to_le_bytes());
    }
    snapshot(SnapshotOperation::RestoreThread, card().first_thread.into(), (frame(0), 0))
}

/// What the kernel says that the thread has.
fn has() -> ThreadState {
    let mut state = [0; 32];
    if snapshot(SnapshotOperation::SaveThread, card().first_thread.into(), (frame(0), 1)).is_err() {
        return state;
    }
    for (place, word) in state.iter_mut().enumerate() {
        let mut bytes = [0; 8];
        slots::read(STATES, size_of::<ThreadState>() + 8 * place, &mut bytes);
        *word = u64::from_le_bytes(bytes);
    }
    state
}

/// Gives the state and looks at what became of it: taken if a component can have it, else refused, and nothing of it is there.
fn try_state(state: &ThreadState, before: &mut ThreadState) {
    let result = give(state);
    let expected = if can_be(state) { Ok(()) } else { Err(Error::BadArgument) };
    let now = has();
    let kept = if expected.is_ok() { *state } else { *before };
    if result != expected || now != kept {
        let _ = writeln!(Console, "BELIEVED {result:?} of {:x?}, has {:x?}", &state[VECTOR..], &now[VECTOR..]);
    }
    (if result.is_ok() { &TAKEN } else { &REFUSED }).fetch_add(1, Relaxed);
    *before = now;
}

fn go(_: &Job) {
    match JOBS.fetch_add(1, Relaxed) {
        0 => prepare(),
        job @ 1..=17 => each_word(VECTOR - 1 + job as usize),
        18..=47 => random_states(),
        48 => what_is_not_its_own(),
        49 => pages(),
        50 => said(),
        job => let_run(job - 51),
    }
}

/// Frames for the states and the code; the slot's window shows the code.
fn prepare() {
    let own = info().component;
    let take = || memory(MemoryOperation::Take, 0, 0, 0).unwrap_or_else(|_| calls::give_up());
    (0..3).for_each(|n| FRAMES[n].store(take(), Relaxed));
    let done = memory(MemoryOperation::MapWritable, own, STATES, frame(0))
        .and_then(|_| memory(MemoryOperation::MapWritable, own, CODE, frame(1)));
    (0..PAGE as usize).for_each(|at| slots::fill(CODE, at, &[CLI]));
    let done = done
        .and_then(|_| memory(MemoryOperation::Unmap, own, CODE, 0))
        .and_then(|_| memory(MemoryOperation::MapExecutable, card().component, 0, frame(1)))
        .and_then(|_| memory(MemoryOperation::Release, 0, 0, frame(2)));
    let _ = writeln!(Console, "prepared {done:?}, good {:?}", give(&GOOD));
}

/// A word of a state is each of these.
fn each_word(place: usize) {
    let mut before = has();
    for word in WORDS {
        let mut state = GOOD;
        state[place] = word;
        try_state(&state, &mut before);
    }
}

/// Some words at random, of those that say something or any.
fn random_states() {
    let mut before = has();
    for _ in 0..250 {
        let mut state = GOOD;
        for _ in 0..below(4) {
            let any = (below(1 << 31) as u64) << 33 | below(1 << 31) as u64;
            state[below(32)] = if below(4) == 0 { any } else { WORDS[below(WORDS.len())] };
        }
        state[RIP] = if below(2) == 0 { PROGRAM + below(1 << 21) as u64 } else { state[RIP] };
        try_state(&state, &mut before);
    }
}

fn must_fail(what: &str, result: Result<(), Error>) {
    REFUSED.fetch_add(1, Relaxed);
    if result.is_ok() {
        let _ = writeln!(Console, "BELIEVED {what}");
    }
}

/// Threads, components, frames, places and operations that are none of its.
fn what_is_not_its_own() {
    let _ = give(&GOOD);
    let (first, tasks) = (u64::from(card().first_thread), u64::from(card().tasks));
    let others = (0..MAX_THREADS as u64 + 2).chain([u64::MAX]).filter(|it| !(first..first + tasks).contains(it));
    for thread in others {
        for operation in [SnapshotOperation::SaveThread, SnapshotOperation::RestoreThread] {
            must_fail("a thread that is not the slot's", snapshot(operation, thread, (frame(0), 0)));
        }
    }
    let components = (0..MAX_COMPONENTS as u64 + 2).chain([u64::MAX]).filter(|it| *it != u64::from(card().component));
    for component in components {
        for operation in [SnapshotOperation::SavePage, SnapshotOperation::RestoreThread] {
            must_fail("another component", calls::snapshot(operation, component, first, (frame(0), 0)));
        }
    }
    for wrong in (0..200).chain([u64::MAX, 1 << 52]).filter(|it| ![frame(0), frame(1)].contains(it)) {
        must_fail("a frame that it does not have", snapshot(SnapshotOperation::SaveThread, first, (wrong, 0)));
    }
    for place in [THREAD_STATES, THREAD_STATES + 1, 1 << 32, 1 << 60, u64::MAX] {
        must_fail("a place beyond the frame", snapshot(SnapshotOperation::SaveThread, first, (frame(0), place)));
    }
    for operation in [5, 6, 1 << 32, u64::MAX] {
        let words = [operation, card().component.into(), first, frame(0), 0, 0];
        must_fail(
            "no operation",
            if calls::raw(Call::Snapshot as u64, words) == 0 { Ok(()) } else { Err(Error::BadArgument) },
        );
    }
}

/// Pages that nothing may be written into, and a frame that is executed.
fn pages() {
    let (slot, own) = (card().component, WINDOW_PAGES + card().set_back);
    for page in [0, 1, 2, WINDOW_PAGES - 1, own, own + 100, u64::MAX, u64::MAX - WINDOW_PAGES] {
        must_fail(
            "a page that is not there, or is executed",
            snapshot(SnapshotOperation::RestorePage, page, (frame(0), 0)),
        );
    }
    for operation in [SnapshotOperation::SavePage, SnapshotOperation::RestorePage] {
        must_fail("a frame that is executed", snapshot(operation, WINDOW_PAGES, (frame(1), 0)));
    }
    must_fail(
        "a state in a frame that is executed",
        snapshot(SnapshotOperation::SaveThread, card().first_thread.into(), (frame(1), 0)),
    );
    must_fail(
        "code that is written",
        memory(MemoryOperation::MapWritable, info().component, CODE, frame(1)).map(|_| ()),
    );
    must_fail("states that are executed", memory(MemoryOperation::MapExecutable, slot, 5, frame(0)).map(|_| ()));
    // Shown in the slot to be read, a frame that is written is still no page of the slot's that may be written.
    let shown = memory(MemoryOperation::MapReadable, slot, 6, frame(0));
    let _ = writeln!(Console, "shown {:?}", shown.is_ok());
    let _ = memory(MemoryOperation::Unmap, slot, 6, 0);
}

fn said() {
    let (taken, refused) = (TAKEN.load(Relaxed), REFUSED.load(Relaxed));
    let _ = writeln!(Console, "taken {taken}, refused {refused}");
}

/// A state that the kernel takes begins, in each second job; it ends in the job after it.
fn let_run(job: u64) {
    let change = SlotChange { slot: 0, load: (job / 2) as u16 };
    let tell = |report: SlotReport| grant(SLOT).call(report.words());
    if job % 2 == 1 {
        let _ = tell(SlotReport::Unloaded(change));
        let _ = calls::stop(card().component.into());
        return;
    }
    let (component, entry) = (u64::from(card().component), PROGRAM);
    let back = (0..card().set_back).try_for_each(|step| calls::restart_at(component, step, entry).map(|_| ()));
    let mut state = GOOD;
    let vectors = [0, 0x40, 256, 257, 258];
    state[VECTOR] = vectors[below(vectors.len())];
    state[RIP] = PROGRAM + below(if below(2) == 0 { PAGE as usize } else { 1 << 21 }) as u64;
    state[FLAGS] |= below(1 << 12) as u64 & 0xcd5;
    state[RSP] = [0, 8, PROGRAM, 0x7fff_ffff_fff0, (1 << 47) - 1, below(1 << 31) as u64][below(6)];
    let given = give(&state);
    let last = calls::restart_at(component, card().set_back, entry);
    let late = give(&GOOD);
    let task = card().first_task as u16;
    let _ = tell(SlotReport::Task { task, execution: 100_000, period: 20_000_000, deadline: 20_000_000, priority: 1 });
    let told = tell(SlotReport::Loaded(change));
    if back.is_err() || given.is_err() || last != Ok(0) || late != Err(Error::NotStopped) || told != Ok([0; 2]) {
        let _ = writeln!(Console, "not begun: {back:?} {given:?} {last:?} {late:?} {told:?}");
    }
}
