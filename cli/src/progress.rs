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
    /// Begins to wait. In a terminal only; elsewhere nothing is shown.
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
        if let Some(bar) = &self.0 {
            bar.set_message(text.to_string());
        }
    }
    /// Takes it from the screen.
    pub fn end(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}

/// A run of which the length is known.
pub struct Run {
    key: String,
    length: Duration,
    bar: Option<ProgressBar>,
    told: RealInstant,
}

impl Run {
    /// Begins a run of this length of virtual time.
    pub fn new(key: &str, length: Duration) -> Run {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(length.as_nanos().max(1)).with_prefix(format!("{key:<8}"));
            let template = format!("{{prefix}} {{bar:{BAR}}} {{msg}}");
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style.progress_chars("██░"));
            }
            bar
        });
        Run { key: key.to_string(), length, bar, told: RealInstant::now() }
    }
    /// The run has come to this time.
    pub fn tell(&mut self, now: Duration) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(now.as_nanos().min(self.length.as_nanos()));
                bar.set_message(format!("{} of {}", lines::seconds(now), lines::seconds(self.length)));
            }
            None if self.told.elapsed() >= LINE_EVERY => {
                self.told = RealInstant::now();
                lines::note(&self.key, format!("{} of {}", lines::seconds(now), lines::seconds(self.length)));
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
