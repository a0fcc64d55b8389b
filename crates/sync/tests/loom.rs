//! The lock under loom: every interleaving that the memory model allows, up to loom's bound. Two
//! threads each: with two waiters, loom's scheduler can go back and forth between them for ever and starve the holder.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p tactus-sync --release --test loom`
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use tactus_sync::facade::{AtomicU64, Ordering};
use tactus_sync::{
    HelpedLines, Lock, MessageQueue, MessageRing, MessageSlots, Order, Piece, Port, Rank, SliceLimits, TripleBuffer,
    HEADER_WORDS, SLOT_HEADER_WORDS,
};

struct Outer;
impl Rank for Outer {
    const NUMBER: u32 = 2;
}
struct Inner;
impl Rank for Inner {
    const NUMBER: u32 = 1;
}

/// Loom's cell itself reports two guards at once; the sums show that no update and no unlock is lost.
#[test]
fn two_cores_exclude_each_other_and_lose_no_unlock() {
    loom::model(|| {
        let lock = Arc::new(Lock::<u32, Outer>::new(0));
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                let mut order = Order::unlocked();
                *lock.lock(&mut order) += 1;
            })
        };
        let mut order = Order::unlocked();
        *lock.lock(&mut order) += 1;
        if let Some(mut held) = lock.try_lock(&mut order) {
            *held += 10;
        }
        other.join().unwrap();
        let sum = *lock.lock(&mut order);
        assert!(sum == 2 || sum == 12, "{sum}");
    });
}

/// The same with two rounds each, cut off at a number of preemptions that ends in seconds.
#[test]
fn two_cores_that_come_back_exclude_each_other() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let lock = Arc::new(Lock::<u32, Outer>::new(0));
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                let mut order = Order::unlocked();
                *lock.lock(&mut order) += 1;
                *lock.lock(&mut order) += 1;
            })
        };
        let mut order = Order::unlocked();
        *lock.lock(&mut order) += 1;
        *lock.lock(&mut order) += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(&mut order), 4);
    });
}

#[test]
fn a_lock_within_a_lock_is_released_before_it() {
    loom::model(|| {
        let locks = Arc::new((Lock::<u32, Outer>::new(0), Lock::<u32, Inner>::new(0)));
        let other = {
            let locks = Arc::clone(&locks);
            thread::spawn(move || *locks.1.lock(&mut Order::unlocked()) += 1)
        };
        let mut order = Order::unlocked();
        {
            let mut outer = locks.0.lock(&mut order);
            let (value, order) = outer.parts();
            *value += 1;
            *locks.1.lock(order) += 1;
        }
        other.join().unwrap();
        assert_eq!(*locks.1.lock(&mut order), 2);
        assert_eq!(*locks.0.lock(&mut order), 1);
    });
}

/// Each wants both locks of a row, and names them the other way round.
#[test]
fn two_locks_of_a_row_are_taken_without_deadlock_whichever_is_named_first() {
    loom::model(|| {
        let row = Arc::new([Lock::<u32, Outer>::new(0), Lock::<u32, Outer>::new(0)]);
        let other = {
            let row = Arc::clone(&row);
            thread::spawn(move || {
                let mut order = Order::unlocked();
                let (mut second, mut first) = tactus_sync::lock_two(&row[..], 1, 0, &mut order);
                *second += 1;
                *first += 1;
            })
        };
        let mut order = Order::unlocked();
        {
            let (mut first, mut second) = tactus_sync::lock_two(&row[..], 0, 1, &mut order);
            *first += 1;
            *second += 1;
        }
        other.join().unwrap();
        let mut sum = 0;
        tactus_sync::lock_all(&row[..], &mut order, |guard| sum += *guard);
        assert_eq!(sum, 4);
    });
}

