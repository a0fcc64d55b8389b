//! One who writes what he likes into his piece of a queue's memory: the other end gives back no more than a message, comes to an end, changes
//! nothing but its own piece, and an honest one is heard again at once.
#![cfg(not(loom))]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Instant;
use tactus_sync::{MessageQueue, MessageSlots, Untaken, HEADER_WORDS, SLOT_HEADER_WORDS};

/// Xorshift.
struct Drawn(u64);

impl Drawn {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// A word that a lie would hold: anything, or near what is right.
    fn lie(&mut self, right: u64) -> u64 {
        match self.below(8) {
            0 => self.next(),
            1 => 0,
            2 => u64::MAX - self.below(3),
            3 => 1 << self.below(64),
            4 => right.wrapping_sub(1 + self.below(9)),
            5 => right.wrapping_add(1 + self.below(9)),
            _ => right,
        }
    }
}

/// A queue's memory.
struct Pages {
    written: Vec<AtomicU64>,
    taken: Vec<AtomicU64>,
    slot: usize,
    size: u32,
    depth: u32,
}

impl Pages {
    fn new(size: u32, depth: u32) -> Pages {
        let words = |count: usize| (0..count).map(|_| AtomicU64::new(0)).collect();
        let slot = SLOT_HEADER_WORDS + size.div_ceil(8) as usize;
        Pages { written: words(HEADER_WORDS + depth as usize * slot), taken: words(2), slot, size, depth }
    }

    fn queue(&self) -> MessageQueue<'_> {
        let slots = MessageSlots { words: &self.written, slot: self.slot, size: self.size };
        MessageQueue { slots, taken: &self.taken, depth: self.depth }
    }

    /// Everything that a source writes, with counts and slots near those that the destination awaits, so that each way through the queue is met.
    fn source_lies(&self, drawn: &mut Drawn) {
        self.written.iter().for_each(|word| word.store(drawn.next(), Relaxed));
        let taken = self.taken[0].load(Relaxed);
        let waiting = drawn.below(u64::from(self.depth) + 2);
        self.written[0].store(drawn.lie(taken.wrapping_add(waiting)), Relaxed);
        for n in 0..u64::from(self.depth) {
            let number = taken.wrapping_add(n);
            let at = HEADER_WORDS + (number % u64::from(self.depth)) as usize * self.slot;
            self.written[at].store(drawn.lie(number.wrapping_add(1)), Relaxed);
            self.written[at + 2].store(drawn.lie(self.size.into()), Relaxed);
        }
    }
}

fn snapshot(words: &[AtomicU64]) -> Vec<u64> {
    words.iter().map(|word| word.load(Relaxed)).collect()
}

/// What the destination does with what it finds, and an honest source after it.
fn destination_bears<const HEAD: usize>(pages: &Pages, drawn: &mut Drawn) {
    pages.source_lies(drawn);
    let (before, [_, counted]) = (snapshot(&pages.written), pages.queue().refused_and_unsound());
    let (mut ends, mut failed) = (false, 0);
    for _ in 0..=pages.depth {
        let mut message = [0xa5; 80];
        let end = pages.size as usize;
        match pages.queue().take::<HEAD>(&mut [0; HEAD], &mut message[..end]) {
            Ok(None) => {
                ends = true;
                break;
            }
            Ok(Some(length)) => assert!(length + 8 * HEAD <= end),
            Err(Untaken::Unsound) => failed += 1,
            Err(Untaken::TooLong) => panic!("there was memory for the longest message"),
        }
        assert!(message[end..].iter().all(|byte| *byte == 0xa5), "written behind its memory");
    }
    assert!(ends, "more than {} messages waited", pages.depth);
    assert_eq!(snapshot(&pages.written), before, "the destination has written what the source writes");
    let [_, unsound] = pages.queue().refused_and_unsound();
    // What was gone is counted once, and whatever was not whole.
    assert!((failed..=failed + 1).contains(&unsound.wrapping_sub(counted)), "{failed} failed, {counted} to {unsound}");
    let mine = drawn.next().to_le_bytes();
    let mine = &mine[..(pages.size as usize - 8 * HEAD).min(8)];
    assert!(pages.queue().send(|| 0, ([7; HEAD], mine)), "no room behind what was lied");
    let (mut head, mut message) = ([0; HEAD], [0; 80]);
    let length = pages.queue().take(&mut head, &mut message).expect("a whole message").expect("a message");
    assert_eq!((head, &message[..length]), ([7; HEAD], mine));
}

/// What a source bears of its destination, and that there is room again when an honest one has looked.
fn source_bears(pages: &Pages, drawn: &mut Drawn) {
    let sent = pages.queue().waiting_and_sent().1;
    let told = drawn.below(2 * u64::from(pages.depth));
    pages.taken[0].store(drawn.lie(sent.wrapping_sub(told)), Relaxed);
    pages.taken[1].store(drawn.next(), Relaxed);
    let (before, [refused, _]) = (snapshot(&pages.taken), pages.queue().refused_and_unsound());
    let tries = u64::from(pages.depth) + 2;
    let sent = (0..tries).filter(|_| pages.queue().send(|| 0, ([], &[1]))).count() as u64;
    assert!(sent <= u64::from(pages.depth), "{sent} sent without a look of the destination");
    assert_eq!(pages.queue().refused_and_unsound()[0].wrapping_sub(refused), tries - sent);
    assert_eq!(snapshot(&pages.taken), before, "the source has written what the destination writes");
    for _ in 0..=pages.depth {
        let _ = pages.queue().take(&mut [], &mut [0; 80]);
    }
    assert!(pages.queue().send(|| 0, ([], &[1])), "no room when an honest destination has looked");
    let _ = pages.queue().take(&mut [], &mut [0; 80]);
}

#[test]
fn a_million_contents_of_a_lying_ends_memory_are_borne_by_the_other() {
    let mut drawn = Drawn(0x9e37_79b9_7f4a_7c15);
    for n in 0..20_000_u64 {
        let pages = Pages::new(1 + drawn.below(72) as u32, 1 + drawn.below(6) as u32);
        let with_head = Pages::new(8 + drawn.below(64) as u32, 1 + drawn.below(6) as u32);
        for _ in 0..50 {
            match (drawn.below(3), n % 2) {
                (0, _) => source_bears(&pages, &mut drawn),
                (_, 0) => destination_bears::<0>(&pages, &mut drawn),
                _ => destination_bears::<1>(&with_head, &mut drawn),
            }
        }
    }
}

/// A source that changes its memory all the time: what is read twice differs.
#[test]
fn memory_that_changes_while_it_is_read_is_borne() {
    let pages = Pages::new(24, 3);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut drawn = Drawn(0x2545_f491_4f6c_dd1d);
            while !over.load(Relaxed) {
                pages.source_lies(&mut drawn);
            }
        });
        let (mut whole, mut failed, begin) = (0_u64, 0_u64, Instant::now());
        // Of each enough: the two may share a core.
        while (whole < 100 || failed < 100) && begin.elapsed().as_secs() < 60 {
            let mut message = [0xa5; 32];
            match pages.queue().take(&mut [], &mut message[..24]) {
                Ok(None) => {}
                Ok(Some(length)) => {
                    assert!(length <= 24);
                    whole += 1;
                }
                Err(why) => {
                    assert_eq!(why, Untaken::Unsound);
                    failed += 1;
                }
            }
            assert_eq!(message[24..], [0xa5; 8]);
        }
        over.store(true, Relaxed);
        assert!(whole >= 100 && failed >= 100, "{whole} whole, {failed} not");
    });
}
