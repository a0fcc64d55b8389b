//! How a kept figure agrees with what the source says: a comparison of numbers that a test works out.
//!
//! `A < B`, `A <= B`, `A > B`, `A >= B` or `A = B within P %`, where each side is a number, or two with `*` or `/` between them, and
//! `%` behind a number divides it by a hundred. The left side's numbers stand in `figure`; the right side's in `text`, in `figure`
//! or in `note`, or are 0 or 1. So a figure that is measured anew cannot leave the statement behind.

use crate::evidence::numbers;
use crate::Statement;

/// What is wrong with a relation of this statement, if anything is.
#[must_use]
pub fn fault(statement: &Statement, relation: &str) -> Option<&'static str> {
    let (relation, within) = match relation.split_once(" within ") {
        Some((relation, within)) => (relation, number(within)),
        None => (relation, Some(0.0)),
    };
    let words: Vec<&str> = relation.split_whitespace().collect();
    let sign = words.iter().position(|word| ["<", "<=", ">", ">=", "="].contains(word));
    let (Some(sign), Some(within)) = (sign, within) else {
        return Some("is no relation; write `A <= B`, or `A = B within 5 %`");
    };
    let (left, right) = (&words[..sign], &words[sign + 1..]);
    let (Some(a), Some(b)) = (value(left), value(right)) else {
        return Some("has a side that is neither a number nor two with `*` or `/` between them");
    };
    let list = |text: &Option<String>| text.as_deref().map(numbers).unwrap_or_default();
    let figure = list(&statement.figure);
    if numbers(&left.join(" ")).iter().any(|it| !figure.contains(it)) {
        return Some("has a number on its left side that is not in `figure`");
    }
    let said = [numbers(&statement.text), figure, list(&statement.note), numbers("0 1")].concat();
    if numbers(&right.join(" ")).iter().any(|it| !said.contains(it)) {
        return Some("has a number on its right side that is neither in `text` nor in `figure` or `note`");
    }
    let holds = match words[sign] {
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        _ => (a - b).abs() <= within * b.abs(),
    };
    (!holds).then_some("does not hold; say `partly`, with the cause")
}

/// A side: a number, or two with a sign between them.
fn value(words: &[&str]) -> Option<f64> {
    let at = words.iter().position(|word| ["*", "/"].contains(word));
    let Some(at) = at else { return number(&words.join(" ")) };
    let (a, b) = (number(&words[..at].join(" "))?, number(&words[at + 1..].join(" "))?);
    Some(if words[at] == "*" { a * b } else { a / b })
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim().replace(',', "");
    match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|it| it / 100.0),
        None => text.parse().ok(),
    }
}
