//! The history of measurements: one line of JSON for each, in `docs/measured/history.jsonl`.

use super::figures::Figure;
use super::guest::machine;
use object::{Object, ObjectSection, SectionKind};
use serde::Serialize;
use std::fs::{create_dir_all, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use tactus_machine::failure::Failure;
use tactus_machine::place;

/// One line of the history.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// When, in UTC.
    pub date: String,
    /// What was measured; with a plus sign if the sources differed from the commit.
    pub commit: String,
    /// On what.
    pub machine: String,
    /// The kernel's parts.
    pub kernel_bytes: Sections,
    /// The root scheduler's parts.
    pub scheduler_bytes: Sections,
    /// Instructions of the longest stretch inside the kernel.
    pub longest_in_kernel: u64,
    /// Bytes of the smallest machine in which a system of two tasks runs.
    pub smallest_memory: Option<u64>,
    /// What was measured.
    pub figures: Vec<Figure>,
}

/// Bytes of a program's parts.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sections {
    /// Instructions.
    pub text: u64,
    /// Constants.
    pub rodata: u64,
    /// Variables with a first value.
    pub data: u64,
    /// Variables that begin as zeros.
    pub bss: u64,
}

impl Sections {
    /// Adds up the sections of an ELF file.
    pub fn of(elf: &object::File) -> Sections {
        let mut sections = Sections::default();
        for section in elf.sections() {
            let part = match section.kind() {
                SectionKind::Text => &mut sections.text,
                SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => &mut sections.rodata,
                SectionKind::Data => &mut sections.data,
                SectionKind::UninitializedData => &mut sections.bss,
                _ => continue,
            };
            *part += section.size();
        }
        sections
    }
}

/// The date and time by this computer's clock, as in `2026-11-20T13:10:28Z`.
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    date(seconds)
}

/// The civil date of so many seconds since 1970 (Howard Hinnant's `civil_from_days`).
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The commit of the sources, with a plus sign if they differ from it.
pub fn commit() -> String {
    let git = |words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(place::root().ok()?).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown".to_string() };
    let changed = git(&["status", "--porcelain", "--", "os", "crates/policy", "crates/record", "crates/sync"]);
    format!("{commit}{}", if changed.is_some_and(|changed| changed.is_empty()) { "" } else { "+" })
}

/// Where measurements are kept.
pub fn folder() -> Result<PathBuf, Failure> {
    let folder = place::root()?.join("docs/measured");
    create_dir_all(&folder).map_err(machine)?;
    Ok(folder)
}

/// Adds the entry to the history. Where it lies.
pub fn keep(entry: &Entry) -> Result<PathBuf, Failure> {
    let folder = folder()?;
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join("history.jsonl")).map_err(machine)?;
    let line = serde_json::to_string(entry).map_err(machine)?;
    writeln!(file, "{line}").map_err(machine)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(date(1_795_180_228), "2026-11-20T13:10:28Z");
    }
}
