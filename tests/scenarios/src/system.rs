//! `summary.json` and the console's counts, as scenarios read them.

use serde_json::Value;

/// The summary of a run: the figures that scenarios ask for by name, and all of it in `json`.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Everything.
    pub json: Value,
}

/// One task of the summary.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a>(&'a Value);

/// A component that was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The component's number.
    pub component: u64,
    /// The task whose thread was in it.
    pub task: Option<String>,
    /// What it did, in words.
    pub fault: String,
    /// The address concerned.
    pub address: u64,
    /// Function, file and line, where they are known.
    pub source: Option<String>,
}

impl Summary {
    /// Reads `summary.json`.
    pub fn read(text: &str) -> Summary {
        Summary { json: serde_json::from_str(text).expect("summary.json is JSON") }
    }

    /// Whether the check had accepted the system.
    pub fn accepted(&self) -> bool {
        self.json["accepted"].as_bool().expect("accepted is there")
    }

    /// What became of the promises, in the word of `summary.json`.
    pub fn outcome(&self) -> &str {
        self.json["verdict"]["outcome"].as_str().expect("a verdict has an outcome")
    }

    /// Whether every promise held.
    pub fn held(&self) -> bool {
        self.outcome() == "held"
    }

    /// All tasks.
    pub fn tasks(&self) -> impl Iterator<Item = Task<'_>> {
        self.json["tasks"].as_array().expect("tasks is a list").iter().map(Task)
    }

    /// The task of this name.
    pub fn task(&self, name: &str) -> Task<'_> {
        self.tasks().find(|task| task.name() == name).unwrap_or_else(|| panic!("no task is called {name}"))
    }

    /// Components that were stopped, in the order of their faults.
    pub fn stopped(&self) -> Vec<Stopped> {
        let list = self.json["culprits"].as_array().expect("culprits is a list");
        list.iter()
            .map(|it| Stopped {
                component: it["component"].as_u64().expect("component is a number"),
                task: it["task"].as_str().map(str::to_string),
                fault: it["fault"].as_str().expect("fault is text").to_string(),
                address: it["address"].as_u64().expect("address is a number"),
                source: it["source"].as_str().map(str::to_string),
            })
            .collect()
    }
}

impl<'a> Task<'a> {
    /// Name.
    pub fn name(self) -> &'a str {
        self.0["name"].as_str().expect("a task has a name")
    }
    /// Jobs released before the end.
    pub fn released(self) -> u64 {
        self.count("released")
    }
    /// Jobs completed before the end.
    pub fn completed(self) -> u64 {
        self.count("completed")
    }
    /// Jobs that missed their deadline.
    pub fn missed(self) -> u64 {
        self.count("missed")
    }
    /// Whether it was taken out of the system.
    pub fn removed(self) -> bool {
        !self.0["removed_at_ns"].is_null()
    }
    /// Longest response or greatest tardiness, as a share of what was promised.
    pub fn worst_over_bound(self) -> Option<f64> {
        self.0["worst_over_bound"].as_f64()
    }
    /// All of it.
    pub fn json(self) -> &'a Value {
        self.0
    }

    fn count(self, name: &str) -> u64 {
        self.0["jobs"][name].as_u64().expect("a count of jobs is a number")
    }
}

/// What the kernel counted on one core.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Threads dispatched.
    pub dispatches: u64,
    /// Calls refused.
    pub refused: u64,
    /// Longest time (ns) from entering the kernel to leaving it.
    pub longest: u64,
    /// What brought it about, in words.
    pub cause: String,
}

impl Kernel {
    /// Reads the console's lines `core 0   12 dispatches, 3 calls refused, longest in the kernel 456 ns: call Notify`.
    pub fn read(log: &str) -> Vec<Kernel> {
        let lines = log.lines().filter(|line| line.starts_with("core ") && line.contains(" ns: "));
        lines
            .map(|line| {
                let (line, cause) = line.split_once(": ").unwrap_or((line, ""));
                let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                let [_, dispatches, refused, longest] = numbers[..] else { panic!("not a core's counts: {line}") };
                Kernel { dispatches, refused, longest, cause: cause.to_string() }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_consoles_counts_are_read_core_by_core() {
        let log = "x\ncore 0   12 dispatches, 3 calls refused, longest in the kernel 456 ns: call Notify\n\
            core 1   9 dispatches, 0 calls refused, longest in the kernel 78 ns: timer interrupt\nverdict: every promise held\n";
        let read = Kernel::read(log);
        assert_eq!(read[0], Kernel { dispatches: 12, refused: 3, longest: 456, cause: "call Notify".into() });
        assert_eq!(read[1], Kernel { dispatches: 9, refused: 0, longest: 78, cause: "timer interrupt".into() });
        assert_eq!(read.len(), 2);
    }
}
