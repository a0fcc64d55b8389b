//! What the component is told of others: the components, the buffers that it shares, the devices that it drives.

use crate::service::info;
use tactus_abi::layout::{BUFFERS, COMPONENTS, DEVICE_CARDS, PARTITION, PORT_CARDS};
use tactus_abi::port::{PartitionCard, PortCard, ProcessCard};
use tactus_abi::shared::{name_text, BufferCard, ComponentCard, DeviceCard};

/// All components, by number; none if the system file gives this one no role beside others and nobody to restart.
pub fn components() -> &'static [ComponentCard] {
    // SAFETY: the image builder maps this number of cards there, read-only, never changed.
    unsafe { all(COMPONENTS, info().components) }
}

/// The number of the component with this name.
pub fn component(name: &str) -> Option<u16> {
    components().iter().position(|card| name_text(&card.name) == name).map(|number| number as u16)
}

/// The buffers that this component shares; all buffers, if it manages memory.
pub fn buffers() -> &'static [BufferCard] {
    // SAFETY: as in `components`.
    unsafe { all(BUFFERS, info().buffers) }
}

/// The buffer with this name.
pub fn buffer(name: &str) -> Option<&'static BufferCard> {
    buffers().iter().find(|card| name_text(&card.name) == name)
}

/// The devices that this component drives.
pub fn devices() -> &'static [DeviceCard] {
    // SAFETY: as in `components`.
    unsafe { all(DEVICE_CARDS, info().devices) }
}

/// The ports of this component.
pub fn ports() -> &'static [PortCard] {
    // SAFETY: as in `components`.
    unsafe { all(PORT_CARDS, info().ports) }
}

/// The port with this name.
pub fn port(name: &str) -> Option<&'static PortCard> {
    ports().iter().find(|card| name_text(&card.name) == name)
}

/// The partition of this component; nothing if the system has none.
pub fn partition() -> Option<&'static PartitionCard> {
    // SAFETY: as in `components`; there is one where there are processes.
    (info().processes > 0).then(|| unsafe { &*(PARTITION as *const PartitionCard) })
}

/// The tasks whose jobs run in this component, in the order of the system file; none if the system has no partitions.
pub fn processes() -> &'static [ProcessCard] {
    // SAFETY: as in `components`; they follow the card of the partition.
    unsafe { all(PARTITION + size_of::<PartitionCard>() as u64, info().processes) }
}

/// So many cards from an address on.
///
/// # Safety
/// They must be mapped there; if there are none, the address may be anything.
unsafe fn all<T>(at: u64, count: u32) -> &'static [T] {
    match count {
        0 => &[],
        // SAFETY: promised by the caller; pages are aligned for every card.
        count => unsafe { core::slice::from_raw_parts(at as *const T, count as usize) },
    }
}
