//! Memory for set-up: given out in order, never taken back.

use crate::service::info;
use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_abi::layout::HEAP;

struct Bump {
    used: AtomicU64,
}

#[cfg_attr(target_os = "none", global_allocator)]
#[cfg_attr(not(target_os = "none"), allow(dead_code))]
static HEAP_MEMORY: Bump = Bump { used: AtomicU64::new(0) };

// SAFETY: each byte of the heap is given out at most once, aligned as asked; the heap is mapped writable into the
// component for its whole life.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let start = used.next_multiple_of(layout.align() as u64);
            let Some(end) = start.checked_add(layout.size() as u64).filter(|&end| end <= info().heap_bytes) else {
                return core::ptr::null_mut();
            };
            match self.used.compare_exchange_weak(used, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return (HEAP + start) as *mut u8,
                Err(now) => used = now,
            }
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
