//! Makes every call of the kernel at random, mostly with arguments that make sense for what the system file lets the
//! component be. Components whose name begins with `victim` also fault at random, with whoever is inside.
#![no_std]
#![no_main]

mod common;

use common::{kind, region, told, Random, CALLS, ERRORS};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use tactus_rt::abi::call::{Call, Error, IDLE};
use tactus_rt::abi::layout::{MAX_BRANDS, REGION_STRIDE};
use tactus_rt::abi::shared::name_text;
use tactus_rt::{calls, grant, info, Caller};

tactus_rt::component! { upcall: upcall, thread: thread, brand: arrive, services: [serve] }

/// How often a call ended so, since it was last told.
static COUNTS: [[AtomicU32; ERRORS]; CALLS] = [const { [const { AtomicU32::new(0) }; ERRORS] }; CALLS];
/// Calls since that.
static UNTOLD: AtomicU32 = AtomicU32::new(0);
/// Counts are told after so many calls.
const TELL: u32 = 512;
/// How often a thread, upcall or service began here: no two have the same random numbers.
static BEGINNINGS: AtomicU64 = AtomicU64::new(0);
/// The seed and the numbers of threads and components, as the root tells; 0: not asked yet.
static SEED: AtomicU64 = AtomicU64::new(0);
static THREADS: AtomicU64 = AtomicU64::new(0);
static COMPONENTS: AtomicU64 = AtomicU64::new(1);
/// What is looked up once: the grant to tell the root, the component that may be restarted, whether this is a scheduler (1)
/// or a victim (2).
static TELLS: AtomicU64 = AtomicU64::new(0);
static MINE: AtomicU64 = AtomicU64::new(0);
static IS: AtomicU64 = AtomicU64::new(0);
/// Whom a scheduler makes one, if nobody else does.
static HEIR: AtomicU64 = AtomicU64::new(0);
/// The step at which a restart goes on.
static STEP: AtomicU64 = AtomicU64::new(0);

/// What runs it.
const OF_THREAD: u8 = 0;
const OF_UPCALL: u8 = 1;
const OF_BRAND: u8 = 2;
const OF_SERVICE: u8 = 3;

struct Fuzzer {
    random: Random,
    threads: u64,
    cores: u64,
    components: u64,
    grants: u64,
    /// The number of the grant to tell the root.
    tell: u64,
    /// The component that this one may restart.
    mine: u64,
    /// The core, where it is known for sure.
    core: Option<u8>,
    place: u8,
    scheduler: bool,
    victim: bool,
    harmless: bool,
}

fn fuzzer(place: u8, core: Option<u8>) -> Fuzzer {
    if THREADS.load(Relaxed) == 0 {
        if let Ok([seed, threads]) = grant("tell").call([kind::ASK, 0, 0, 0, 0]) {
            SEED.store(seed, Relaxed);
            THREADS.store(threads & 0xffff_ffff, Relaxed);
            COMPONENTS.store(threads >> 32, Relaxed);
            TELLS.store(grant_number("tell"), Relaxed);
            let mine = common::cards().iter().position(|card| card.restarted_by == info().component);
            MINE.store(mine.map_or(u64::MAX, |place| place as u64), Relaxed);
            let name = name_text(&info().name);
            if name.starts_with("scheduler") {
                let heir = match name {
                    "scheduler-a" | "scheduler-b" => "scheduler-c",
                    "scheduler-c" => "scheduler-d",
                    _ => "scheduler-e",
                };
                HEIR.store(common::card(heir).0, Relaxed);
            }
            IS.store(u64::from(name.starts_with("scheduler")) | u64::from(name.starts_with("victim")) << 1, Relaxed);
        }
    }
    let info = info();
    let begun = BEGINNINGS.fetch_add(1, Relaxed);
    Fuzzer {
        random: Random::new(SEED.load(Relaxed) << 40 ^ u64::from(info.component) << 32 ^ begun),
        threads: THREADS.load(Relaxed).max(1),
        cores: info.cores.into(),
        components: COMPONENTS.load(Relaxed),
        grants: info.grant_count.into(),
        tell: TELLS.load(Relaxed),
        mine: MINE.load(Relaxed),
        core,
        place,
        scheduler: IS.load(Relaxed) & 1 != 0,
        victim: IS.load(Relaxed) & 2 != 0,
        harmless: SEED.load(Relaxed) == 0,
    }
}

