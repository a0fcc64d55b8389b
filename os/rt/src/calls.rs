//! The kernel's calls as functions.

use crate::arch::calls as arch;
pub(crate) use crate::arch::calls::enter;
pub use tactus_abi::call::{BrandOperation, Caller, Error, MemoryOperation, SchedulerOperation, SnapshotOperation};
use tactus_abi::call::{Call, VIOLATIONS};

/// A call with up to six words in and two out.
#[inline(always)]
fn call(call: Call, words: [u64; 6]) -> (u64, [u64; 2]) {
    enter(call as u64, words)
}

#[inline(always)]
fn outcome<T>(status: u64, value: T) -> Result<T, Error> {
    if status == 0 {
        return Ok(value);
    }
    Err(Error::from_u64(status).unwrap_or(Error::BadCall))
}

/// Enters the kernel and leaves it again.
#[inline]
pub fn null() {
    arch::null();
}

/// Goes on in the component that the grant names and comes back with two words.
#[inline]
pub fn invoke(grant: u64, words: [u64; 5]) -> Result<[u64; 2], Error> {
    let (status, values) = call(Call::Invoke, [grant, words[0], words[1], words[2], words[3], words[4]]);
    outcome(status, values)
}

/// Returns from an invocation.
#[inline]
pub fn give_back(values: [u64; 2]) -> ! {
    call(Call::Return, [values[0], values[1], 0, 0, 0, 0]);
    give_up()
}

/// As [`invoke`], with ten words in registers, there and back.
#[inline]
pub fn invoke_wide(grant: u64, words: [u64; 10]) -> Result<[u64; 10], Error> {
    let (status, words) = arch::invoke_wide(grant, words);
    outcome(status, words)
}

/// Returns from an invocation with ten words.
#[inline]
pub fn give_back_wide(words: [u64; 10]) -> ! {
    arch::return_wide(words)
}

/// Dispatches a thread on this core; comes back when this thread is dispatched again.
#[inline]
pub fn switch_thread(thread: u64, flags: u64, timeout: u64) -> Result<(), Error> {
    outcome(arch::switch_thread(thread, flags, timeout), ())
}

/// Sends an inter-core event.
pub fn notify(core: u8) -> Result<(), Error> {
    outcome(call(Call::Notify, [core.into(), 0, 0, 0, 0, 0]).0, ())
}

/// How often the console is asked at most. One that takes nothing for so long is not there.
const PATIENCE: usize = 100_000;

/// Until it is not answered with `Busy`: then the kernel holds as much text as it can, or another core writes.
fn patiently<T>(ask: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
    for _ in 0..PATIENCE {
        match ask() {
            Err(Error::Busy) => core::hint::spin_loop(),
            other => return other,
        }
    }
    Err(Error::Busy)
}

/// Writes text to the console. It waits for the port here, where the caller is charged for it and can be preempted.
pub fn text(text: &str) {
    for part in text.as_bytes().chunks(32) {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(part.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(padded);
        }
        // Nobody reads it if it is refused.
        if write_piece(part.len() as u64, words).is_none() {
            return;
        }
    }
}

/// Writes up to 32 bytes to the console as piece `number` of those that this component numbers, as long as exactly that number was written
/// before. How many were written then; none if the console takes nothing. Waits for the port as [`text`].
pub fn numbered_text(number: u64, bytes: u64, words: [u64; 4]) -> Option<u64> {
    write_piece(bytes | (number + 1) << 8, words)
}

/// How many pieces of [`numbered_text`] this component has written; none if the console takes nothing.
pub fn numbered_pieces() -> Option<u64> {
    write_piece(0, [0; 4])
}

/// How many numbered pieces were written; none if the console takes nothing.
fn write_piece(size: u64, words: [u64; 4]) -> Option<u64> {
    let [w0, w1, w2, w3] = words;
    let ask = || {
        let (status, values) = call(Call::Text, [size, w0, w1, w2, w3, 0]);
        outcome(status, values)
    };
    let [held, written] = patiently(ask).ok()?;
    if held > 0 {
        drain();
    }
    Some(written)
}

/// Until the port has taken what the kernel holds.
fn drain() {
    for _ in 0..PATIENCE {
        if let (0, [0, _]) = call(Call::Text, [0; 6]) {
            return;
        }
        core::hint::spin_loop();
    }
}

/// Changes the tree of schedulers. Schedulers only.
pub fn scheduler_control(operation: SchedulerOperation, thread: u64, other: u64) -> Result<(), Error> {
    outcome(call(Call::SchedulerControl, [operation as u64, thread, other, 0, 0, 0]).0, ())
}

/// Makes a thread that begins in the component and is told two words; its number. The root scheduler only.
pub fn create_thread(component: u64, words: [u64; 2]) -> Result<u64, Error> {
    let (status, [thread, _]) = call(Call::CreateThread, [component, words[0], words[1], 0, 0, 0]);
    outcome(status, thread)
}

