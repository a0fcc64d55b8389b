//! What components are told: the information page of each, the cards of the tasks, the tables of demands.

use super::fault::{is_name, rule, Part, VerifyError};
use super::platform;
use crate::parsed::Parsed;
use crate::parts::SCHEDULER;
use crate::wire::Stored;
use std::mem::{offset_of, size_of};
use tactus_abi::image::{Grant, Mapping, Memory};
use tactus_abi::layout::{
    CARDS, COUNTERS, DEMANDS, HEAP, INFO, LINES, MAX_GRANTS, PAGE, PLAN, SECTION_PAGE, STEP_WORDS, TASK_PAGE,
    TASK_PAGES, TRACE, WATCHED,
};
use tactus_abi::shared::{name, Info, SectionCard, SectionPage, TaskCard, TaskPage, MAX_SECTIONS, MISSES, NAME_BYTES};
use tactus_abi::slot::label_text;
use tactus_model::{EventRight, WaitLimit};
use tactus_record::{RECORD_BYTES, RING_HEADER_BYTES};

/// Reads and checks the contents; all mappings have been checked.
pub(super) fn read(image: &mut Parsed, bytes: &[u8]) -> Result<(), VerifyError> {
    for number in 0..image.components.len() {
        let mut page = contents(image, bytes, number, INFO);
        let info = Info::take(&mut page).ok_or(VerifyError::Truncated { part: Part::Info })?;
        check_info(image, number, &info)?;
        image.infos.push(info);
        if !platform::plans(image, number) && image.mapping_at(number, DEMANDS).is_some() {
            let mut table = contents(image, bytes, number, DEMANDS);
            let count = u64::take(&mut table).unwrap_or(0);
            let holds = count > 0 && count < (table.len() / 8) as u64;
            let holds = holds && has_right_steps(table, count as usize) == Some(true);
            rule(holds, Part::Component, number, "has a table of demands that is empty or longer than its memory")?;
        }
    }
    let mut cards = contents(image, bytes, 0, CARDS);
    let rows = cards.get(image.tasks() * TaskCard::BYTES..).unwrap_or_default();
    for task in 0..image.tasks() {
        let card = TaskCard::take(&mut cards).ok_or(VerifyError::Truncated { part: Part::Card })?;
        let check = |holds, text| rule(holds, Part::Card, task, text);
        let thread = image.header.cores as usize + task;
        check(card.thread == thread as u64, "names another thread than the task's")?;
        check(is_name(&card.name), "has a name that is no text")?;
        let component = image.threads[thread].component as usize;
        check(card.home == component as u64, "names another component than the task's")?;
        check(card.component == image.components[component].name, "names another component than the task's")?;
        check(card.promise <= 2, "tells of a promise that there is not")?;
        check(card.level <= 3 || card.level == 255, "tells of a level that there is not")?;
        let (first, count) = (card.events as u32 as usize, (card.events >> 32) as usize);
        let rows = rows
            .chunks_exact(8)
            .skip(first)
            .take(count)
            .map(|row| u64::from_le_bytes(row.try_into().unwrap_or_default()));
        let sound = rows.filter(|row| EventRight::of_word(*row).is_some()).count() == count;
        check(sound, "names events behind the table, or that there are not")?;
        image.cards.push(card);
        rule(
            is_right_page(image, bytes, task),
            Part::Thread,
            thread,
            "has a page of another task, or tells another scheduler than its task's of the end of its jobs",
        )?;
    }
    for (number, it) in image.components.iter().enumerate() {
        let own = image.cards.iter().filter(|card| card.home == number as u64 && card.line < LINES as u64);
        let lines = own.fold(0, |bits, card| bits | 1 << card.line);
        rule(it.releases == lines, Part::Component, number, "has other lines that release jobs than its tasks have")?;
    }
    Ok(())
}

