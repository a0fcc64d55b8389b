//! The line that sums an MC² check up for people.

use super::super::report::{hundredths, Check};
use tactus_model::System;
use tactus_task::Bound;
use tactus_time::{CoreId, Duration, Level};

pub(super) fn line(system: &System, check: &Check) -> String {
    let mut parts = Vec::new();
    let with_table: Vec<CoreId> =
        (0..check.tables.len()).filter(|&c| !check.tables[c].slots.is_empty()).map(|c| CoreId(c as u8)).collect();
    if !with_table.is_empty() {
        parts.push(format!("A tables built on {}", cores(&with_table)));
    }
    let has = |level| system.tasks.iter().any(|t| t.level == Some(level));
    if has(Level::B) {
        let most = check.cores.iter().map(|c| c.levels[1]).max().unwrap_or(0);
        parts.push(format!("B at most {} per core", hundredths(most)));
    }
    if has(Level::C) {
        let late = check.tasks.iter().filter_map(|t| match t.bound() {
            Some(Bound::Tardiness(x)) => Some(x),
            Some(Bound::Response(_)) | None => None,
        });
        parts.push(match late.max() {
            None => "C tardiness has no bound".into(),
            Some(Duration::ZERO) => "C never tardy".into(),
            Some(x) => format!("C tardiness at most {x}"),
        });
    }
    parts.join(" · ")
}

/// `core 2`, `cores 1–3`, `cores 0, 2`.
fn cores(list: &[CoreId]) -> String {
    let (first, last) = (list[0], list[list.len() - 1]);
    match list.len() {
        1 => format!("core {first}"),
        n if n > 2 && last.index() - first.index() + 1 == n => format!("cores {first}–{last}"),
        _ => format!("cores {}", list.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}
