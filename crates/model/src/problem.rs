//! What is wrong with a system file: where, which value, which limit, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// Everything that is wrong with a file. Never empty; in the order of the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// The problems, in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }
    /// How many there are; at least one.
    #[allow(clippy::len_without_is_empty)] // it never is
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// One line for each problem.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// One thing that is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The file that has to be changed.
    pub file: PathBuf,
    /// Where in it; nothing if the file as a whole is concerned.
    pub place: Option<Location>,
    /// What it is about: `task "nav"`, `[policy]` …; empty where the complaint says enough.
    pub subject: String,
    /// What is wrong.
    pub complaint: Complaint,
}

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Location {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
}

/// Writes `file:line: subject: complaint`.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(place) = self.place {
            write!(f, ":{}", place.line)?;
        }
        f.write_str(": ")?;
        if !self.subject.is_empty() {
            write!(f, "{}: ", self.subject)?;
        }
        self.complaint.fmt(f)
    }
}

/// What is wrong with a value or a construct, with the value, the limit and the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Complaint {
    /// The file cannot be read.
    Unreadable {
        /// What the operating system said.
        reason: String,
    },
    /// The text is not in the file's format.
    Syntax {
        /// What the reader expected or found.
        reason: String,
    },
    /// A key that is not known here.
    UnknownKey {
        /// As it was written.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
        /// All keys that are known here.
        known: Vec<&'static str>,
    },
    /// A key that must be here is not.
    MissingKey {
        /// The key.
        key: &'static str,
        /// A line that would do.
        example: String,
    },
    /// A value that has the wrong form.
    Malformed {
        /// Which value.
        what: String,
        /// As it was written.
        found: String,
        /// What it should look like.
        expected: String,
    },
    /// A value that lies outside its limits.
    OutOfRange {
        /// Which value.
        what: String,
        /// Its value.
        value: String,
        /// The limit that it breaks, as the end of a sentence: `more than its period of 10 ms`.
        limit: String,
        /// What to do.
        remedy: String,
    },
    /// A name that is given twice.
    Duplicate {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
        /// Line of the first.
        first: usize,
    },
    /// A name that stands for nothing.
    UnknownName {
        /// What it should stand for.
        what: &'static str,
        /// The name.
        name: String,
        /// The known name that looks most like it.
        nearest: Option<String>,
        /// Where such things come from.
        remedy: String,
    },
    /// A construct that has no place here.
    Refused {
        /// The construct, and why it is refused.
        why: String,
        /// What to do instead.
        remedy: String,
    },
    /// What was not kept, because nobody would read it.
    More {
        /// How many complaints.
        count: usize,
    },
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Complaint::Unreadable { reason } => write!(f, "cannot be read: {reason}"),
            Complaint::Syntax { reason } => f.write_str(reason),
            Complaint::UnknownKey { key, nearest, known } => {
                write!(f, "key {key:?} is not known here; ")?;
                match nearest {
                    Some(nearest) => write!(f, "did you mean {nearest:?}?"),
                    None => write!(f, "known are {}", known.join(", ")),
                }
            }
            Complaint::MissingKey { key, example } => write!(f, "{key:?} is missing; add a line like {example}"),
            Complaint::Malformed { what, found, expected } => write!(f, "{what} is {found}; write {expected}"),
            Complaint::OutOfRange { what, value, limit, remedy } => write!(f, "{what} is {value}, {limit}; {remedy}"),
            Complaint::Duplicate { what, name, first } => {
                write!(f, "{what} {name:?} is there already, on line {first}; give each its own name")
            }
            Complaint::UnknownName { what, name, nearest, remedy } => {
                write!(f, "there is no {what} {name:?}; ")?;
                match nearest {
                    Some(nearest) => write!(f, "did you mean {nearest:?}?"),
                    None => f.write_str(remedy),
                }
            }
            Complaint::Refused { why, remedy } => write!(f, "{why}; {remedy}"),
            Complaint::More { count } => write!(f, "{count} more like these; mend the first ones"),
        }
    }
}

/// Collects problems while a file is read.
pub(crate) struct Collector {
    file: PathBuf,
    problems: Vec<Problem>,
    /// Problems that were not kept.
    more: usize,
}

/// More than a person reads, and little enough memory for a file that is nothing but mistakes.
const MAX_PROBLEMS: usize = 500;

impl Collector {
    pub(crate) fn new(file: &Path) -> Self {
        Collector { file: file.to_path_buf(), problems: Vec::new(), more: 0 }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn add(&mut self, place: impl Into<Option<Location>>, subject: &str, complaint: Complaint) {
        let file = self.file.clone();
        self.keep(Problem { file, place: place.into(), subject: subject.to_string(), complaint });
    }

    /// A problem of a file that the system file names.
    pub(crate) fn add_elsewhere(&mut self, file: &Path, place: Option<Location>, subject: &str, complaint: Complaint) {
        self.keep(Problem { file: file.to_path_buf(), place, subject: subject.to_string(), complaint });
    }

    /// Whether further problems are only counted, so that no work need be put into them.
    pub(crate) fn is_full(&self) -> bool {
        self.problems.len() >= MAX_PROBLEMS
    }

    /// Forgets all problems, where another reading of the file has none.
    pub(crate) fn forgive(&mut self) {
        self.problems.clear();
        self.more = 0;
    }

    fn keep(&mut self, problem: Problem) {
        if !self.is_full() {
            self.problems.push(problem);
        } else {
            self.more += 1;
        }
    }

    pub(crate) fn out_of_range(
        &mut self,
        place: Location,
        subject: &str,
        what: impl Into<String>,
        value: impl fmt::Display,
        limit: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let complaint = Complaint::OutOfRange {
            what: what.into(),
            value: value.to_string(),
            limit: limit.into(),
            remedy: remedy.into(),
        };
        self.add(place, subject, complaint);
    }

    pub(crate) fn refuse(&mut self, place: Location, subject: &str, why: impl Into<String>, remedy: impl Into<String>) {
        self.add(place, subject, Complaint::Refused { why: why.into(), remedy: remedy.into() });
    }

    /// The value, unless something was wrong.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Problems> {
        let Collector { file, mut problems, more } = self;
        match value {
            Some(value) if problems.is_empty() => Ok(value),
            _ => {
                // Those of the system file first, in its order; a stable sort keeps the order within a line.
                problems.sort_by_key(|p| (p.file != file, p.file.clone(), p.place));
                problems.dedup();
                if more > 0 {
                    let complaint = Complaint::More { count: more };
                    problems.push(Problem { file, place: None, subject: String::new(), complaint });
                }
                Err(Problems(problems))
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }
}

/// The name among `known` that `name` was most likely meant to be, if one is near enough.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // Long names cannot be slips of the finger, and the distance takes quadratic time.
    if name.len() > 64 {
        return None;
    }
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(d, candidate)| *d <= 1 + candidate.chars().count().min(name.chars().count()) / 3)
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate.to_string())
}

/// The number of characters to insert, delete, change or swap (Damerau 1964, restricted to adjacent swaps).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_the_key_that_was_meant() {
        let known = ["period", "deadline", "execution", "core"];
        assert_eq!(nearest("peroid", known), Some("period".into()));
        assert_eq!(nearest("Deadlines", known), Some("deadline".into()));
        assert_eq!(nearest("cores", known), Some("core".into()));
        assert_eq!(nearest("colour", known), None);
    }
}
