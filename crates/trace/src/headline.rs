//! The verdict in one sentence: made here once, told by the command, the report and the console's reader alike.

use crate::{Broken, MonitorSummary, Summary, TaskSummary, Verdict, VoidBy, What};
use std::fmt::Write;

impl Summary {
    /// What became of the promises, in one sentence without a full stop.
    pub fn headline(&self) -> String {
        let mut text = self.outcome();
        // Where nothing was promised the number of all misses is told already; a broken promise stands alone.
        if matches!(self.verdict, Verdict::Held | Verdict::Void | Verdict::Stopped | Verdict::NoJobEnded) {
            text.push_str(&self.beside_promises());
        }
        if !matches!(self.verdict, Verdict::Broken(_)) {
            text.push_str(&self.lost_arrivals());
        }
        text + &self.late_processes()
    }

    /// Deadlines that processes missed, whatever became of the promises.
    fn late_processes(&self) -> String {
        let missed: u64 = self.deadlines.iter().map(|it| it.missed).sum();
        let by = |it: &crate::ProcessMisses| {
            let by = if it.by_id == it.task_id { String::new() } else { format!("{} ", it.by) };
            format!("{} {}: {by}{}", it.task, it.missed, it.why)
        };
        let each: Vec<String> = self.deadlines.iter().map(by).collect();
        match missed {
            0 => String::new(),
            1 => format!("; 1 deadline of a process was missed ({})", each.join("; ")),
            n => format!("; {n} deadlines of processes were missed ({})", each.join("; ")),
        }
    }

    fn outcome(&self) -> String {
        match &self.verdict {
            Verdict::Held => self.held(),
            Verdict::NothingPromised => format!("nothing was promised; {}", self.lateness()),
            Verdict::Refused => {
                format!("nothing was promised, since the check had refused the system; {}", self.lateness())
            }
            Verdict::NoJobEnded => format!(
                "nothing can be said: within {} no job of a promised task came to its end or to its bound",
                self.duration
            ),
            Verdict::NotJudged(it) => format!("nothing can be said: {}", it.why),
            Verdict::Void => format!("void {}{}", self.void_by(), self.unjudged()),
            Verdict::Stopped if self.voids.is_empty() => {
                format!("{} stopped; no other promise was broken{}", self.lost_ones(), self.unjudged())
            }
            Verdict::Stopped => format!("{} stopped; void {}{}", self.lost_ones(), self.void_by(), self.unjudged()),
            Verdict::Broken(broken) => first_broken(broken),
        }
    }

    /// The first property of which nothing can be said, for the end of a sentence.
    fn unjudged(&self) -> String {
        let first = self.monitors.iter().find_map(MonitorSummary::not_judged);
        first.map_or(String::new(), |why| format!("; {why}"))
    }

    fn held(&self) -> String {
        let mut text = String::from("every promise held");
        let without = self.tasks.len() as u64 - self.promised.min(self.tasks.len() as u64);
        if without > 0 {
            // Writing to a string cannot fail.
            let _ = write!(text, " ({} of {} tasks were promised something)", self.promised, self.tasks.len());
        }
        if !self.culprits.is_empty() {
            text.push_str("; what was stopped runs again");
        }
        for task in self.tasks.iter().filter(|task| task.refused > 0) {
            let calls = if task.refused == 1 { "call was" } else { "calls were" };
            let _ = write!(text, "; {} {calls} refused to {}", task.refused, task.name);
        }
        for (task, written) in self.tasks.iter().filter_map(|task| Some((task, task.written?))) {
            let (jobs, name) = (task.jobs.completed, &task.name);
            let _ = write!(text, "; {jobs} jobs of {name} wrote {written} messages to a sampling channel");
        }
        for (disk, slow) in self.disks.iter().filter_map(|disk| Some((disk, disk.slow.as_ref()?))) {
            let _ = write!(text, "; disk {}: promises did not bind {}", disk.name, slow.sentence());
        }
        text
    }

    fn lateness(&self) -> String {
        match self.total.missed {
            0 => "no job missed its deadline all the same".to_owned(),
            1 => "1 job missed its deadline".to_owned(),
            n => format!("{n} jobs missed their deadlines"),
        }
    }

    /// `; 14 jobs of tasks that were promised nothing missed their deadlines (log 14)`
    fn beside_promises(&self) -> String {
        let beside = self.tasks.iter().filter(|it| it.promise.is_none() && it.jobs.missed > 0);
        let (each, all): (Vec<String>, Vec<u64>) =
            beside.map(|it| (format!("{} {}", it.name, it.jobs.missed), it.jobs.missed)).unzip();
        match all.iter().sum() {
            0u64 => String::new(),
            1 => format!("; 1 job of a task that was promised nothing missed its deadline ({})", each.join(", ")),
            n => format!("; {n} jobs of tasks that were promised nothing missed their deadlines ({})", each.join(", ")),
        }
    }

    fn lost_arrivals(&self) -> String {
        let lost = self.tasks.iter().filter(|it| it.arrivals_lost > 0);
        let one = |it: &TaskSummary| match it.arrivals_lost {
            1 => format!("; 1 arrival of {} was lost", it.name),
            n => format!("; {n} arrivals of {} were lost", it.name),
        };
        lost.map(one).collect()
    }

    fn lost_ones(&self) -> String {
        let mut names: Vec<String> = self
            .lost()
            .map(|it| it.component_name.clone().unwrap_or_else(|| format!("component {}", it.component)))
            .collect();
        names.sort();
        names.dedup();
        match &names[..] {
            [one] => format!("{one} was"),
            _ => format!("{} were", names.join(", ")),
        }
    }

    fn void_by(&self) -> String {
        let slow = |disk: &&crate::DiskSummary| disk.fate == crate::DiskFate::Void;
        let disks = self.disks.iter().filter(slow).map(|disk| format!("by disk {}, {}", disk.name, disk.headline()));
        let all: Vec<String> = self.voids.iter().map(by).chain(disks).collect();
        all.join("; ")
    }
}

/// `by brake (job 2 took more than the 3 ms assumed of it): 105 jobs not as promised (brake 70, steer 35)`
fn by(void: &VoidBy) -> String {
    let jobs = if void.missed == 1 { "1 job".to_owned() } else { format!("{} jobs", void.missed) };
    let each: Vec<String> = void.tasks.iter().map(|it| format!("{} {}", it.task, it.missed)).collect();
    format!("by {} ({}): {jobs} not as promised ({})", void.task, void.why, each.join(", "))
}

fn first_broken(broken: &Broken) -> String {
    let job = match (&broken.task, broken.job) {
        (Some(task), Some(job)) => format!(": {task}, job {job}"),
        (Some(task), None) => format!(": {task}"),
        (None, _) => String::new(),
    };
    let than = match (broken.actual, broken.limit) {
        (Some(actual), Some(limit)) => format!(", {actual} where {limit} was promised"),
        _ => String::new(),
    };
    let what = match broken.what {
        What::Response => "a response was longer than its bound",
        What::Tardiness => "a job was later than its bound allows",
        What::Deadline => "a deadline was missed",
        What::Chain => "a chain took longer than promised",
        What::Dropped => "records were lost, so nothing can be said",
        What::Rule => "a rule of every schedule was broken",
        What::Request => "a request to a disk took longer than its bound",
        What::Machine => return format!("broken: {}", broken.cause.text),
        What::Property => {
            let text = &broken.cause.text;
            return format!("broken: {}", text.split_once("; ").map_or(text.as_str(), |(violation, _)| violation));
        }
    };
    format!("broken: {what}{job}{than}, at {}", broken.time)
}
