//! Colours of memory: which part of a system has which pages, and what the caches of the modelled machine saw.

use crate::text::{count, escape, put};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Who has which pages.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ColourUse {
    /// How many colours memory has.
    pub colours: u32,
    /// Whether any part has not all of them.
    pub apart: bool,
    /// Frames that were given out for two things: none.
    #[serde(default)]
    pub twice: Vec<u64>,
    /// The kernel, then the components by number.
    pub parts: Vec<PartUse>,
    /// Left out where caches were not modelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<CacheUse>,
}

/// The pages of one part.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PartUse {
    /// Its name.
    pub name: String,
    /// Its colours, as bits.
    pub own: u64,
    /// Pages of its colours that it sees, by colour.
    pub pages: Vec<u64>,
    /// Tables that show them, by colour.
    pub tables: Vec<u64>,
    /// Pages of another part's colours that it shares with that part, by colour.
    pub shared: Vec<u64>,
    /// Pages and tables whose colour is of nobody who sees them: the physical addresses.
    pub foreign: Vec<u64>,
}

/// What the caches of a modelled machine saw.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CacheUse {
    /// The machine's name.
    pub machine: String,
    /// By part, as in [`ColourUse::parts`].
    pub parts: Vec<PartCaches>,
    /// Lines that a part drove out of the shared cache: who, whose, how many.
    pub evicted: Vec<(usize, usize, u64)>,
}

/// What one part asked of the caches.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PartCaches {
    /// Instructions.
    pub instructions: u64,
    /// Fetches of lines, reads and writes.
    pub accesses: u64,
    /// Those that a core's own caches did not answer.
    pub beyond: u64,
    /// Those that memory answered.
    pub memory: u64,
    /// Those that another core answered, which had changed the line.
    pub changed: u64,
    /// Accesses by colour.
    pub by_colour: Vec<u64>,
}

/// `2–3, 7` for the colours of these bits.
pub fn list(bits: u64) -> String {
    let (mut out, mut at) = (String::new(), 0);
    while at < 64 {
        if bits >> at & 1 == 0 {
            at += 1;
            continue;
        }
        let length = (bits >> at).trailing_ones();
        let _ = match length {
            1 => write!(out, "{}{at}", if out.is_empty() { "" } else { ", " }),
            _ => write!(out, "{}{at}–{}", if out.is_empty() { "" } else { ", " }, at + length - 1),
        };
        at += length;
    }
    out
}

impl PartUse {
    /// All of its pages and tables of a colour.
    pub fn of(&self, colour: usize) -> u64 {
        [&self.pages, &self.tables, &self.shared].iter().filter_map(|list| list.get(colour)).sum()
    }
}

impl ColourUse {
    /// Pages whose colour is of nobody who sees them, and frames that were given out twice.
    pub fn foreign(&self) -> usize {
        self.parts.iter().map(|part| part.foreign.len()).sum::<usize>() + self.twice.len()
    }

    /// What is to be known first.
    pub fn headline(&self) -> String {
        let foreign = match self.foreign() {
            0 => "no page of a foreign colour".to_string(),
            1 => "1 page of a foreign colour".to_string(),
            many => format!("{many} pages of a foreign colour"),
        };
        match (self.colours, self.apart) {
            (1, _) => "memory has one colour".to_string(),
            (many, false) => format!("{many} colours, of which every part has all"),
            (many, true) => format!("{many} colours; {foreign}"),
        }
    }

    /// All of it as text: a row for each part, with a column for each colour.
    pub fn text(&self) -> String {
        const MARKS: [char; 6] = ['·', '▁', '▃', '▅', '▆', '█'];
        let width = self.parts.iter().map(|part| part.name.chars().count()).max().unwrap_or(0).max(4);
        let mut out = String::new();
        for part in &self.parts {
            let mark = |colour: usize| match part.of(colour) {
                0 => MARKS[0],
                pages => MARKS[(1 + (pages.ilog2() as usize) / 2).min(MARKS.len() - 1)],
            };
            let picture: String = (0..self.colours as usize).map(mark).collect();
            let sum = |list: &[u64]| list.iter().sum::<u64>();
            let _ = write!(
                out,
                "{:width$}  {picture}  colours {} · {} pages, {} of tables",
                part.name,
                list(part.own),
                count(sum(&part.pages) + sum(&part.tables)),
                count(sum(&part.tables)),
            );
            if sum(&part.shared) > 0 {
                let _ = write!(out, ", {} shared in others' colours", count(sum(&part.shared)));
            }
            if let Some(first) = part.foreign.first() {
                let _ = write!(out, ", {} FOREIGN from {first:#x} on", part.foreign.len());
            }
            out.push('\n');
        }
        let Some(caches) = &self.caches else { return out };
        let _ = writeln!(out, "\ncaches of the {}, modelled", caches.machine);
        for (part, it) in self.parts.iter().zip(&caches.parts).filter(|(_, it)| it.accesses > 0) {
            let _ = writeln!(
                out,
                "{:width$}  {} accesses, {} beyond its core's caches, {} from memory, {} changed by another core",
                part.name,
                count(it.accesses),
                count(it.beyond),
                count(it.memory),
                count(it.changed),
            );
        }
        for (by, of, lines) in caches.evicted.iter().filter(|(by, of, _)| by != of) {
            let _ = writeln!(out, "{} drove out {} lines of {}", self.name(*by), count(*lines), self.name(*of));
        }
        out
    }

