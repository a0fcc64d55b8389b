//! Slots and their loader: who may be what, who may tell the scheduler of it, and that what the loader is told is so.

use super::contents::contents;
use super::fault::{rule, Part, VerifyError};
use super::space::Use;
use crate::parsed::Parsed;
use crate::wire::Stored;
use std::collections::BTreeSet;
use tactus_abi::image::{role, MemoryKind, Thread, ThreadKind, NO_COMPONENT, WRITABLE};
use tactus_abi::layout::{MAX_THREADS, PAGE, PROGRAM, TOLD, WINDOW_PAGES};
use tactus_abi::shared::{name_text, restart};
use tactus_abi::slot::{label_text, load, LoadCard, LoaderHead, RightCard, SlotCard, SLOT};

/// Checks the roles; mappings are not known yet.
pub(super) fn component(image: &Parsed, number: usize) -> Result<(), VerifyError> {
    let it = &image.components[number];
    let check = |holds, text| rule(holds, Part::Component, number, text);
    if it.role & role::SLOT != 0 {
        let loader = image.components.get(it.restarted_by as usize);
        check(loader.is_some_and(|it| it.role & role::LOADER != 0), "is a slot that no loader fills")?;
        check(it.role == role::SLOT | role::WINDOW, "is a slot and has another role, or no window")?;
        let bare = it.brands == 0 && it.lines == 0 && it.releases == 0 && it.restarts == 0;
        check(bare && it.sequences[0] == [0, 0], "is a slot and has what no slot has")?;
        check(it.entry == PROGRAM, "is a slot and begins before a program has come")?;
    }
    if it.role & role::LOADER != 0 {
        check(
            it.role & role::MEMORY == 0 && it.role & role::WINDOW != 0,
            "is a loader and manages memory, or has no window",
        )?;
        check(it.restarted_by == NO_COMPONENT, "is a loader and would forget what it has loaded")?;
        let others = image.components[..number].iter().filter(|other| other.role & role::LOADER != 0).count();
        check(others == 0, "is a loader beside another one")?;
    }
    Ok(())
}

/// Checks that nothing of the image lies where programs of slots come, that nobody calls into a slot, and that the loader alone can tell
/// the scheduler of slots.
pub(super) fn mapped(image: &Parsed, uses: &[Use]) -> Result<(), VerifyError> {
    let is = |component: u32, bit: u32| image.components[component as usize].role & bit != 0;
    for ((number, it), what) in image.mappings.iter().enumerate().zip(uses) {
        let holds = *what != Use::Program || !is(it.component, role::SLOT);
        rule(holds, Part::Mapping, number, "lies where programs of a slot come")?;
    }
    for (number, it) in image.grants.iter().enumerate() {
        rule(!is(it.component, role::SLOT), Part::Grant, number, "leads into a slot")?;
    }
    Ok(())
}

/// Checks what the loader is told, and that nobody else has the grant by which it speaks; what components are told has been read.
pub(super) fn told(image: &Parsed, bytes: &[u8]) -> Result<(), VerifyError> {
    let slots: BTreeSet<u32> = (0..image.components.len() as u32)
        .filter(|number| image.components[*number as usize].role & role::SLOT != 0)
        .collect();
    let loader = image.components.iter().position(|it| it.role & role::LOADER != 0);
    let Some(loader) = loader else { return Ok(()) };
    let named = |number: usize| {
        let names = image.infos[number].grants.iter().map(name_text);
        image.grants_of(number).iter().zip(names)
    };
    let speaks = named(loader).find(|(grant, name)| grant.component == 0 && *name == SLOT);
    let check = |holds, text| rule(holds, Part::Info, loader, text);
    check(speaks.is_some(), "fills slots and cannot tell the scheduler")?;
    let entry = speaks.map_or(0, |(grant, _)| grant.entry);
    for number in (0..image.components.len()).filter(|number| *number != loader) {
        let holds = named(number).all(|(grant, _)| grant.component != 0 || grant.entry != entry);
        rule(holds, Part::Info, number, "is no loader and can speak as one")?;
    }
    let table = contents(image, bytes, loader, TOLD);
    let table = table.get(..image.infos[loader].told_bytes as usize).unwrap_or(&[]);
    let mut rest = table;
    let cut = VerifyError::Truncated { part: Part::Info };
    let head = LoaderHead::take(&mut rest).ok_or(cut)?;
    let cards = all::<SlotCard>(&mut rest, head.slots).ok_or(cut)?;
    let loads = all::<LoadCard>(&mut rest, head.loads).ok_or(cut)?;
    rest = rest.get(head.keys as usize * 32..).ok_or(cut)?;
    let rights = all::<RightCard>(&mut rest, head.rights).ok_or(cut)?;
    let listed: BTreeSet<u32> = cards.iter().map(|card| card.component).collect();
    check(listed == slots && listed.len() == cards.len(), "is told of other slots than there are")?;
    for card in &cards {
        slot(image, loader, card, (&rights, head.keys))?;
    }
    let pages: u64 = cards.iter().map(|card| card.pages).sum();
    check(pages <= image.header.pool_frames.into(), "is told of slots with more memory than there is")?;
    let in_order = loads.windows(2).all(|pair| pair[0].at <= pair[1].at);
    check(in_order, "is told of loads in another order than that of time")?;
    for it in &loads {
        let lies = it.offset.checked_add(it.bytes).is_some_and(|end| end <= table.len() as u64);
        check(
            it.slot < head.slots && lies && it.what <= load::UPDATE,
            "is told of a package, or a slot, that there is not",
        )?;
        let pair = it.what != load::UPDATE || (it.other < head.slots && it.other != it.slot && it.trial > 0);
        check(pair, "is told of an update of what is no pair")?;
        let from = it.what != load::RESTORE || it.other < head.slots;
        check(from, "is told of a slot that there is not")?;
    }
    Ok(())
}

