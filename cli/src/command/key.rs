//! `tactus key`: keys that sign packages.

use crate::arguments::{Key, KeyCommand};
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::package::new_key;
use tactus_terminal::lines;

/// Draws a key.
pub fn key(arguments: &Key) -> Result<Outcome, Failure> {
    let KeyCommand::New { name } = &arguments.what;
    let files = new_key(name)?;
    lines::line("private", format!("{} · signs packages; keep it to yourself", files.private.display()));
    lines::line("public", format!("{} · name it under keys of a [[slot]]", files.public.display()));
    Ok(Outcome::Held)
}
