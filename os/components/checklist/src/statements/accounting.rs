//! Statements about time: where it goes, and what things cost.

use super::{demote, instructions, promote, Verdict};
use crate::chief::{ask, bind, call, component, make, make_brand, own_tree, switch, take_cycles, tree, NOBODY};
use crate::puppet::{act, order};
use crate::tell;
use tactus_rt::abi::call::{Call, Error, SchedulerOperation::*, NO_TIMEOUT};
use tactus_rt::abi::layout::REGIONS;
use tactus_rt::clock::time_stamp;

pub fn all_time_is_charged_and_to_the_right_thread(verdict: &mut Verdict) {
    const WORK: u64 = 3_000;
    let thread = make(component("worker"));
    let (brand, [upcall, ..]) = make_brand(thread, 1);
    verdict.same(bind(thread, 20, 10), Error::None);
    verdict.same(bind(upcall, 21, 5), Error::None);
    verdict.same(bind(crate::chief::driver(), 23, 1), Error::None);
    // The puppet's clock, at the same distance before the kernel charges it each time.
    let look = || ask(thread, order::SPIN, &[0]).words[2];
    look();
    let begin = look();
    take_cycles(0);
    for round in 0..10 {
        ask(thread, order::SPIN, &[500 * round]);
        verdict.same(call(thread, Call::Trigger, [brand, act::WORK | WORK << 8, 0, 0, 0]).who, thread);
        let _ = switch(NOBODY, 0, time_stamp() + 2_000);
    }
    let end = look();
    let (sum, upcalls) = take_cycles(21);
    tell!("  {} ticks elapsed, {sum} were charged; ten upcalls of {WORK} or more: {upcalls}", end - begin);
    verdict.same(sum, end - begin);
    // The kernel's way to an upcall is charged to it, and nothing else.
    verdict.holds((10 * WORK..10 * (WORK + 1_400)).contains(&upcalls));
    for it in [thread, upcall, crate::chief::driver()] {
        let _ = own_tree(Slot, it, 0);
    }
}

/// What a dispatch costs between two threads of a child's, which both wait for orders.
fn cost(verdict: &mut Verdict, [one, two]: [u64; 2]) -> u64 {
    let dispatch = |from: u64, to: u64| {
        ask(from, order::WRITE, &[REGIONS, to]);
        ask(from, order::WRITE, &[REGIONS + 8, 0]);
        call(from, Call::SwitchThread, [to, 0, NO_TIMEOUT, 0, 0])
    };
    let mut ticks = 0;
    dispatch(one, two);
    for round in 0..8 {
        let (from, to) = if round % 2 == 0 { (two, one) } else { (one, two) };
        let said = dispatch(from, to);
        verdict.same((said.who, said.words[0]), (to, 0));
        ticks = said.words[2];
    }
    ticks
}

pub fn accounting_costs_more_than_a_bare_switch(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let pair = |verdict: &mut Verdict| {
        let pair = [make(component("first")), make(component("first"))];
        for thread in pair {
            verdict.same(own_tree(Grant, thread, component("first")), Error::None);
        }
        pair
    };
    let threads = pair(verdict);
    let bare = instructions(cost(verdict, threads));
    let threads = pair(verdict);
    for (place, thread) in threads.into_iter().enumerate() {
        verdict.same(tree(first, Slot, thread, 1 + place as u64), Error::None);
        verdict.same(own_tree(Slot, thread, 30 + place as u64), Error::None);
    }
    let accounted = instructions(cost(verdict, threads));
    tell!("  switch in a child scheduler: bare {bare}, with accounting at both depths {accounted} instructions");
    verdict.holds(bare < accounted);
    for thread in threads {
        let _ = own_tree(Slot, thread, 0);
    }
    demote(verdict, "first");
}

pub fn an_invocation_is_cheap(verdict: &mut Verdict) {
    // Linux's pipe takes 8,142 instructions and more for the same, see the peers' measurements.
    let thread = make(component("worker"));
    let ticks = ask(thread, order::VISIT, &[0]).words[0];
    let ticks = instructions(ticks);
    tell!("  invocation of another component and return: {ticks} instructions");
    verdict.holds(ticks < 814);
}
