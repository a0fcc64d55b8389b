//! `tactus report`: judges the trace of an earlier run once more and makes its report anew.

use crate::arguments::Report;
use crate::verdict;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::results::Results;
use tactus_terminal::lines;

/// Makes the report again.
pub fn report(arguments: &Report) -> Result<Outcome, Failure> {
    let results = Results::find(&arguments.results)?.locked()?;
    let (kept, trace) = results.read()?;
    let summary = results.judge(&kept, &trace)?;
    lines::line("verdict", verdict::text(&summary));
    lines::line("report", results.file("report.html").display());
    Ok(Outcome::held_if(summary.verdict.held()))
}
