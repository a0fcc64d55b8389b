//! The calls. Each checks in the order in which its failures are listed, and does a bounded amount of work.

use crate::arch::interrupts;
use crate::arch::registers::RETURN_ADDRESS;
use crate::arch::serial::{self, say};
use crate::arch::slices;
use crate::dispatch::{enter, is_under, leave_kernel, post_root};
use crate::monitor::Demands;
use crate::path;
use crate::percore::{self, Core};
use crate::region::Shared;
use crate::reply::{answer, answer_with, entered, running};
use crate::thread::{state, Thread};
use crate::{
    brand, component, delivery, event_source, eviction, mailbox, memory, monitor, restart, snapshot, timer, tree,
    upcall,
};
use core::fmt::Write;
use core::sync::atomic::Ordering::Relaxed;
use tactus_abi::call::{reason, BrandOperation, Call, Error, PANIC_PIECES};
use tactus_abi::console::Lines;
use tactus_abi::image::role;
use tactus_abi::layout::MAX_INVOCATIONS;
use tactus_abi::shared::{cause::Cause, event};
use tactus_record::FaultKind;

/// A thread called, and it is none of the calls that the entry code does alone: its number is saved. Whoever
/// is the core's current thread afterwards goes on.
#[no_mangle]
extern "C" fn kernel_call(a0: u64, a1: u64, a2: u64, a3: u64, a4: u64) {
    let (core, thread) = entered(Call::Null);
    core.cause = thread.registers.call().min(Call::ALL.len() as u64);
    if component::get(thread.component).is_stopped() {
        return eviction::caller_stopped(core);
    }
    #[cfg(feature = "fault-injection")]
    if let Some(result) = crate::check::fault_injection::asked(core, thread) {
        return answer(core, result);
    }
    let result = match Call::ALL.get(thread.registers.call() as usize) {
        Some(Call::Invoke | Call::InvokeWide) => match monitor::invoke(core, a0) {
            Ok(()) => return,
            Err(Error::NotGranted) => return invoke(core, a0),
            refused => refused,
        },
        Some(Call::Signal) => return monitor::signal(core, a0),
        Some(Call::Observe) => return monitor::observe(core, a0, a1),
        Some(Call::Violation) => return monitor::violation(core),
        Some(Call::Return) => return give_back(core, [a0, a1]),
        Some(Call::ReturnWide) => return give_back_wide(core),
        Some(Call::Notify) => notify(thread, a0),
        Some(Call::Text) => {
            let held = text(thread, a0, [a1, a2, a3, a4]);
            return answer_with(core, held);
        }
        Some(Call::Finish) => finish(core, thread, a0),
        Some(Call::Panic) if a0 != 0 => last_words(thread, a0, [a1, a2, a3, a4]),
        Some(Call::Panic) => {
            let at = thread.registers.instruction();
            return eviction::stop(core, FaultKind::Panic, at);
        }
        Some(Call::SchedulerControl) => tree::control(core, thread, a0, a1, a2),
        Some(Call::CreateThread) => {
            let made = create(thread, a0, [a1, a2]);
            return answer_with(core, made);
        }
        Some(Call::BrandControl) => {
            let result = control_brand(core, thread, a0, a1, a2);
            return brand_controlled(core, a0, a1, result);
        }
        Some(Call::MemoryControl) => {
            let result = memory::control(core, thread.component, [a0, a1, a2, a3]);
            return answer_with(core, result);
        }
        Some(Call::Restart) => {
            let by = thread.component;
            return restart(core, by, a0, [a1, a2]);
        }
        Some(Call::Stop) => restart::stop(core, thread.component, a0),
        Some(Call::Snapshot) => {
            let by = thread.component;
            let result = snapshot::control(core, by, [a0, a1, a2, a3, a4]);
            return answer(core, result);
        }
        Some(Call::TriggerRemote) => delivery::trigger_remote(thread, a0, a1),
        Some(Call::Computes) => match timer::promise(core, thread, a0) {
            Ok(()) => {
                thread.registers.set_status(Error::None as u64);
                return crate::dispatch::leave_unnoted(core);
            }
            refused => refused,
        },
        Some(Call::Null | Call::SwitchThread | Call::Trigger | Call::UpcallDone) | None => Err(Error::BadCall),
    };
    answer(core, result)
}

