//! What a check found, as people read it, and what follows from it for a run.

use crate::lines::{self, brief};
use tactus_analysis::{Bound, Check, TaskVerdict};
use tactus_model::{Costs, System};
use tactus_studies::promise::made;
pub use tactus_studies::promise::Promised;

/// Checks the system and writes the line about it.
pub fn promised(system: &System, costs: &Costs) -> Promised {
    let check = tactus_analysis::check(system, costs);
    line(system, &check);
    made(system, &check, costs)
}

/// Whether the policy can be set up at all: a system that the check refused may lack a table of level A. If it cannot, a
/// line says so.
pub fn can_run(promised: &Promised) -> bool {
    match tactus_policy::Scheduler::new(&promised.setup) {
        Ok(_) => true,
        Err(error) => {
            lines::line("run", lines::bad(format!("not possible before the above is mended: {error}")));
            false
        }
    }
}

/// `check    A tables built on cores 1–3 · …      accepted`, and what fails if it is not.
pub fn line(system: &System, check: &Check) {
    let verdict = if check.accepted { lines::good("accepted") } else { lines::bad("not accepted") };
    lines::line("check", format!("{}      {verdict}", check.summary));
    for finding in &check.findings {
        let place = match finding.line {
            0 => system.source.display().to_string(),
            line => format!("{}:{line}", system.source.display()),
        };
        lines::line("", format!("{place}: {}; {}", finding.what, finding.remedy));
    }
}

/// Every task with its bound.
pub fn table(check: &Check) -> String {
    let head = ["task", "level", "core", "utilisation", "deadline", "bound", ""];
    let rows: Vec<Vec<String>> = check.tasks.iter().map(row).collect();
    lines::table(&head, &rows)
}

fn row(verdict: &TaskVerdict) -> Vec<String> {
    let bound = match verdict.bound {
        Bound::Response(bound) => format!("response ≤ {}", brief(bound)),
        Bound::Tardiness(bound) => format!("tardiness ≤ {}", brief(bound)),
        Bound::None => "–".to_string(),
    };
    let holds = match (verdict.bound, verdict.met, verdict.exceeded_by.is_some()) {
        (_, false, _) => "fails",
        (Bound::None, true, _) => "no promise",
        (_, true, false) => "holds",
        (_, true, true) => "holds while nobody exceeds his time",
    };
    vec![
        verdict.name.clone(),
        verdict.level.map_or("–".to_string(), |level| level.to_string()),
        verdict.core.map_or("any".to_string(), |core| core.to_string()),
        format!("{:.3}", verdict.utilisation as f64 / 1e6),
        brief(verdict.deadline),
        bound,
        holds.to_string(),
    ]
}
