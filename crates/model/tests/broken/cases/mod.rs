//! What is wrong with each file, by what it is about.

use crate::Case;

mod caches;
mod channels;
mod disks;
mod linux;
mod partitions;
mod releases;
mod rt_app;
mod servers;
mod tasks;

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Case> {
    [
        tasks::CASES,
        rt_app::CASES,
        servers::CASES,
        releases::CASES,
        disks::CASES,
        linux::CASES,
        partitions::CASES,
        channels::CASES,
        caches::CASES,
    ]
    .into_iter()
    .flatten()
}
