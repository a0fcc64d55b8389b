//! The statements, each a function that is named after it. A statement that does not hold says where.

mod accounting;
mod beyond;
mod brands;
mod dispatch;
mod sequences;
mod tree;

use crate::chief;
use crate::tell;
use tactus_rt::abi::call::{Error, SchedulerOperation};
use tactus_rt::calls;

/// Whether all checks of the statement held.
pub struct Verdict {
    number: u64,
    name: &'static str,
    held: bool,
}

impl Verdict {
    fn new(number: u64, name: &'static str) -> Verdict {
        Verdict { number, name, held: true }
    }

    /// One thing that must be so.
    #[track_caller]
    pub fn holds(&mut self, so: bool) {
        if !so {
            let place = core::panic::Location::caller();
            tell!("  {}:{}: not so", place.file(), place.line());
            self.held = false;
        }
    }

    /// Two things that must be the same.
    #[track_caller]
    pub fn same<T: PartialEq + core::fmt::Debug>(&mut self, found: T, expected: T) {
        if found != expected {
            let place = core::panic::Location::caller();
            tell!("  {}:{}: {found:?}, expected {expected:?}", place.file(), place.line());
            self.held = false;
        }
    }

    fn end(self) {
        tell!("statement {}: {}: {}", self.number, self.name, if self.held { "held" } else { "BROKEN" });
    }
}

/// Runs the statement and tells how it went.
macro_rules! statement {
    ($number:expr, $function:path) => {{
        let mut verdict = Verdict::new($number, stringify!($function));
        $function(&mut verdict);
        verdict.end();
    }};
}

/// All of them.
pub fn all() {
    statement!(1, tree::promotion_of_a_component_that_has_a_parent_fails);
    statement!(2, tree::demote_and_revoke_clear_the_entire_subtree);
    statement!(3, tree::a_non_root_thread_creation_is_an_error);
    statement!(4, tree::grant_fails_without_the_thread_and_no_two_siblings_hold_one);
    statement!(5, dispatch::walks_are_bounded_at_maximum_depth);
    statement!(6, dispatch::an_event_between_look_and_dispatch_makes_it_fail);
    statement!(7, dispatch::a_stale_choice_makes_the_dispatch_fail);
    statement!(8, dispatch::who_is_suspended_by_a_parent_is_not_resumed_by_its_child);
    statement!(9, brands::a_more_urgent_upcall_runs_at_once_a_less_urgent_one_does_not);
    statement!(10, brands::the_closest_common_scheduler_compares);
    statement!(11, brands::a_short_upcall_goes_back_without_any_scheduler);
    statement!(12, brands::an_upcall_that_woke_somebody_more_urgent_enters_the_root);
    statement!(13, brands::as_many_pending_triggers_make_as_many_further_executions);
    statement!(14, accounting::all_time_is_charged_and_to_the_right_thread);
    statement!(15, sequences::a_sequence_interrupted_at_each_instruction_has_the_same_result);
    statement!(16, sequences::an_uncontended_lock_needs_no_kernel);
    statement!(17, sequences::a_contended_lock_needs_no_scheduler);
    statement!(18, accounting::accounting_costs_more_than_a_bare_switch);
    statement!(19, brands::an_upcall_without_schedulers_is_cheaper_than_with_them);
    statement!(20, accounting::an_invocation_is_cheap);
    // The list's 21 to 23 are a study of their own, and its 24 a matter of the sources. What is more:
    statement!(101, beyond::a_childs_time_out_never_outlasts_its_parents);
    statement!(102, beyond::a_child_with_nothing_to_run_gives_the_core_back);
    statement!(103, beyond::a_line_interrupts_once_until_it_is_acknowledged);
    statement!(104, beyond::who_returns_with_its_dispatch_goes_on_at_its_caller);
}

/// Makes the component a child of the root and lets its upcall begin and ask for its regions. The upcall's thread.
pub fn promote(verdict: &mut Verdict, name: &str) -> u64 {
    verdict.same(chief::own_tree(SchedulerOperation::Promote, 0, chief::component(name)), Error::None);
    begin(verdict, name)
}

/// As [`promote`], by a thread that is in another scheduler.
pub fn promote_by(verdict: &mut Verdict, parent: u64, name: &str) -> u64 {
    verdict.same(chief::tree(parent, SchedulerOperation::Promote, 0, chief::component(name)), Error::None);
    begin(verdict, name)
}

fn begin(verdict: &mut Verdict, name: &str) -> u64 {
    let upcall = chief::upcall_of(name);
    let said = chief::run(upcall, tactus_rt::abi::call::NO_TIMEOUT);
    verdict.same(said.who, upcall);
    verdict.same(chief::tree(upcall, SchedulerOperation::Region, 0, 0), Error::None);
    upcall
}

/// Takes the schedulers below the root away.
pub fn demote(verdict: &mut Verdict, name: &str) {
    let done = calls::scheduler_control(SchedulerOperation::Demote, 0, chief::component(name));
    verdict.same(done, Ok(()));
}

/// Ticks of one instruction on the emulated machine.
pub fn instruction() -> u64 {
    tactus_rt::info().instruction_nanos.max(1)
}

/// Ticks as instructions.
pub fn instructions(ticks: u64) -> u64 {
    ticks / instruction()
}
