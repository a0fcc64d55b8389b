//! Nothing is allocated after set-up.
#![cfg(not(any(loom, shuttle)))]

use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use tactus_compared_structures::directory::{
    Cpudl, Cpupri, CpupriLinux, Delegation, Directory, FastHeap, FlatCombining, LockedHeap, LockedRow, Marks, Scan,
    SkipList, Tournament,
};
use tactus_compared_structures::queue::{
    BinaryHeap, Bitmap, Calendar, Entry, PairingHeap, PlainHeap, ReadyQueue, RedBlackTree,
};
use tactus_compared_structures::Cores;
use tactus_sync::Order;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations are those of all threads, and the one that started the test may not be at rest yet. A structure that allocates
/// does so each time.
fn quiet(name: &str, allocations: impl FnMut() -> usize) {
    assert_eq!(std::iter::repeat_with(allocations).take(3).min(), Some(0), "{name}");
}

fn queue<Q: ReadyQueue>() {
    quiet(Q::NAME, use_queue::<Q>);
}

fn use_queue<Q: ReadyQueue>() -> usize {
    let mut queue = Q::with_room(100);
    let region = Region::new(ALLOCATOR);
    for n in 0..3_000_u64 {
        queue.insert(Entry { urgency: n * 7_919 % 4_001, task: (n * 31 % 100) as u32 });
        if n % 3 == 0 {
            queue.pop();
        }
        if n % 5 == 0 {
            queue.remove((n * 17 % 100) as u32);
        }
    }
    region.change().allocations
}

fn directory<D: Directory>() {
    quiet(D::NAME, use_directory::<D>);
}

fn use_directory<D: Directory>() -> usize {
    let mut order = Order::unlocked();
    let directory = D::init(16);
    let region = Region::new(ALLOCATOR);
    for n in 0..3_000_u64 {
        directory.preempt(0, &mut order, (n * 7 % 16) as usize, n * 7_919 % 101);
        directory.finish(0, &mut order, (n * 5 % 16) as usize, n * 31 % 101);
        directory.find(0, &mut order, 3, Cores::ALL);
    }
    region.change().allocations
}

#[test]
fn no_structure_allocates_once_it_is_set_up() {
    queue::<BinaryHeap>();
    queue::<PairingHeap>();
    queue::<PlainHeap>();
    queue::<RedBlackTree>();
    queue::<Bitmap>();
    queue::<Calendar>();
    directory::<Scan>();
    directory::<Cpupri>();
    directory::<CpupriLinux>();
    directory::<LockedRow>();
    directory::<LockedHeap>();
    directory::<Cpudl>();
    directory::<FastHeap>();
    directory::<SkipList>();
    directory::<FlatCombining>();
    directory::<Delegation>();
    directory::<Tournament>();
    directory::<Marks>();
}
