//! Runs of the rig one after another, with their progress.

use tactus_machine::failure::Failure;
use tactus_rig::{names, Failed, Finished, Settings};
use tactus_terminal::lines;
use tactus_terminal::progress::Work;

/// The length of one run, for the bar.
const WHOLE: u64 = 1_000;

/// So many runs.
pub struct Runs {
    work: Work,
    done: usize,
    of: usize,
}

impl Runs {
    /// Begins.
    pub fn new(of: usize) -> Runs {
        Runs { work: Work::new("rig", of as u64 * WHOLE), done: 0, of }
    }

    /// Does the next one. A broken rule is no failure of the command: it comes back as words.
    pub fn run(
        &mut self,
        directory: &str,
        queue: &str,
        settings: &Settings,
    ) -> Result<Result<Finished, String>, Failure> {
        let Runs { work, done, of } = self;
        let label = format!("{directory} · {queue} · {}", lines::count(settings.processors, "processor"));
        let run = if *of > 1 { format!(", run {} of {}", *done + 1, of) } else { String::new() };
        let mut tell = |part: f64| {
            let part = part.clamp(0.0, 1.0);
            let all = *done as u64 * WHOLE + (part * WHOLE as f64) as u64;
            work.tell(all, || format!("{label}: {:.0} %{run}", part * 100.0));
        };
        let result = names::run_named(directory, queue, settings, &mut tell);
        self.done += 1;
        match result {
            None => Err(Failure::Input(format!("there is no structure `{directory}` with a queue `{queue}`"))),
            Some(Ok(finished)) => Ok(Ok(finished)),
            Some(Err(Failed::Problem(problem))) => Err(Failure::Input(problem.to_string())),
            Some(Err(broken)) => Ok(Err(broken.to_string())),
        }
    }

    /// So many need not be done, since they were before.
    pub fn skip(&mut self, runs: usize) {
        self.done += runs;
    }

    /// Writes something that stays, while the bar is out of its way.
    pub fn aside<R>(&self, put: impl FnOnce() -> R) -> R {
        self.work.aside(put)
    }

    /// Takes the bar from the screen.
    pub fn end(self) {
        drop(self.work);
    }
}
