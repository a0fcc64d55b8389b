//! The calls that make monitored events happen: invocations and returns that are watched, messages of monitored channels, events that
//! a component raises, and those that the root scheduler tells of.

use super::tables::{tables, Channel};
use super::{expiries, handler, happened, happens, later, leave, look_ahead, now, put_off, violations, Demands};
use crate::component;
use crate::eviction;
use crate::percore::Core;
use crate::reply::{answer, entered, running};
use crate::thread::WATCHED;
use tactus_abi::call::{Call, Error, CHANNEL_RECEIVE, CHANNEL_SEND, EXPIRIES, VIOLATIONS};
use tactus_abi::layout::MAX_INVOCATIONS;
use tactus_abi::monitors::NONE;
use tactus_sync::Order;

/// `(grant, words)`: an invocation that the entry code did not do. An error if no monitor watches it, or it is refused. The words
/// are saved.
pub fn invoke(core: &mut Core, grant: u64) -> Result<(), Error> {
    let tables = tables().ok_or(Error::NotGranted)?;
    let caller = running(core).component;
    if grant >= CHANNEL_SEND {
        let (number, sends) = (grant & (CHANNEL_SEND - 1), grant < CHANNEL_RECEIVE);
        let channel = tables.channels.get(number as usize).ok_or(Error::NotGranted)?;
        return pass(core, channel, sends);
    }
    let (row, watched) = tables.grant(caller, grant).ok_or(Error::NotGranted)?;
    let target = component::get(watched.right.component);
    if target.is_stopped() {
        return Err(Error::ComponentStopped);
    }
    if usize::from(running(core).depth) >= MAX_INVOCATIONS {
        return Err(Error::TooDeep);
    }
    let demands = happens(core, watched.events[0]);
    let of_core = core.caller;
    let thread = running(core);
    let all = thread.registers.words();
    let [_, w0, w1, w2, w3, w4, ..] = all;
    // Of a narrow call the entry code has used the places of the other words for itself.
    let is_wide = thread.registers.call() == Call::InvokeWide as u64;
    let mut words = if is_wide { all } else { [0, w0, w1, w2, w3, w4, 0, 0, 0, 0, 0] };
    words[0] = thread.caller | of_core | u64::from(caller);
    let row = if watched.events[1] == NONE { None } else { Some(row) };
    thread.push(row, watched.right.component, watched.right.entry, words);
    core.enter_space(target.space);
    leave(core, demands);
    Ok(())
}

/// The running thread returns from a call that is watched. Of a wide return the words are saved.
#[no_mangle]
extern "C" fn kernel_watched_return(v0: u64, v1: u64, is_wide: u64) {
    let call = if is_wide == 0 { Call::Return } else { Call::ReturnWide };
    let (core, _) = entered(call);
    let demands = watched_return(core);
    let thread = running(core);
    let words = thread.registers.words();
    // The entry code has looked that there is a caller.
    thread.pop(Error::None as u64, [v0, v1]);
    if is_wide != 0 {
        thread.pass_all(words);
    }
    let caller = component::get(thread.component);
    if caller.is_stopped() {
        later(core, demands);
        return eviction::caller_stopped(core);
    }
    core.enter_space(caller.space);
    leave(core, demands)
}

/// The running thread is about to return from a call, whose return may be watched.
pub fn watched_return(core: &mut Core) -> Demands {
    let row = running(core).frame().and_then(|frame| frame.recorded.checked_sub(WATCHED));
    let watched = row.and_then(|row| tables()?.grants.get(usize::from(row)));
    watched.map_or_else(Demands::default, |it| happens(core, it.events[1]))
}

/// Sends through a monitored channel, or receives.
fn pass(core: &mut Core, channel: &'static Channel, sends: bool) -> Result<(), Error> {
    let thread = running(core);
    let allowed = if sends { channel.sender } else { channel.receiver };
    if allowed != u32::from(thread.component) {
        return Err(Error::NotAllowed);
    }
    let [_, w0, w1, w2, w3, w4, w5, w6, w7, ..] = thread.registers.words();
    let (id, tables) = (core.id, tables().ok_or(Error::NotGranted)?);
    let event = channel.events[usize::from(!sends)];
    let mut order = Order::unlocked();
    let mut held = channel.queue.lock(&mut order);
    let (queue, order) = held.parts();
    let taken = match sends {
        true if !queue.has_room() => return Err(Error::NoMessage),
        true => {
            queue.put([w0, w1, w2, w3, w4, w5, w6, w7]);
            [0; 8]
        }
        false => queue.take().ok_or(Error::NoMessage)?,
    };
    // Nobody receives a message before its sending was observed.
    let demands = happened(tables, id, (event, now()), order);
    drop(held);
    if demands.awaits() {
        look_ahead(tables, core, event);
    }
    let [w0, w1, w2, w3, w4, w5, w6, w7] = taken;
    running(core).pass_all([w0, w1, w2, w3, w4, 0, w5, w6, w7, 0, 0]);
    leave(core, demands);
    Ok(())
}

/// `(name)`: an event of the component's own.
pub fn signal(core: &mut Core, name: u64) {
    let component = running(core).component;
    let Some(event) = tables().and_then(|tables| tables.signal(component.into(), name)) else {
        return answer(core, Err(Error::NotAllowed));
    };
    let demands = happens(core, event);
    running(core).pass([Error::None as u64, 0, 0, 0]);
    leave(core, demands)
}

/// `(event, instant)`: what the root scheduler tells of.
pub fn observe(core: &mut Core, event: u64, at: u64) {
    if !component::get(running(core).component).is_root() {
        return answer(core, Err(Error::NotRoot));
    }
    let mut first = u64::MAX;
    let demands = match (event, tables()) {
        (EXPIRIES, _) => {
            let (mut demands, expiry) = expiries(core, at);
            first = expiry;
            demands.and(put_off(core.id));
            demands
        }
        (VIOLATIONS, _) => {
            first = handler::take(core);
            Demands::default()
        }
        (_, Some(tables)) if event < u64::from(u32::MAX) => {
            happened(tables, core.id, (event as u32, at), &mut Order::unlocked())
        }
        _ => return answer(core, Err(Error::BadArgument)),
    };
    running(core).pass([Error::None as u64, first, violations(), 0]);
    leave(core, demands)
}
