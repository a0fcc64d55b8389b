//! The component's heap: memory is taken and given back in bounded time (two-level segregated fit, the crate `rlsf`).
//!
//! No thread waits for another, which may be preempted for long: the heap is in parts, as many as threads can be in the component. A
//! thread takes from the part of its own number, and from the others where that is in use or has too little. Memory goes back to
//! the part that it came from; where that is in use it is left in a list there, for those who use the part next. A job that is killed
//! while it uses a part takes that with it.

use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::mem::size_of;
use core::ptr::{null_mut, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use rlsf::Tlsf;
use tactus_abi::shared::{HeapCard, HEAP_MAGIC};

/// The least part (bytes): fewer threads have one of their own where the heap is smaller.
const LEAST: usize = 4 << 10;
/// How much of what was left in a part's list goes back with each use of the part: more than comes with each.
const RETURNED: usize = 2;
/// States of a part: as at the start, in use, or not.
const UNTOUCHED: u32 = 0;
const TAKEN: u32 = 1;
const FREE: u32 = 2;

/// Sizes up to 32 MiB, in classes of one sixteenth.
type Pool = Tlsf<'static, u32, u16, 20, 16>;

/// Memory that was given back while its part was in use; stands in that memory itself.
struct Returned {
    next: *mut Returned,
    align: usize,
}

/// What stands at the head of each part.
#[repr(C, align(64))]
struct Part {
    state: AtomicU32,
    returned: AtomicPtr<Returned>,
    pool: UnsafeCell<Pool>,
}

/// A heap somewhere in memory.
#[derive(Clone, Copy)]
pub(crate) struct Heap {
    base: *mut u8,
    parts: usize,
    /// From one part to the next (bytes).
    stride: usize,
}

impl Heap {
    /// The heap in this memory, for so many threads.
    ///
    /// # Safety
    /// The memory is aligned to 64 bytes, was zeros before the first use, and belongs to the heap for good.
    pub(crate) unsafe fn new(base: *mut u8, bytes: usize, threads: usize) -> Heap {
        let room = bytes.saturating_sub(size_of::<HeapCard>());
        let parts = threads.clamp(1, (room / LEAST).max(1));
        Heap { base, parts, stride: room / parts / 64 * 64 }
    }

    /// What the heap tells of itself.
    fn card(&self) -> &'static HeapCard {
        // SAFETY: the memory's head, which is all zeros or what was counted in it; atomics.
        unsafe { &*self.base.cast() }
    }

    fn part(&self, number: usize) -> *mut Part {
        self.base.wrapping_add(size_of::<HeapCard>() + number * self.stride).cast()
    }

    /// Uses a part, if nobody else does.
    fn with<R>(&self, number: usize, use_it: impl FnOnce(&mut Pool) -> R) -> Option<R> {
        let part = self.part(number);
        // SAFETY: a part's head, of zeros or as it was left; state and list are atomics, and the pool belongs to who took the part.
        let (state, returned, pool) = unsafe { (&(*part).state, &(*part).returned, &(*part).pool) };
        let seen = state.load(Ordering::Relaxed);
        if seen == TAKEN || state.compare_exchange(seen, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return None;
        }
        // SAFETY: taken above, given up below.
        let pool = unsafe { &mut *pool.get() };
        if seen == UNTOUCHED {
            let head = size_of::<Part>();
            let room = core::ptr::slice_from_raw_parts_mut(part.cast::<u8>().wrapping_add(head), self.stride - head);
            *pool = Pool::new();
            if let Some(room) = NonNull::new(room) {
                // SAFETY: the rest of the part, which is nobody else's.
                unsafe { pool.insert_free_block_ptr(room) };
            }
        }
        for _ in 0..RETURNED {
            let Some(block) = NonNull::new(returned.load(Ordering::Acquire)) else { break };
            // SAFETY: memory of this part that was given back and left in the list, from which only the part's user takes.
            unsafe {
                let Returned { next, align } = block.read();
                if returned.compare_exchange(block.as_ptr(), next, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    pool.deallocate(block.cast(), align);
                }
            }
        }
        let result = use_it(pool);
        state.store(FREE, Ordering::Release);
        Some(result)
    }

    /// Takes memory; null if there is none. `own`: the number of the calling thread.
    pub(crate) fn allocate(&self, own: usize, layout: Layout) -> *mut u8 {
        let card = self.card();
        // Who finds a part in use comes back to it once: its user may have been on another core.
        for turn in 0..2 * self.parts {
            let number = (own + turn) % self.parts;
            if let Some(Some(block)) = self.with(number, |pool| pool.allocate(layout)) {
                card.magic.store(HEAP_MAGIC, Ordering::Relaxed);
                card.allocations.fetch_add(1, Ordering::Relaxed);
                let used = card.used.fetch_add(layout.size() as u64, Ordering::Relaxed) + layout.size() as u64;
                card.most.fetch_max(used, Ordering::Relaxed);
                return block.as_ptr();
            }
        }
        card.magic.store(HEAP_MAGIC, Ordering::Relaxed);
        card.refused.fetch_add(1, Ordering::Relaxed);
        null_mut()
    }

    /// Gives memory back.
    ///
    /// # Safety
    /// It was taken here with this layout, and is used no more.
    pub(crate) unsafe fn deallocate(&self, block: *mut u8, layout: Layout) {
        let Some(it) = NonNull::new(block) else { return };
        self.card().used.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        let number = (block as usize - self.base as usize - size_of::<HeapCard>()) / self.stride;
        // SAFETY: promised by the caller.
        if self.with(number, |pool| unsafe { pool.deallocate(it, layout.align()) }).is_some() {
            return;
        }
        // SAFETY: a block has room for two words, aligned as words; it is the caller's until it is in the list.
        unsafe {
            let returned = &(*self.part(number)).returned;
            let node = block.cast::<Returned>();
            let mut next = returned.load(Ordering::Relaxed);
            loop {
                node.write(Returned { next, align: layout.align() });
                match returned.compare_exchange_weak(next, node, Ordering::AcqRel, Ordering::Relaxed) {
                    Ok(_) => return,
                    Err(now) => next = now,
                }
            }
        }
    }
}

