//! Whose an access is: the component whose tables its core has loaded, and the thread that it runs, as the kernel tells in the
//! machine's memory ([`tactus_abi::card`]).
//!
//! A core's block says which tables are loaded and which thread runs before the first instruction at user level, so that it is looked at
//! wherever a core begins a block there.

use tactus_abi::card::{word, MAGIC, PLACE};
use tactus_abi::counters::{self, event};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES};

/// Owners: the kernel, components by their number plus one, and what runs at user level before anything is told.
pub const OWNERS: usize = 256;
/// The kernel.
pub const KERNELS: u8 = 0;
/// The component that is the root scheduler.
const SCHEDULER: usize = 0;
/// User level before anything is told, and the last components of a full system.
const UNKNOWN: u8 = 255;

/// Who runs where.
pub struct Owners {
    /// The top table that each core had loaded when it was last looked at.
    loaded: [u64; MAX_CORES],
    owner: [u8; MAX_CORES],
    /// Where the counters of the component are that each core runs, in the emulator; null if it has none.
    counters: [usize; MAX_CORES],
    /// The kernel's address of the thread that each core ran when it was last looked at, and where in the page of counters its words
    /// begin; 0 if it has none there.
    running: [u64; MAX_CORES],
    thread: [usize; MAX_CORES],
    /// Where the root scheduler's are, which count what all others do; null if it has none.
    others: usize,
}

impl Default for Owners {
    fn default() -> Self {
        let none = [0; MAX_CORES];
        Owners {
            loaded: none,
            owner: [UNKNOWN; MAX_CORES],
            counters: none.map(|_| 0),
            running: none,
            thread: none.map(|_| 0),
            others: 0,
        }
    }
}

impl Owners {
    /// Whose the core is at user level.
    pub fn of(&self, core: usize) -> u8 {
        self.owner[core % MAX_CORES]
    }

    /// Looks at what the core has loaded. `memory` is where the guest's lies in the emulator: start and length.
    pub fn look(&mut self, core: usize, memory: (u64, u64)) {
        let core = core % MAX_CORES;
        let card = |at: usize| word_at(memory, PLACE + at as u64 * 8);
        let at_place = |at: usize| card(at + core).and_then(|place| word_at(memory, place)).unwrap_or(0);
        let loaded = at_place(word::LOADED);
        if loaded != self.loaded[core] && card(word::MAGIC) == Some(MAGIC) {
            self.enter(core, loaded, memory);
        }
        if self.counters[core] != 0 {
            let running = at_place(word::RUNNING);
            if running != self.running[core] {
                self.running[core] = running;
                let first = card(word::THREADS).unwrap_or(0);
                let number =
                    running.checked_sub(first).map(|bytes| bytes / card(word::THREAD_BYTES).unwrap_or(1).max(1));
                self.thread[core] = number.map_or(0, |number| words_of(self.counters[core], number));
            }
        }
    }

    /// The core has loaded other tables.
    fn enter(&mut self, core: usize, loaded: u64, memory: (u64, u64)) {
        let card = |at: usize| word_at(memory, PLACE + at as u64 * 8);
        let count = card(word::COMPONENTS).unwrap_or(0).min(MAX_COMPONENTS as u64) as usize;
        let top = |component: &usize| card(word::TOPS + component).map(|it| it & u64::from(u32::MAX));
        let component = (0..count).find(|component| top(component) == Some(loaded));
        self.loaded[core] = loaded;
        let page = |component: usize| {
            let page = card(word::TOPS + component).map_or(0, |it| it >> 32 << 12);
            if page == 0 || page + 4096 > memory.1 {
                return 0;
            }
            let at = (memory.0 + page) as usize;
            // SAFETY: as in `count`.
            unsafe { (at as *mut u64).write_volatile(counters::MAGIC) };
            at
        };
        (self.running[core], self.thread[core]) = (0, 0);
        self.others = page(SCHEDULER);
        self.counters[core] = component.filter(|component| *component != SCHEDULER).map_or(0, page);
        self.owner[core] = component.and_then(|it| u8::try_from(it + 1).ok()).unwrap_or(UNKNOWN);
    }
}

impl Owners {
    /// Adds to a counter of the component that the core runs at user level, if it has any, and to the root scheduler's, if it has any and
    /// the component is another one.
    pub fn count(&self, core: usize, event: usize, many: u64) {
        let others = if usize::from(self.of(core)) == SCHEDULER + 1 { 0 } else { self.others };
        let core = core % MAX_CORES;
        let (page, place) = (self.counters[core], counters::of_core(core));
        let thread = if self.thread[core] == 0 { 0 } else { page };
        for (page, first) in [(page, place), (others, place), (thread, self.thread[core])] {
            let page = page as *mut u64;
            if page.is_null() || many == 0 {
                continue;
            }
            // SAFETY: a word in a page of the guest's memory (`enter`), mapped there as long as the emulator runs, which nobody in the guest
            // may write.
            unsafe {
                let word = page.add(first + event % counters::EVENTS);
                word.write_volatile(word.read_volatile() + many);
            }
        }
    }
}

/// Where in a page of counters the words of a thread begin, which get its number if it is new; 0 if there is no room.
fn words_of(page: usize, number: u64) -> usize {
    let page = page as *mut u64;
    let mut places = (0..counters::THREADS).map(counters::of_thread);
    let its = |first: &usize| {
        // SAFETY: as in `count`.
        unsafe {
            let word = page.add(first + event::THREAD);
            if word.read_volatile() == 0 {
                word.write_volatile(number + 1);
            }
            word.read_volatile() == number + 1
        }
    };
    places.find(its).unwrap_or(0)
}

/// A word of the guest's memory; nothing where there is none.
fn word_at((start, length): (u64, u64), place: u64) -> Option<u64> {
    let inside = place % 8 == 0 && place.checked_add(8).is_some_and(|end| end <= length);
    // SAFETY: the file with the guest's memory is mapped there as long as the emulator runs, and the word lies in it, aligned. The guest
    // may write it at the same time, from a thread of the emulator; any value is one.
    inside.then(|| unsafe { (start as *const u64).add(place as usize / 8).read_volatile() })
}