/// The checker must look at every order of the accesses that the facade makes known to it, also where a thread reads
/// before it writes.
#[test]
fn a_read_before_a_write_hides_no_order_from_the_checker() {
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use tactus_sync::facade::AtomicU32;
    let seen = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let collect = seen.clone();
    loom::model(move || {
        let shared = Arc::new(AtomicU32::new(0));
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.load(Ordering::Relaxed);
                shared.store(1, Ordering::Relaxed);
            })
        };
        collect.lock().unwrap().insert(shared.load(Ordering::Relaxed));
        other.join().unwrap();
    });
    assert_eq!(seen.lock().unwrap().iter().copied().collect::<Vec<_>>(), [0, 1]);
}

/// A reader sees whole messages, each newer than the one before; all orders.
#[test]
fn the_newest_message_is_read_whole() {
    loom::model(|| {
        let newest = Arc::new(TripleBuffer::<2>::new());
        let writer = {
            let newest = Arc::clone(&newest);
            thread::spawn(move || (1..=3).for_each(|n| newest.write(&[n, n])))
        };
        let mut last = 0;
        for _ in 0..2 {
            if let Some([one, other]) = newest.read() {
                assert!(one == other && one > last);
                last = one;
            }
        }
        writer.join().unwrap();
        assert!(last == 3 || newest.read() == Some([3, 3]));
    });
}

/// MessageRing come whole, in order, and none is lost where one has to wait for room; up to three preemptions.
#[test]
fn letters_come_whole_and_in_order() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let letters = Arc::new(MessageRing::<2, 2>::new());
        let sender = {
            let letters = Arc::clone(&letters);
            thread::spawn(move || (1..=3).filter(|n| letters.send(&[*n, *n])).collect::<Vec<_>>())
        };
        let mut got = Vec::new();
        got.extend(letters.receive());
        got.extend(letters.receive());
        let sent = sender.join().unwrap();
        got.extend(std::iter::from_fn(|| letters.receive()));
        assert_eq!(got, sent.iter().map(|n| [*n, *n]).collect::<Vec<_>>());
        assert!(sent.len() >= 2);
    });
}

/// Monitors whose events happen on several cores: an event takes its place in the group's order, moves the states and is recorded, all
/// while its core has the group's lock, as `os/kernel/src/monitor` does. Stepping the recorded events again, in the order of
/// their places, comes to the same state; and each core waits for one step of the other at most before its own.
#[test]
fn events_of_a_group_have_one_order_and_its_replay_comes_to_the_same_state() {
    /// The table of `always (a -> next (not b unless c))`, as bytes: states 0, 1 and the violation.
    const NEXT: [[u8; 3]; 3] = [[1, 0, 0], [1, 2, 0], [2, 2, 2]];
    #[derive(Default)]
    struct Group {
        events: u32,
        state: u8,
        record: [Option<(u32, usize)>; 4],
    }
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let group = Arc::new(Lock::<Group, Outer>::new(Group::default()));
        let happens = |group: &Lock<Group, Outer>, event: usize| {
            let mut order = Order::unlocked();
            let mut held = group.lock(&mut order);
            let place = held.events;
            held.events += 1;
            held.state = NEXT[usize::from(held.state)][event];
            held.record[place as usize] = Some((place, event));
        };
        let other = {
            let group = Arc::clone(&group);
            thread::spawn(move || [1, 2].into_iter().for_each(|event| happens(&group, event)))
        };
        [0, 1].into_iter().for_each(|event| happens(&group, event));
        other.join().unwrap();
        let mut order = Order::unlocked();
        let held = group.lock(&mut order);
        let again = held.record.iter().enumerate().fold(0, |state, (place, recorded)| {
            let (taken, event) = recorded.expect("no place is left out");
            assert_eq!(taken as usize, place);
            NEXT[usize::from(state)][event]
        });
        assert_eq!((held.events, held.state), (4, again));
    });
}

