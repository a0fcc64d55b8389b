//! `tactus colours`: which part of a system has which pages of memory.

use crate::arguments::Colours as Arguments;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::results::Results;
use tactus_terminal::lines;

/// Shows it.
pub fn colours(arguments: &Arguments) -> Result<Outcome, Failure> {
    let results = Results::find(&arguments.results)?;
    let (kept, _) = results.read()?;
    let Some(colours) = kept.details.colours else {
        let folder = results.folder().display();
        return Err(Failure::Input(format!(
            "{folder}: nobody looked at its memory: write a line like colours = 16 under [machine] and run it again, or run it with --caches"
        )));
    };
    lines::put(&colours.text());
    lines::line("colours", colours.headline());
    Ok(Outcome::held_if(colours.foreign() == 0))
}
