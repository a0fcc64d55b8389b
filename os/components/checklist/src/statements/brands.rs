//! Statements about brands and their upcalls.

use super::{demote, instructions, promote, Verdict};
use crate::chief::{
    ask, ask_until, bind, call, component, make, make_brand, own_tree, run, seen, status, take_slots, tree,
    ON_COMPLETE, ON_TIMER,
};
use crate::puppet::{act, order};
use crate::{field, set_field, tell};
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;
use tactus_rt::abi::call::{source, BrandOperation, Call, Error, SchedulerOperation::*, NO_TIMEOUT};
use tactus_rt::abi::layout::REGIONS;
use tactus_rt::abi::shared::{event, slot, Region, Slot};
use tactus_rt::clock::time_stamp;

/// Slots of the root's.
const WHO: u64 = 20;
const UPCALL: u64 = 21;
const THIRD: u64 = 22;

/// How often upcalls of the worker's component ran, when the last one began.
fn noted(thread: u64) -> [u64; 3] {
    let said = ask(thread, order::NOTED, &[0]);
    [said.words[0], said.words[1], said.words[3]]
}

/// From the last call or interruption of a thread of the worker's to the beginning of the last upcall there, in ticks.
fn latency(thread: u64) -> u64 {
    let said = ask(thread, order::NOTED, &[0]);
    said.words[1].saturating_sub(said.words[4])
}

/// A thread of the worker's, and a brand of its with one upcall, both with slots of the root's.
fn pair(verdict: &mut Verdict, own: u16, its: u16) -> (u64, u64, u64) {
    let thread = make(component("worker"));
    let (brand, [upcall, ..]) = make_brand(thread, 1);
    verdict.same(bind(thread, WHO, own), Error::None);
    verdict.same(bind(upcall, UPCALL, its), Error::None);
    (thread, brand, upcall)
}

/// Gives the slots back.
fn free(threads: &[u64]) {
    for &thread in threads {
        let _ = own_tree(Slot, thread, 0);
    }
}

/// Lets the thread trigger the brand.
fn trigger(thread: u64, brand: u64, word: u64) -> crate::chief::Said {
    call(thread, Call::Trigger, [brand, word, 0, 0, 0])
}

pub fn a_more_urgent_upcall_runs_at_once_a_less_urgent_one_does_not(verdict: &mut Verdict) {
    let (thread, brand, upcall) = pair(verdict, 10, 5);
    verdict.same(status(thread, Call::Trigger, [31, 0, 0, 0, 0]), Error::BadBrand);
    let before = noted(thread)[0];
    let entries = field!(entries);
    let mut ran = trigger(thread, brand, act::WORK);
    ran = trigger(thread, brand, if ran.who == thread { act::WORK } else { 0 });
    verdict.same((ran.who, ran.words[0]), (thread, 0));
    verdict.same(noted(thread)[0], before + 2);
    set_field!(15, slots[UPCALL as usize].urgency);
    let not_run = trigger(thread, brand, act::WORK);
    verdict.same((not_run.who, not_run.words[0]), (thread, 0));
    verdict.same(noted(thread)[0], before + 2);
    verdict.same(field!(entries), entries);
    // The scheduler finds it, and may run it when it likes.
    let (flags, _) = take_slots(UPCALL);
    verdict.holds(flags & slot::ACTIVE != 0);
    run(upcall, NO_TIMEOUT);
    verdict.same(noted(thread)[0], before + 3);
    let (events, _) = seen();
    verdict.holds(events & event::UPCALL_COMPLETE != 0);
    let (flags, _) = take_slots(UPCALL);
    verdict.holds(flags & slot::COMPLETED != 0);
    let (pending, counts) = (instructions(not_run.words[2]), instructions(ran.words[2]));
    tell!("  trigger, upcall not run: {pending}; upcall run and returned: {counts} instructions");
    verdict.holds(2 * pending < counts);
    // An equal one does not go before.
    set_field!(10, slots[UPCALL as usize].urgency);
    trigger(thread, brand, act::WORK);
    verdict.same(noted(thread)[0], before + 3);
    run(upcall, NO_TIMEOUT);
    free(&[thread, upcall]);
    // Without slots all are equal.
    trigger(thread, brand, act::WORK);
    verdict.same(noted(thread)[0], before + 4);
    run(upcall, NO_TIMEOUT);
}

