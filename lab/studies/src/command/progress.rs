//! How far a study is and how long it will still take, on standard error.

use std::time::Instant;
use tactus_terminal::lines;
use tactus_terminal::progress::Work;

/// Work of a known number of pieces.
pub struct Progress {
    unit: String,
    total: u64,
    begun: Instant,
    work: Work,
}

impl Progress {
    /// Begins; `unit` is what a piece is called in the plural.
    pub fn new(key: &str, unit: &str, total: u64) -> Progress {
        Progress { unit: unit.into(), total, begun: Instant::now(), work: Work::new(key, total) }
    }

    /// So many pieces are done.
    pub fn tell(&mut self, done: u64) {
        let Progress { unit, total, begun, work } = self;
        work.tell(done, || {
            let passed = begun.elapsed().as_secs_f64();
            let left = match done {
                0 => String::new(),
                _ => format!(", {} left", span(passed * (total.saturating_sub(done)) as f64 / done as f64)),
            };
            format!("{} of {} {unit}{left}", lines::grouped(done), lines::grouped(*total))
        });
    }

    /// Takes it from the screen.
    pub fn end(self) {
        drop(self.work);
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
