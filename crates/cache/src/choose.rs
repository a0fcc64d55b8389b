//! How many colours each group of tasks gets.
//!
//! What a group takes of a core depends on how many colours it has: with few its working set does not fit. [`choose`] gives every
//! group a number of colours so that the sum of utilisations is least and no group exceeds a core; [`even`] gives all the same.
//! Colours of two groups never meet, so groups can be placed on any core.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// What a group takes of a core with 1, 2, 3, … colours, in millionths. More colours never take more.
pub type Curve = Vec<u64>;

/// By what the numbers were chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decided {
    /// The least sum: nothing is better.
    Least,
    /// The same for all.
    Even,
}

/// Colours for each group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// How many each group gets.
    pub colours: Vec<usize>,
    /// By what they were chosen.
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

/// The numbers with the least sum of utilisations in which no group exceeds `capacity`, and no group one more than that sum needs; where
/// there are none, the even split.
///
/// This is the multiple-choice knapsack problem, by dynamic programming (Dudzinski and Walukiewicz 1987).
///
/// # Errors
/// Where there are fewer colours than groups.
pub fn choose(curves: &[Curve], colours: usize, capacity: u64) -> Result<Choice, NoChoice> {
    let even = even(curves, colours)?;
    // The least sum of the groups so far with 0, 1, … colours, and how many the last of them has in it.
    let mut sums = vec![Some(0_u128); colours + 1];
    let mut lasts: Vec<Vec<usize>> = Vec::new();
    for curve in curves {
        let best = |most: usize| {
            let with = |count: usize| {
                let takes = utilisation(curve, count);
                let sum = sums[most - count]? + u128::from(takes);
                (takes <= capacity).then_some((sum, count))
            };
            (1..=most).filter_map(with).min()
        };
        let row: Vec<_> = (0..=colours).map(best).collect();
        sums = row.iter().map(|it| it.map(|(sum, _)| sum)).collect();
        lasts.push(row.into_iter().map(|it| it.map_or(0, |(_, count)| count)).collect());
    }
    let Some(least) = sums[colours] else { return Ok(even) };
    let mut rest = sums.iter().position(|sum| *sum == Some(least)).unwrap_or(colours);
    let mut counts = vec![0; curves.len()];
    for (count, last) in counts.iter_mut().zip(&lasts).rev() {
        *count = last[rest];
        rest -= *count;
    }
    Ok(Choice { colours: counts, decided: Decided::Least })
}
