//! Results as JSON, one object a line: in a file that grows, or in one that a run writes anew.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use tactus_machine::failure::Failure;
use tactus_rig::Line;

fn cannot(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::Machine(format!("{}: {error}", path.display()))
}

/// Makes the folder where results go, unless it is there.
pub fn folder(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| cannot(path, error))
}

/// Appends results to a file.
pub fn append(path: &Path, new: &[Line]) -> Result<(), Failure> {
    let text = text(path, new)?;
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| cannot(path, error))
}

/// Writes results in place of what the file had.
pub fn replace(path: &Path, all: &[Line]) -> Result<(), Failure> {
    fs::write(path, text(path, all)?).map_err(|error| cannot(path, error))
}

fn text(path: &Path, all: &[Line]) -> Result<String, Failure> {
    let mut text = String::new();
    for line in all {
        text.push_str(&serde_json::to_string(line).map_err(|error| cannot(path, error))?);
        text.push('\n');
    }
    Ok(text)
}

/// What the file has; nothing if there is none. A line without an end, which is what was being written when a sweep was
/// broken off, is taken away; its run is done again.
pub fn read(path: &Path) -> Result<Vec<Line>, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(cannot(path, error)),
    };
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    if whole.len() < text.len() {
        fs::write(path, whole).map_err(|error| cannot(path, error))?;
    }
    let line = |(n, line): (usize, &str)| {
        serde_json::from_str(line)
            .map_err(|error| Failure::Input(format!("{}:{}: {error}; remove the file", path.display(), n + 1)))
    };
    whole.lines().enumerate().map(line).collect()
}