/// Whether behind so many demands come waits and programs, each within the table, of steps that there are.
fn has_right_steps(demands: &[u8], count: usize) -> Option<bool> {
    let words: Vec<u64> =
        demands.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default())).collect();
    let word = |at: u64| words.get(usize::try_from(at).ok()?).copied();
    let waits = word(count as u64)?;
    if waits > WaitLimit::MOST as u64 {
        return Some(false);
    }
    let programs = count as u64 + 1 + 2 * waits;
    let sound = |n: u64| {
        // Counted from the beginning of the table, which is one word before the demands.
        let at = word(programs + 1 + n)?.checked_sub(1)?;
        let steps = word(at)?;
        let end = steps.checked_mul(STEP_WORDS as u64)?.checked_add(at + 1)?;
        let kinds = (0..steps).all(|step| word(at + 2 + step * STEP_WORDS as u64).is_some_and(|kind| kind <= 3));
        Some(end <= words.len() as u64 && kinds)
    };
    let most = words.len() as u64;
    let order = word(programs)?;
    Some(order <= most && (0..order).all(|n| sound(n) == Some(true)))
}

/// Whether what the page of the task begins with names the task and the grant of the scheduler that writes it, and says nothing else.
fn is_right_page(image: &Parsed, bytes: &[u8], task: usize) -> bool {
    let threads = &image.threads[image.header.cores as usize..];
    let component = threads[task].component as usize;
    let before = threads[..task].iter().filter(|it| it.component as usize == component).count() as u64;
    let offset = task as u64 * PAGE;
    let shown = TASK_PAGE + threads[task].place.checked_sub(1).map_or(offset, |place| u64::from(place) * PAGE);
    let mut page = contents(image, bytes, component, shown);
    let Some(page) = TaskPage::take(&mut page) else { return false };
    let memory = |component: usize, address| image.mapping_at(component, address).map(|mapping| mapping.memory);
    let grants = image.grants_of(component);
    let told = usize::try_from(page.complete).ok().and_then(|number| grants.get(number));
    let writes = |it: &Grant| {
        it.entry == grants[0].entry && memory(it.component as usize, TASK_PAGES + offset) == memory(component, shown)
    };
    // The root scheduler ends its own jobs itself.
    let right = if grants.is_empty() { page.complete == 0 } else { told.is_some_and(writes) };
    // Its own: the kernel lets it acknowledge no other.
    let own = |line: u64| line < LINES as u64 && image.components[component].releases & 1 << line != 0;
    right
        && page.index == before
        && image.cards.get(task).is_some_and(|card| name(label_text(&page.name)) == card.name)
        && page.line.checked_sub(1).is_none_or(own)
        && (page.job, page.charged, page.since, page.release, page.awaited) == (0, 0, 0, 0, 0)
        && (page.missed, page.missed_at) == (0, [0; MISSES])
        && are_right_sections(image, bytes, (component, offset), page.sections)
}

/// Whether a task of this many critical sections has a page that tells of them, on which nothing is held and which names the grant by
/// which the scheduler is told of them; one without has none.
fn are_right_sections(image: &Parsed, bytes: &[u8], (component, offset): (usize, u64), count: u64) -> bool {
    if count == 0 {
        return image.mapping_at(component, SECTION_PAGE + offset).is_none();
    }
    let page = contents(image, bytes, component, SECTION_PAGE + offset);
    if page.len() != size_of::<SectionPage>() || count > MAX_SECTIONS as u64 {
        return false;
    }
    let word = |at: usize| u64::from_le_bytes(page[at..at + 8].try_into().unwrap_or_default());
    let grant = usize::try_from(word(offset_of!(SectionPage, grant))).unwrap_or(usize::MAX);
    let to_root = image.grants_of(component).get(grant).is_some_and(|grant| grant.component == 0);
    let first = offset_of!(SectionPage, sections);
    let card = |n: u64| first + n as usize * size_of::<SectionCard>();
    let sound = (0..count).all(|n| word(card(n)) < 255 && word(card(n) + 8) <= word(card(n) + 16));
    to_root && sound && (0..first - 8).step_by(8).all(|at| word(at) == 0)
}

/// The image's own bytes that the component sees at this address; empty if there are none.
pub(super) fn contents<'a>(image: &Parsed, bytes: &'a [u8], component: usize, address: u64) -> &'a [u8] {
    let Some(mapping) = image.mapping_at(component, address) else { return &[] };
    let memory = &image.memories[mapping.memory as usize];
    bytes.get(memory.offset as usize..(memory.offset + memory.file_bytes) as usize).unwrap_or(&[])
}