    /// Lines of others that parts drove out of the shared cache.
    pub fn driven_out(&self) -> u64 {
        let evicted = self.caches.iter().flat_map(|caches| &caches.evicted);
        evicted.filter(|(by, of, _)| by != of).map(|(_, _, lines)| lines).sum()
    }

    fn name(&self, part: usize) -> &str {
        self.parts.get(part).map_or("start-up", |part| &part.name)
    }
}

/// The card, or nothing where memory has one colour and no caches were modelled.
pub(crate) fn section(colours: Option<&ColourUse>) -> String {
    let Some(it) = colours else { return String::new() };
    let mut out = String::from("<section id=\"colours\" class=\"card\">\n<h2>Colours of memory</h2>\n");
    put(&mut out, format_args!("<p>{}</p>\n<div class=\"scroll\">\n", escape(&it.headline())));
    picture(&mut out, it);
    if let Some(caches) = &it.caches {
        put(&mut out, format_args!("<p>Caches of the {}, modelled</p>\n", escape(&caches.machine)));
        out.push_str(
            "<table class=\"figures\"><thead><tr><th>Part</th><th class=\"num\">Accesses</th><th class=\"num\">Beyond its \
             core's</th><th class=\"num\">From memory</th><th class=\"num\">Changed by another core</th></tr></thead><tbody>\n",
        );
        for (part, row) in it.parts.iter().zip(&caches.parts).filter(|(_, row)| row.accesses > 0) {
            put(&mut out, format_args!("<tr><th scope=\"row\">{}</th>", escape(&part.name)));
            for number in [row.accesses, row.beyond, row.memory, row.changed] {
                crate::tables::num(&mut out, number as f64, &count(number));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table>\n");
        for (by, of, lines) in caches.evicted.iter().filter(|(by, of, _)| by != of) {
            let text = format!("{} drove out {} lines of {}", it.name(*by), count(*lines), it.name(*of));
            put(&mut out, format_args!("<p>{}</p>\n", escape(&text)));
        }
    }
    out.push_str("</div>\n</section>\n");
    out
}

/// A row for each part, a column for each colour; the darker, the more pages.
fn picture(out: &mut String, it: &ColourUse) {
    const CELL: u32 = 14;
    const NAMES: u32 = 180;
    let (width, height) = (NAMES + CELL * it.colours + 160, CELL * it.parts.len() as u32 + 4);
    put(
        out,
        format_args!(
            "<svg role=\"img\" aria-label=\"pages by part and colour\" width=\"{width}\" height=\"{height}\" \
             font-size=\"11\" fill=\"currentColor\">\n"
        ),
    );
    let most =
        it.parts.iter().flat_map(|part| (0..it.colours as usize).map(|colour| part.of(colour))).max().unwrap_or(1);
    for (row, part) in it.parts.iter().enumerate() {
        let y = CELL * row as u32;
        put(out, format_args!("<text x=\"0\" y=\"{}\">{}</text>\n", y + 11, escape(&part.name)));
        for colour in 0..it.colours as usize {
            let (pages, own) = (part.of(colour), part.own >> colour & 1 != 0);
            if pages == 0 && !own {
                continue;
            }
            let shade = if pages == 0 { 0.05 } else { 0.2 + 0.8 * (pages as f64).ln_1p() / (most as f64).ln_1p() };
            put(
                out,
                format_args!(
                    "<rect x=\"{}\" y=\"{y}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\" fill-opacity=\"{shade:.2}\">\
                     <title>{}: {pages} pages of colour {colour}</title></rect>\n",
                    NAMES + CELL * colour as u32,
                    if own { "#2f6fb0" } else { "#c07a20" },
                    escape(&part.name),
                ),
            );
        }
        let pages: u64 = (0..it.colours as usize).map(|colour| part.of(colour)).sum();
        let x = NAMES + CELL * it.colours + 8;
        put(out, format_args!("<text x=\"{x}\" y=\"{}\">{} pages</text>\n", y + 11, count(pages)));
    }
    out.push_str("</svg>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_listed_in_runs() {
        assert_eq!(list(0b1_1101), "0, 2–4");
        assert_eq!(list(u64::MAX), "0–63");
        assert_eq!(list(1 << 63), "63");
    }

    #[test]
    fn a_foreign_page_is_told_in_the_headline_and_in_its_parts_row() {
        let part = PartUse {
            name: "kernel".into(),
            own: 1,
            pages: vec![3, 0],
            tables: vec![1, 0],
            shared: vec![0, 2],
            foreign: vec![0x5000],
        };
        let it = ColourUse { colours: 2, apart: true, twice: Vec::new(), parts: vec![part], caches: None };
        assert_eq!(it.headline(), "2 colours; 1 page of a foreign colour");
        let text =
            "kernel  ▃▁  colours 0 · 4 pages, 1 of tables, 2 shared in others' colours, 1 FOREIGN from 0x5000 on\n";
        assert_eq!(it.text(), text);
    }
}
