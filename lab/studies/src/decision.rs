//! What can be asked of a task set: one test, or a policy with all the tests and heuristics that the sources give it.

use crate::overhead::{Charged, Policy};
use crate::single::{self, Single};
use crate::spec::{Scenario, Study};
use tactus_analysis::generate::Task;
use tactus_analysis::global::edf::{self, Test};
use tactus_analysis::global::set::{Set, MARGIN};
use tactus_analysis::partitioned::{pack, Fit, Order};

/// A question whose answer is yes or no.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// Global EDF: any of the eight tests.
    GlobalEdf,
    /// Clustered EDF: first, best or worst fit by decreasing utilisation, then any test of global EDF on each cluster.
    ClusteredEdf,
    /// Partitioned EDF: first, best or worst fit by decreasing utilisation, U ≤ 1 on each core.
    PartitionedEdf,
    /// One test of global EDF.
    Global(Test),
    /// Partitioned EDF with one heuristic.
    Packed(Fit),
    /// A test of one core, of global fixed priorities, or the yardstick.
    Single(Single),
}

const FITS: [(Fit, &str); 4] = [(Fit::First, "FFD"), (Fit::Best, "BFD"), (Fit::Worst, "WFD"), (Fit::Next, "NFD")];

impl Decision {
    /// All that a study file can name.
    pub fn all() -> Vec<Decision> {
        let policies = [Decision::GlobalEdf, Decision::ClusteredEdf, Decision::PartitionedEdf];
        let tests = Test::ALL.map(Decision::Global);
        let packed = FITS.map(|(fit, _)| Decision::Packed(fit));
        let singles = single::ALL.map(|(test, _)| Decision::Single(test));
        policies.into_iter().chain(tests).chain(packed).chain(singles).collect()
    }

    /// As written in a study file.
    pub fn name(&self) -> &'static str {
        match self {
            Decision::GlobalEdf => "G-EDF",
            Decision::ClusteredEdf => "C-EDF",
            Decision::PartitionedEdf => "P-EDF",
            Decision::Global(test) => test.name(),
            Decision::Packed(fit) => FITS.iter().find(|(f, _)| f == fit).map_or("", |(_, name)| name),
            Decision::Single(test) => single::ALL.iter().find(|(t, _)| t == test).map_or("", |(_, name)| name),
        }
    }
}

/// Memory that decisions work in, kept from set to set.
#[derive(Default)]
pub struct Memory {
    tests: edf::Memory,
    set: Set,
    bins: Vec<Vec<usize>>,
    shares: Vec<f64>,
}

/// Answers every decision of the study for one set under one scenario.
pub fn decide(study: &Study, scenario: &Scenario, tasks: &[Task], memory: &mut Memory, answers: &mut [bool]) {
    let charged = |policy| Charged::new(&scenario.overhead, policy, tasks.len(), scenario.cache_delay);
    let global = charged(Policy::Global);
    let mut ready = false;
    // The answer of each test of global EDF, once known.
    let mut known = [None; Test::ALL.len()];
    for (decision, answer) in study.decisions.iter().zip(answers.iter_mut()) {
        *answer = match decision {
            Decision::GlobalEdf | Decision::Global(_) => {
                if !ready {
                    ready = true;
                    if !global.fill(tasks, 0..tasks.len(), &mut memory.set) {
                        memory.set.clear();
                        // No test accepts a task without execution time: the mark of a set beyond all bounds.
                        memory.set.push(0, 1, 1);
                    }
                }
                let mut ask = |test: Test| {
                    *known[test as usize]
                        .get_or_insert_with(|| test.accepts(&memory.set, study.cores, &mut memory.tests))
                };
                match decision {
                    Decision::Global(test) => ask(*test),
                    // RTA generalises both forms of BCL, so these need no asking.
                    _ => [Test::Gfb, Test::Load, Test::Bak, Test::Bar, Test::FfDbf, Test::Rta].into_iter().any(ask),
                }
            }
            Decision::PartitionedEdf => {
                let policy = charged(Policy::Partitioned);
                [Fit::Worst, Fit::First, Fit::Best]
                    .into_iter()
                    .any(|fit| partitioned(study, &policy, tasks, fit, memory))
            }
            Decision::Packed(fit) => partitioned(study, &charged(Policy::Partitioned), tasks, *fit, memory),
            Decision::Single(test) => {
                ready = false;
                let policy = charged(if test.of_one_core() { Policy::Partitioned } else { Policy::Global });
                policy.fill(tasks, 0..tasks.len(), &mut memory.set) && test.accepts(&memory.set, study.cores)
            }
            Decision::ClusteredEdf => {
                let policy = charged(Policy::Clustered);
                // Worst fit leaves room in every cluster, which the tests need; it is right most often.
                [Fit::Worst, Fit::First, Fit::Best].into_iter().any(|fit| clustered(study, &policy, tasks, fit, memory))
            }
        };
    }
}

fn partitioned(study: &Study, policy: &Charged, tasks: &[Task], fit: Fit, memory: &mut Memory) -> bool {
    policy.pack(study.cores, 1.0 - MARGIN, tasks, fit, &mut memory.shares, &mut memory.bins)
}

fn clustered(study: &Study, policy: &Charged, tasks: &[Task], fit: Fit, memory: &mut Memory) -> bool {
    let (clusters, size) = (study.cores / study.cluster, study.cluster);
    if !policy.pack(clusters, size as f64 * (1.0 - MARGIN), tasks, fit, &mut memory.shares, &mut memory.bins) {
        return false;
    }
    if size == 1 {
        return true;
    }
    let Memory { tests, set, bins, .. } = memory;
    bins.iter().all(|bin| policy.fill(tasks, bin.iter().copied(), set) && edf::any(set, size, tests))
}

impl Charged<'_> {
    /// Packs the charged tasks into bins of a capacity; each bin is charged with the releases of its own tasks.
    fn pack(
        &self,
        bins: usize,
        capacity: f64,
        tasks: &[Task],
        fit: Fit,
        shares: &mut Vec<f64>,
        packed: &mut Vec<Vec<usize>>,
    ) -> bool {
        shares.clear();
        shares.extend(tasks.iter().map(|t| t.execution as f64 / t.period as f64));
        let load = |bin: &crate::overhead::Load, i: usize| bin.with(self, &tasks[i]);
        let total = |bin: &crate::overhead::Load| bin.utilisation(self);
        pack(bins, capacity, shares, Order::Decreasing, fit, load, total, packed)
    }
}
