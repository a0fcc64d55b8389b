//! How many colours each group of tasks gets, chosen by an integer program.
//!
//! What a group takes of a core depends on how many colours it has: with few its working set does not fit. [`choose`] gives every
//! group a number of colours so that the sum of utilisations is least and no group exceeds a core; [`even`] gives all the same.
//! Colours of two groups never meet, so groups can be placed on any core.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use good_lp::WithTimeLimit;
use good_lp::{
    constraint, microlp, variable, variables, Expression, ProblemVariables, Solution, SolverModel, Variable,
};

/// Groups that the solver takes; with more, colours are shared out evenly.
pub const MOST_GROUPS: usize = 24;

/// Colours that the solver takes.
pub const MOST_COLOURS: usize = 32;

/// How long the solver may take.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What a group takes of a core with 1, 2, 3, … colours, in millionths. More colours never take more.
pub type Curve = Vec<u64>;

/// Who decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decided {
    /// The solver, and nothing is better.
    Solver,
    /// Nobody: the same for all.
    Even,
}

/// Colours for each group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// How many each group gets.
    pub colours: Vec<usize>,
    /// Who decided.
    pub decided: Decided,
}

/// Why there is no choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoChoice {
    /// There are fewer colours than groups.
    TooFew {
        /// Colours.
        colours: usize,
        /// Groups.
        groups: usize,
    },
    /// A group says nothing about its utilisation.
    NoCurve(usize),
}

impl fmt::Display for NoChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoChoice::TooFew { colours, groups } => {
                write!(
                    f,
                    "{groups} groups cannot each have one of {colours} colours: use more colours, or let tasks share"
                )
            }
            NoChoice::NoCurve(group) => {
                write!(f, "group {group} has no utilisation for any number of colours: measure one")
            }
        }
    }
}

impl core::error::Error for NoChoice {}

/// What a group takes with this number of colours: the last figure of its curve where it has no more.
pub fn utilisation(curve: &[u64], colours: usize) -> u64 {
    let at = colours.max(1).min(curve.len().max(1)) - 1;
    curve.get(at).copied().unwrap_or(u64::MAX)
}

fn check(curves: &[Curve], colours: usize) -> Result<(), NoChoice> {
    if let Some(group) = curves.iter().position(Vec::is_empty) {
        return Err(NoChoice::NoCurve(group));
    }
    if curves.len() > colours {
        return Err(NoChoice::TooFew { colours, groups: curves.len() });
    }
    Ok(())
}

/// The same number for all; what is left over goes to the first ones.
///
/// # Errors
/// Where there are fewer colours than groups.
pub fn even(curves: &[Curve], colours: usize) -> Result<Choice, NoChoice> {
    check(curves, colours)?;
    let many = curves.len().max(1);
    let colours = (0..curves.len()).map(|group| colours / many + usize::from(group < colours % many)).collect();
    Ok(Choice { colours, decided: Decided::Even })
}

/// The numbers with the least sum of utilisations in which no group exceeds `capacity`; where there is none, or the solver
/// cannot take it or finds nothing in time, the even split.
///
/// # Errors
/// Where there are fewer colours than groups.
pub fn choose(curves: &[Curve], colours: usize, capacity: u64) -> Result<Choice, NoChoice> {
    let even = even(curves, colours)?;
    if curves.len() > MOST_GROUPS || colours > MOST_COLOURS || curves.is_empty() {
        return Ok(even);
    }
    let mut problem: ProblemVariables = variables!();
    let mut chosen: Vec<Vec<(usize, Variable)>> = Vec::new();
    let (mut sum, mut used) = (Expression::from(0.0), Expression::from(0.0));
    for curve in curves {
        let mut options = Vec::new();
        for count in 1..=curve.len().min(colours + 1 - curves.len()) {
            // Only where one more colour helps is it an option.
            let takes = utilisation(curve, count);
            if takes > capacity || (count > 1 && utilisation(curve, count - 1) <= takes) {
                continue;
            }
            let option = problem.add(variable().binary());
            sum += takes as f64 / 1e6 * option;
            used += count as f64 * option;
            options.push((count, option));
        }
        if options.is_empty() {
            return Ok(even);
        }
        chosen.push(options);
    }
    let mut model = problem.minimise(sum).using(microlp).with_time_limit(PATIENCE.as_secs_f64());
    model = model.with(constraint!(used <= colours as f64));
    for options in &chosen {
        let one: Expression = options.iter().map(|(_, option)| *option).sum();
        model = model.with(constraint!(one == 1.0));
    }
    let Ok(solution) = model.solve() else { return Ok(even) };
    let mut counts = vec![1; curves.len()];
    for (count, options) in counts.iter_mut().zip(&chosen) {
        if let Some((many, _)) = options.iter().find(|(_, option)| solution.value(*option) > 0.5) {
            *count = *many;
        }
    }
    if counts.iter().sum::<usize>() > colours {
        return Ok(even);
    }
    Ok(Choice { colours: counts, decided: Decided::Solver })
}
