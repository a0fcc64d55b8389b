//! The text of a file, and where in it a byte stands.

use crate::ordinary::read_ordinary;
use crate::problem::{Complaint, Location};
use std::path::Path;

/// Larger than any system that fits the limits, job times included.
const MAX_FILE: u64 = 16 << 20;

/// The text of an ordinary file of sensible length.
pub(crate) fn read_text(path: &Path) -> Result<String, (Option<Location>, Complaint)> {
    let unreadable = |reason: String| (None, Complaint::Unreadable { reason });
    let bytes = read_ordinary(path, MAX_FILE).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|e| {
        let good = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = good.iter().filter(|b| **b == b'\n').count() + 1;
        let reason = "this is not UTF-8 text; save the file as UTF-8".to_string();
        (Some(Location { line, column: 1 }), Complaint::Syntax { reason })
    })
}

/// Columns beyond are counted in bytes instead of characters.
const LONGEST_LINE: usize = 4_096;

/// Finds lines and columns in a text.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        Lines { text, starts: std::iter::once(0).chain(after).collect() }
    }

    /// Where the byte with this offset stands.
    pub fn place(&self, offset: usize) -> Location {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1];
        // Counting the characters of one endless line for each of its values would take quadratic time.
        let before = self.text.get(start..offset).filter(|before| before.len() <= LONGEST_LINE);
        let column = before.map_or(offset - start, |before| before.chars().count()) + 1;
        Location { line, column }
    }
}