/// `(grant, a0, a1, a2, a3, a4)`: the entry code did not do it, since it must be refused, or since one of the two components has
/// floating point; then the words are saved.
fn invoke(core: &mut Core, grant: u64) {
    let part = core.caller;
    let thread = running(core);
    let caller = component::get(thread.component);
    let grant = match caller.grants.get(grant as usize) {
        Some(grant) if grant.entry != 0 => grant,
        _ => return answer(core, Err(Error::NotGranted)),
    };
    let target = component::get(grant.component);
    if target.is_stopped() {
        return answer(core, Err(Error::ComponentStopped));
    }
    if usize::from(thread.depth) >= MAX_INVOCATIONS {
        return answer(core, Err(Error::TooDeep));
    }
    let who = thread.caller | part | u64::from(thread.component);
    let mut words = thread.registers.words();
    words[0] = who;
    thread.push(None, grant.component, grant.entry, words);
    core.enter_space(target.space);
    leave_kernel(core)
}

/// `(v0, v1)`: comes here only if something stands in the way. Whoever leaves a scheduler that it is under while events wait
/// there, which came when it was past its own last look, is taken back: its leaving is the moment of the event.
fn give_back(core: &mut Core, values: [u64; 2]) {
    let demands = monitor::watched_return(core);
    let thread = running(core);
    let left = thread.component;
    let values = if thread.is_at_base() {
        let Some(word) = climb(thread, values) else { return answer(core, Err(Error::NothingToReturn)) };
        word
    } else {
        values
    };
    if !thread.pop(Error::None as u64, values) {
        return answer(core, Err(Error::NothingToReturn));
    }
    gave_back(core, left, demands)
}

/// As [`give_back`], with ten words, which are saved. Where nobody called they are two.
fn give_back_wide(core: &mut Core) {
    let demands = monitor::watched_return(core);
    let thread = running(core);
    let left = thread.component;
    let mut words = thread.registers.words();
    words[5] = 0;
    let called = !thread.is_at_base();
    let mut values = [words[0], words[1]];
    if !called {
        let Some(words) = climb(thread, values) else { return answer(core, Err(Error::NothingToReturn)) };
        values = words;
    }
    if !thread.pop(Error::None as u64, values) {
        return answer(core, Err(Error::NothingToReturn));
    }
    if called {
        thread.pass_all(words);
    }
    gave_back(core, left, demands)
}

/// What a thread that nobody called tells the component that its brand recorded below this one; nothing if there is none, or
/// none that has a stack for the thread. The reason is the kernel's word: whoever is climbed to did not ask to be entered
/// now, and whoever climbs may not pretend to be something else.
fn climb(thread: &Thread, [_, word]: [u64; 2]) -> Option<[u64; 2]> {
    let below = thread.frame()?;
    let has_stack = component::get(below.component).space.lets_write(below.stack.wrapping_sub(RETURN_ADDRESS));
    has_stack.then_some([reason::BRAND, word])
}

/// The thread has left the component, which monitors may have watched.
fn gave_back(core: &mut Core, left: u16, demands: Demands) {
    let entered = running(core).component;
    let component = component::get(entered);
    if component.is_stopped() {
        monitor::later(core, demands);
        return eviction::caller_stopped(core);
    }
    core.enter_space(component.space);
    if demands.any() {
        return monitor::leave(core, demands);
    }
    if left != entered && Shared::of(core, left).waits() {
        if let Some(scheduler) = path::scheduler(left).filter(|&it| is_under(core, it)) {
            return enter(core, scheduler);
        }
    }
    leave_kernel(core)
}

