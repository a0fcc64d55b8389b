//! Progress of long work, on standard error: a bar that moves in a terminal, a plain line now and then elsewhere.

use crate::lines;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{stderr, IsTerminal};
use std::time::{Duration as Real, Instant as RealInstant};
use tactus_time::Duration;

/// How many characters a bar is wide.
const BAR: usize = 27;

/// How often a line is written where there is no terminal.
const LINE_EVERY: Real = Real::from_secs(10);

/// Work of unknown length.
pub struct Wait(Option<ProgressBar>);

impl Wait {
    /// Begins to wait. In a terminal it moves; elsewhere what takes long is written on a line.
    pub fn new(key: &str, text: &str) -> Wait {
        if !stderr().is_terminal() {
            return Wait(None);
        }
        let bar = ProgressBar::new_spinner().with_message(text.to_string()).with_prefix(format!("{key:<8}"));
        if let Ok(style) = ProgressStyle::with_template("{prefix} {spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Real::from_millis(100));
        Wait(Some(bar))
    }
    /// Says what is being done.
    pub fn tell(&self, text: &str) {
        match &self.0 {
            Some(bar) => bar.set_message(text.to_string()),
            // Of what a compiler says, that it compiles is worth a line: nothing else takes long.
            None if text.starts_with("Compiling ") => lines::note("build", text),
            None => {}
        }
    }
    /// Takes it from the screen.
    pub fn end(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Does work that tells what it does, and shows that.
pub fn waiting<R>(key: &str, text: &str, work: impl FnOnce(&(dyn Fn(&str) + Sync)) -> R) -> R {
    let wait = Wait::new(key, text);
    let result = work(&|text| wait.tell(text));
    wait.end();
    result
}

/// Work of known length, in whatever unit.
pub struct Work {
    key: String,
    bar: Option<ProgressBar>,
    told: RealInstant,
}

impl Work {
    /// Begins work of this length.
    pub fn new(key: &str, length: u64) -> Work {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(length.max(1)).with_prefix(format!("{key:<8}"));
            let template = format!("{{prefix}} {{bar:{BAR}}} {{msg}}");
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style.progress_chars("██░"));
            }
            bar
        });
        Work { key: key.to_string(), bar, told: RealInstant::now() }
    }
    /// So much is done; `text` says it in words.
    pub fn tell(&mut self, done: u64, text: impl FnOnce() -> String) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(done.min(bar.length().unwrap_or(done)));
                bar.set_message(text());
            }
            None if self.told.elapsed() >= LINE_EVERY => {
                self.told = RealInstant::now();
                lines::note(&self.key, text());
            }
            None => {}
        }
    }
    /// Writes something that stays, while the bar is out of its way.
    pub fn aside<R>(&self, put: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(put),
            None => put(),
        }
    }
}

impl Drop for Work {
    /// Takes it from the screen, also where the work failed.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A run of which the length is known.
pub struct Run {
    length: Duration,
    work: Work,
}

impl Run {
    /// Begins a run of this length of virtual time.
    pub fn new(key: &str, length: Duration) -> Run {
        Run { length, work: Work::new(key, length.as_nanos()) }
    }
    /// The run has come to this time.
    pub fn tell(&mut self, now: Duration) {
        self.work.tell(now.as_nanos(), || format!("{} of {}", lines::seconds(now), lines::seconds(self.length)));
    }
    /// Writes something that stays, while the bar is out of its way.
    pub fn aside<R>(&self, put: impl FnOnce() -> R) -> R {
        self.work.aside(put)
    }
    /// Takes it from the screen.
    pub fn end(self) {
        drop(self.work);
    }
}

/// A bar as text, for the line that stays.
pub fn bar(part: f64) -> String {
    let full = (part.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(BAR - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_the_part_says() {
        assert_eq!(bar(1.0), "█".repeat(BAR));
        assert_eq!(bar(0.0), "░".repeat(BAR));
        assert_eq!(bar(0.5).chars().filter(|&c| c == '█').count(), 14);
    }
}
