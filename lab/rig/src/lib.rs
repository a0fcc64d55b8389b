//! The test rig: emulated processors on real threads drive the structures of schedulers, check them while they run, and
//! measure what they cost. After PRACTISE (Falzoi, Lelli and Lipari, OSPERT 2012); what is tested is the very code that
//! schedulers run, from `tactus-compared-structures`.
#![forbid(unsafe_code)]

mod any_machine;
pub mod check;
pub mod count;
mod engine;
mod faults;
mod machine;
mod measure;
pub mod names;
pub mod replay;
mod report;
mod run_queue;
mod settings;
mod transfer;
mod workload;

pub use engine::{run, Failed, Finished};
pub use machine::{Machine, QueueRank, Tables};
pub use measure::{Boxes, Operation, Samples};
pub use report::{joined, lines, merge, other_settings, Line};
pub use run_queue::RunQueue;
pub use settings::{Mode, Periodic, Problem, Settings, Source};
pub use transfer::transfer;
