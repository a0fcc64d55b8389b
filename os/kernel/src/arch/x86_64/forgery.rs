//! A kernel that goes on, and writes what it likes into the pages of a mailbox, so that tests see that the other end bears it. Only with the
//! feature `destruction`: who asks for it gives the page, and how the mailbox's slots lie.

use super::destruction::Drawn;
use super::paging::direct;
use super::port::write_msr;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::port::{HEADER_WORDS, SLOT_HEADER_WORDS};
use tactus_abi::sandbox::{MAILBOXES, MAILBOX_PAGES};

const PAGE: u64 = 4096;

/// The first way and the last one.
pub const FIRST: u64 = 31;
pub const LAST: u64 = 55;

/// How often this was called.
static CALLS: AtomicU64 = AtomicU64::new(0);
/// The count that stood there at first.
static FOUND: AtomicU64 = AtomicU64::new(0);

/// A mailbox's page that the kernel writes, by what the test tells: 16 bits each, from bit 8 on, for the page among those of all mailboxes, the words of
/// a slot, and how many there are.
struct Page {
    memory: *mut u64,
    words: usize,
    depth: u64,
}

impl Page {
    fn told(told: u64) -> Page {
        let [page, words, depth] = [8, 24, 40].map(|at| told >> at & 0xffff);
        Page { memory: direct(MAILBOXES + page * PAGE), words: words as usize, depth: depth.max(1) }
    }

    fn get(&self, at: usize) -> u64 {
        // SAFETY: all below 4 GiB is mapped there. What it harms of this kernel is what the test asks for, and the processor holds back the rest.
        unsafe { self.memory.add(at).read_volatile() }
    }

    fn put(&self, at: usize, value: u64) {
        // SAFETY: as above.
        unsafe { self.memory.add(at).write_volatile(value) }
    }

    fn slot(&self, number: u64) -> usize {
        HEADER_WORDS + (number.wrapping_sub(1) % self.depth) as usize * self.words
    }

    /// The longest message (bytes), up to eight.
    fn size(&self) -> u64 {
        8 * (self.words - SLOT_HEADER_WORDS) as u64
    }

    /// A message that nobody sent, with the number that is next.
    fn forge(&self, length: u64, drawn: &mut Drawn) {
        let number = self.get(0).wrapping_add(1);
        let slot = self.slot(number);
        self.put(slot, 0);
        self.put(slot + 1, drawn.next());
        self.put(slot + 2, length);
        for word in SLOT_HEADER_WORDS..self.words {
            self.put(slot + word, drawn.next());
        }
        self.put(slot, number);
        self.put(0, number);
    }

    fn garbage(&self, drawn: &mut Drawn) {
        let all = HEADER_WORDS + self.words * self.depth as usize;
        (0..all).for_each(|at| self.put(at, drawn.next()));
    }
}

/// Does it, at the time and after each decision from then on; storms never come back.
pub fn forge(told: u64, drawn: &mut Drawn) {
    let (page, way, calls) = (Page::told(told), told & 0xff, CALLS.fetch_add(1, Relaxed));
    (0..calls & 0xff).for_each(|_| _ = drawn.next());
    if calls == 0 && way < 53 {
        FOUND.store(page.get(0), Relaxed);
    }
    let (found, near) = (FOUND.load(Relaxed), 1 + drawn.next() % 8);
    match way {
        31 | 47 if calls == 0 => page.put(0, drawn.next()),
        32 | 48 if calls == 0 => page.put(0, found.wrapping_sub(near)),
        33 if calls == 0 => page.put(0, 0),
        34 | 50 if calls == 0 => page.put(0, u64::MAX),
        35 if calls == 0 => page.forge(page.size(), drawn),
        36 if calls == 0 => (0..page.depth).for_each(|_| page.forge(page.size(), drawn)),
        37 if calls == 0 => {
            page.forge(page.size(), drawn);
            page.put(page.slot(page.get(0)), drawn.next());
        }
        38 if calls == 0 => page.forge(u64::MAX - near + 1, drawn),
        39 if calls == 0 => page.forge(page.size() + near, drawn),
        40 if calls == 0 => page.garbage(drawn),
        41 => page.garbage(drawn),
        42 => page.forge(page.size(), drawn),
        43 => page.put(0, if calls % 2 == 0 { drawn.next() } else { found }),
        // Messages without end, each whole.
        44 => loop {
            page.forge(page.size(), drawn);
        },
        // What is read twice differs.
        45 => loop {
            let number = found.wrapping_add(drawn.next() % (page.depth + 2));
            page.put(page.slot(number) + 2, if drawn.next() & 1 == 0 { page.size() } else { drawn.next() });
            page.put(page.slot(number), if drawn.next() & 1 == 0 { number } else { drawn.next() });
            page.put(0, if drawn.next() & 3 == 0 { drawn.next() } else { number });
        },
        46 => loop {
            page.garbage(drawn);
        },
        49 => page.put(0, drawn.next()),
        51 => loop {
            (0..2).for_each(|at| page.put(at, drawn.next()));
        },
        // All that was sent it calls taken.
        52 => page.put(0, found.wrapping_add(calls)),
        // What it may only read, and what is nobody's.
        53 => page.put(0, drawn.next()),
        54 => Page { memory: direct(MAILBOXES + (MAILBOX_PAGES as u64 - 1) * PAGE), ..page }.put(0, 1),
        // Interrupts of all kinds to all cores, and garbage.
        55 => {
            page.garbage(drawn);
            for core in 0..4_u64 {
                let low = drawn.next() & 0xff | 0x4000 | (drawn.next() & 3) << 18;
                // SAFETY: a command that this kernel may not give: the monitor takes it, and the test looks whether it does.
                unsafe { write_msr(0x830, core << 32 | low) }
            }
        }
        _ => {}
    }
}