fn slot(
    image: &Parsed,
    loader: usize,
    card: &SlotCard,
    (rights, keys): (&[RightCard], u32),
) -> Result<(), VerifyError> {
    let check = |holds, text| rule(holds, Part::Info, loader, text);
    let number = card.component as usize;
    let it = &image.components[number];
    check(it.restarted_by as usize == loader, "is told of a slot that is not its own")?;
    let own = image.cards.iter().enumerate().filter(|(_, task)| task.home == card.component.into());
    let own: Vec<usize> = own.map(|(task, _)| task).collect();
    let said: Vec<usize> = (card.first_task as usize..).take(card.tasks as usize).collect();
    check(!own.is_empty() && own == said, "is told of other tasks than the slot has")?;
    let threads = image.threads.iter().skip(card.first_thread as usize).take(said.len());
    let is_own = |(thread, task): (&Thread, &usize)| {
        thread.component == card.component && thread.kind == ThreadKind::Task as u32 && thread.number as usize == *task
    };
    check(
        threads.zip(&said).filter(|it| is_own(*it)).count() == said.len(),
        "is told of other threads than the slot has",
    )?;
    check((1..=WINDOW_PAGES).contains(&card.pages), "is told of a slot with no memory, or more than its window shows")?;
    let both = it.window_colours & image.components[loader].window_colours;
    check(
        card.colours != 0 && card.colours & !both == 0,
        "is told of a slot in colours that one of them may not have",
    )?;
    let mut writes = image.mappings.iter().filter(|it| it.component == card.component && it.flags == WRITABLE);
    let kept: u64 = writes
        .by_ref()
        .map(|it| &image.memories[it.memory as usize])
        .filter(|it| it.kind == MemoryKind::Copied as u32)
        .map(|it| it.bytes / PAGE)
        .sum();
    let steps = MAX_THREADS.div_ceil(restart::THREADS_PER_STEP) as u64 + kept;
    check(card.set_back == steps, "is told of more or fewer steps than the kernel takes to set the slot back")?;
    check(
        card.heap.next_multiple_of(PAGE) == image.infos[number].heap_bytes,
        "is told of another heap than the slot has",
    )?;
    let within = |first: u32, count: u32, of: u32| first.checked_add(count).is_some_and(|end| end <= of);
    let known = within(card.first_key, card.keys, keys) && within(card.first_right, card.rights, rights.len() as u32);
    check(known && card.order <= 1 && card.older <= 1, "is told of keys or rights of a slot that there are not")?;
    let named: Vec<&str> = image.infos[number].grants.iter().map(name_text).take(it.grants as usize).collect();
    let mut asked = rights.iter().skip(card.first_right as usize).take(card.rights as usize);
    let granted = asked.all(|right| named[1..].contains(&label_text(&right.name)));
    check(granted, "may give programs of a slot what that has not")?;
    check(card.budget <= card.period, "is told of a supply that no server has")
}

fn all<T: Stored>(rest: &mut &[u8], count: u32) -> Option<Vec<T>> {
    // Each takes some bytes: the count cannot make this long.
    (0..count).map(|_| T::take(rest)).collect()
}
