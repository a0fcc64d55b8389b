//! The memory that a device reads and writes: given out in order, taken back all at once. Its first page holds its own physical
//! address, which the kernel wrote; then come the driver's buffers, then what the rings take.

use super::configuration::Configuration;
use crate::calls;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::layout::PAGE;
use tactus_abi::shared::DeviceCard;
use virtio_drivers::{BufferDirection, Hal, PhysAddr};

/// Where the driver sees the memory, its length, and how much of it was given out.
static BASE: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static USED: AtomicU64 = AtomicU64::new(0);
/// Physical address of that memory and of the card's own.
static PHYSICAL: AtomicU64 = AtomicU64::new(0);
static REGISTERS: AtomicU64 = AtomicU64::new(0);
/// Where the driver sees the card's own.
static WINDOW: AtomicU64 = AtomicU64::new(0);
/// What is kept for buffers.
static BUFFERS: AtomicU64 = AtomicU64::new(0);

/// Learns where everything is. Once, before anything else.
pub(super) fn begin(card: &'static DeviceCard, buffers: usize) {
    BASE.store(card.dma, Relaxed);
    BYTES.store(card.dma_bytes, Relaxed);
    BUFFERS.store(buffers as u64, Relaxed);
    USED.store(PAGE + (buffers as u64).next_multiple_of(PAGE), Relaxed);
    if USED.load(Relaxed) > card.dma_bytes {
        calls::give_up();
    }
    // SAFETY: the memory is the component's, at least a page, and begins with its physical address.
    PHYSICAL.store(unsafe { (card.dma as *const u64).read_volatile() }, Relaxed);
    REGISTERS.store(Configuration::new(card).physical(), Relaxed);
    WINDOW.store(card.address, Relaxed);
}

/// Takes back what the rings took.
///
/// # Safety
/// The device must have been reset and its driver dropped.
pub(super) unsafe fn rewind() {
    USED.store(PAGE + BUFFERS.load(Relaxed).next_multiple_of(PAGE), Relaxed);
}

/// One of the driver's buffers. The caller uses each by turns with the card.
pub(super) fn buffer(number: usize, bytes: usize) -> Option<&'static mut [u8]> {
    let offset = (number * bytes) as u64;
    if offset + bytes as u64 > BUFFERS.load(Relaxed) {
        return None;
    }
    let at = (BASE.load(Relaxed) + PAGE + offset) as *mut u8;
    // SAFETY: inside the memory, kept for buffers; the one caller drops a slice before it asks for the same one again.
    Some(unsafe { core::slice::from_raw_parts_mut(at, bytes) })
}

/// See above.
pub struct Memory;

// SAFETY: addresses that are given out are inside the memory that the image keeps for the device, each once; translations are
// those of the kernel and of the card's own registers.
unsafe impl Hal for Memory {
    fn dma_alloc(pages: usize, _: BufferDirection) -> (PhysAddr, NonNull<u8>) {
        let bytes = pages as u64 * PAGE;
        let at = USED.fetch_add(bytes, Relaxed);
        if at + bytes > BYTES.load(Relaxed) {
            calls::give_up();
        }
        let Some(pointer) = NonNull::new((BASE.load(Relaxed) + at) as *mut u8) else { calls::give_up() };
        // SAFETY: inside the memory, given to nobody else; rings begin with zeros, and these pages may have had others before.
        unsafe { pointer.write_bytes(0, bytes as usize) };
        (PHYSICAL.load(Relaxed) + at, pointer)
    }

    unsafe fn dma_dealloc(_: PhysAddr, _: NonNull<u8>, _: usize) -> i32 {
        0
    }

    unsafe fn mmio_phys_to_virt(physical: PhysAddr, _: usize) -> NonNull<u8> {
        let at = WINDOW.load(Relaxed) + physical.wrapping_sub(REGISTERS.load(Relaxed));
        NonNull::new(at as *mut u8).unwrap_or_else(|| calls::give_up())
    }

    unsafe fn share(buffer: NonNull<[u8]>, _: BufferDirection) -> PhysAddr {
        let offset = (buffer.as_ptr().cast::<u8>() as u64).wrapping_sub(BASE.load(Relaxed));
        if offset.saturating_add(buffer.len() as u64) > BYTES.load(Relaxed) {
            // Only what lies in the memory can be shared with the card.
            calls::give_up();
        }
        PHYSICAL.load(Relaxed) + offset
    }

    unsafe fn unshare(_: PhysAddr, _: NonNull<[u8]>, _: BufferDirection) {}
}
