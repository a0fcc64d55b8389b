//! One chunk of a study: all sets of one workload at one cap.

use crate::decision::{decide, Memory};
use crate::spec::Study;
use tactus_analysis::generate::Random;

/// How many sets each scenario's decisions accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// How many sets were drawn; fewer than asked for where the workload does not reach the cap.
    pub sets: u64,
    /// Σ of the tasks of all sets.
    pub tasks: u64,
    /// `accepted[scenario][decision]`.
    pub accepted: Vec<Vec<u64>>,
}

/// Works out a chunk; nothing if told to stop. `stop` is asked before every set.
pub fn work(study: &Study, chunk: usize, memory: &mut Memory, stop: &dyn Fn() -> bool) -> Option<Counts> {
    let (w, c) = (chunk / study.caps.len(), chunk % study.caps.len());
    let (workload, cap) = (&study.workloads[w], study.caps[c]);
    let mut counts =
        Counts { sets: 0, tasks: 0, accepted: vec![vec![0; study.decisions.len()]; study.scenarios.len()] };
    let mut tasks = Vec::new();
    let mut answers = vec![false; study.decisions.len()];
    for n in 0..study.sets {
        if stop() {
            return None;
        }
        // A set depends on nothing but the seed, its workload, its cap and its number: studies of other caps have it too.
        let mut random = Random::at(study.seed, &[name_key(workload.name()), cap, n]);
        if !workload.draw(&mut tasks, &mut random, cap as f64 / 1000.0, study.cores) {
            continue;
        }
        if let Some((from, to)) = study.deadlines {
            for task in &mut tasks {
                let room = (task.period - task.execution) as f64;
                task.deadline = task.execution + (room * random.between(from as f64, to as f64) / 1000.0) as u64;
            }
        }
        counts.sets += 1;
        counts.tasks += tasks.len() as u64;
        for (scenario, accepted) in study.scenarios.iter().zip(&mut counts.accepted) {
            decide(study, scenario, &tasks, memory, &mut answers);
            for (answer, count) in answers.iter().zip(accepted) {
                *count += u64::from(*answer);
            }
        }
    }
    Some(counts)
}

fn name_key(name: &str) -> u64 {
    name.bytes().fold(7, |key, byte| key * 257 % 0xffff_fffb + u64::from(byte))
}

impl Counts {
    /// As kept on disk: numbers in lines, the first line saying what they belong to.
    pub fn to_text(&self, study: &Study, chunk: usize) -> String {
        let mut text = format!("tactus-study {:016x} {chunk}\n{} {}\n", study.fingerprint, self.sets, self.tasks);
        for line in &self.accepted {
            let numbers: Vec<String> = line.iter().map(u64::to_string).collect();
            text += &numbers.join(" ");
            text.push('\n');
        }
        text
    }

    /// Reads it back; nothing if it belongs to another study or chunk, or is not whole.
    pub fn from_text(study: &Study, chunk: usize, text: &str) -> Option<Counts> {
        let mut lines = text.lines();
        if lines.next()? != format!("tactus-study {:016x} {chunk}", study.fingerprint) || !text.ends_with('\n') {
            return None;
        }
        let numbers = |line: &str| line.split(' ').map(|n| n.parse().ok()).collect::<Option<Vec<u64>>>();
        let head = numbers(lines.next()?)?;
        let accepted = lines.map(numbers).collect::<Option<Vec<_>>>()?;
        let whole = head.len() == 2
            && accepted.len() == study.scenarios.len()
            && accepted.iter().all(|line| line.len() == study.decisions.len());
        whole.then(|| Counts { sets: head[0], tasks: head[1], accepted })
    }
}
