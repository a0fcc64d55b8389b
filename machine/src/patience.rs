//! For how long the emulator has stood still, in time that it had. A busy host may keep it waiting for a core; that is not the
//! machine's fault.

use std::fs;
use std::time::{Duration, Instant};

/// What `/proc` counts time in: Linux says hundredths to programs, whatever it uses itself.
const TICK: Duration = Duration::from_millis(10);

/// Looks at one process from time to time.
pub struct Patience {
    process: u32,
    looked: Instant,
    used: Duration,
    stood: Duration,
}

impl Patience {
    /// With the process of this number, which begins now.
    pub fn with(process: u32) -> Patience {
        Patience { process, looked: Instant::now(), used: Duration::ZERO, stood: Duration::ZERO }
    }

    /// For how long it has stood still by now, since it was last looked at and had come further.
    pub fn look(&mut self, came_further: bool) -> Duration {
        let (now, state) = (Instant::now(), State::of(self.process));
        let elapsed = now - self.looked;
        let had = match &state {
            Some(state) if state.wants_a_core => state.used.saturating_sub(self.used),
            _ => elapsed,
        };
        self.stood = if came_further { Duration::ZERO } else { self.stood + had };
        self.used = state.map_or(self.used, |state| state.used);
        self.looked = now;
        self.stood
    }
}

/// What the system tells of a process.
struct State {
    /// Processor time of all its threads.
    used: Duration,
    /// Some thread executes, or waits for a core.
    wants_a_core: bool,
}

impl State {
    /// Nothing if the system does not tell.
    fn of(process: u32) -> Option<State> {
        let folder = format!("/proc/{process}");
        let (_, used) = read(&fs::read_to_string(format!("{folder}/stat")).ok()?)?;
        let threads = fs::read_dir(format!("{folder}/task")).ok()?;
        let wants = |thread: fs::DirEntry| {
            let told = fs::read_to_string(thread.path().join("stat")).ok();
            told.and_then(|told| read(&told)).is_some_and(|(state, _)| state == 'R')
        };
        let wants_a_core = threads.flatten().any(wants);
        Some(State { used, wants_a_core })
    }
}

/// State and processor time in a `stat` file (proc(5)): behind the name, which may hold anything, the first word, and the 12th
/// and 13th together.
fn read(stat: &str) -> Option<(char, Duration)> {
    let mut words = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = words.next()?.chars().next()?;
    let mut ticks = words.skip(10);
    let mut next = || ticks.next()?.parse::<u32>().ok();
    Some((state, TICK * next()?.checked_add(next()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::thread::sleep;

    struct Ended(Child);

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn begin(program: &str, words: &[&str]) -> Ended {
        Ended(Command::new(program).args(words).stdin(Stdio::null()).spawn().expect("it starts"))
    }

    #[test]
    fn a_line_of_proc_is_read_behind_a_name_with_brackets_and_blanks() {
        let line = "7 (a) R b) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1";
        assert_eq!(read(line), Some(('S', Duration::from_secs(3))));
        assert_eq!(read("7 (a) S 1"), None);
    }

    #[test]
    fn who_sleeps_stands_still_and_coming_further_begins_anew() {
        let sleeper = begin("sleep", &["30"]);
        let mut patience = Patience::with(sleeper.0.id());
        sleep(Duration::from_millis(100));
        patience.look(true);
        sleep(Duration::from_millis(100));
        assert!(patience.look(false) >= Duration::from_millis(100));
        assert_eq!(patience.look(true), Duration::ZERO);
    }

    #[test]
    fn who_is_kept_from_the_core_does_not_stand_still() {
        // Of eight on one core, each has an eighth.
        let loops: Vec<Ended> = (0..8).map(|_| begin("taskset", &["1", "sh", "-c", "while :; do :; done"])).collect();
        sleep(Duration::from_millis(300));
        let mut patience = Patience::with(loops[0].0.id());
        patience.look(true);
        let begin = Instant::now();
        sleep(Duration::from_millis(1_200));
        let stood = patience.look(false);
        assert!(stood < begin.elapsed() / 2, "{stood:?}");
        assert!(!stood.is_zero());
    }
}
