//! Statements about the dispatch.

use super::{demote, instructions, promote, promote_by, Verdict};
use crate::chief::{ask, call, component, make, own_tree, run, seen, status, switch, tree};
use crate::puppet::order;
use crate::{field, set_field, tell};
use tactus_rt::abi::call::{Call, Error, SchedulerOperation::*, NO_TIMEOUT, SWITCH_SUSPEND};
use tactus_rt::abi::layout::REGIONS;
use tactus_rt::abi::shared::event;
use tactus_rt::calls;
use tactus_rt::clock::time_stamp;

/// Of a child's region: its choice, its mark of events, the word behind which its slots' urgency lies.
const NEXT: u64 = REGIONS;
const PENDING: u64 = REGIONS + 8;

/// The thread, inside its scheduler, chooses another one and dispatches it.
fn dispatch(thread: u64, wanted: u64, flags: u64) -> crate::chief::Said {
    ask(thread, order::WRITE, &[NEXT, wanted]);
    ask(thread, order::WRITE, &[PENDING, 0]);
    call(thread, Call::SwitchThread, [wanted, flags, NO_TIMEOUT, 0, 0])
}

pub fn walks_are_bounded_at_maximum_depth(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let inner = promote_by(verdict, first, "inner");
    let deepest = promote_by(verdict, inner, "deepest");
    verdict.same(tree(deepest, Promote, 0, component("beyond")), Error::HierarchyTooDeep);
    let pair = [make(component("deepest")), make(component("deepest"))];
    let shallow = [make(component("first")), make(component("first"))];
    for (place, &thread) in pair.iter().enumerate() {
        let slot = 10 + place as u64;
        verdict.same(own_tree(Grant, thread, component("first")), Error::None);
        verdict.same(tree(first, Grant, thread, component("inner")), Error::None);
        verdict.same(tree(inner, Grant, thread, component("deepest")), Error::None);
        verdict.same(own_tree(Slot, thread, slot), Error::None);
        verdict.same(tree(first, Slot, thread, slot), Error::None);
        verdict.same(tree(inner, Slot, thread, slot), Error::None);
        verdict.same(tree(deepest, Slot, thread, slot), Error::None);
        verdict.same(own_tree(Grant, shallow[place], component("first")), Error::None);
        verdict.same(tree(first, Slot, shallow[place], slot + 2), Error::None);
    }
    let cost = |verdict: &mut Verdict, [one, two]: [u64; 2]| {
        let mut ticks = 0;
        // Each dispatches the other, from call to return; the first time the other waits for an order.
        let _ = dispatch(one, two, 0);
        for round in 0..8 {
            let (from, to) = if round % 2 == 0 { (two, one) } else { (one, two) };
            let said = dispatch(from, to, 0);
            verdict.same(said.who, to);
            verdict.same(said.words[0], 0);
            ticks = said.words[2];
        }
        ticks
    };
    let deep = cost(verdict, pair);
    let low = cost(verdict, shallow);
    let [deep, low] = [deep, low].map(instructions);
    tell!("  switch by a scheduler at depth 3, accounted at all depths: {deep}; at depth 1: {low} instructions");
    verdict.holds(deep < 4 * low);
    let grant = |thread: u64, scheduler: u64, child: &str| {
        let said = call(scheduler, Call::SchedulerControl, [Revoke as u64, thread, component(child), 0, 0]);
        let back = call(scheduler, Call::SchedulerControl, [Grant as u64, thread, component(child), 0, 0]);
        (said.words[2], back.words[2])
    };
    let begin = time_stamp();
    let _ = own_tree(Revoke, pair[0], component("first"));
    let top = time_stamp() - begin;
    let (revoke, granted) = grant(pair[1], inner, "deepest");
    let [top, revoke, granted] = [top, revoke, granted].map(instructions);
    tell!("  revoke from the top, three levels: {top}; at the deepest: {revoke}; grant there: {granted} instructions");
    let begin = time_stamp();
    demote(verdict, "first");
    tell!("  demote with a subtree of three: {} instructions", instructions(time_stamp() - begin));
    tell!("  longest stretch in the kernel so far: {} instructions", instructions(field!(longest)));
}