fn upcall(core: u8) -> ! {
    let mut it = fuzzer(OF_UPCALL, Some(core));
    loop {
        it.act();
    }
}

fn thread(_: [u64; 2]) {
    let mut it = fuzzer(OF_THREAD, None);
    loop {
        it.act();
    }
}

fn arrive(_: u64) {
    let mut it = fuzzer(OF_BRAND, None);
    for _ in 0..it.random.below(64) {
        it.act();
    }
}

fn serve(_: Caller, words: [u64; 5]) -> [u64; 2] {
    let mut it = fuzzer(OF_SERVICE, None);
    for _ in 0..it.random.below(8) {
        it.act();
    }
    [words[0], words[4]]
}

impl Fuzzer {
    /// Makes a call and counts how it ended.
    fn make(&mut self, number: u64, words: [u64; 6]) {
        let status = calls::raw(number, words);
        self.count(number, status);
    }

    fn count(&mut self, number: u64, status: u64) {
        COUNTS[(number as usize).min(CALLS - 1)][(status as usize).min(ERRORS - 1)].fetch_add(1, Relaxed);
        if UNTOLD.fetch_add(1, Relaxed) == TELL {
            self.tell();
        }
    }

    fn tell(&mut self) {
        UNTOLD.store(0, Relaxed);
        for (call, errors) in COUNTS.iter().enumerate() {
            for (error, count) in errors.iter().enumerate() {
                if count.load(Relaxed) == 0 {
                    continue;
                }
                let number = count.swap(0, Relaxed);
                let place = (call * ERRORS + error) as u64;
                let words = told(kind::COUNT, place, number.into());
                if number != 0 && calls::invoke(self.tell, words).is_err() {
                    count.fetch_add(number, Relaxed);
                }
            }
        }
    }

    fn act(&mut self) {
        if self.harmless {
            core::hint::black_box(0);
            return;
        }
        match self.random.below(100) {
            0..5 => self.make(Call::Null as u64, [0; 6]),
            5..17 => self.invoke(),
            17..19 => self.give_back(),
            19..31 => self.switch(),
            31..33 => {
                let core = self.random.mostly(self.cores);
                self.make(Call::Notify as u64, [core, 0, 0, 0, 0, 0]);
            }
            // Text of no length, so that the console stays readable; or of too much.
            33..34 => {
                let length = if self.random.once_in(2) { 0 } else { 33 + self.random.awkward() % (1 << 60) };
                self.make(Call::Text as u64, [length, 0, 0, 0, 0, 0]);
            }
            34..35 => self.make(Call::Finish as u64, [0; 6]),
            35..57 => self.tree(),
            57..59 => {
                let component = self.random.mostly(self.components);
                self.make(Call::CreateThread as u64, [component, 0, 0, 0, 0, 0]);
            }
            59..67 => self.brand(),
            67..73 => {
                let brand = self.random.mostly(MAX_BRANDS as u64);
                self.make(Call::Trigger as u64, [brand, 0, 0, 0, 0, 0]);
            }
            73..75 => self.done(),
            75..85 => self.memory(),
            85..89 => self.restart(),
            89..93 => {
                let (core, brand) = (self.random.mostly(self.cores), self.random.mostly(MAX_BRANDS as u64));
                self.make(Call::TriggerRemote as u64, [core, brand, 0, 0, 0, 0]);
            }
            93..94 => self.corrupt(),
            94..95 => self.fall(),
            // Anything with anything, but for what ends the component or hides the count.
            _ => {
                let number = if self.random.once_in(2) { self.random.awkward() } else { self.random.below(20) };
                if !matches!(number, 1..=3 | 5 | 7 | 12) {
                    let garbage = [(); 6].map(|()| self.random.awkward());
                    self.make(number, garbage);
                }
            }
        }
    }

