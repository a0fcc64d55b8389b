//! Opening a system file and choosing its format.

use crate::problem::{Collector, Complaint, Problems};
use crate::text::read_text;
use crate::{check, form, rtapp, System};
use std::path::Path;

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