/// Makes, feeds and wires brands; the number of what was made.
pub fn brand_control(operation: BrandOperation, brand: u64, other: u64) -> Result<u64, Error> {
    let (status, [number, _]) = call(Call::BrandControl, [operation as u64, brand, other, 0, 0, 0]);
    outcome(status, number)
}

/// Asks for one more run of the brand's upcall.
pub fn trigger(brand: u64, word: u64) -> Result<(), Error> {
    outcome(call(Call::Trigger, [brand, word, 0, 0, 0, 0]).0, ())
}

/// Triggers a brand that is wired to inter-core events on that core.
pub fn trigger_remote(core: u8, brand: u64) -> Result<(), Error> {
    outcome(call(Call::TriggerRemote, [core.into(), brand, 0, 0, 0, 0]).0, ())
}

/// The upcall is finished. Comes back only if the caller is none.
pub fn upcall_done() -> Error {
    let (status, _) = call(Call::UpcallDone, [0; 6]);
    Error::from_u64(status).unwrap_or(Error::BadCall)
}

/// Frames and who sees them. Only a component that manages memory.
pub fn memory_control(operation: MemoryOperation, component: u64, address: u64, page: u64) -> Result<[u64; 2], Error> {
    let (status, values) = call(Call::MemoryControl, [operation as u64, component, address, page, 0, 0]);
    outcome(status, values)
}

/// Sets a stopped component back, one piece with each call: begin with step 0, go on with what comes back, until it is 0.
pub fn restart(component: u64, step: u64) -> Result<u64, Error> {
    let (status, [next, _]) = call(Call::Restart, [component, step, 0, 0, 0, 0]);
    outcome(status, next)
}

/// As [`restart`], of a slot, whose threads begin at `entry` once it runs again: the first step counts. Only its loader.
pub fn restart_at(component: u64, step: u64, entry: u64) -> Result<u64, Error> {
    let (status, [next, _]) = call(Call::Restart, [component, step, entry, 0, 0, 0]);
    outcome(status, next)
}

/// Stops a slot: nobody enters it, and whoever is in it leaves it. Only its loader.
pub fn stop(component: u64) -> Result<(), Error> {
    outcome(call(Call::Stop, [component, 0, 0, 0, 0, 0]).0, ())
}

/// Saves or restores a page, or a thread, of a slot: see [`SnapshotOperation`].
pub fn snapshot(
    operation: SnapshotOperation,
    component: u64,
    what: u64,
    (frame, place): (u64, u64),
) -> Result<(), Error> {
    outcome(call(Call::Snapshot, [operation as u64, component, what, frame, place, 0]).0, ())
}

/// Until this reading of the counter of time the thread computes. Only the built-in workload.
pub fn computes_until(reading: u64) -> Result<(), Error> {
    outcome(call(Call::Computes, [reading, 0, 0, 0, 0, 0]).0, ())
}

/// Raises an event of the component's own by the hash of its name ([`tactus_abi::monitors::hash`]).
///
/// # Errors
/// [`Error::NotAllowed`] where no monitor watches it.
#[inline]
pub fn signal(name: u64) -> Result<(), Error> {
    outcome(call(Call::Signal, [name, 0, 0, 0, 0, 0]).0, ())
}

/// Tells the monitors of an event, or of the instant alone; until when something is awaited, and how many violations there were. The
/// root scheduler only.
pub fn observe(event: u64, at: u64) -> Result<[u64; 2], Error> {
    let (status, values) = call(Call::Observe, [event, at, 0, 0, 0, 0]);
    outcome(status, values)
}

/// The monitors whose violations release jobs on this core and were not told of yet, as bits. The root scheduler only.
pub fn violations() -> Result<u64, Error> {
    observe(VIOLATIONS, 0).map(|[monitors, _]| monitors)
}

/// A violation that the calling thread's jobs handle and that none of them asked for yet: the monitor; the event and, in the lower half,
/// the state.
///
/// # Errors
/// [`Error::NoMessage`] if there is none, [`Error::NotAllowed`] if they handle none.
pub fn violation() -> Result<[u64; 2], Error> {
    let (status, values) = call(Call::Violation, [0; 6]);
    outcome(status, values)
}

/// Any call with any words; its status. For tests that try what the kernel refuses.
pub fn raw(number: u64, words: [u64; 6]) -> u64 {
    enter(number, words).0
}

/// Ends the run of the whole machine. Root scheduler only.
pub fn finish(code: u8) -> ! {
    call(Call::Finish, [code.into(), 0, 0, 0, 0, 0]);
    give_up()
}

/// A piece of what the component says before it gives up: its length, 1 to 32, and the bytes.
pub fn last_words(words: [u64; 5]) -> Result<(), Error> {
    patiently(|| outcome(call(Call::Panic, [words[0], words[1], words[2], words[3], words[4], 0]).0, ()))?;
    drain();
    Ok(())
}

/// The component gives up, as if it had faulted.
pub fn give_up() -> ! {
    loop {
        call(Call::Panic, [0; 6]);
    }
}