fn check_info(image: &Parsed, number: usize, info: &Info) -> Result<(), VerifyError> {
    let check = |holds, text| rule(holds, Part::Info, number, text);
    let length = |address| {
        let mapping = image.mapping_at(number, address);
        mapping.map_or(0, |mapping| image.memories[mapping.memory as usize].bytes)
    };
    let it = &image.components[number];
    check(info.component as usize == number && info.name == it.name, "tells it that it is another one")?;
    check(info.grant_count == it.grants, "tells of more or fewer grants than it has")?;
    check(info.cores == image.header.cores, "tells of another number of cores")?;
    check(info.tasks as usize == image.tasks(), "tells of another number of tasks")?;
    check(u64::from(info.counters) * PAGE == length(COUNTERS), "tells of other counters than it has")?;
    let watched = image.mapping_at(number, WATCHED).is_some();
    check(info.watched == u32::from(watched), "tells of monitors that there are not, or not of those that there are")?;
    let is_root = number == SCHEDULER;
    check(is_root || info.promised_by_host == 0, "is told of the disks' promises, which only the root scheduler is")?;
    heap(image, number, info)?;
    check(info.touch_bytes <= info.heap_bytes, "has jobs touch more than its heap")?;
    check(info.threads <= image.header.threads, "tells of more threads in it than there are")?;
    let (named, unused) = info.grants.split_at((info.grant_count as usize).min(MAX_GRANTS));
    check(named.iter().all(is_name), "has a grant whose name is no text")?;
    check(unused.iter().all(|name| *name == [0; NAME_BYTES]), "names a grant that it does not have")?;
    let twice = named.iter().enumerate().any(|(place, name)| named[..place].contains(name));
    check(!twice, "names two grants alike")?;
    if platform::plans(image, number) {
        let cores = u64::from(image.header.cores);
        check(is_name(&info.system), "has a name of the system that is no text")?;
        check(info.plan_bytes.div_ceil(PAGE) == length(PLAN) / PAGE, "tells of another set-up than it has")?;
        check(
            info.ring_bytes % PAGE == 0 && info.ring_bytes.checked_mul(cores) == Some(length(TRACE)),
            "tells of other trace rings than it has",
        )?;
        let least = (RING_HEADER_BYTES + RECORD_BYTES) as u64;
        check(info.ring_bytes >= least, "tells of trace rings that hold nothing")
    } else {
        let none = info.plan_bytes == 0 && info.ring_bytes == 0 && info.duration == 0;
        check(none && info.system == [0; NAME_BYTES], "is told what only the scheduler is to know")
    }
}

/// The heap is as long as its component is told; where it is in several parts, each follows the one before, and has a colour of its own.
fn heap(image: &Parsed, number: usize, info: &Info) -> Result<(), VerifyError> {
    let check = |holds, text| rule(holds, Part::Info, number, text);
    let of = |it: &&Mapping| it.component as usize == number && (HEAP..TRACE).contains(&it.address);
    let mut parts: Vec<(u64, &Memory)> =
        image.mappings.iter().filter(of).map(|it| (it.address, &image.memories[it.memory as usize])).collect();
    parts.sort_unstable_by_key(|(address, _)| *address);
    check(parts.len() as u64 == info.heap_parts, "tells of a heap in more or fewer parts than it has")?;
    let bytes: u64 = parts.iter().map(|(_, memory)| memory.bytes).sum();
    check(info.heap_bytes == bytes, "tells of another heap than it has")?;
    let mut before = 0;
    for ((address, memory), place) in parts.into_iter().zip(0..) {
        let follows = memory.bytes == bytes / info.heap_parts && address == HEAP + place * memory.bytes;
        check(follows, "has a heap whose parts are not alike, or do not follow each other")?;
        let apart = info.heap_parts == 1 || memory.colours.is_power_of_two() && memory.colours > before;
        check(apart, "has a part of its heap in no colour of its own")?;
        before = memory.colours;
    }
    Ok(())
}
