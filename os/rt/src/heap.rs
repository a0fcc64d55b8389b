//! The component's heap, for set-up: given out in order, never taken back. The feature `heap-for-set-up` makes it the allocator of `alloc`.

use crate::service::info;
use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_abi::layout::HEAP;

struct Bump {
    used: AtomicU64,
}

#[cfg_attr(all(feature = "heap-for-set-up", any(target_os = "none", floating_point)), global_allocator)]
static HEAP_MEMORY: Bump = Bump { used: AtomicU64::new(0) };

impl Bump {
    /// Where so many bytes begin that are nobody's yet, aligned so; none if there are too few.
    fn take(&self, bytes: u64, align: u64) -> Option<u64> {
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let start = used.next_multiple_of(align);
            let end = start.checked_add(bytes).filter(|&end| end <= info().heap_bytes)?;
            match self.used.compare_exchange_weak(used, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(HEAP + start),
                Err(now) => used = now,
            }
        }
    }
}

// SAFETY: each byte of the heap is given out at most once, aligned as asked; the heap is mapped writable into the
// component for its whole life.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.take(layout.size() as u64, layout.align() as u64);
        start.map_or(core::ptr::null_mut(), |start| start as *mut u8)
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

/// In place of how much was given out: all of it, to be touched.
const TOUCHED: u64 = 1 << 62;
/// Bytes that are touched at once: a line of the cache.
const LINE: u64 = 64;

/// The heap of a component that allocates nothing, to be touched line by line.
#[derive(Clone, Copy, Debug)]
pub struct Lines(u64);

impl Lines {
    /// As many lines as the component's jobs are to touch; none where some of the heap was allocated.
    #[inline(always)]
    pub fn of_jobs() -> Lines {
        let info = info();
        match HEAP_MEMORY.used.compare_exchange(0, TOUCHED, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) | Err(TOUCHED) => Lines(info.touch_bytes.min(info.heap_bytes) / LINE),
            Err(_) => Lines(0),
        }
    }

    /// How many there are.
    #[inline(always)]
    pub const fn count(self) -> u64 {
        self.0
    }

    /// Reads and writes the line with this number; nothing if there is none.
    #[inline(always)]
    pub fn touch(self, line: u64) {
        if line < self.0 {
            // SAFETY: a line of the heap, of which nothing was given out and nothing will be.
            unsafe {
                let word = (HEAP + line * LINE) as *mut u64;
                word.write_volatile(word.read_volatile().wrapping_add(1));
            }
        }
    }
}
