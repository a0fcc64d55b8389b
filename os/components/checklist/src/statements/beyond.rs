//! What the list does not name: time-outs that nest, idle children, interrupt lines, dispatches that end a call.

use super::{demote, promote, Verdict};
use crate::chief::{
    ask, ask_until, bind, call, component, driver, make, make_brand, own_tree, run, seen, status, switch, take_slots,
    whom, INSIDE, WOKEN,
};
use crate::puppet::order;
use crate::{field, tell};
use core::mem::offset_of;
use tactus_rt::abi::call::{
    source, BrandOperation, Call, Error, SchedulerOperation::*, IDLE, NO_TIMEOUT, SWITCH_RETURN, SWITCH_SUSPEND,
    SWITCH_SYNC_BLOCK, SWITCH_SYNC_UNBLOCK, SWITCH_UPCALL_DONE,
};
use tactus_rt::abi::layout::REGIONS;
use tactus_rt::abi::shared::{event, slot, Region};
use tactus_rt::clock::time_stamp;

const EVENTS: u64 = REGIONS + offset_of!(Region, events) as u64;

pub fn a_childs_time_out_never_outlasts_its_parents(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let [chooser, runner] = [make(component("first")), make(component("beyond"))];
    for thread in [chooser, runner] {
        verdict.same(own_tree(Grant, thread, component("first")), Error::None);
    }
    // The runner executes for longer than any time-out here.
    verdict.same(ask_until(runner, order::SPIN, &[50_000_000], time_stamp() + 5_000).who, u64::MAX);
    let give = |parents: u64, childs: u64| {
        ask(chooser, order::WRITE, &[REGIONS, runner]);
        ask(chooser, order::WRITE, &[REGIONS + 8, 0]);
        ask(chooser, order::WRITE, &[EVENTS, 0]);
        seen();
        let now = time_stamp();
        let words = [Call::SwitchThread as u64, runner, 0, now + childs, 0, 0];
        let said = ask_until(chooser, order::CALL, &words, now + parents);
        (said.who, time_stamp() - now)
    };
    // The parent's comes first: the child is not asked, and its own is forgotten.
    let (who, after) = give(100_000, 900_000);
    verdict.same(who, u64::MAX);
    verdict.holds((100_000..103_000).contains(&after));
    verdict.holds(seen().0 & event::TIMER != 0);
    verdict.same(ask(first, order::READ, &[EVENTS]).words[0] & event::TIMER, 0);
    run(chooser, NO_TIMEOUT);
    // The child's comes first: it is entered, its parent is not.
    let (who, after) = give(900_000, 100_000);
    verdict.same(who, first);
    verdict.holds((100_000..104_000).contains(&after));
    verdict.same(seen().0 & event::TIMER, 0);
    verdict.holds(ask(first, order::READ, &[EVENTS]).words[0] & event::TIMER != 0);
    demote(verdict, "first");
}

pub fn a_child_with_nothing_to_run_gives_the_core_back(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    verdict.same(bind(first, 40, 9), Error::None);
    let thread = make(component("first"));
    verdict.same(own_tree(Grant, thread, component("first")), Error::None);
    ask(thread, order::WRITE, &[REGIONS, IDLE]);
    ask(thread, order::WRITE, &[REGIONS + 8, 0]);
    take_slots(40);
    seen();
    let wake = time_stamp() + 123_456;
    let said = call(thread, Call::SwitchThread, [IDLE, 0, wake, 0, 0]);
    verdict.same(said.who, u64::MAX);
    let (flags, _) = take_slots(40);
    verdict.holds(flags & slot::IDLE != 0);
    verdict.same(field!(slots[40].wake), wake);
    let (events, upcalls) = seen();
    verdict.holds(events & event::CHILD_IDLE != 0);
    verdict.same(upcalls, 1);
    let _ = own_tree(Slot, first, 0);
    demote(verdict, "first");
}

