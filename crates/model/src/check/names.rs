//! The rules for names: what they may look like, that each is given once, and whom they name.

use crate::draft::{DraftComponent, DraftTask, Given};
use crate::problem::{Collector, Complaint, Location};
use crate::MAX_NAME;
use std::collections::HashMap;

pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// A name can be a folder and a word in a table: a letter or digit, then letters, digits, `-`, `_` and `.`.
pub(super) fn check_name(name: &str, place: Location, subject: &str, what: &str, out: &mut Collector) {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if starts_well && name.chars().all(is_name_char) && name.len() <= MAX_NAME {
        return;
    }
    let found = format!("{:?}", name.chars().take(40).collect::<String>());
    let expected =
        format!("a letter or digit, then letters, digits, \"-\", \"_\" and \".\", {MAX_NAME} in all at most");
    out.add(place, subject, Complaint::Malformed { what: what.into(), found, expected });
}

pub(super) fn unique<'a>(
    names: impl Iterator<Item = (&'a Given<String>, &'a str)>,
    what: &'static str,
    out: &mut Collector,
) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (name, subject) in names {
        let Given::Is(at) = name else { continue };
        check_name(&at.value, at.place, subject, "name", out);
        match first.get(at.value.as_str()) {
            Some(line) => {
                let name = at.value.chars().take(40).collect();
                out.add(at.place, "", Complaint::Duplicate { what, name, first: *line });
            }
            None => {
                first.insert(&at.value, at.place.line);
            }
        }
    }
}

/// Whether the task's jobs run the component with this name.
pub(super) fn runs_component(task: &DraftTask, name: &str) -> bool {
    task.component.get().is_some_and(|at| at.value == name)
}

/// The components' names, as far as they have any.
pub(super) fn names(drafts: &[DraftComponent]) -> impl Iterator<Item = &str> {
    drafts.iter().filter_map(|draft| draft.name.get().map(|at| at.value.as_str()))
}