/// Heaps side by side in one memory, all of the same length: one for each colour of a component, or one alone.
#[derive(Clone, Copy)]
pub(crate) struct Heaps {
    base: *mut u8,
    count: usize,
    /// Length of each (bytes).
    each: usize,
    threads: usize,
}

impl Heaps {
    /// So many heaps in this memory, for so many threads.
    ///
    /// # Safety
    /// As for [`Heap::new`].
    pub(crate) unsafe fn new(base: *mut u8, bytes: usize, count: usize, threads: usize) -> Heaps {
        let count = count.max(1);
        Heaps { base, count, each: bytes / count / 64 * 64, threads }
    }

    /// How many there are.
    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    fn at(&self, number: usize) -> Heap {
        // SAFETY: a part of the memory that `new` was given, of which only this heap knows.
        unsafe { Heap::new(self.base.wrapping_add(number * self.each), self.each, self.threads) }
    }

    /// The heap that this thread's memory comes from, where nobody chooses: its own number modulo theirs.
    pub(crate) const fn of_thread(&self, own: usize) -> usize {
        own % self.count
    }

    /// The heap that memory at this address came from.
    pub(crate) fn of(&self, block: *const u8) -> usize {
        (block as usize - self.base as usize) / self.each
    }

    /// Takes memory from the heap with this number; null if there is none. `own`: the number of the calling thread.
    pub(crate) fn allocate(&self, number: usize, own: usize, layout: Layout) -> *mut u8 {
        if number < self.count {
            self.at(number).allocate(own, layout)
        } else {
            null_mut()
        }
    }
}

/// What it is where components run: the allocator of `alloc`.
#[cfg(any(target_os = "none", floating_point))]
pub(crate) mod global {
    use super::{Heap, Heaps};
    use crate::service::info;
    use core::alloc::{GlobalAlloc, Layout};
    use tactus_abi::layout::{HEAP, STACKS, STACK_STRIDE};

    struct Global;

    #[global_allocator]
    static GLOBAL: Global = Global;

    /// The component's heaps.
    pub(crate) fn heaps() -> Heaps {
        let (bytes, parts, threads) = (info().heap_bytes, info().heap_parts, info().threads);
        // SAFETY: mapped writable into the component for its whole life, of zeros, for this and nothing else.
        unsafe { Heaps::new(HEAP as *mut u8, bytes as usize, parts as usize, threads as usize) }
    }

    /// The one of the component's heaps that is chosen; there is no choice where there is one alone.
    #[inline(always)]
    fn heap(choose: impl FnOnce(&Heaps) -> usize) -> Heap {
        if info().heap_parts > 1 {
            let heaps = heaps();
            return heaps.at(choose(&heaps));
        }
        // SAFETY: as in `heaps`.
        unsafe { Heap::new(HEAP as *mut u8, info().heap_bytes as usize, info().threads as usize) }
    }

    /// The number of the calling thread, by where its stack is.
    pub(crate) fn thread() -> usize {
        let here = 0_u8;
        ((&raw const here as u64).wrapping_sub(STACKS) / STACK_STRIDE) as usize
    }

    // SAFETY: what `Heap` gives out is its own memory, aligned as asked, and nobody else's until it comes back.
    unsafe impl GlobalAlloc for Global {
        /// # Safety
        /// As the trait demands.
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            let own = thread();
            heap(|heaps| heaps.of_thread(own)).allocate(own, layout)
        }

        /// # Safety
        /// As the trait demands: a block that was given out, with its layout.
        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: promised by the caller.
            unsafe { heap(|heaps| heaps.of(block)).deallocate(block, layout) }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[repr(C, align(64))]
    struct Memory([u8; 64 << 10]);

