//! Workloads of a study beyond the named distributions: `[[generator]]` in its file.
//!
//! Sums over a fixed number of tasks (`randfixedsum`, `uunifast-discard`, `drs`) have the cap as their total. The sets of
//! the literature have totals of their own; here each reaches the cap in the way that its experiment allows: the levels of
//! `mc2` keep their proportion, `epos-until-refused` adds tasks as long as the cap allows one more, `epos-groups` takes as many of its eight
//! groups as fit, and where neither is possible (`epos-two-phases`, `juniper`) execution times are scaled. A set with a task that
//! would need more than its period is not drawn.

use crate::spec::{find, Fault};
use serde::Deserialize;
use tactus_analysis::generate::distributions::{Periods, PERIODS};
use tactus_analysis::generate::{drs, published, randfixedsum, uunifast_discard, Random, Task};

/// As it stands in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    kind: String,
    tasks: Option<usize>,
    #[serde(default)]
    periods: Vec<String>,
    limits: Option<Vec<(f64, f64)>>,
    capacities: Option<[f64; 3]>,
}

/// How the utilisations of a fixed number of tasks are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sum {
    /// Stafford's algorithm (Emberson, Stafford and Davis).
    RandFixedSum,
    /// UUniFast, drawn again where a task has more than it may (Bini and Buttazzo; Davis and Burns).
    UUniFastDiscard,
    /// Limits for each task by itself (Griffin, Bate and Davis).
    Drs,
}

/// Where the sets of a workload come from.
#[derive(Clone, PartialEq, Debug)]
pub enum Generator {
    /// So many tasks, with a lower and an upper limit of utilisation each.
    Sum(Sum, Periods, Vec<(f64, f64)>),
    /// The overhead experiment of MC²: so many tasks, and the shares of levels A, B and C.
    Mc2(usize, [f64; 3]),
    /// EPOS, chapter 6.
    UntilRefused,
    /// EPOS, chapter 7.
    Groups,
    /// EPOS, chapter 8.
    TwoPhases,
    /// The applications of JUNIPER.
    Juniper,
}

/// All kinds, and whether they want a number of tasks and periods.
const KINDS: [(&str, bool, bool); 8] = [
    ("randfixedsum", true, true),
    ("uunifast-discard", true, true),
    ("drs", true, true),
    ("mc2", true, false),
    ("epos-until-refused", false, false),
    ("epos-groups", false, false),
    ("epos-two-phases", false, false),
    ("juniper", false, false),
];

/// So often a set is drawn anew before it counts as impossible.
const TRIES: u32 = 1_000;

impl Generator {
    /// The generators of one table, one for each of its periods, with their names.
    pub(crate) fn read(file: &File) -> Result<Vec<(String, Generator)>, Fault> {
        let value = |key: &str, why: String| Fault::Value { key: format!("generator.{key}"), why };
        let &(kind, counted, timed) = find("generator.kind", &file.kind, &KINDS, |known| known.0)?;
        let n = match file.tasks {
            Some(n) if counted && (1..=10_000).contains(&n) => n,
            None if !counted => 0,
            Some(_) if !counted => return Err(value("tasks", format!("remove it: {kind} has its own number"))),
            _ => return Err(value("tasks", "write how many tasks a set has, from 1 to 10000".into())),
        };
        if timed == file.periods.is_empty() {
            let why = if timed { "name at least one".to_string() } else { format!("remove it: {kind} has its own") };
            return Err(value("periods", why));
        }
        if file.capacities.is_some() && kind != "mc2" {
            return Err(value("capacities", format!("remove it: only mc2 has levels, {kind} has none")));
        }
        let given = file.limits.as_deref().unwrap_or(&[(0.0, 1.0)]);
        let sound = |l: &(f64, f64)| 0.0 <= l.0 && l.0 < l.1 && l.1 <= 1.0;
        let one_for_all = kind == "drs" || given.len() == 1;
        if given.is_empty() || !given.iter().all(sound) || !one_for_all || (file.limits.is_some() && !timed) {
            let why =
                "write pairs [low, high] with 0 ≤ low < high ≤ 1, for randfixedsum and uunifast-discard one, for drs \
                       as many as you like, which the tasks take in turn";
            return Err(value("limits", why.into()));
        }
        if kind == "uunifast-discard" && given[0].0 > 0.0 {
            return Err(value("limits", "uunifast-discard has no lower limit but 0".into()));
        }
        let sum = |how: Sum| {
            let limits: Vec<(f64, f64)> = given.iter().copied().cycle().take(n).collect();
            let one = |name: &String| {
                let &(name, periods) = find("generator.periods", name, &PERIODS, |known| known.0)?;
                Ok((format!("{kind}-{n} {name}"), Generator::Sum(how, periods, limits.clone())))
            };
            file.periods.iter().map(one).collect::<Result<Vec<_>, Fault>>()
        };
        Ok(match kind {
            "randfixedsum" => sum(Sum::RandFixedSum)?,
            "uunifast-discard" => sum(Sum::UUniFastDiscard)?,
            "drs" => sum(Sum::Drs)?,
            "mc2" => {
                let capacities = file.capacities.unwrap_or(published::MC2_CAPACITIES[0]);
                if !capacities.iter().all(|c| (0.0..=1.0).contains(c)) || capacities.iter().sum::<f64>() <= 0.0 {
                    return Err(value("capacities", "write the shares of levels A, B and C, each from 0 to 1".into()));
                }
                let shares: Vec<String> = capacities.iter().map(|c| format!("{:.0}", c * 100.0)).collect();
                vec![(format!("mc2-{n} {}", shares.join("-")), Generator::Mc2(n, capacities))]
            }
            "epos-until-refused" => vec![(kind.into(), Generator::UntilRefused)],
            "epos-groups" => vec![(kind.into(), Generator::Groups)],
            "epos-two-phases" => vec![(kind.into(), Generator::TwoPhases)],
            _ => vec![(kind.into(), Generator::Juniper)],
        })
    }

