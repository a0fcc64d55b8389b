//! The tests of this crate but for those that are programs of their own for a reason: `--test all NAME::` runs those of one file.
//!
//! A program for each file would take minutes to compile: each has all of the policies in it.

use tactus_slow_machine as common;

mod change;
mod change_mc2;
mod change_mixed;
mod change_nested;
mod change_shared;
mod change_trees;
mod faults;
mod first_come;
mod golden;
mod hand_over;
mod inter_core;
mod kept;
mod mc2_deaf;
mod mc2_oracle;
mod mc2_slack;
mod mixed_oracle;
mod oracle;
mod orders_oracle;
mod platforms;
mod posix;
mod quest_v;
mod reclaiming;
mod servers;
mod setup;
mod short_way;
mod slots;
mod sporadic_polling;
mod threads;
mod trees;