/// `(core)`: word for the same scheduler on another core.
fn notify(thread: &Thread, target: u64) -> Result<(), Error> {
    let scheduler = path::scheduler(thread.component).ok_or(Error::NotScheduler)?;
    if target >= crate::machine::cores() as u64 {
        return Err(Error::BadCore);
    }
    if scheduler.depth != 0 {
        mailbox::notify(scheduler, target as usize);
        return Ok(());
    }
    slices::calls(target as usize);
    // SAFETY: addresses of cores are written during set-up only.
    interrupts::notify(unsafe { (*percore::of(target as usize)).address });
    slices::let_look();
    Ok(())
}

/// `(length, w0, w1, w2, w3)`: a piece of what the component says before it gives up. A line of the console's own, which names
/// component and piece; so it is found there, and cannot be taken for anything else.
#[cold]
#[inline(never)]
fn last_words(thread: &Thread, length: u64, words: [u64; 4]) -> Result<(), Error> {
    if length > 32 {
        return Err(Error::BadArgument);
    }
    let mut bytes = bytes_of(words);
    for byte in &mut bytes {
        // Nothing but text reaches the terminal.
        *byte = if (b' '..=b'~').contains(byte) { *byte } else { b'?' };
    }
    let said = core::str::from_utf8(&bytes[..length as usize]).unwrap_or("?");
    let component = thread.component;
    let pieces = &component::get(component).pieces;
    let write = |lines: &mut Lines| {
        if lines.room() < LONGEST_PIECE {
            return Err(Error::Busy);
        }
        let next = |pieces| (pieces < PANIC_PIECES).then_some(pieces + 1);
        let piece = pieces.fetch_update(Relaxed, Relaxed, next).map_err(|_| Error::Exhausted)?;
        writeln!(lines, "tactus: panic {component}.{piece}: {said}|").map_err(|_| Error::Busy)
    };
    serial::offer(write).ok_or(Error::Busy)?.0
}

/// What a piece is written with, and ends a line of somebody else's.
const LONGEST_PIECE: usize = 80;

fn bytes_of(words: [u64; 4]) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// `(length and number, w0, w1, w2, w3)`: how many bytes are held until the port takes them, and how many numbered pieces the component
/// has written.
fn text(thread: &Thread, size: u64, words: [u64; 4]) -> Result<[u64; 2], Error> {
    let component = component::get(thread.component);
    let (length, number) = (size & 0xff, size >> 8);
    if length > 0 && !component.has_role(role::CONSOLE) {
        path::scheduler(thread.component).ok_or(Error::NotScheduler)?;
    }
    if length > 32 {
        return Err(Error::BadArgument);
    }
    let bytes = &bytes_of(words)[..length as usize];
    let write = |lines: &mut Lines| {
        // One core at a time is here.
        let written = component.numbered.load(Relaxed);
        if length == 0 || number > 0 && number != written + 1 {
            return Some(written);
        }
        let fits = match component.is_root() {
            true => lines.say(bytes),
            false => lines.say_of(thread.component, component.has_role(role::DISK), bytes),
        };
        let written = written.max(number);
        if fits {
            component.numbered.store(written, Relaxed);
        }
        fits.then_some(written)
    };
    match serial::offer(write) {
        Some((Some(written), held)) => Ok([held as u64, written]),
        _ => Err(Error::Busy),
    }
}

/// `(code)`.
fn finish(_core: &mut Core, thread: &Thread, code: u64) -> Result<(), Error> {
    match path::scheduler(thread.component) {
        Some(scheduler) if scheduler.depth == 0 => {
            #[cfg(feature = "check")]
            crate::check::total(_core);
            tell_longest();
            crate::machine::end(code as u8)
        }
        Some(_) => Err(Error::NoRight),
        None => Err(Error::NotScheduler),
    }
}

