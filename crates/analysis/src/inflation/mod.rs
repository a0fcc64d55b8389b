//! Overheads in the parameters of tasks, for tests that know of none: preemption-centric inflation.
//!
//! [`crate::overhead`] is how [`crate::check()`] counts this kernel's costs, per interrupt and exactly for a run's length.
//! Here is the way of the field's studies, where every job is charged for the interrupts and switches that it may
//! cause, so that any test of the literature can be applied with and without overheads: [`preemption`] with costs that
//! depend on the number of tasks ([`steps`]), the delay by lost cache contents ([`cache`], [`working_sets`]), and what follows for servers:
//! the least budget that makes sense ([`budget`]).

pub mod budget;
pub mod cache;
pub mod preemption;
pub mod steps;
pub mod working_sets;

pub use preemption::{Costs, Placement};
pub use steps::Steps;