pub fn an_event_between_look_and_dispatch_makes_it_fail(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let pair = [make(component("first")), make(component("first"))];
    for thread in pair {
        verdict.same(own_tree(Grant, thread, component("first")), Error::None);
    }
    // A child: it has looked, then its parent gives it the core once more.
    ask(pair[0], order::WRITE, &[NEXT, pair[1]]);
    ask(pair[0], order::WRITE, &[PENDING, 0]);
    run(first, NO_TIMEOUT);
    verdict.same(status(pair[0], Call::SwitchThread, [pair[1], 0, NO_TIMEOUT, 0, 0]), Error::Again);
    let events = ask(pair[0], order::READ, &[REGIONS + 16]).words[0];
    verdict.holds(events & event::GIVEN != 0);
    ask(pair[0], order::WRITE, &[PENDING, 0]);
    let said = call(pair[0], Call::SwitchThread, [pair[1], 0, NO_TIMEOUT, 0, 0]);
    verdict.same(said.who, pair[1]);
    // The root: it has looked, then its own word to itself arrives.
    seen();
    set_field!(pair[1], next_thread);
    set_field!(0, event_pending);
    verdict.same(calls::notify(0), Ok(()));
    for _ in 0..100 {
        calls::null();
    }
    verdict.same(calls::switch_thread(pair[1], 0, NO_TIMEOUT), Err(Error::Again));
    let (events, upcalls) = seen();
    verdict.holds(events & event::NOTIFY != 0);
    verdict.same(upcalls, 0);
    verdict.same(switch(pair[1], 0, NO_TIMEOUT), Ok(()));
    demote(verdict, "first");
}

pub fn a_stale_choice_makes_the_dispatch_fail(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let _ = first;
    let [one, two] = [make(component("inner")), make(component("inner"))];
    let inner = promote_by(verdict, first, "inner");
    let _ = inner;
    for thread in [one, two] {
        verdict.same(own_tree(Grant, thread, component("first")), Error::None);
        verdict.same(tree(first, Grant, thread, component("inner")), Error::None);
    }
    // The first has chosen and released the lock; preempted, it does not see that the second chooses somebody else.
    ask(one, order::WRITE, &[NEXT, two]);
    ask(one, order::WRITE, &[PENDING, 0]);
    ask(two, order::WRITE, &[NEXT, one]);
    verdict.same(status(one, Call::SwitchThread, [two, 0, NO_TIMEOUT, 0, 0]), Error::Again);
    ask(one, order::WRITE, &[NEXT, two]);
    verdict.same(call(one, Call::SwitchThread, [two, 0, NO_TIMEOUT, 0, 0]).who, two);
    // Others have no business here.
    run(one, NO_TIMEOUT);
    let stranger = make(component("beyond"));
    verdict.same(dispatch(one, stranger, 0).error(), Some(Error::NoRight));
    verdict.same(dispatch(one, 263, 0).error(), Some(Error::BadThread));
    verdict.same(dispatch(one, two, 1).error(), Some(Error::BadArgument));
    verdict.same(dispatch(one, two, 4 | 8).error(), Some(Error::BadArgument));
    verdict.same(dispatch(one, two, 4 | 2).error(), Some(Error::BadArgument));
    verdict.same(dispatch(one, two, 16).error(), Some(Error::BadArgument));
    verdict.same(status(stranger, Call::SwitchThread, [two, 0, NO_TIMEOUT, 0, 0]), Error::NotScheduler);
    demote(verdict, "first");
}

pub fn who_is_suspended_by_a_parent_is_not_resumed_by_its_child(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let inner = promote_by(verdict, first, "inner");
    // At home in the first, so that the first can suspend it; scheduled by the inner one, where two others are.
    let target = make(component("first"));
    let helper = make(component("inner"));
    let other = make(component("first"));
    for thread in [target, helper] {
        verdict.same(own_tree(Grant, thread, component("first")), Error::None);
        verdict.same(tree(first, Grant, thread, component("inner")), Error::None);
    }
    verdict.same(own_tree(Grant, other, component("first")), Error::None);
    // By the first: its child may not, itself may.
    let _ = dispatch(target, other, SWITCH_SUSPEND);
    verdict.same(dispatch(helper, target, 0).error(), Some(Error::Suspended));
    let resumed = dispatch(other, target, 0);
    verdict.same(resumed.who, target);
    // Resumed, it is anybody's again.
    let _ = dispatch(target, helper, 0);
    verdict.same(dispatch(helper, target, 0).who, target);
    // By the first once more, resumed by the root above it.
    let _ = dispatch(target, other, SWITCH_SUSPEND);
    verdict.same(dispatch(helper, target, 0).error(), Some(Error::Suspended));
    verdict.same(run(target, NO_TIMEOUT).who, target);
    verdict.same(dispatch(helper, target, 0).who, target);
    let _ = inner;
    demote(verdict, "first");
}