    /// Draws a set with this total utilisation, or as the head of the file says. False where there is none.
    pub fn draw(&self, tasks: &mut Vec<Task>, random: &mut Random, cap: f64, cores: usize) -> bool {
        tasks.clear();
        match self {
            Generator::Sum(how, periods, limits) => {
                let (n, (low, high)) = (limits.len(), limits[0]);
                let utilisations = match how {
                    Sum::RandFixedSum => randfixedsum(random, n, cap, low, high),
                    Sum::UUniFastDiscard => uunifast_discard(random, n, cap, high, TRIES),
                    Sum::Drs => drs(random, limits, cap),
                };
                for u in utilisations.into_iter().flatten() {
                    let period = periods.draw(random);
                    tasks.push(Task { execution: ((u * period as f64) as u64).max(1), period, deadline: period });
                }
            }
            Generator::Mc2(n, capacities) => {
                let whole: f64 = capacities.iter().sum();
                let share = cap / (whole * cores as f64);
                let drawn = published::mc2_overheads(random, *n, cores, capacities.map(|c| c * share));
                tasks.extend(drawn.into_iter().map(|levelled| levelled.task));
            }
            Generator::UntilRefused => tasks.extend(published::until_refused(random, |set| total(set) <= cap)),
            Generator::Groups => {
                for group in published::coloured_groups(random) {
                    if total(tasks) + total(&group) <= cap {
                        tasks.extend(group);
                    }
                }
            }
            Generator::TwoPhases => {
                let set = published::two_phases(random);
                tasks.extend(set.hard.into_iter().chain(set.soft.into_iter().flatten()));
                scale(tasks, cap);
            }
            Generator::Juniper => {
                tasks.extend(published::juniper().map(|placed| placed.task));
                scale(tasks, cap);
            }
        }
        !tasks.is_empty() && tasks.iter().all(|t| t.execution <= t.deadline)
    }
}

fn total(tasks: &[Task]) -> f64 {
    tasks.iter().map(|t| t.execution as f64 / t.period as f64).sum()
}

fn scale(tasks: &mut [Task], cap: f64) {
    let factor = cap / total(tasks);
    tasks.iter_mut().for_each(|t| t.execution = ((t.execution as f64 * factor) as u64).max(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, Generator)>, Fault> {
        Generator::read(&toml::from_str(text).expect("a good table"))
    }

    #[test]
    fn every_generator_reaches_the_cap_as_it_says() {
        let files = [
            ("kind = 'randfixedsum'\ntasks = 12\nperiods = ['short', 'log-long']", 2),
            ("kind = 'uunifast-discard'\ntasks = 20\nperiods = ['moderate']", 1),
            ("kind = 'drs'\ntasks = 16\nperiods = ['long']\nlimits = [[0.0, 0.4], [0.1, 0.9]]", 1),
            ("kind = 'mc2'\ntasks = 40", 1),
            ("kind = 'epos-until-refused'", 1),
            ("kind = 'epos-groups'", 1),
            ("kind = 'epos-two-phases'", 1),
            ("kind = 'juniper'", 1),
        ];
        let mut tasks = Vec::new();
        for (file, count) in files {
            let all = read(file).expect(file);
            assert_eq!(all.len(), count, "{file}");
            for (name, generator) in all {
                for n in 0..20 {
                    let mut random = Random::at(1, &[n]);
                    assert!(generator.draw(&mut tasks, &mut random, 3.0, 4), "{name}");
                    let room = match generator {
                        Generator::UntilRefused => 0.7,
                        Generator::Groups => 1.0,
                        _ => 1e-3,
                    };
                    let total = total(&tasks);
                    assert!(total <= 3.0 + 1e-9 && total >= 3.0 - room, "{name}: {total}");
                }
            }
        }
    }

    #[test]
    fn what_does_not_belong_to_a_generator_is_refused_with_what_does() {
        let told = |text: &str| read(text).expect_err(text).to_string();
        assert!(told("kind = 'randfixdsum'").contains("randfixedsum, uunifast-discard"));
        assert!(told("kind = 'randfixedsum'\nperiods = ['short']").contains("how many tasks"));
        assert!(told("kind = 'juniper'\ntasks = 3").contains("remove it"));
        assert!(told("kind = 'drs'\ntasks = 3\nperiods = ['short']\nlimits = [[0.5, 0.2]]").contains("low < high"));
        assert!(told("kind = 'mc2'\ntasks = 3\ncapacities = [2.0, 0.1, 0.1]").contains("shares"));
    }
}
