//! The page that says which features go together: its table and its list are what the tests themselves declare.

use std::collections::BTreeMap;
use std::path::Path;
use tactus_analysis::check::{tests, Declared};
use tactus_model::{Feature, Features, TaskOrder};

/// Where a task may be: what the tests call it, and what tells it apart there.
const COLUMNS: [(&str, &str, Feature); 12] = [
    ("one core, by a number", "one core", Feature::FixedPriority),
    ("one core, EDF", "one core", Feature::EarliestDeadline),
    ("one core, FIFO", "one core", Feature::FirstComeFirstServed),
    ("one core, other orders", "one core", Feature::LeastLaxity),
    ("one queue, by a number", "cores with one queue", Feature::FixedPriority),
    ("one queue, EDF", "cores with one queue", Feature::EarliestDeadline),
    ("one queue, other orders", "cores with one queue", Feature::LeastLaxity),
    ("servers", "servers", Feature::FixedPriority),
    ("partitions", "windows of partitions", Feature::FixedPriority),
    ("AMC", "two levels of criticality", Feature::Amc),
    ("EDF-VD", "two levels of criticality", Feature::EdfVd),
    ("MC²", "MC²", Feature::LevelA),
];

/// What chooses the column, and so is in no row.
fn is_chosen(feature: Feature) -> bool {
    let orders = TaskOrder::ALL.into_iter().map(Feature::from);
    let levels = [Feature::LevelA, Feature::LevelB, Feature::LevelC, Feature::LevelD, Feature::Amc, Feature::EdfVd];
    orders.chain(levels).any(|other| other == feature)
}

fn of_column((_, place, has): (&str, &str, Feature)) -> Vec<Declared> {
    tests().into_iter().filter(|test| test.place == place && test.covers.has(has)).collect()
}

fn covered(tests: &[Declared], features: Features) -> bool {
    tests.iter().any(|test| test.covers.cover(features))
}

/// The table, in which features with the same row share it.
fn table() -> String {
    let columns: Vec<Vec<Declared>> = COLUMNS.into_iter().map(of_column).collect();
    let mut rows: Vec<(Vec<bool>, Vec<&str>)> = Vec::new();
    for feature in Feature::ALL.iter().filter(|feature| !is_chosen(**feature)) {
        let row: Vec<bool> = columns.iter().map(|tests| covered(tests, Features::of(&[*feature]))).collect();
        match rows.iter_mut().find(|(other, _)| *other == row) {
            Some((_, names)) => names.push(feature.words()),
            None => rows.push((row, vec![feature.words()])),
        }
    }
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _, _)| *name).collect();
    let mut text = format!("| | {} |\n|---|{}\n", names.join(" | "), ":-:|".repeat(names.len()));
    for (row, names) in rows {
        let cells: Vec<&str> = row.iter().map(|it| if *it { "✓" } else { "–" }).collect();
        text += &format!("| {} | {} |\n", names.join(", "), cells.join(" | "));
    }
    text
}

/// Pairs of which each one is covered and no test covers both.
fn apart() -> String {
    let mut text = String::new();
    for column in COLUMNS {
        let tests = of_column(column);
        let alone: Vec<Feature> = Feature::ALL
            .iter()
            .copied()
            .filter(|feature| !is_chosen(*feature) && covered(&tests, Features::of(&[*feature])))
            .collect();
        let mut pairs: BTreeMap<Feature, Vec<&str>> = BTreeMap::new();
        for (i, one) in alone.iter().enumerate() {
            for other in &alone[i..] {
                if !covered(&tests, Features::of(&[*one, *other])) {
                    pairs.entry(*one).or_default().push(other.words());
                }
            }
        }
        let told: Vec<String> =
            pairs.iter().map(|(one, others)| format!("{} with {}", one.words(), others.join(", "))).collect();
        if !told.is_empty() {
            text += &format!("- {}: {}.\n", column.0, told.join("; "));
        }
    }
    text
}

#[test]
fn the_page_says_which_features_the_tests_cover() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let page = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let right = format!("{}\nCovered each alone, and not together:\n\n{}", table(), apart());
    assert!(page.contains(&right), "{} should say:\n\n{right}", path.display());
}

#[test]
fn each_test_is_in_a_column_and_what_shares_one_covers_the_same() {
    let all: Vec<Declared> = COLUMNS.into_iter().flat_map(of_column).collect();
    let beside = |test: &Declared| test.covers.iter().filter(|feature| !is_chosen(*feature)).collect::<Features>();
    for test in tests() {
        let same = |other: &&Declared| other.place == test.place && beside(other) == beside(&test);
        assert!(all.iter().any(|other| same(&other)), "{test:?}");
    }
}
