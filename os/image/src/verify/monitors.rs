//! The kernel's part of monitors: tables that are as long as their head says, monitors whose tables are some, and nothing that names
//! what there is not.

use super::fault::{rule, Part, VerifyError};
use crate::parsed::Parsed;
use tactus_abi::image::MemoryKind;
use tactus_abi::layout::MAX_CORES;
use tactus_abi::monitors::{action, words, Head, MAX_SHARES, MAX_SLOTS, NONE};
use tactus_monitor::Stored;

/// The number of its memory object, its bytes, and the words of which they are.
fn part<'a>(image: &Parsed, bytes: &'a [u8]) -> Option<(usize, &'a [u8], Vec<u32>)> {
    let number = image.memories.iter().position(|it| it.kind == MemoryKind::Monitors as u32)?;
    let memory = &image.memories[number];
    let bytes = bytes.get(memory.offset as usize..(memory.offset + memory.file_bytes) as usize).unwrap_or(&[]);
    let word = |word: &[u8]| u32::from_le_bytes(word.try_into().unwrap_or_default());
    Some((number, bytes, bytes.chunks_exact(4).map(word).collect()))
}

/// Who sends and who receives on each channel that the kernel keeps. The image has passed [`check`].
pub(super) fn channels(image: &Parsed, bytes: &[u8]) -> Vec<[u32; 2]> {
    let Some((.., all)) = part(image, bytes) else { return Vec::new() };
    let Some((first, length)) = Head::read(&all).map(|head| head.places()[5]) else { return Vec::new() };
    all[first..first + length].chunks_exact(words::CHANNEL).map(|row| [row[0], row[1]]).collect()
}

/// Checks it, where the image has one.
pub(super) fn check(image: &Parsed, bytes: &[u8]) -> Result<(), VerifyError> {
    let Some((number, bytes, all)) = part(image, bytes) else { return Ok(()) };
    let check = |holds, text| rule(holds, Part::Memory, number, text);
    let head = Head::read(&all);
    check(head.is_some(), "holds monitors, but no head that counts them")?;
    let Some(head) = head else { return Ok(()) };
    let places = head.places();
    let (first, length) = places[8];
    check(first + length <= all.len(), "holds monitors that do not fit into it")?;
    let tables = bytes.get(first * 4..first * 4 + head.bytes as usize).unwrap_or(&[]);
    let rows = |table: usize, width: usize| all[places[table].0..][..places[table].1].chunks_exact(width);
    let components = image.components.len() as u32;
    let is_event = |event: u32| event == NONE || event < head.events;
    for row in rows(0, words::EVENT) {
        let steps = row[0].checked_add(row[1]).is_some_and(|end| end <= head.steps);
        check(
            steps && row[2] & 0xffff < head.groups && row[2] >> 16 <= MAX_SHARES,
            "has a monitored event with steps or a group that there are not",
        )?;
    }
    for row in rows(1, words::STEP) {
        check(row[0] < head.monitors, "steps a monitor that there is not")?;
    }
    for row in rows(2, words::GROUP) {
        let known = row[0] == NONE || row[0] < image.header.cores.min(MAX_CORES as u32);
        check(known, "has monitors of a core that there is not")?;
    }
    for row in rows(3, words::MONITOR) {
        let stored = row.first_chunk::<{ Stored::WORDS }>().is_some_and(|it| Stored(*it).watcher(tables).is_ok());
        check(stored, "holds a monitor whose table is none")?;
        let [group, what, whom, core] = [0, 1, 2, 3].map(|n| row[Stored::WORDS + n]);
        let sound = match what {
            action::NOTE | action::END => whom == NONE,
            action::STOP => whom != 0 && whom < components,
            action::RUN => (whom as usize) < image.threads.len(),
            _ => false,
        };
        check(
            sound && group < head.groups && (core == NONE || core < image.header.cores),
            "holds a monitor that demands what cannot be done",
        )?;
    }
    let free = rows(4, words::SIGNAL).filter(|row| row[2] == NONE).count();
    let hashed = head.signals == 0 || head.signals.is_power_of_two() && 2 * free >= head.signals as usize;
    check(hashed, "has events of components where the kernel does not find them")?;
    for row in rows(4, words::SIGNAL).filter(|row| row[2] != NONE) {
        check(row[2] < components && row[3] < head.events, "has an event that nobody can raise")?;
    }
    for row in rows(5, words::CHANNEL) {
        let ends = row[0] < components && row[1] < components && (1..=MAX_SLOTS).contains(&row[2]);
        check(ends && is_event(row[3]) && is_event(row[4]), "has a channel that nobody can use")?;
    }
    for row in rows(6, words::GRANT) {
        let there = row[0] < components && row[1] > 0 && row[1] < image.components[row[0] as usize].grants;
        check(there && is_event(row[2]) && is_event(row[3]), "watches a grant that there is not")?;
    }
    for row in rows(7, words::FAULT) {
        let there = (row[0] as usize) < image.threads.len();
        check(there && row[1] < head.events, "watches the faults of a thread that there is not")?;
    }
    check(is_event(head.restart), "has an event that there is not")
}
