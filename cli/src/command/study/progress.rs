//! How far a study is and how long it will still take, on standard error.

use crate::lines;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{stderr, IsTerminal};
use std::time::{Duration, Instant};

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Work of a known number of pieces.
pub struct Progress {
    key: String,
    unit: String,
    total: u64,
    begun: Instant,
    told: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins; `unit` is what a piece is called in the plural.
    pub fn new(key: &str, unit: &str, total: u64) -> Progress {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total.max(1)).with_prefix(format!("{key:<8}"));
            if let Ok(style) = ProgressStyle::with_template("{prefix} {bar:27} {msg}") {
                bar.set_style(style.progress_chars("██░"));
            }
            bar
        });
        let now = Instant::now();
        Progress { key: key.into(), unit: unit.into(), total, begun: now, told: now, bar }
    }

    /// So many pieces are done.
    pub fn tell(&mut self, done: u64) {
        let text = || {
            let passed = self.begun.elapsed().as_secs_f64();
            let left = match done {
                0 => String::new(),
                _ => format!(", {} left", span(passed * (self.total.saturating_sub(done)) as f64 / done as f64)),
            };
            format!("{} of {} {}{left}", lines::grouped(done), lines::grouped(self.total), self.unit)
        };
        match &self.bar {
            Some(bar) => {
                bar.set_position(done);
                bar.set_message(text());
            }
            None if self.told.elapsed() >= LINE_EVERY => {
                lines::note(&self.key, text());
                self.told = Instant::now();
            }
            None => {}
        }
    }

    /// Takes it from the screen.
    pub fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `40 s`, `12 min`, `3 h 5 min`.
fn span(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        s if s < 100 => format!("{s} s"),
        s if s < 6000 => format!("{} min", s.div_ceil(60)),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time_is_told_as_people_do() {
        assert_eq!([span(39.2), span(700.0), span(11_100.0)], ["40 s", "12 min", "3 h 5 min"]);
    }
}