/// Lines of two writers, of which one has begun its line and writes another one afterwards: each comes whole and once, and none is
/// missing when its writer goes on; up to two preemptions.
#[test]
fn a_line_that_others_help_to_write_comes_whole_and_once() {
    struct Taken(loom::sync::Mutex<Vec<u8>>, std::sync::atomic::AtomicU64);
    impl Port for Taken {
        fn taken(&self) -> Option<u64> {
            let _taken = self.0.lock().unwrap();
            Some(self.1.load(std::sync::atomic::Ordering::Relaxed))
        }
        fn offer(&self, number: u64, piece: Piece) -> Option<u64> {
            let mut taken = self.0.lock().unwrap();
            let before = self.1.load(std::sync::atomic::Ordering::Relaxed);
            if before != number {
                return Some(before);
            }
            let bytes = piece.words.iter().flat_map(|word| word.to_le_bytes());
            taken.extend(bytes.take(piece.bytes as usize));
            self.1.store(before + 1, std::sync::atomic::Ordering::Relaxed);
            Some(before + 1)
        }
    }
    struct Closed;
    impl Port for Closed {
        fn taken(&self) -> Option<u64> {
            None
        }
        fn offer(&self, _: u64, _: Piece) -> Option<u64> {
            None
        }
    }
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 10_000;
    builder.check(|| {
        let lines = HelpedLines::<2, 5>::new();
        // One that takes one piece, and one that takes two, as the other writer's second.
        assert!(lines.push(0, b'a') && !lines.write(0, &Closed));
        (0..34).for_each(|_| assert!(lines.push(1, b'b')));
        let all = Arc::new((lines, Taken(loom::sync::Mutex::new(Vec::new()), 0.into())));
        let first = {
            let all = Arc::clone(&all);
            thread::spawn(move || {
                assert!(all.0.finish(0, &all.1));
                (0..34).for_each(|_| assert!(all.0.push(0, b'c')));
                assert!(all.0.write(0, &all.1));
                assert_eq!(all.1 .0.lock().unwrap().iter().filter(|it| **it == b'c').count(), 34);
            })
        };
        assert!(all.0.write(1, &all.1));
        assert_eq!(all.1 .0.lock().unwrap().iter().filter(|it| **it == b'b').count(), 34);
        first.join().unwrap();
        let taken = all.1 .0.lock().unwrap();
        let mut lines: Vec<(u8, usize)> = taken.chunk_by(|a, b| a == b).map(|it| (it[0], it.len())).collect();
        lines.sort_unstable();
        assert_eq!(lines, [(b'a', 1), (b'b', 34), (b'c', 34)]);
    });
}

/// A core tells that slices are long until what was to be noticed first, while another one gets something to notice before: threads are never
/// told last that slices are long beyond that. All orders.
#[test]
fn slices_are_never_long_beyond_what_a_core_has_noted_meanwhile() {
    /// What is to be noticed on the other core, before and in the end; with a margin of 10.
    const LIMITS: [u64; 2] = [200, 100];
    loom::model(|| {
        let limits = Arc::new((SliceLimits::<2>::new(), AtomicU64::new(1)));
        limits.0.note(0, u64::MAX, &limits.1);
        limits.0.note(1, LIMITS[0], &limits.1);
        let other = {
            let limits = Arc::clone(&limits);
            thread::spawn(move || limits.0.note(1, LIMITS[1], &limits.1))
        };
        limits.0.tell_long(2, 10, &limits.1);
        other.join().unwrap();
        let told = limits.1.load(Ordering::SeqCst);
        assert!(told <= LIMITS[1], "{told}");
    });
}

/// The same where the other core is called.
#[test]
fn slices_are_never_long_while_a_core_is_called() {
    loom::model(|| {
        let limits = Arc::new((SliceLimits::<2>::new(), AtomicU64::new(1)));
        (0..2).for_each(|core| limits.0.note(core, 200, &limits.1));
        let other = {
            let limits = Arc::clone(&limits);
            thread::spawn(move || limits.0.call(1, &limits.1))
        };
        limits.0.tell_long(2, 10, &limits.1);
        other.join().unwrap();
        assert_eq!(limits.1.load(Ordering::SeqCst), 1);
    });
}

