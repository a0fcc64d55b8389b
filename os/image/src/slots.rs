//! Slots: what the component is that a program comes into, and what its loader is told.

use crate::arch::ELF_MACHINE;
use crate::size::USER_STACK;
use crate::wire::{stored, Stored};
use crate::{ImageError, SlotSupply};
use tactus_abi::image::role;
use tactus_abi::layout::{MAX_THREADS, PAGE, WINDOW_PAGES};
use tactus_abi::shared::{restart, ComponentCard};
use tactus_abi::slot::{label, load, LoadCard, LoaderHead, RightCard, SlotCard};
use tactus_model::{LoadKind, System, SET_BACK_THREADS, STACK_PAGES};

/// The most keys of a slot, which the loader has room for.
const MOST_KEYS: usize = 8;

// What the host counts of the kernel's steps is what the kernel does.
const _: () = assert!(
    SET_BACK_THREADS == MAX_THREADS.div_ceil(restart::THREADS_PER_STEP) as u64 && STACK_PAGES * PAGE == USER_STACK
);

/// Tells in its card that the component is a slot, or fills slots.
pub(crate) fn describe(card: &mut ComponentCard, system: &System, component: usize) {
    let it = &system.components[component];
    if it.rights.loader {
        card.role |= role::LOADER | role::WINDOW;
    }
    if it.slot.is_some() {
        card.role |= role::SLOT | role::WINDOW;
        // Each program is a life of its own, and there is no limit.
        (card.restarts, card.restart_nanos, card.waits) = (0, 0, 0);
    }
}

/// That the loader has room for what it is to know, and a program for what a slot offers.
pub(crate) fn fits(system: &System, supplies: &[SlotSupply]) -> Result<(), ImageError> {
    if system.slots.len() != supplies.len() {
        let (what, expected, found) = ("supplies, one for each slot", system.slots.len(), supplies.len());
        return Err(ImageError::Incomplete { what, expected, found });
    }
    for slot in &system.slots {
        let what = |what: &str| format!("{what} of slot {:?}", slot.name);
        if slot.keys.len() > MOST_KEYS {
            let (what, limit) = (what("the number of keys"), MOST_KEYS as u64);
            return Err(ImageError::NoRoom { what, bytes: slot.keys.len() as u64, limit, remedy: "trust fewer keys" });
        }
        let (bytes, limit) = (slot.pages * PAGE, WINDOW_PAGES * PAGE);
        if bytes > limit {
            let remedy = "a program has 2 MiB at most: write less memory for the slot";
            return Err(ImageError::NoRoom { what: what("the memory"), bytes, limit, remedy });
        }
    }
    Ok(())
}

/// What the loader is told: see [`tactus_abi::slot`]. `numbers`: those of the user's components, by their places; `colours`: of their windows.
pub(crate) fn table(
    system: &System,
    numbers: &[usize],
    (supplies, trials): (&[SlotSupply], &[u64]),
    colours: &[u64],
) -> Vec<u8> {
    let mut settles_after = trials.iter().copied();
    let (mut keys, mut rights): (Vec<u8>, Vec<RightCard>) = (Vec::new(), Vec::new());
    let mut cards = Vec::new();
    for (slot, supply) in system.slots.iter().zip(supplies) {
        let uses = &system.components[slot.component].uses;
        let number = numbers[slot.component];
        cards.push(SlotCard {
            class: label(&slot.class),
            component: number as u32,
            first_task: slot.tasks.start as u32,
            // Those of tasks follow the scheduler's, one on each core.
            first_thread: (system.cores + slot.tasks.start) as u32,
            tasks: slot.tasks.len() as u32,
            order: supply.earliest_deadline.into(),
            pages: slot.pages,
            heap: slot.heap,
            colours: colours[number],
            set_back: slot.set_back_steps(),
            budget: supply.budget.as_nanos(),
            period: supply.period.as_nanos(),
            blackout: supply.blackout.as_nanos(),
            cost_of_job: supply.cost_of_job.as_nanos(),
            older: slot.older.into(),
            first_key: (keys.len() / 32) as u32,
            keys: slot.keys.len() as u32,
            first_right: rights.len() as u32,
            rights: uses.len() as u32,
            processor: ELF_MACHINE.into(),
            reserved: 0,
        });
        keys.extend(slot.keys.iter().flatten());
        rights.extend(uses.iter().map(|grant| RightCard { name: label(&grant.name) }));
    }
    let fixed = LoaderHead::BYTES
        + cards.len() * SlotCard::BYTES
        + system.loads.len() * LoadCard::BYTES
        + keys.len()
        + rights.len() * RightCard::BYTES;
    let (mut loads, mut packages): (Vec<LoadCard>, Vec<u8>) = (Vec::new(), Vec::new());
    for load in &system.loads {
        let mut card = LoadCard {
            at: load.at.as_nanos(),
            slot: load.slot as u32,
            what: load::LOAD,
            offset: fixed as u64,
            bytes: 0,
            settles_after: 0,
            other: 0,
            trial: 0,
            state: label(""),
        };
        if let LoadKind::Update { other, state, trial, .. } = &load.what {
            (card.what, card.other, card.trial) = (load::UPDATE, *other as u32, *trial);
            (card.state, card.settles_after) = (label(state), settles_after.next().unwrap_or(0));
        }
        match &load.what {
            LoadKind::Unload => card.what = load::UNLOAD,
            LoadKind::Save => card.what = load::SAVE,
            LoadKind::Restore { from } => (card.what, card.other) = (load::RESTORE, *from as u32),
            LoadKind::Load { bytes, .. } | LoadKind::Update { bytes, .. } => {
                // What comes several times lies there once.
                let same = system.loads.iter().zip(&loads).find_map(|(other, card)| match &other.what {
                    LoadKind::Load { bytes: other, .. } | LoadKind::Update { bytes: other, .. } if other == bytes => {
                        Some(*card)
                    }
                    _ => None,
                });
                let at = same.map_or_else(
                    || {
                        packages.extend(bytes.iter());
                        (fixed + packages.len() - bytes.len()) as u64
                    },
                    |card: LoadCard| card.offset,
                );
                (card.offset, card.bytes) = (at, bytes.len() as u64);
            }
        }
        loads.push(card);
    }
    let [slots, count, known, asked] =
        [cards.len(), loads.len(), keys.len() / 32, rights.len()].map(|count| count as u32);
    let mut out = stored(&[LoaderHead { slots, loads: count, keys: known, rights: asked }]);
    out.extend(stored(&cards));
    out.extend(stored(&loads));
    out.extend(keys);
    out.extend(stored(&rights));
    out.extend(packages);
    out
}