pub fn a_line_interrupts_once_until_it_is_acknowledged(verdict: &mut Verdict) {
    // Line 0 is the machine's old timer, which the firmware leaves ticking every 55 ms.
    const LONG: u64 = 130_000_000;
    let thread = make(component("worker"));
    let (brand, [upcall, ..]) = make_brand(thread, 1);
    verdict.same(bind(thread, 41, 10), Error::None);
    verdict.same(bind(upcall, 42, 5), Error::None);
    let control = |operation: BrandOperation, other: u64| {
        status(thread, Call::BrandControl, [operation as u64, brand, other, 0, 0])
    };
    verdict.same(control(BrandOperation::Wire, source::LINE | 1 << 8), Error::BadSource);
    verdict.same(control(BrandOperation::Wire, source::LINE | 24 << 8), Error::BadSource);
    verdict.same(control(BrandOperation::Acknowledge, 0), Error::BadSource);
    let noted = || ask(thread, order::NOTED, &[0]).words[0];
    let before = noted();
    verdict.same(control(BrandOperation::Wire, source::LINE), Error::None);
    ask(thread, order::SPIN, &[LONG]);
    verdict.same(noted(), before + 1);
    verdict.same(control(BrandOperation::Acknowledge, 0), Error::None);
    ask(thread, order::SPIN, &[LONG]);
    verdict.same(noted(), before + 2);
    verdict.same(control(BrandOperation::Unwire, 0), Error::None);
    ask(thread, order::SPIN, &[LONG]);
    verdict.same(noted(), before + 2);
    tell!("  line 0: one upcall for each acknowledgement");
    for it in [thread, upcall] {
        let _ = own_tree(Slot, it, 0);
    }
}

pub fn who_returns_with_its_dispatch_goes_on_at_its_caller(verdict: &mut Verdict) {
    let thread = make(component("worker"));
    let leave = |flags: u64, whom: u64| ask(thread, order::LEAVE, &[flags, whom]);
    // Where it was dispatched again it is back in its own component, which finds no error and no value. First without a slot,
    // then with one, then suspended meanwhile.
    for (slot, flags) in [(0, SWITCH_RETURN), (43, SWITCH_RETURN), (43, SWITCH_RETURN | SWITCH_SUSPEND)] {
        if slot != 0 {
            verdict.same(bind(thread, slot, 10), Error::None);
        }
        let left = leave(flags, whom::DRIVER);
        verdict.same((left.who, left.words[0]), (thread, WOKEN));
        let back = run(thread, NO_TIMEOUT);
        verdict.same((back.who, back.words), (thread, [0; 5]));
    }
    // Without the flag it comes back to where it left.
    leave(0, whom::DRIVER);
    verdict.same(run(thread, NO_TIMEOUT).words, [0, 0, INSIDE, 0, 0]);
    // To itself: its call ends there and then.
    let said = leave(SWITCH_RETURN, whom::ITSELF);
    verdict.same((said.who, said.words), (thread, [0; 5]));
    // To nobody: the root's upcall comes when the time-out does, and dispatches the driver.
    seen();
    leave(SWITCH_RETURN, whom::NOBODY);
    verdict.same(seen().1, 1);
    verdict.same(run(thread, NO_TIMEOUT).words, [0; 5]);
    // What is refused leaves the call as it was: it ends with its own values.
    let refused = [
        (SWITCH_RETURN, whom::TOO_LATE, Error::Again),
        (SWITCH_RETURN | SWITCH_UPCALL_DONE, whom::DRIVER, Error::BadArgument),
        (SWITCH_RETURN | SWITCH_SYNC_BLOCK, whom::DRIVER, Error::BadArgument),
        (SWITCH_RETURN | SWITCH_SYNC_UNBLOCK, whom::DRIVER, Error::BadArgument),
        (SWITCH_RETURN << 1 | SWITCH_RETURN, whom::DRIVER, Error::BadArgument),
    ];
    for (flags, whom, error) in refused {
        let said = leave(flags, whom);
        verdict.same((said.who, said.words), (thread, [0, error as u64, INSIDE, 0, 0]));
    }
    // Whom nobody called has nowhere to return to: the driver began here.
    verdict.same(switch(thread, SWITCH_RETURN, NO_TIMEOUT), Err(Error::BadArgument));
    verdict.same(switch(driver(), 0, NO_TIMEOUT), Ok(()));
    let _ = own_tree(Slot, thread, 0);
}
