//! The tests of this crate in one program: `--test all NAME::` runs those of one file. A program for each takes minutes to compile.

mod common;

mod arrivals;
mod ceilings;
mod combined;
mod compare;
mod cost_model;
mod disk_budgets;
mod disk_faults;
mod events;
mod generate;
mod jitter;
mod locks;
mod lockstep;
mod machine;
mod mailboxes;
mod mc2;
mod misses;
mod mixed;
mod overruns;
mod partition_costs;
mod partitions;
mod per_server;
mod reclaiming;
mod rules;
mod schedules;
mod services;
mod slots;
mod threads;
mod updates;
mod waits;
mod yielding;
