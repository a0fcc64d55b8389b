//! The commands: one file each.

pub mod admit;
pub mod check;
pub mod colours;
pub mod convert;
pub mod explain;
pub mod iso;
pub mod judge;
pub mod key;
pub mod linux;
pub mod monitor;
mod network;
pub mod new;
mod nodes;
pub mod pack;
pub mod report;
pub mod run;
mod sandboxes;
pub mod schema;
pub mod simulate;
pub mod test;
pub mod trace;
pub mod words;
