//! Colours of memory: how many there are, from which caches, and who has which.

use super::keys::{shorten, Reader, Section};
use super::platform::integers;
use crate::colour_assignment::Caches;
use crate::draft::{At, DraftColours, Given};
use crate::text::read_text;
use std::path::Path;
use tactus_cache::machine::MACHINES;
use tactus_cache::Geometry;

/// Stands for as many as the shared cache keeps apart.
const FROM_GEOMETRY: &str = "from geometry";

/// How many colours memory has.
pub(super) fn count(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<DraftColours> {
    let said =
        section.get("colours").and_then(|value| value.get_ref().as_str().map(|text| (text, reader.place(value))));
    match said {
        Some((FROM_GEOMETRY, place)) => Given::is(DraftColours::FromGeometry, place),
        _ => section.integer(reader, "colours", "a whole number or \"from geometry\"").map(DraftColours::Count),
    }
}

/// The caches of the machine: by the name of one that comes with Tactus, or in a file beside the system file.
pub(super) fn geometry(section: &Section<'_>, reader: &mut Reader<'_>) -> Given<Caches> {
    let at = match section.string(reader, "geometry", "the name of a machine or a file in quotes") {
        Given::Is(at) => at,
        Given::Absent => return Given::Absent,
        Given::Broken => return Given::Broken,
    };
    let known = MACHINES.iter().find(|(name, _)| *name == at.value).map(|(_, text)| text.to_string());
    let path = reader.out.file().parent().unwrap_or(Path::new("")).join(&at.value);
    let text = known.ok_or(()).or_else(|()| read_text(&path));
    let Ok(text) = text else {
        let names: Vec<&str> = MACHINES.iter().map(|(name, _)| *name).collect();
        let why = format!("there is neither a machine {} nor such a file", shorten(&at.value));
        let remedy = format!("take one of {}, or name a file beside the system file", names.join(", "));
        reader.out.refuse(at.place, "[machine] geometry", why, remedy);
        return Given::Broken;
    };
    match Geometry::from_toml(&text) {
        Ok(geometry) => Given::is(Caches { geometry, text }, at.place),
        Err(why) => {
            let why = why.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            let remedy = "mend the geometry; crates/cache/machines holds four that are right";
            reader.out.refuse(at.place, "[machine] geometry", why, remedy);
            Given::Broken
        }
    }
}

/// The colours that somebody names for itself.
pub(super) fn own(section: &Section<'_>, reader: &mut Reader<'_>) -> Vec<At<u64>> {
    let own = integers(section, reader, "colours", "a list of colours like [0, 1]");
    let empty = section.get("colours").filter(|value| value.get_ref().as_array().is_some_and(|list| list.is_empty()));
    if let Some(value) = empty {
        let (place, why) = (reader.place(value), "it names no colour, and nothing can be without memory");
        reader.out.refuse(place, &section.subject, why, "name one, or remove the line");
    }
    own
}
