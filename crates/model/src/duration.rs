//! Another length of a run than the file's, under the rules of the file.

use crate::problem::{Collector, Complaint, Location, Problems};
use crate::{System, LONGEST};
use tactus_time::Duration;

impl System {
    /// Lets the system run for `duration` instead of what its file says. `said` is what the person wrote, for messages:
    /// the name of an option or an argument.
    ///
    /// # Errors
    /// What a file with this duration would be refused for: it is zero or longer than [`LONGEST`], or the first deadline
    /// of a task does not fall into the run. The system is left as it was. Changes that come after the end of a shorter run
    /// are not asked for; a trace says so.
    pub fn set_duration(&mut self, duration: Duration, said: &str) -> Result<(), Problems> {
        let mut out = Collector::new(&self.source);
        let mut refuse =
            |line: Option<usize>, subject: &str, what: &str, value: Duration, limit: &str, remedy: &str| {
                let place = line.map(|line| Location { line, column: 1 });
                let (what, value, limit, remedy) = (what.into(), value.to_string(), limit.into(), remedy.into());
                out.add(place, subject, Complaint::OutOfRange { what, value, limit, remedy });
            };
        let lengthen = format!("lengthen {said}");
        if duration.is_zero() {
            refuse(None, said, "duration", duration, "no time at all", "write how long it is to run");
        } else if duration > LONGEST {
            let limit = format!("more than the {LONGEST} that a run may last");
            refuse(None, said, "duration", duration, &limit, "shorten it");
        } else {
            let limit = format!("after the end of the run at {duration}");
            for task in &self.tasks {
                let (subject, first) = (format!("task {:?}", task.name), task.offset + task.deadline);
                if first > duration {
                    refuse(Some(task.line), &subject, "its first deadline", first, &limit, &lengthen);
                }
            }
        }
        out.finish(Some(()))?;
        self.duration = duration;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const FILE: &str = "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'a'\n\
        core = 0\nperiod = '10 ms'\nexecution = '5 ms'\n[[task]]\nname = 'b'\ncore = 0\noffset = '7 ms'\nperiod = '20 ms'\n\
        deadline = '15 ms'\nexecution = '5 ms'\n";

    #[test]
    fn another_duration_is_refused_where_a_file_with_it_would_be_and_taken_where_it_would_be_taken() {
        let source = Path::new("x.toml");
        for (text, words) in [
            ("0 s", "no time at all"),
            ("1 ns", "task \"a\": its first deadline is 10 ms, after the end of the run at 1 ns"),
            ("21999999 ns", "task \"b\": its first deadline is 22 ms"),
            ("22 ms", ""),
            ("86400 s", ""),
            ("86400000000001 ns", "more than the 86400 s that a"),
            ("18446744073709551615 ns", "more than the 86400 s that a"),
        ] {
            let mut system = System::parse_toml(FILE, source).expect("the file");
            let file = System::parse_toml(&FILE.replace("'1 s'", &format!("'{text}'")), source);
            let set = system.set_duration(crate::parse_duration(text).expect("a time"), "--duration");
            assert_eq!(set.is_ok(), file.is_ok(), "{text}: {file:?}");
            assert_eq!(set.is_ok(), words.is_empty(), "{text}");
            if let (Err(set), Err(file)) = (set, file) {
                let (set, file) = (set.to_string(), file.to_string());
                assert!(set.starts_with("x.toml:") && set.contains(words) && file.contains(words), "{set}\n{file}");
                assert_eq!(system.duration, Duration::from_secs(1));
            }
        }
    }
}
