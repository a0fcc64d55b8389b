//! Components that are loaded while the system runs: in which window of their partition, and whether they are there when it starts.

use crate::layout::Layout;
use crate::parts::{Parts, SCHEDULER};
use crate::ImageError;
use tactus_abi::image::{role, MemoryKind, WRITABLE};
use tactus_abi::layout::MAX_THREADS;
use tactus_abi::shared::{restart, ComponentCard};
use tactus_model::{Partition, System};

/// The partition of a component that is loaded late.
fn partition_of(system: &System, component: usize) -> Option<&Partition> {
    system.scheduling.partitions.list.iter().find(|it| it.late && it.components.contains(&component))
}

/// Tells the root scheduler when it may load the component, if it is to do so: in the longest window of its partition, which begins nothing else
/// before it starts. The last steps end within the window.
pub(crate) fn describe(card: &mut ComponentCard, system: &System, component: usize) {
    let Some(window) = partition_of(system, component).and_then(Partition::loaded_in) else { return };
    card.role |= role::LATE;
    card.restarted_by = SCHEDULER as u32;
    card.load_core = window.core.0.into();
    card.load_start = window.start.as_nanos();
    card.load_length = window.length.as_nanos().saturating_sub(restart::MOST << system.machine.shift);
    card.load_frame = system.scheduling.partitions.frame.as_nanos();
}

/// Marks the memory that is filled only then: what such a component can write, and nobody else sees.
pub(crate) fn mark(layout: &mut Layout, cards: &[ComponentCard]) {
    let late = |component: u32| cards[component as usize].role & role::LATE != 0;
    for (number, memory) in
        layout.memories.iter_mut().enumerate().filter(|(_, it)| it.kind == MemoryKind::Copied as u32)
    {
        let mut seen = layout.mappings.iter().filter(|it| it.memory as usize == number);
        let alone = seen.next().is_some_and(|it| late(it.component) && it.flags == WRITABLE) && seen.next().is_none();
        memory.late = alone.into();
    }
}

/// Whether each is loaded when its partition starts.
///
/// # Errors
/// If one has more memory than that.
pub(crate) fn fits(parts: &Parts, layout: &Layout, cards: &[ComponentCard], system: &System) -> Result<(), ImageError> {
    for (number, card) in cards.iter().enumerate().filter(|(_, card)| card.role & role::LATE != 0) {
        let place = parts.components[number].user;
        let Some(partition) = place.and_then(|place| partition_of(system, place)) else { continue };
        let own = layout.mappings.iter().filter(|it| it.component as usize == number && it.flags == WRITABLE);
        let copied =
            own.map(|it| &layout.memories[it.memory as usize]).filter(|it| it.kind == MemoryKind::Copied as u32);
        let pages: u64 = copied.map(|it| it.bytes / tactus_abi::layout::PAGE).sum();
        let needed = pages + MAX_THREADS.div_ceil(restart::THREADS_PER_STEP) as u64 + 1;
        let turns = if card.load_length == 0 { 0 } else { 1 + card.load_length / restart::PAUSE };
        let possible = turns * restart::STEPS * partition.start_frame;
        if needed > possible {
            let component = parts.components[number].name.clone();
            return Err(ImageError::Late { component, needed, possible, frames: partition.start_frame });
        }
    }
    Ok(())
}
