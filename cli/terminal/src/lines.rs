//! How results look in a terminal: a column of keys, numbers with separators, tables that line up.
//!
//! Results go to standard output, progress and complaints to standard error. Colours appear in a terminal only, and
//! not where `NO_COLOR` is set.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use tactus_time::Duration;

/// Width of the column of keys.
pub const KEY: usize = 9;

const BOLD: &str = "\x1b[1m";
const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Whether whoever read standard output has gone away.
static UNREAD: AtomicBool = AtomicBool::new(false);

/// Writes text as it is. Where the reader has gone away (`| head`), nothing more is written and the command goes on: its results
/// and its exit status are the same whoever reads.
pub fn put(text: &str) {
    if UNREAD.load(Ordering::Relaxed) {
        return;
    }
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => UNREAD.store(true, Ordering::Relaxed),
        Err(error) => {
            note("tactus", format!("standard output cannot be written: {error}"));
            std::process::exit(3);
        }
        Ok(()) => {}
    }
}

/// Writes one line with its key. Further lines of the text are indented to the same column.
pub fn line(key: &str, text: impl Display) {
    put(&keyed(key, text));
}

/// The same, to standard error.
pub fn note(key: &str, text: impl Display) {
    // Where even standard error is gone nobody can be told.
    let _ = anstream::stderr().lock().write_all(keyed(key, text).as_bytes());
}

/// One line with its key as [`line()`] writes it.
pub fn keyed(key: &str, text: impl Display) -> String {
    let indented = text.to_string().trim_end().replace('\n', &format!("\n{:KEY$}", ""));
    format!("{DIM}{key:<KEY$}{PLAIN}{indented}\n")
}

/// The word as a shell takes it for one.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A heading.
pub fn bold(text: impl Display) -> String {
    format!("{BOLD}{text}{PLAIN}")
}

/// Good news.
pub fn good(text: impl Display) -> String {
    format!("{GREEN}{text}{PLAIN}")
}

/// Bad news.
pub fn bad(text: impl Display) -> String {
    format!("{RED}{text}{PLAIN}")
}

/// The number with a comma between groups of three digits.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 task`, `2 tasks`.
pub fn count(n: usize, one: &str) -> String {
    format!("{} {one}{}", grouped(n as u64), if n == 1 { "" } else { "s" })
}

/// The length to three digits, for tables: `14.2 ms`.
pub fn brief(length: Duration) -> String {
    let (value, unit) = match length.as_nanos() as f64 {
        n if n >= 999.5e6 => (n / 1e9, "s"),
        n if n >= 999.5e3 => (n / 1e6, "ms"),
        n if n >= 999.5 => (n / 1e3, "µs"),
        n => return format!("{n} ns"),
    };
    let digits = if value >= 99.95 { 0 } else { usize::from(value < 9.995) + 1 };
    format!("{value:.digits$} {unit}")
}

/// The length in seconds with one digit, as progress is told: `10.0 s`.
pub fn seconds(length: Duration) -> String {
    format!("{:.1} s", length.as_secs_f64())
}

/// Lines up cells in columns, two blanks between them; the first column to the left, the others to the right.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .chain(head.get(column).map(|cell| cell.chars().count()))
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let render = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (column, cell) in cells.enumerate() {
            let blanks = " ".repeat(widths[column] - cell.chars().count());
            if column == 0 {
                text = format!("{cell}{blanks}");
            } else {
                text = format!("{text}  {blanks}{cell}");
            }
        }
        format!("{}\n", text.trim_end())
    };
    let mut text = render(&mut head.iter().copied());
    for row in rows {
        text += &render(&mut row.iter().map(String::as_str).take(head.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        assert_eq!(quoted("examples/avionics.toml"), "examples/avionics.toml");
        assert_eq!(quoted("my file"), "'my file'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn large_numbers_are_written_in_groups_of_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(2_841), "2,841");
        assert_eq!(grouped(1_000_000), "1,000,000");
    }

    #[test]
    fn lengths_in_tables_have_three_digits() {
        let told = |n| brief(Duration::from_nanos(n));
        assert_eq!(told(7), "7 ns");
        assert_eq!(told(1_500), "1.50 µs");
        assert_eq!(told(14_200_000), "14.2 ms");
        assert_eq!(told(999_600), "1.00 ms");
        assert_eq!(told(120_400_000), "120 ms");
        assert_eq!(told(9_996_000_000), "10.0 s");
    }

    #[test]
    fn tables_line_up_whatever_characters_they_hold() {
        let rows = vec![vec!["A".to_string(), "1,200".into()], vec!["MC²".into(), "÷".into()]];
        assert_eq!(table(&["level", "jobs"], &rows), "level   jobs\nA      1,200\nMC²        ÷\n");
    }

    #[test]
    fn further_lines_stand_under_the_first() {
        assert_eq!(
            anstream::adapter::strip_str(&keyed("check", "one\ntwo\n")).to_string(),
            "check    one\n         two\n"
        );
    }
}