    fn invoke(&mut self) {
        let grant = self.random.mostly(self.grants + 1);
        // To be told of is the root's service: what is told must make sense.
        let first = if grant == self.tell { kind::COUNT } else { self.random.any() };
        self.make(Call::Invoke as u64, [grant, first, 0, 0, 0, 0]);
    }

    /// Ends a service, or climbs out of an upcall with whatever it says as the reason; is refused elsewhere, and where the
    /// component below has no stack for the thread.
    fn give_back(&mut self) {
        let leaves = self.place == OF_SERVICE || self.place == OF_BRAND;
        if leaves {
            // Does not come back, if it is not refused.
            self.before(Call::Return);
        }
        let status = calls::raw(Call::Return as u64, [self.random.any(), self.random.any(), 0, 0, 0, 0]);
        if leaves {
            self.instead(Call::Return);
        }
        self.count(Call::Return as u64, status);
    }

    fn done(&mut self) {
        if self.place == OF_BRAND {
            self.before(Call::UpcallDone);
        }
        let status = calls::raw(Call::UpcallDone as u64, [0; 6]);
        if self.place == OF_BRAND {
            self.instead(Call::UpcallDone);
        }
        self.count(Call::UpcallDone as u64, status);
    }

    /// Counts a call as granted that does not come back, before it is made.
    fn before(&mut self, call: Call) {
        COUNTS[call as usize][0].fetch_add(1, Relaxed);
    }

    /// It came back: it was not.
    fn instead(&mut self, call: Call) {
        let _ = COUNTS[call as usize][0].fetch_update(Relaxed, Relaxed, |count| count.checked_sub(1));
    }

    fn some_thread(&mut self) -> u64 {
        match self.random.below(64) {
            0 => IDLE,
            1..4 => self.random.awkward(),
            _ => self.random.below(self.threads),
        }
    }

    fn switch(&mut self) {
        let thread = self.some_thread();
        let flags = match self.random.below(8) {
            0..3 => 0,
            3 => 1,
            4 => 2,
            5 => 4,
            6 => 8,
            _ => self.random.below(40),
        };
        let timeout =
            if self.random.once_in(3) { u64::MAX } else { tactus_rt::clock::time_stamp() + self.random.below(60_000) };
        if self.scheduler && !self.random.once_in(8) {
            for core in 0..self.cores as u8 {
                if self.core.is_some_and(|mine| mine != core) {
                    continue;
                }
                // SAFETY: the component's own regions. Several cores' are written where it is not known on which
                // one this is: that a choice is another one then is part of the game.
                unsafe {
                    (&raw mut (*region(core)).event_pending).write_volatile(0);
                    (&raw mut (*region(core)).next_thread).write_volatile(thread);
                }
            }
            if flags & 4 != 0 {
                let core = self.core.unwrap_or(0);
                // SAFETY: as above; the lock's owner as the kernel expects it.
                unsafe { (&raw mut (*region(core)).lock).write_volatile(thread.wrapping_add(1) & 0xffff_ffff) };
            }
        }
        let number = Call::SwitchThread as u64;
        // A finished upcall does not come back but as a new beginning.
        let leaves = flags & 1 != 0 && matches!(self.place, OF_UPCALL | OF_BRAND);
        if leaves {
            self.before(Call::SwitchThread);
        }
        let status = calls::raw(number, [thread, flags, timeout, 0, 0, 0]);
        if leaves {
            self.instead(Call::SwitchThread);
        }
        self.count(number, status);
    }

