//! `tactus study mc2-overheads` and `tactus study mc2-robustness`: the two experiments of Herman et al. on MC².

pub mod overheads;
pub mod robustness;
mod segments;
mod statements;
