//! Statements about the tree: who is a scheduler, and of whom.

use super::{demote, promote, promote_by, Verdict};
use crate::chief::{component, make, own_tree, status, tree, upcall_of};
use tactus_rt::abi::call::{Call, Error, SchedulerOperation::*};
use tactus_rt::{calls, info};

pub fn promotion_of_a_component_that_has_a_parent_fails(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let second = promote(verdict, "second");
    // By its own parent, by its sibling, by itself; and the root by a child.
    verdict.same(own_tree(Promote, 0, component("first")), Error::NotPromotable);
    verdict.same(tree(second, Promote, 0, component("first")), Error::NotPromotable);
    verdict.same(tree(first, Promote, 0, component("first")), Error::NotPromotable);
    verdict.same(tree(second, Promote, 0, info().component.into()), Error::NotPromotable);
    // Who has not the role, or does not exist.
    verdict.same(own_tree(Promote, 0, component("worker")), Error::NotPromotable);
    verdict.same(own_tree(Promote, 0, 255), Error::BadComponent);
    // Nobody but the parent demotes.
    verdict.same(tree(second, Demote, 0, component("first")), Error::NotChild);
    verdict.same(tree(first, Demote, 0, component("first")), Error::NotChild);
    verdict.same(own_tree(Demote, 0, info().component.into()), Error::NotChild);
    demote(verdict, "second");
    // Now it may have another parent.
    let second = promote_by(verdict, first, "second");
    verdict.same(own_tree(Promote, 0, component("second")), Error::NotPromotable);
    verdict.same(own_tree(Demote, 0, component("second")), Error::NotChild);
    verdict.same(tree(second, Promote, 0, component("first")), Error::NotPromotable);
    verdict.same(tree(first, Demote, 0, component("second")), Error::None);
    demote(verdict, "first");
    verdict.same(crate::chief::run(first, 0).words[0], Error::NotActive as u64);
    let _ = second;
}

pub fn demote_and_revoke_clear_the_entire_subtree(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let inner = promote_by(verdict, first, "inner");
    let deepest = promote_by(verdict, inner, "deepest");
    let thread = make(component("beyond"));
    let hold_all = |verdict: &mut Verdict| {
        verdict.same(own_tree(Grant, thread, component("first")), Error::None);
        verdict.same(tree(first, Grant, thread, component("inner")), Error::None);
        verdict.same(tree(inner, Grant, thread, component("deepest")), Error::None);
        verdict.same(tree(deepest, Slot, thread, 3), Error::None);
    };
    hold_all(verdict);
    // Taken from the first, it is taken from all below.
    verdict.same(own_tree(Revoke, thread, component("first")), Error::None);
    for scheduler in [first, inner, deepest] {
        verdict.same(tree(scheduler, Slot, thread, 3), Error::NoRight);
    }
    verdict.same(own_tree(Revoke, thread, component("first")), Error::NotHeld);
    // Held once more by the first, it is not by those below.
    verdict.same(own_tree(Grant, thread, component("first")), Error::None);
    verdict.same(tree(inner, Slot, thread, 3), Error::NoRight);
    verdict.same(tree(first, Revoke, thread, component("inner")), Error::NotHeld);
    verdict.same(own_tree(Revoke, thread, component("first")), Error::None);
    hold_all(verdict);
    demote(verdict, "first");
    for scheduler in [first, inner, deepest] {
        // None of them is a scheduler, so that none is dispatched; the root has the thread alone.
        verdict.same(crate::chief::run(scheduler, 0).words[0], Error::NotActive as u64);
    }
    verdict.same(own_tree(Grant, thread, component("first")), Error::NotChild);
    let first = promote(verdict, "first");
    verdict.same(own_tree(Revoke, thread, component("first")), Error::NotHeld);
    verdict.same(tree(first, Slot, thread, 3), Error::NoRight);
    verdict.same(crate::chief::run(upcall_of("inner"), 0).words[0], Error::NotActive as u64);
    let inner = promote_by(verdict, first, "inner");
    verdict.same(tree(inner, Slot, thread, 3), Error::NoRight);
    demote(verdict, "first");
}

pub fn a_non_root_thread_creation_is_an_error(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let thread = make(component("beyond"));
    let worker = component("worker");
    verdict.same(status(first, Call::CreateThread, [worker, 0, 0, 0, 0]), Error::NotRoot);
    verdict.same(status(thread, Call::CreateThread, [worker, 0, 0, 0, 0]), Error::NotRoot);
    verdict.same(calls::create_thread(255, [0; 2]), Err(Error::BadComponent));
    verdict.same(calls::create_thread(component("other"), [0; 2]), Err(Error::Exhausted));
    demote(verdict, "first");
}

pub fn grant_fails_without_the_thread_and_no_two_siblings_hold_one(verdict: &mut Verdict) {
    let first = promote(verdict, "first");
    let second = promote(verdict, "second");
    let inner = promote_by(verdict, first, "inner");
    let thread = make(component("beyond"));
    verdict.same(tree(first, Grant, thread, component("inner")), Error::NoRight);
    verdict.same(own_tree(Grant, thread, component("inner")), Error::NotChild);
    verdict.same(own_tree(Grant, thread, component("worker")), Error::NotChild);
    verdict.same(own_tree(Grant, thread, 255), Error::BadComponent);
    verdict.same(own_tree(Grant, 263, component("first")), Error::BadThread);
    verdict.same(own_tree(Grant, thread, component("first")), Error::None);
    verdict.same(own_tree(Grant, thread, component("second")), Error::Held);
    verdict.same(tree(second, Slot, thread, 1), Error::NoRight);
    verdict.same(tree(second, Revoke, thread, component("inner")), Error::NotChild);
    verdict.same(own_tree(Revoke, thread, component("second")), Error::NotHeld);
    // A scheduler's upcall threads are its parent's, and nobody's to give.
    verdict.same(own_tree(Grant, inner, component("second")), Error::BadThread);
    verdict.same(own_tree(Revoke, thread, component("first")), Error::None);
    verdict.same(own_tree(Grant, thread, component("second")), Error::None);
    verdict.same(tree(second, Slot, thread, 1), Error::None);
    verdict.same(tree(second, Slot, thread, 265), Error::BadSlot);
    let rival = make(component("beyond"));
    verdict.same(own_tree(Grant, rival, component("second")), Error::None);
    verdict.same(tree(second, Slot, rival, 1), Error::BadSlot);
    verdict.same(tree(second, Slot, thread, 0), Error::None);
    verdict.same(tree(second, Slot, rival, 1), Error::None);
    demote(verdict, "first");
    demote(verdict, "second");
}
