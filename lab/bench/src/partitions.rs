//! `tactus bench partitions`: what the change from one partition's window to the next one's costs, and where it goes.

use super::books::books;
use super::figures;
use super::guest;
use super::paths;
use super::systems;
use tactus_bench_book::Series;
use tactus_machine::failure::{Failure, Outcome};
use tactus_terminal::lines;

/// Measures and shows.
pub fn partitions() -> Result<Outcome, Failure> {
    let programs = guest::programs()?;
    let followed = guest::follow(&programs, &systems::partitions(true), None)?;
    let ran = guest::run(&programs, &systems::partitions(false), None)?;
    for figure in figures::partitions(&books(&ran.memory), &followed) {
        let numbers = [figure.min, figure.median, figure.p99, figure.max].map(lines::grouped);
        lines::line(
            "switch",
            format!("{} instructions, {} to {} ({} samples)", numbers[1], numbers[0], numbers[3], figure.n),
        );
    }
    if let Some(path) = followed.get(&Series::WindowEntered) {
        lines::put(&paths::told(path, &programs)?);
    }
    Ok(Outcome::Held)
}