pub fn the_closest_common_scheduler_compares(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    // The root says that the upcall is less urgent.
    let (thread, brand, upcall) = pair(verdict, 5, 10);
    for it in [thread, upcall] {
        verdict.same(own_tree(Grant, it, component("first")), Error::None);
    }
    verdict.same(tree(first, Slot, thread, 1), Error::None);
    verdict.same(tree(first, Slot, upcall, 2), Error::None);
    let urgency = |number: u64, urgency: u64| {
        let place = REGIONS + offset_of!(Region, slots) as u64 + number * size_of::<Slot>() as u64;
        ask(first, order::WRITE, &[place, urgency << 32]);
    };
    // The child says the opposite, and it is closer.
    urgency(1, 7);
    urgency(2, 3);
    let before = noted(thread)[0];
    trigger(thread, brand, act::WORK);
    verdict.same(noted(thread)[0], before + 1);
    // And the other way round.
    set_field!(3, slots[UPCALL as usize].urgency);
    set_field!(7, slots[WHO as usize].urgency);
    urgency(1, 4);
    urgency(2, 9);
    trigger(thread, brand, act::WORK);
    verdict.same(noted(thread)[0], before + 1);
    run(upcall, NO_TIMEOUT);
    verdict.same(noted(thread)[0], before + 2);
    // Disabled by anybody, it is not run unasked, however urgent.
    urgency(2, 0);
    set_field!(slot::DISABLED, slots[UPCALL as usize].urgency);
    trigger(thread, brand, act::WORK);
    verdict.same(noted(thread)[0], before + 2);
    run(upcall, NO_TIMEOUT);
    // A thread that the child does not hold: the root is the closest.
    verdict.same(own_tree(Revoke, thread, component("first")), Error::None);
    set_field!(3, slots[UPCALL as usize].urgency);
    let at = noted(thread)[0];
    trigger(thread, brand, act::WORK);
    verdict.same(noted(thread)[0], at + 1);
    free(&[thread, upcall]);
    demote(verdict, "first");
}

pub fn a_short_upcall_goes_back_without_any_scheduler(verdict: &mut Verdict) {
    let (thread, brand, upcall) = pair(verdict, 10, 5);
    let before = noted(thread)[0];
    seen();
    let entries = field!(entries);
    // By a call, and by a tick that interrupts.
    verdict.same(trigger(thread, brand, act::WORK | 100 << 8).who, thread);
    let wire = [BrandOperation::Wire as u64, brand, source::TICK | 100 << 8, 0, 0];
    verdict.same(
        status(thread, Call::BrandControl, [BrandOperation::Wire as u64, brand, source::TICK | 99 << 8, 0, 0]),
        Error::BadSource,
    );
    verdict.same(status(thread, Call::BrandControl, wire), Error::None);
    verdict.same(status(thread, Call::BrandControl, wire), Error::InUse);
    let spun = ask(thread, order::SPIN, &[950_000]);
    verdict.same(spun.who, thread);
    verdict.same(status(thread, Call::BrandControl, [BrandOperation::Unwire as u64, brand, 0, 0, 0]), Error::None);
    let ran = noted(thread)[0] - before;
    tell!(
        "  {ran} upcalls, {} of them by a tick; the scheduler was entered {} times",
        ran - 1,
        field!(entries) - entries
    );
    verdict.holds(spun.words[1] >= 9);
    verdict.same(seen().1, 0);
    verdict.same(field!(entries), entries);
    free(&[thread, upcall]);
}

