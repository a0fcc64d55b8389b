//! `tactus check --assign`: tasks are bound to cores by a packing heuristic, and the system file is written with it.
//!
//! The file keeps its comments and its order; only `core` of the tasks that were placed is set.

use crate::arguments::{Fit, Order};
use std::path::Path;
use tactus_analysis::partitioned;
use tactus_machine::costs;
use tactus_machine::failure::Failure;
use tactus_model::System;
use tactus_terminal::lines;
use tactus_time::CoreId;
use toml_edit::{value, DocumentMut};

/// How tasks are placed.
#[derive(Clone, Copy)]
pub struct How<'a> {
    pub fit: Fit,
    pub order: Order,
    /// Cores that the file gives are placed anew as well.
    pub anew: bool,
    /// What `--costs` names.
    pub costs: &'a str,
}

/// Reads the file, places its tasks and writes the result to `out`; says so in a line.
pub fn write(file: &Path, out: &Path, how: &How) -> Result<(), Failure> {
    if file.extension().is_none_or(|extension| extension != "toml") {
        return Err(Failure::Input(format!("--assign: {} is no system file in TOML", file.display())));
    }
    let text = tactus_model::read_ordinary_text(file, 16 << 20)
        .map_err(|e| Failure::Input(format!("{}: {e}", file.display())))?;
    let (placed, system) = place(&text, file, how)?;
    // What the file names is looked for beside it, so it is read once more as what it will be.
    System::parse_toml(&placed, out).map_err(|problems| Failure::Input(format!("--assign: {problems}")))?;
    std::fs::write(out, placed).map_err(|e| Failure::Machine(format!("{}: {e}", out.display())))?;
    let (fit, order) = (how.fit.told(), how.order.told());
    let tasks = lines::count(system.tasks.len(), "task");
    lines::line(
        "assign",
        format!("{tasks} on {} by {fit}, {order}: {}", lines::count(system.cores, "core"), out.display()),
    );
    Ok(())
}

/// The text with a core for each task that has to have one, and the system it was made for.
fn place(text: &str, file: &Path, how: &How) -> Result<(String, System), Failure> {
    let told = |why: String| Failure::Input(format!("{}: {why}", file.display()));
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| told(e.to_string()))?;
    let mc2 = document.get("policy").and_then(|p| p.get("kind")).and_then(|k| k.as_str()) == Some("mc2");
    // Any core makes a whole system of the file; which task had none is remembered.
    let mut free = Vec::new();
    for task in tables(&mut document) {
        let level = task.get("level").and_then(|level| level.as_str());
        let bound = !mc2 || matches!(level, Some("A" | "B"));
        let without = bound && (how.anew || !task.contains_key("core"));
        if without {
            task.insert("core", value(0));
        }
        free.push(without);
    }
    let system = match (System::parse_toml(&document.to_string(), file), System::parse_toml(text, file)) {
        (Ok(system), _) => system,
        // Lines are to be those of the person's file.
        (Err(_), Err(problems)) => return Err(Failure::Input(problems.to_string())),
        // It is whole as it is and would not be with cores.
        (Err(_), Ok(system)) => system,
    };
    let costs = costs::read(how.costs, &system)?;
    let given: Vec<Option<CoreId>> =
        system.tasks.iter().zip(&free).map(|(task, free)| task.core.filter(|_| !free)).collect();
    let cores = tactus_analysis::assignment(&system, &costs, &given, how.fit.into(), how.order.into())
        .map_err(|e| told(e.to_string()))?;
    for ((task, core), free) in tables(&mut document).zip(cores).zip(free) {
        if let Some(core) = core.filter(|_| free) {
            task.insert("core", value(core.index() as i64));
        }
    }
    Ok((document.to_string(), system))
}

/// The tables of the tasks.
fn tables(document: &mut DocumentMut) -> impl Iterator<Item = &mut toml_edit::Table> {
    document
        .get_mut("task")
        .and_then(|tasks| tasks.as_array_of_tables_mut())
        .into_iter()
        .flat_map(|tasks| tasks.iter_mut())
}

impl Fit {
    fn told(self) -> &'static str {
        match self {
            Fit::First => "first fit",
            Fit::Best => "best fit",
            Fit::Worst => "worst fit",
            Fit::Next => "next fit",
        }
    }
}

impl From<Fit> for partitioned::Fit {
    fn from(fit: Fit) -> Self {
        match fit {
            Fit::First => partitioned::Fit::First,
            Fit::Best => partitioned::Fit::Best,
            Fit::Worst => partitioned::Fit::Worst,
            Fit::Next => partitioned::Fit::Next,
        }
    }
}

impl Order {
    fn told(self) -> &'static str {
        match self {
            Order::Given => "in the order of the file",
            Order::Decreasing => "the largest first",
            Order::Increasing => "the smallest first",
        }
    }
}

impl From<Order> for partitioned::Order {
    fn from(order: Order) -> Self {
        match order {
            Order::Given => partitioned::Order::Given,
            Order::Decreasing => partitioned::Order::Decreasing,
            Order::Increasing => partitioned::Order::Increasing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# a comment
[system]
name = 'x'
cores = 2
duration = '100 ms'
[policy]
kind = 'partitioned-edf'
[[task]] # kept
name = 'a'
period = '10 ms'
execution = '6 ms'
[[task]]
name = 'b'
period = '10 ms'
execution = '5 ms' # kept too
[[task]]
name = 'c'
core = 1
period = '10 ms'
execution = '1 ms'
";

    fn placed(text: &str, fit: Fit, anew: bool) -> Result<Vec<Option<usize>>, String> {
        let how = How { fit, order: Order::Decreasing, anew, costs: "none" };
        let (text, _) = place(text, Path::new("x.toml"), &how).map_err(|failure| failure.to_string())?;
        assert!(text.contains("# a comment") && text.contains("# kept") && text.contains("# kept too"), "{text}");
        let system = System::parse_toml(&text, Path::new("x.toml")).map_err(|problems| problems.to_string())?;
        Ok(system.tasks.iter().map(|task| task.core.map(CoreId::index)).collect())
    }

    #[test]
    fn tasks_without_a_core_are_placed_around_those_that_have_one() {
        assert_eq!(placed(FILE, Fit::First, false), Ok(vec![Some(0), Some(1), Some(1)]));
        assert_eq!(placed(FILE, Fit::First, true), Ok(vec![Some(0), Some(1), Some(0)]));
        assert_eq!(placed(FILE, Fit::Worst, true), Ok(vec![Some(0), Some(1), Some(1)]));
    }

    #[test]
    fn a_task_that_fits_nowhere_and_a_policy_that_binds_none_are_told() {
        let full = FILE.replace("'1 ms'", "'6 ms'");
        let why = placed(&full, Fit::First, false).expect_err("too much");
        assert!(why.contains("task `b` fits on no core"), "{why}");
        let global = FILE.replace("partitioned-edf", "global-edf").replace("core = 1\n", "");
        let why = placed(&global, Fit::First, false).expect_err("global");
        assert!(why.contains("binds no task"), "{why}");
    }

    #[test]
    fn what_else_is_wrong_with_the_file_is_told_by_its_own_lines() {
        let why = placed(&FILE.replace("'5 ms'", "'50 ms'"), Fit::First, false).expect_err("a bad file");
        assert!(why.contains("x.toml:1"), "{why}");
    }
}
