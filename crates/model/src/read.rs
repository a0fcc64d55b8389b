//! Opening a system file and choosing its format.

use crate::problem::{Collector, Complaint, Problems};
use crate::text::read_text;
use crate::{check, form, rtapp, System, SystemFile};
use std::path::Path;

impl System {
    /// Reads a system file: TOML if its name ends in `.toml`, rt-app JSON if it ends in `.json`.
    ///
    /// # Errors
    /// Everything that is wrong with the file, with line, value, limit and remedy.
    pub fn read(path: &Path) -> Result<System, Problems> {
        SystemFile::read(path)?.alone(path)
    }

    /// Reads the text of a system file in TOML. Files that it names are looked for beside `source`.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse_toml(text: &str, source: &Path) -> Result<System, Problems> {
        SystemFile::parse_toml(text, source)?.alone(source)
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

impl SystemFile {
    /// Reads a system file, as [`System::read`] does, also one with sandboxes.
    ///
    /// # Errors
    /// Everything that is wrong with the file, with line, value, limit and remedy.
    pub fn read(path: &Path) -> Result<SystemFile, Problems> {
        let mut out = Collector::new(path);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let is_toml = extension == "toml";
        if !is_toml && extension != "json" {
            let remedy = "give it the name of its format: .toml for a system file, .json for an rt-app file";
            out.add(None, "", refused("the file's name ends in neither .toml nor .json", remedy));
            return out.finish(None);
        }
        match read_text(path) {
            Ok(text) if is_toml => SystemFile::parse_toml(&text, path),
            Ok(text) => System::parse_rt_app(&text, path).map(|system| SystemFile::System(Box::new(system))),
            Err((place, complaint)) => {
                out.add(place, "", complaint);
                out.finish(None)
            }
        }
    }

    /// Reads the text of a system file in TOML, as [`System::parse_toml`] does, also one with sandboxes.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse_toml(text: &str, source: &Path) -> Result<SystemFile, Problems> {
        let mut out = Collector::new(source);
        let file = form::read(text, &mut out).and_then(|draft| {
            if draft.sandboxes.is_empty() {
                return check::system(draft, source, &mut out).map(|system| SystemFile::System(Box::new(system)));
            }
            check::sandbox::sandboxes(draft, source, &mut out).map(SystemFile::Sandboxes)
        });
        out.finish(file)
    }

    /// The system, if it has the machine for itself.
    fn alone(self, source: &Path) -> Result<System, Problems> {
        match self {
            SystemFile::System(system) => Ok(*system),
            SystemFile::Sandboxes(_) => {
                let mut out = Collector::new(source);
                let why = "the file has sandboxes, each of which is a system of its own";
                out.add(None, "", refused(why, "take it to check, simulate or run, which take them all"));
                out.finish(None)
            }
        }
    }
}

fn refused(why: &str, remedy: &str) -> Complaint {
    Complaint::Refused { why: why.into(), remedy: remedy.into() }
}
