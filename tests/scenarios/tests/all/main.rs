//! The scenarios but for those that build the machine anew: `--test all NAME::` runs those of one file. One program, so that all
//! cores have something to do until the last one ends.

mod agree;
mod arena;
mod checklist;
mod components;
mod culprits;
mod damage;
mod deaf;
mod determinism;
mod disks;
mod examples;
mod front_door;
mod fuzz;
mod golden;
mod golden_servers;
mod hostile;
mod interrupts;
mod iso;
mod monitors;
mod partitions;
mod per_server;
mod platforms;
mod processes;
mod reading;
mod released;
mod restarts_per_server;
mod rig;
mod schedulers;
mod services;
mod size;
mod smallest;
mod status;
mod studies;
mod windows;
mod word;
