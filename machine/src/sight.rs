//! Who sees which frames of the machine's memory: a walk of all page tables after a run.
//!
//! The kernel tells where the tables are ([`tactus_abi::card`]). A frame has a right colour if it is of one of those who see it; the
//! clock is the kernel's, and a window may show what its buffers are allowed to be.

use crate::rings::Rings;
use std::collections::BTreeMap;
use std::io;
use tactus_abi::card::{word, MAGIC, PLACE};
use tactus_abi::image::{Mapping, MemoryKind};
use tactus_abi::layout::{CLOCK, HEAP, PAGE, TRACE, WINDOW, WINDOW_PAGES};
use tactus_cache::tables::{walk, Shown};
use tactus_image::{Facts, Image, Parsed};
use tactus_report::{ColourUse, PartUse};

/// What a frame was given out as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Use {
    /// A table of a part's.
    Table(usize),
    /// A page of the kernel's own, or one that it sees of a scheduler's regions.
    Kernel,
    /// A page of a memory object.
    Object(u32, u64),
    /// One of those that a memory manager gives out.
    Pool,
}

/// A frame as one part sees it.
#[derive(Clone, Copy)]
struct Seen {
    part: usize,
    what: Use,
    /// The colours that it may have if only this part sees it.
    may: u64,
}

/// Walks all tables.
///
/// # Errors
/// If the memory cannot be read, or the kernel has not told where the tables are.
pub fn look(image: &Image, rings: &Rings) -> io::Result<ColourUse> {
    let facts = &image.facts;
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let parsed = tactus_image::verify(&image.bytes).map_err(|error| wrong(error.to_string()))?;
    let card = frame(rings, rings.begins() + PLACE)?;
    if card[word::MAGIC] != MAGIC || card[word::COMPONENTS] as usize != facts.components.len() {
        return Err(wrong("the kernel has not told where its tables are".to_string()));
    }
    let end = rings.bytes()?;
    let mut failed = None;
    let mut seen: BTreeMap<u64, Vec<Seen>> = BTreeMap::new();
    let mut read = |at: u64| {
        let read = (at < end).then(|| frame(rings, at));
        read?.map_err(|error| failed = Some(error)).ok()
    };
    let mut note = |frame: u64, seen_by: Seen| {
        if frame < end {
            seen.entry(frame).or_default().push(seen_by);
        }
    };
    for (half, pages) in [(256, false), (511, true)] {
        walk(card[word::KERNEL_TOP], half..half + 1, &mut read, &mut |it| match it {
            Shown::Table { frame } => note(frame, Seen { part: 0, what: Use::Table(0), may: facts.kernel_colours }),
            Shown::Page { frame, .. } if pages => {
                note(frame, Seen { part: 0, what: Use::Kernel, may: facts.kernel_colours });
            }
            Shown::Page { .. } => {}
        });
    }
    for (number, [own, window]) in facts.component_colours.iter().enumerate() {
        let part = number + 1;
        let top = card[word::TOPS + number] & u64::from(u32::MAX);
        note(top, Seen { part, what: Use::Table(part), may: *own });
        let of = |it: &&Mapping| it.component as usize == number;
        let mut mappings: Vec<&Mapping> = parsed.mappings.iter().filter(of).collect();
        mappings.sort_by_key(|it| it.address);
        walk(top, 0..256, &mut read, &mut |it| match it {
            Shown::Table { frame } => note(frame, Seen { part, what: Use::Table(part), may: *own }),
            Shown::Page { frame, address } => {
                let in_window = (WINDOW..WINDOW + WINDOW_PAGES * PAGE).contains(&address);
                let before = mappings.partition_point(|it| it.address <= address);
                let mapping = before.checked_sub(1).map(|at| mappings[at]);
                let may = match (address, mapping) {
                    (CLOCK, _) => facts.kernel_colours,
                    _ if in_window => *window,
                    // Parts of it may have a colour each.
                    (HEAP..TRACE, Some(it)) => parsed.memories[it.memory as usize].colours,
                    _ => *own,
                };
                let what = match mapping {
                    Some(it) if !in_window => Use::Object(it.memory, (address - it.address) / PAGE),
                    _ => Use::Pool,
                };
                note(frame, Seen { part, what, may });
            }
        });
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(sorted(&parsed, facts, &seen)),
    }
}

/// Every frame with its colour to those who see it.
fn sorted(parsed: &Parsed, facts: &Facts, seen: &BTreeMap<u64, Vec<Seen>>) -> ColourUse {
    let every = u64::MAX >> (64 - facts.colours.clamp(1, 64));
    let none = vec![0; facts.colours as usize];
    let names = ["kernel"].into_iter().chain(facts.components.iter().map(String::as_str));
    let own = [facts.kernel_colours].into_iter().chain(facts.component_colours.iter().map(|[own, _]| *own));
    let part = |(name, own): (&str, u64)| PartUse {
        name: name.to_string(),
        own,
        pages: none.clone(),
        tables: none.clone(),
        shared: none.clone(),
        foreign: Vec::new(),
    };
    let mut parts: Vec<PartUse> = names.zip(own).map(part).collect();
    let mut twice = Vec::new();
    for (frame, by) in seen {
        let colour = (frame / PAGE % u64::from(facts.colours)) as usize;
        let may = by.iter().fold(0, |bits, it| bits | it.may);
        let regions = |number: u32| kind(parsed, number) == Some(MemoryKind::Regions as u32);
        let is_one = by.iter().all(|it| match (it.what, by[0].what) {
            (Use::Kernel, Use::Object(number, _)) | (Use::Object(number, _), Use::Kernel) => regions(number),
            // A kernel that has not moved has its first tables among its data.
            (Use::Table(0) | Use::Kernel, Use::Table(0) | Use::Kernel) => true,
            (Use::Table(_), _) => by.len() == 1,
            (one, other) => one == other,
        });
        if !is_one {
            twice.push(*frame);
        }
        for it in by {
            let part = &mut parts[it.part];
            match () {
                () if may >> colour & 1 == 0 => part.foreign.push(*frame),
                () if part.own >> colour & 1 == 0 => part.shared[colour] += 1,
                () if matches!(it.what, Use::Table(_)) => part.tables[colour] += 1,
                () => part.pages[colour] += 1,
            }
        }
    }
    let apart = parts.iter().any(|part| part.own != every);
    ColourUse { colours: facts.colours, apart, twice, parts, caches: None }
}

/// The kind of a memory object.
fn kind(parsed: &Parsed, number: u32) -> Option<u32> {
    Some(parsed.memories.get(number as usize)?.kind)
}

/// The words of a frame.
fn frame(rings: &Rings, at: u64) -> io::Result<[u64; 512]> {
    let mut bytes = [0; PAGE as usize];
    rings.frame(at, &mut bytes)?;
    let mut words = [0; 512];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = bytes.try_into().map_or(0, u64::from_le_bytes);
    }
    Ok(words)
}