pub fn an_upcall_that_woke_somebody_more_urgent_enters_the_root(verdict: &mut Verdict) {
    let (thread, brand, upcall) = pair(verdict, 10, 5);
    let third = make(component("worker"));
    verdict.same(bind(third, THIRD, 7), Error::None);
    seen();
    let said = trigger(thread, brand, act::WAKE | third << 32);
    verdict.same(said.who, u64::MAX);
    let (events, upcalls) = seen();
    verdict.same(upcalls, 1);
    verdict.holds(events & event::UPCALL_COMPLETE != 0);
    verdict.same(run(thread, NO_TIMEOUT).who, thread);
    // Woken, but less urgent: nobody is asked.
    set_field!(12, slots[THIRD as usize].urgency);
    seen();
    let said = trigger(thread, brand, act::WAKE | third << 32);
    verdict.same(said.who, thread);
    verdict.same(seen().1, 0);
    free(&[thread, upcall, third]);
}

pub fn as_many_pending_triggers_make_as_many_further_executions(verdict: &mut Verdict) {
    const PENDING: u64 = 5;
    let thread = make(component("worker"));
    let (brand, [one, two, ..]) = make_brand(thread, 2);
    verdict.same(bind(thread, WHO, 10), Error::None);
    verdict.same(bind(one, UPCALL, slot::DISABLED), Error::None);
    let before = noted(thread)[0];
    for number in 0..2 + PENDING {
        verdict.same(trigger(thread, brand, act::WORK | number << 32).who, thread);
    }
    verdict.same(noted(thread)[0], before);
    set_field!(20, slots[UPCALL as usize].urgency);
    run(one, NO_TIMEOUT);
    let [ran, _, word] = noted(thread);
    verdict.same(ran, before + 1 + PENDING);
    verdict.same(word >> 32, 1 + PENDING);
    run(two, NO_TIMEOUT);
    verdict.same(noted(thread)[0], before + 2 + PENDING);
    // None is left over.
    verdict.same(run(one, 0).words[0], Error::NotActive as u64);
    verdict.same(run(two, 0).words[0], Error::NotActive as u64);
    free(&[thread, one]);
}

pub fn an_upcall_without_schedulers_is_cheaper_than_with_them(verdict: &mut Verdict) {
    let (thread, brand, upcall) = pair(verdict, 10, 5);
    // The kernel alone: to the upcall and back.
    let without = trigger(thread, brand, act::WORK).words[2];
    let early = latency(thread);
    // With schedulers: the upcall waits for one to be dispatched, and when it ends one is asked who goes on.
    set_field!(slot::DISABLED, slots[UPCALL as usize].urgency);
    trigger(thread, brand, act::WORK);
    set_field!(15, slots[UPCALL as usize].urgency);
    ON_TIMER.store(upcall, Relaxed);
    ON_COMPLETE.store(thread, Relaxed);
    seen();
    let began = noted(thread)[0];
    let spun = ask_until(thread, order::SPIN, &[20_000], time_stamp() + 10_000);
    let (events, upcalls) = seen();
    verdict.same(spun.who, thread);
    let late = latency(thread);
    verdict.same(noted(thread)[0], began + 1);
    verdict.same(upcalls, 2);
    verdict.holds(events & event::TIMER != 0 && events & event::UPCALL_COMPLETE != 0);
    let (without, with) = (instructions(without), instructions(spun.words[0]));
    tell!("  upcall and back, kernel alone: {without}; with a scheduler before and after: {with} instructions");
    let (early, late) = (instructions(early), instructions(late));
    tell!("  until the upcall begins, kernel alone: {early}; through a scheduler: {late} instructions");
    // The source saves two thirds of the cost, and of the latency.
    verdict.holds(0 < early && 2 * without < with && 2 * early < late);
    free(&[thread, upcall]);
}
