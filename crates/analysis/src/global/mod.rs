//! Several processors, every task on any of them: sufficient tests with response bounds, and tardiness bounds.

pub mod bertogna_cirinei;
pub mod devi_anderson;
pub mod edf;
pub mod fixed_priority;
pub mod gfb;
pub mod set;
pub mod tardiness;
