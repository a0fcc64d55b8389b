//! Opening a system file and choosing its format.

use crate::ordinary::read_ordinary;
use crate::problem::{Collector, Complaint, Location, Problems};
use crate::{check, form, rtapp, System};
use std::path::Path;

/// Larger than any system that fits the limits, job times included.
const MAX_FILE: u64 = 16 << 20;

impl System {
    /// Reads a system file: TOML if its name ends in `.toml`, rt-app JSON if it ends in `.json`.
    ///
    /// # Errors
    /// Everything that is wrong with the file, with line, value, limit and remedy.
    pub fn read(path: &Path) -> Result<System, Problems> {
        let mut out = Collector::new(path);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let parse = match extension {
            "toml" => System::parse_toml,
            "json" => System::parse_rt_app,
            _ => {
                let remedy = "give it the name of its format: .toml for a system file, .json for an rt-app file";
                out.add(None, "", refused("the file's name ends in neither .toml nor .json", remedy));
                return out.finish(None);
            }
        };
        match read_text(path) {
            Ok(text) => parse(&text, path),
            Err((place, complaint)) => {
                out.add(place, "", complaint);
                out.finish(None)
            }
        }
    }

    /// Reads the text of a system file in TOML. Files that it names are looked for beside `source`.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse_toml(text: &str, source: &Path) -> Result<System, Problems> {
        let mut out = Collector::new(source);
        let system = form::read(text, &mut out).and_then(|draft| check::system(draft, source, &mut out));
        out.finish(system)
    }

    /// Reads the text of an rt-app file.
    ///
    /// # Errors
    /// Everything that is wrong with the text, and every construct that Tactus cannot run as it is meant.
    pub fn parse_rt_app(text: &str, source: &Path) -> Result<System, Problems> {
        let mut out = Collector::new(source);
        let system = rtapp::read(text, &mut out).and_then(|draft| check::system(draft, source, &mut out));
        out.finish(system)
    }
}

fn refused(why: &str, remedy: &str) -> Complaint {
    Complaint::Refused { why: why.into(), remedy: remedy.into() }
}

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