    fn tree(&mut self) {
        let operation = match self.random.below(32) {
            0..4 => 0,
            4..7 => 1,
            7..18 => 2,
            18..23 => 3,
            23..25 => 4,
            25..31 => 5,
            _ => self.random.awkward(),
        };
        let thread = self.random.mostly(self.threads);
        let other = match operation {
            5 => self.random.mostly(300),
            // Mostly one that can be made a scheduler; half of the time, each its own heir, so that the tree grows as deep as
            // it can, and beyond.
            0 | 1 if self.random.once_in(2) => HEIR.load(Relaxed),
            0 | 1 if self.random.once_in(2) => common::some_scheduler(&mut self.random),
            _ => self.random.mostly(self.components),
        };
        self.make(Call::SchedulerControl as u64, [operation, thread, other, 0, 0, 0]);
    }

    fn brand(&mut self) {
        let operation = match self.random.below(16) {
            0..2 => 0,
            2 => 1,
            3..8 => 2,
            8..12 => 3,
            12..15 => 4,
            _ => self.random.awkward(),
        };
        let core = self.random.mostly(self.cores) & 0xff;
        let source = match self.random.below(8) {
            0..3 => 2 << 32 | core,
            3..5 => 1 << 32 | self.random.mostly(24) << 8 | core,
            5..7 => 3 << 32 | (40 + self.random.below(2_000)) << 8 | core,
            _ => self.random.awkward(),
        };
        let other = if operation == 0 { self.random.mostly(2) } else { source };
        let brand = self.random.mostly(MAX_BRANDS as u64);
        self.make(Call::BrandControl as u64, [operation, brand, other, 0, 0, 0]);
    }

    fn memory(&mut self) {
        let operation = self.random.mostly(6);
        let (component, address) = (self.random.mostly(self.components), self.random.mostly(12));
        let page = match operation {
            0 | 5 => self.random.mostly(2),
            _ => self.random.mostly(40),
        };
        self.make(Call::MemoryControl as u64, [operation, component, address, page, 0, 0]);
    }

    fn restart(&mut self) {
        // Mostly on with what was begun.
        let goes_on = !self.random.once_in(8);
        let (component, step) = if goes_on {
            (self.mine, STEP.load(Relaxed))
        } else {
            (self.random.mostly(self.components), self.random.mostly(4))
        };
        let result = calls::restart(component, step);
        if goes_on && result != Err(Error::Busy) {
            STEP.store(*result.as_ref().unwrap_or(&0), Relaxed);
        }
        self.count(Call::Restart as u64, result.map_or_else(|error| error as u64, |_| 0));
    }

    /// Writes anything anywhere into its regions.
    fn corrupt(&mut self) {
        if !self.scheduler {
            return;
        }
        let place = self.random.below(REGION_STRIDE / 8) as usize;
        let core = self.random.below(self.cores) as u8;
        let word = self.random.awkward();
        // SAFETY: a word of this component's regions, mapped writable as a whole.
        unsafe { region(core).cast::<u64>().wrapping_add(place).write_volatile(word) };
    }

    /// Victims only: gives up or faults, inside whatever it is inside of.
    fn fall(&mut self) {
        if !self.victim || !self.random.once_in(8) {
            return;
        }
        if self.random.once_in(2) {
            // Told at once: the component's counts go with it.
            let place = Call::Panic as u64 * ERRORS as u64;
            let _ = calls::invoke(self.tell, told(kind::COUNT, place, 1));
            calls::give_up();
        }
        // SAFETY: none: the component asks for what it may not have.
        unsafe { (self.random.any() as *mut u64).write_volatile(0) };
    }
}

fn grant_number(name: &str) -> u64 {
    let info = info();
    let names = &info.grants[..info.grant_count as usize];
    names.iter().position(|it| name_text(it) == name).map_or(u64::MAX, |place| place as u64)
}