/// Says what stretch in the kernel was the longest of all cores, and what brought it about.
#[cold]
fn tell_longest() {
    let of = |number| {
        // SAFETY: the blocks and the root's regions are memory of the kernel's making that is never given back; plain numbers,
        // read as they are.
        unsafe {
            let region = (*percore::of(number)).region;
            ((&raw const (*region).longest).read_volatile(), (&raw const (*region).longest_cause).read_volatile())
        }
    };
    let longest = (0..crate::machine::cores()).map(|number| (of(number), number)).max();
    if let Some(((ticks, cause), core)) = longest {
        say!("tactus: longest in the kernel: {ticks} ticks, core {core}, {}", Cause(cause));
    }
}

/// `(component, a0, a1)`.
fn create(creator: &Thread, number: u64, words: [u64; 2]) -> Result<[u64; 2], Error> {
    if !component::get(creator.component).is_root() {
        return Err(Error::NotRoot);
    }
    if number >= crate::machine::components().into() {
        return Err(Error::BadComponent);
    }
    if component::get(number as u16).is_stopped() {
        return Err(Error::ComponentStopped);
    }
    let thread = brand::take_spare(number as u16).ok_or(Error::Exhausted)?;
    thread.begin_created(words);
    thread.clear(state::SPARE);
    // From here on schedulers can name it.
    thread.path().copy(creator.path());
    Ok([thread.id.into(), 0])
}

/// `(operation, brand, other)`. What comes back as the first word.
fn control_brand(core: &mut Core, caller: &Thread, operation: u64, number: u64, other: u64) -> Result<u64, Error> {
    match operation {
        _ if operation == BrandOperation::Create as u64 => brand::create(caller, other),
        _ if operation == BrandOperation::AddUpcall as u64 => brand::add_upcall(caller, number),
        _ if operation == BrandOperation::Wire as u64 => event_source::wire(core, caller, number, other).map(|()| 0),
        _ if operation == BrandOperation::Unwire as u64 => event_source::unwire(core, caller, number).map(|()| 0),
        _ if operation == BrandOperation::Acknowledge as u64 => {
            event_source::acknowledge(core, caller, number).map(|()| 0)
        }
        _ if operation == BrandOperation::AcknowledgeLine as u64 => {
            event_source::acknowledge_line(core, caller, number).map(|()| 0)
        }
        _ => Err(Error::BadArgument),
    }
}

/// `(operation, brand, other)`: what it came to. No reference to the caller is alive here: an upcall that is begun takes the
/// core from it.
fn brand_controlled(core: &mut Core, operation: u64, number: u64, result: Result<u64, Error>) {
    answer_with(core, result.map(|value| [value, 0]));
    // Triggers may have waited for an upcall thread.
    if result.is_ok() && operation == BrandOperation::AddUpcall as u64 {
        if let Ok(brand) = brand::get(number) {
            upcall::serve(core, brand);
        }
    }
}

/// `(component, step, entry)`. Where another one than the root has restarted it, the root is told; of a slot its loader tells.
fn restart(core: &mut Core, by: u16, component: u64, step: [u64; 2]) {
    match restart::restart(core, by, component, step) {
        Ok(next) => {
            running(core).pass([Error::None as u64, next, 0, 0]);
            if next != 0 {
                return leave_kernel(core);
            }
            let demands = monitor::restarted(core);
            if u64::from(by) == core.root || component::get(component as u16).has_role(role::SLOT) {
                return monitor::leave(core, demands);
            }
            let region = Shared::of_root(core);
            region.note_restart(component as u16, by);
            if demands.any() {
                region.post(event::RESTARTED);
                return monitor::leave(core, demands);
            }
            post_root(core, event::RESTARTED)
        }
        Err(error) => answer(core, Err(error)),
    }
}

/// `(brand, word)`.
#[no_mangle]
extern "C" fn kernel_trigger(number: u64, word: u64) {
    let (core, thread) = entered(Call::Trigger);
    if component::get(thread.component).is_stopped() {
        return eviction::caller_stopped(core);
    }
    match brand::own(thread.component, number) {
        Ok(brand) => {
            thread.registers.set_status(Error::None as u64);
            upcall::trigger(core, brand, word);
        }
        Err(error) => answer(core, Err(error)),
    }
}
