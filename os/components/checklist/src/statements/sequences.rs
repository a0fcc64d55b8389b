//! Statements about restartable sequences, and the lock that is made of them.

use super::{demote, instruction, instructions, promote, Verdict};
use crate::chief::{ask, ask_until, component, make, own_tree, run, seen};
use crate::puppet::order;
use crate::{field, tell};
use core::mem::offset_of;
use tactus_rt::abi::call::{Error, SchedulerOperation::*, NO_TIMEOUT};
use tactus_rt::abi::layout::REGIONS;
use tactus_rt::abi::shared::Region;
use tactus_rt::clock::time_stamp;

const LOCK: u64 = REGIONS + offset_of!(Region, lock) as u64;

pub fn a_sequence_interrupted_at_each_instruction_has_the_same_result(verdict: &mut Verdict) {
    const ROUNDS: u64 = 120;
    // The loop around the sequence is shorter, so that every instruction of both is hit.
    const PLACES: u64 = 64;
    let (one, two) = (make(component("worker")), make(component("worker")));
    let before = ask(one, order::COUNT, &[0]).words[0];
    let mut interrupted = 0;
    for place in 0..PLACES {
        let said = ask_until(one, order::COUNT, &[ROUNDS], time_stamp() + instruction() * (1_000 + place));
        // Whoever was interrupted in the middle must find that the other one was there.
        if said.who == u64::MAX {
            interrupted += 1;
        }
        verdict.same(ask(two, order::COUNT, &[1]).who, two);
        if said.who == u64::MAX {
            verdict.same(run(one, NO_TIMEOUT).who, one);
        }
    }
    let counted = ask(one, order::COUNT, &[0]).words[0] - before;
    tell!("  {interrupted} interruptions, one instruction apart: counted {counted} of {}", PLACES * (ROUNDS + 1));
    verdict.same(interrupted, PLACES);
    verdict.same(counted, PLACES * (ROUNDS + 1));
}

pub fn an_uncontended_lock_needs_no_kernel(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let ticks = instructions(ask(first, order::LOCK_BOTH, &[LOCK, first]).words[0]);
    tell!("  lock and release, uncontended: {ticks} instructions");
    // The shortest way into the kernel and back takes 14; a call that does something, more than a hundred.
    verdict.holds(ticks < 30);
    verdict.same(ask(first, order::READ, &[LOCK]).words[0], 0);
    demote(verdict, "first");
}

pub fn a_contended_lock_needs_no_scheduler(verdict: &mut Verdict) {
    let second = promote(verdict, "second");
    let [owner, waiter] = [make(component("second")), make(component("second"))];
    for thread in [owner, waiter] {
        verdict.same(own_tree(Grant, thread, component("second")), Error::None);
    }
    let entered = || ask(waiter, order::READ, &[REGIONS + offset_of!(Region, entries) as u64]).words[0];
    seen();
    let before = field!(entries) + entered();
    verdict.same(ask(owner, order::LOCK, &[LOCK, owner]).who, owner);
    // Who wants it lends the owner the core.
    verdict.same(ask(waiter, order::LOCK, &[LOCK, waiter]).who, owner);
    verdict.same(ask(owner, order::READ, &[LOCK]).words[0], (waiter + 1) << 32 | (owner + 1));
    // Who releases it gives the core straight back.
    verdict.same(ask(owner, order::UNLOCK, &[LOCK]).who, waiter);
    verdict.same(ask(waiter, order::READ, &[LOCK]).words[0], waiter + 1);
    verdict.same(ask(waiter, order::UNLOCK, &[LOCK]).who, waiter);
    verdict.same(run(owner, NO_TIMEOUT).who, owner);
    verdict.same(seen().1, 0);
    let after = field!(entries) + entered();
    tell!("  waiter, owner, waiter: the schedulers were entered {} times", after - before);
    verdict.same(after, before);
    let _ = second;
    demote(verdict, "second");
}
