//! What a study found, as tables: the share of accepted sets at each cap, and weighted over all caps.

use crate::chunk::Counts;
use crate::spec::Study;
use std::fmt::Write;

/// All chunks of a study.
#[derive(Clone, Debug)]
pub struct Results {
    counts: Vec<Counts>,
}

/// Puts the chunks together; nothing while one is missing.
pub fn collect(chunks: Vec<Option<Counts>>) -> Option<Results> {
    Some(Results { counts: chunks.into_iter().collect::<Option<Vec<_>>>()? })
}

impl Results {
    /// How many sets were drawn in all.
    pub fn sets(&self) -> u64 {
        self.counts.iter().map(|c| c.sets).sum()
    }

    fn at(&self, study: &Study, workload: usize, cap: usize) -> &Counts {
        &self.counts[workload * study.caps.len() + cap]
    }

    /// The share of sets accepted at each cap; 0 where there was no set.
    pub fn curve(&self, study: &Study, workload: usize, scenario: usize, decision: usize) -> Vec<f64> {
        (0..study.caps.len())
            .map(|cap| {
                let counts = self.at(study, workload, cap);
                counts.accepted[scenario][decision] as f64 / counts.sets.max(1) as f64
            })
            .collect()
    }

    /// Weighted schedulability: Σ U·S(U) / Σ U over the caps (Bastoni, Brandenburg and Anderson, OSPERT 2010).
    pub fn weighted(&self, study: &Study, workload: usize, scenario: usize, decision: usize) -> f64 {
        let curve = self.curve(study, workload, scenario, decision);
        let total: u64 = study.caps.iter().sum();
        curve.iter().zip(&study.caps).map(|(s, &cap)| s * cap as f64).sum::<f64>() / total as f64
    }

    /// A line for every workload, scenario, decision and cap.
    pub fn csv(&self, study: &Study) -> String {
        let mut text = "workload,overhead,decision,cap,sets,tasks,accepted\n".to_string();
        for (w, workload) in study.workloads.iter().enumerate() {
            for (s, scenario) in study.scenarios.iter().enumerate() {
                for (d, decision) in study.decisions.iter().enumerate() {
                    for (c, &cap) in study.caps.iter().enumerate() {
                        let Counts { sets, tasks, accepted } = self.at(study, w, c);
                        let (name, cap) = (decision.name(), cap as f64 / 1000.0);
                        let accepted = accepted[s][d];
                        // Writing to a string cannot fail.
                        let _ = writeln!(
                            text,
                            "{},{},{name},{cap:.3},{sets},{tasks},{accepted}",
                            workload.name(),
                            scenario.name
                        );
                    }
                }
            }
        }
        text
    }

    /// A line for every workload, scenario and decision.
    pub fn weighted_csv(&self, study: &Study) -> String {
        let mut text = "workload,overhead,decision,weighted\n".to_string();
        for (w, workload) in study.workloads.iter().enumerate() {
            for (s, scenario) in study.scenarios.iter().enumerate() {
                for (d, decision) in study.decisions.iter().enumerate() {
                    let weighted = self.weighted(study, w, s, d);
                    let _ = writeln!(text, "{},{},{},{weighted:.6}", workload.name(), scenario.name, decision.name());
                }
            }
        }
        text
    }
}