/// The memory of a queue of messages of 16 bytes: what its source writes, and what its destination writes.
struct Pages {
    written: Vec<AtomicU64>,
    taken: Vec<AtomicU64>,
    depth: u32,
}

impl Pages {
    fn new(depth: u32) -> Arc<Pages> {
        let words = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Pages {
            written: words(HEADER_WORDS + depth as usize * (SLOT_HEADER_WORDS + 2)),
            taken: words(2),
            depth,
        })
    }

    fn queue(&self) -> MessageQueue<'_> {
        let slots = MessageSlots { words: &self.written, slot: SLOT_HEADER_WORDS + 2, size: 16 };
        MessageQueue { slots, taken: &self.taken, depth: self.depth }
    }

    fn send(&self, n: u64) -> bool {
        self.queue().send(|| n, ([], &[n.to_le_bytes(), n.to_le_bytes()].concat()))
    }

    /// The message that was taken, of which both halves say the same.
    fn take(&self) -> Option<u64> {
        let mut message = [0; 16];
        let length = self.queue().take(&mut [], &mut message).expect("a message that is whole")?;
        assert_eq!((length, &message[..8]), (16, &message[8..]));
        Some(u64::from_le_bytes(message[..8].try_into().unwrap()))
    }
}

/// Messages of a channel, or of a mailbox between two kernels: all that were sent are taken, whole, in their order, and once; those without room are
/// counted, and there is room again once one was taken. A slot is written again while the one before is taken.
#[test]
fn messages_of_a_queue_are_taken_whole_in_their_order_and_once() {
    for depth in [1, 2] {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let pages = Pages::new(depth);
            let source = {
                let pages = Arc::clone(&pages);
                thread::spawn(move || (1..=3).filter(|n| pages.send(*n)).collect::<Vec<_>>())
            };
            let mut taken: Vec<u64> = (0..3).filter_map(|_| pages.take()).collect();
            let sent = source.join().unwrap();
            taken.extend(std::iter::from_fn(|| pages.take()));
            assert_eq!(taken, sent);
            assert!(sent.len() >= depth as usize);
            assert_eq!(pages.queue().refused_and_unsound(), [3 - sent.len() as u64, 0]);
            assert!(pages.send(4) && pages.take() == Some(4));
        });
    }
}

/// A source that writes what it likes, at any time, is told from one that sends: what is taken is no longer than a message, and the destination's
/// own counts alone change.
#[test]
fn a_source_that_writes_rubbish_gets_its_destination_to_nothing_but_counting_it() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let pages = Pages::new(1);
        assert!(pages.send(1));
        let source = {
            let pages = Arc::clone(&pages);
            thread::spawn(move || {
                let first = HEADER_WORDS;
                pages.written[first + 2].store(u64::MAX, Ordering::Relaxed);
                pages.written[first].store(2, Ordering::Release);
                pages.written[0].store(2, Ordering::Release);
            })
        };
        let mut whole = 0;
        for _ in 0..2 {
            let mut message = [0; 16];
            match pages.queue().take(&mut [], &mut message) {
                Ok(Some(length)) => {
                    assert!(length <= 16);
                    whole += 1;
                }
                Ok(None) | Err(_) => {}
            }
        }
        source.join().unwrap();
        let [_, unsound] = pages.queue().refused_and_unsound();
        assert!(whole + unsound <= 2 && whole <= 1, "{whole} {unsound}");
        // Whatever it did, an honest source comes through after one look.
        let _ = pages.queue().waiting_and_taken();
        pages.written[0].store(pages.queue().waiting_and_taken().1, Ordering::Release);
        assert!(pages.send(9));
        assert_eq!(pages.take(), Some(9));
    });
}
