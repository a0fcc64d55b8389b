//! The laboratory's scenarios: `--test all NAME::` runs those of one file.

mod agree;
mod interrupts;
mod machine;
mod rig;
mod stress;
mod studies;
