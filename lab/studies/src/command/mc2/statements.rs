//! The source's statements on robustness (21 to 24), each with what came out and whether it holds.

use super::robustness::{Levels, MEANS};
use tactus_terminal::lines;

/// A statement beside what came out.
pub struct Row {
    /// What is asked.
    pub statement: &'static str,
    /// What the source has.
    pub source: &'static str,
    /// What came out.
    pub here: String,
    /// Whether it is what the source has; nothing where the source gives no limit.
    pub holds: Option<bool>,
}

/// All rows, of the four series at all means.
///
/// The source's figures are read off its curves, so that a ratio of misses may differ by 0.05, and 0.50 by 0.10. "No visible misses"
/// and "nearly 0" are below 0.02. A response diverges sharply where it grows tenfold from a mean of 0.075 to one of 0.10.
pub fn rows(found: &[Vec<Levels>]) -> Vec<Row> {
    let b = |series: usize, mean: f64| at(&found[series], mean)[1].miss_ratio();
    let b_response = |series: usize, mean: f64| at(&found[series], mean)[1].relative_response();
    let c = |series: usize, mean: f64| at(&found[series], mean)[2].relative_response();
    let most = |series: usize, up_to: f64| {
        let all = MEANS.iter().zip(&found[series]).filter(|(mean, _)| **mean <= up_to + 1e-9);
        all.map(|(_, levels)| levels[1].miss_ratio()).fold(0.0, f64::max)
    };
    let misses_a: u64 = found.iter().flatten().map(|levels| levels[0].missed).sum();
    let jobs_a: u64 = found.iter().flatten().map(|levels| levels[0].due).sum();
    let row = |statement, source, here, holds| Row { statement, source, here, holds };
    vec![
        row(
            "21: misses of A in the whole sweep",
            "0",
            format!("{misses_a} of {}", lines::grouped(jobs_a)),
            Some(misses_a == 0 && jobs_a > 0),
        ),
        row(
            "22: B, P = 0.5, not enforced, up to 0.8",
            "no visible misses",
            format!("at most {:.4}", most(1, 0.8)),
            Some(most(1, 0.8) < 0.02),
        ),
        row(
            "22: the same at 0.985",
            "misses rise after 0.8",
            format!("{:.3}", b(1, 0.985)),
            Some(b(1, 0.985) > most(1, 0.8)),
        ),
        row(
            "22: B, P = 0.5, enforced, at 0.4",
            "0.10",
            format!("{:.3}", b(0, 0.4)),
            Some((b(0, 0.4) - 0.10).abs() <= 0.05),
        ),
        row("22: at 0.6", "0.50", format!("{:.3}", b(0, 0.6)), Some((b(0, 0.6) - 0.50).abs() <= 0.10)),
        row("B, P = 0.5, enforced: mean response exceeds the period from", "0.8", first_above(found, 0, 1.0), None),
        row("B, P = 0.5, enforced: mean response at 0.8", "1", format!("{:.2}", b_response(0, 0.8)), None),
        row("23: B, P = 0.1, enforced, largest", "0.2", format!("{:.3}", most(2, 1.0)), Some(most(2, 1.0) <= 0.25)),
        row(
            "23: B, P = 0.1, not enforced, largest",
            "nearly 0",
            format!("{:.4}", most(3, 1.0)),
            Some(most(3, 1.0) < 0.02),
        ),
        row(
            "24: C, P = 0.1, not enforced, response at 0.10",
            "below 0.3",
            format!("{:.2}", c(3, 0.10)),
            Some(c(3, 0.10) < 0.3),
        ),
        row(
            "24: C, P = 0.1, enforced, response at 0.10",
            "worse",
            format!("{:.2}", c(2, 0.10)),
            Some(c(2, 0.10) > c(3, 0.10)),
        ),
        row("24: C, P = 0.5, not enforced, response at 0.075", "30.0", format!("{:.2}", c(1, 0.075)), None),
        row("24: the same at 0.10", "unbounded", format!("{:.1}", c(1, 0.10)), Some(c(1, 0.10) > 10.0 * c(1, 0.075))),
    ]
}