    fn heap(threads: usize) -> (std::boxed::Box<Memory>, Heap) {
        let mut memory = std::boxed::Box::new(Memory([0; 64 << 10]));
        // SAFETY: aligned, zeros, and kept as long as the heap is used.
        let heap = unsafe { Heap::new(memory.0.as_mut_ptr(), memory.0.len(), threads) };
        (memory, heap)
    }

    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 8).expect("small")
    }

    /// Numbers that look random.
    fn next(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    /// Takes and gives back at random; what lies in each block is the block's alone.
    fn exercise(heap: Heap, own: usize, rounds: usize) {
        let mut state = 0x9e37_79b9_7f4a_7c15 ^ own as u64;
        let mut held: Vec<(*mut u8, Layout, u8)> = Vec::new();
        for _ in 0..rounds {
            let draw = next(&mut state);
            if draw & 1 == 0 || held.is_empty() {
                let layout =
                    Layout::from_size_align(1 + (draw >> 8) as usize % 700, 1 << (draw >> 32 & 7)).expect("small");
                let block = heap.allocate(own, layout);
                if block.is_null() {
                    continue;
                }
                assert_eq!(block as usize % layout.align(), 0);
                // SAFETY: just taken.
                unsafe { block.write_bytes(draw as u8, layout.size()) };
                held.push((block, layout, draw as u8));
            } else {
                let (block, layout, byte) = held.swap_remove((draw >> 8) as usize % held.len());
                // SAFETY: taken above, given back once.
                unsafe {
                    assert!((0..layout.size()).all(|at| block.add(at).read() == byte));
                    heap.deallocate(block, layout);
                }
            }
        }
        for (block, layout, _) in held {
            // SAFETY: as above.
            unsafe { heap.deallocate(block, layout) };
        }
    }

    #[test]
    fn a_block_is_its_takers_alone_and_all_comes_back() {
        let (_memory, heap) = heap(1);
        exercise(heap, 0, 20_000);
        assert_eq!(heap.card().used.load(Ordering::Relaxed), 0);
        let all = heap.allocate(0, layout(55 << 10));
        assert!(!all.is_null(), "what came back is one piece again");
    }

    #[test]
    fn threads_take_and_give_back_at_once() {
        struct Shared(Heap);
        // SAFETY: the heap is made for several threads.
        unsafe impl Sync for Shared {}
        let (_memory, heap) = heap(4);
        let shared = &Shared(heap);
        std::thread::scope(|scope| {
            for own in 0..4 {
                scope.spawn(move || exercise({ shared }.0, own, 20_000));
            }
        });
        assert_eq!(heap.card().used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn nobody_waits_for_a_thread_that_was_interrupted_while_it_used_a_part() {
        let (_memory, heap) = heap(2);
        let block = heap.allocate(0, layout(100));
        let other = heap.with(0, |_| {
            // Here the second thread interrupts the first.
            let other = heap.allocate(1, layout(100));
            // SAFETY: taken above; its part is in use, so it is left in the list.
            unsafe { heap.deallocate(block, layout(100)) };
            let third = heap.allocate(0, layout(100));
            assert!(!other.is_null() && !third.is_null());
            third
        });
        // SAFETY: taken above.
        unsafe { heap.deallocate(other.expect("the part was free"), layout(100)) };
        assert_eq!(heap.card().used.load(Ordering::Relaxed), 100);
        let again = heap.with(0, |pool| pool.allocate(layout(28 << 10)));
        assert!(again.is_some_and(|block| block.is_some()), "what was left in the list came back");
    }

    #[test]
    fn a_block_of_a_colour_lies_in_its_heap_and_goes_back_there() {
        let mut memory = std::boxed::Box::new(Memory([0; 64 << 10]));
        // SAFETY: as in `heap`.
        let heaps = unsafe { Heaps::new(memory.0.as_mut_ptr(), memory.0.len(), 4, 6) };
        assert_eq!([0, 3, 4, 6].map(|own| heaps.of_thread(own)), [0, 3, 0, 2]);
        assert!(heaps.allocate(4, 0, layout(8)).is_null(), "there are four colours");
        let used = |colour| heaps.at(colour).card().used.load(Ordering::Relaxed);
        for colour in 0..4 {
            let block = heaps.allocate(colour, 5, layout(100));
            assert_eq!((heaps.of(block), (block as usize - heaps.base as usize) / (16 << 10)), (colour, colour));
            assert_eq!(used(colour), 100);
            // SAFETY: just taken.
            unsafe { heaps.at(heaps.of(block)).deallocate(block, layout(100)) };
            assert_eq!(used(colour), 0);
        }
        assert!(heaps.allocate(1, 0, layout(16 << 10)).is_null(), "no heap takes from another");
    }

    #[test]
    fn what_is_not_there_is_refused_and_counted() {
        let (_memory, heap) = heap(1);
        assert!(heap.allocate(0, layout(64 << 10)).is_null());
        let mut taken = 0;
        while !heap.allocate(0, layout(1 << 10)).is_null() {
            taken += 1;
        }
        let card = heap.card();
        assert!((50..64).contains(&taken), "{taken} blocks");
        assert_eq!(card.refused.load(Ordering::Relaxed), 2);
        assert_eq!((card.used.load(Ordering::Relaxed), card.most.load(Ordering::Relaxed)), (taken << 10, taken << 10));
    }
}
