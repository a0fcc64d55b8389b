//! `tactus check`: what can be promised, without running anything.

use crate::arguments::Check as Arguments;
use crate::failure::{Failure, Outcome};
use crate::{costs, lines, promise, subject};

/// Checks the system and shows every bound.
pub fn check(arguments: &Arguments) -> Result<Outcome, Failure> {
    let system = subject::read(&arguments.subject)?;
    let costs = costs::read(&arguments.costs, &system)?;
    lines::put(&format!("{}\n", subject::headline(&system)));
    let check = tactus_analysis::check(&system, &costs);
    lines::line("check", promise::table(&check));
    promise::line(&system, &check);
    Ok(Outcome::held_if(check.accepted))
}