/// What a study says at its end, and whether it held: of the statements, and of the kernel's agreement if it was asked.
pub fn verdict(rows: &[Row], kernel_agrees: Option<bool>) -> (String, bool) {
    let broken: Vec<&str> = rows.iter().filter(|row| row.holds == Some(false)).map(|row| row.statement).collect();
    let statements = match broken.is_empty() {
        true => "statements 21 to 24 hold".to_string(),
        false => format!("NOT as the source has it: {}", broken.join("; ")),
    };
    let kernel = match kernel_agrees {
        Some(true) => "simulator and kernel agree",
        Some(false) => "simulator and kernel DISAGREE",
        None => "the kernel was not asked",
    };
    (format!("{statements}; {kernel}"), broken.is_empty() && kernel_agrees != Some(false))
}

/// The value of a series at the mean next to this one.
fn at(found: &[Levels], mean: f64) -> &Levels {
    let nearest = (0..MEANS.len()).min_by(|a, b| (MEANS[*a] - mean).abs().total_cmp(&(MEANS[*b] - mean).abs()));
    &found[nearest.unwrap_or(0)]
}

fn first_above(found: &[Vec<Levels>], series: usize, limit: f64) -> String {
    let first = MEANS.iter().zip(&found[series]).find(|(_, levels)| levels[1].relative_response() > limit);
    first.map_or("nowhere".into(), |(mean, _)| mean.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mc2::OfLevel;

    /// A sweep as the source has it: at each series and mean, A misses nothing, and B and C are as asked.
    fn sweep(b: impl Fn(usize, f64) -> u64, c: impl Fn(usize, f64) -> f64) -> Vec<Vec<Levels>> {
        let level = |missed, relative| OfLevel { due: 1_000, missed, finished: 1, relative };
        let levels = |series, mean: &f64| [level(0, 0.1), level(b(series, *mean), 0.2), level(0, c(series, *mean))];
        (0..4).map(|series| MEANS.iter().map(|mean| levels(series, mean)).collect()).collect()
    }
    fn b(series: usize, mean: f64) -> u64 {
        match series {
            0 => ((mean - 0.35).max(0.0) * 2_000.0).round() as u64,
            1 if mean > 0.9 => 170,
            2 => 190,
            _ => 1,
        }
    }
    fn c(series: usize, mean: f64) -> f64 {
        match series {
            1 if mean >= 0.1 => 180.0,
            3 => 0.2,
            _ => 2.0,
        }
    }
    fn said(found: &[Vec<Levels>], kernel: Option<bool>) -> (String, bool) {
        verdict(&rows(found), kernel)
    }

    #[test]
    fn what_is_as_in_the_source_holds_and_a_kernel_that_was_not_asked_does_not_agree() {
        let good = sweep(b, c);
        let text = |kernel| said(&good, kernel);
        assert_eq!(text(None), ("statements 21 to 24 hold; the kernel was not asked".to_string(), true));
        assert_eq!(text(Some(true)), ("statements 21 to 24 hold; simulator and kernel agree".to_string(), true));
        assert!(!text(Some(false)).1);
    }

    #[test]
    fn each_statement_that_comes_out_otherwise_is_named_and_is_not_held() {
        let with_b = |series: usize, most: u64| sweep(move |n, mean| if n == series { most } else { b(n, mean) }, c);
        let mut late_a = sweep(b, c);
        late_a[2][3][0].missed = 1;
        let calm = sweep(b, |series, mean| if series == 1 { 2.0 } else { c(series, mean) });
        let slow = sweep(b, |series, mean| if series == 3 { 0.4 } else { c(series, mean) });
        let cases = [
            (late_a, "21:"),
            (with_b(1, 30), "22:"),
            (with_b(0, 400), "22:"),
            (with_b(2, 300), "23:"),
            (with_b(3, 30), "23:"),
            (calm, "24:"),
            (slow, "24:"),
        ];
        for (found, named) in cases {
            let (text, held) = said(&found, Some(true));
            assert!(!held && text.contains(named), "{named} {text}");
        }
    }
}
