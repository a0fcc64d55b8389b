//! Counters: the modelled ones over a page, those of Intel's and AMD's processors over a file of registers that counts as they do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::abi::counters::{event, of_core, of_thread, EVENTS, MAGIC};
use tactus_rt::arch::counters::{Architectural, Maker, Registers};
use tactus_rt::counters::{Counters, Event, Modelled, NoCounters, Page, Refused};

/// A core's registers: counters go on where they are enabled.
#[derive(Default)]
struct File {
    amd: bool,
    extended: bool,
    signature: u32,
    registers: BTreeMap<u32, u64>,
    /// Interrupts of counters that went over.
    interrupts: u32,
}

impl File {
    fn get(&self, register: u32) -> u64 {
        self.registers.get(&register).copied().unwrap_or(0)
    }

    /// Something happens so many times: `selection` is the event with its mask.
    fn happens(&mut self, selection: u64, many: u64) {
        let pairs: Vec<(u32, u32)> = match (self.amd, self.extended) {
            (false, _) => (0..4).map(|n| (0x186 + n, 0xc1 + n)).collect(),
            (true, false) => (0..4).map(|n| (0xc001_0000 + n, 0xc001_0004 + n)).collect(),
            (true, true) => (0..6).map(|n| (0xc001_0200 + 2 * n, 0xc001_0201 + 2 * n)).collect(),
        };
        for (n, (select, counter)) in pairs.into_iter().enumerate() {
            let selected = self.get(select);
            let global = self.amd || self.get(0x38f) >> n & 1 != 0;
            if selected & 0xffff == selection && selected >> 22 & 1 != 0 && selected >> 16 & 3 != 0 && global {
                self.add(counter, many, selected >> 20 & 1 != 0);
            }
        }
        for (n, of) in [0xc0, 0x3c].into_iter().enumerate() {
            let control = self.get(0x38d) >> (4 * n) & 0xf;
            if !self.amd && selection == of && control & 3 != 0 && self.get(0x38f) >> (32 + n) & 1 != 0 {
                self.add(0x309 + n as u32, many, control & 8 != 0);
            }
        }
    }

    fn add(&mut self, counter: u32, many: u64, interrupts: bool) {
        let sum = self.get(counter) + many;
        self.interrupts += u32::from(interrupts && sum >> 48 != 0);
        self.registers.insert(counter, sum & ((1 << 48) - 1));
    }
}

impl Registers for &mut File {
    fn read(&self, register: u32) -> u64 {
        self.get(register)
    }
    fn write(&mut self, register: u32, value: u64) {
        self.registers.insert(register, value);
    }
    fn cpuid(&self, leaf: u32) -> [u32; 4] {
        let word = |text: &[u8]| u32::from_le_bytes(text.try_into().unwrap());
        let text: &[u8] = if self.amd { b"AuthenticAMD" } else { b"GenuineIntel" };
        match leaf {
            0 => [10, word(&text[..4]), word(&text[8..]), word(&text[4..8])],
            1 => [self.signature, 0, 0, 0],
            10 if !self.amd => [48 << 16 | 4 << 8 | 3, 0, 0, 2],
            0x8000_0001 => [0, 0, u32::from(self.extended) << 23, 0],
            _ => [0; 4],
        }
    }
}

/// Counts, is stopped, goes on, and begins anew.
fn behaves(counters: &mut dyn Counters, channel: usize, event: Event, mut happens: impl FnMut(u64)) {
    assert_eq!(counters.read(channel), Err(Refused::NotNow));
    assert_eq!(counters.start(channel), Err(Refused::NotNow));
    counters.configure(channel, event).unwrap();
    happens(3);
    assert_eq!((counters.read(channel), counters.stop(channel)), (Ok(0), Err(Refused::NotNow)));
    counters.start(channel).unwrap();
    assert_eq!(counters.start(channel), Err(Refused::NotNow));
    happens(5);
    assert_eq!(counters.read(channel), Ok(5));
    counters.stop(channel).unwrap();
    happens(7);
    assert_eq!(counters.read(channel), Ok(5));
    counters.start(channel).unwrap();
    happens(11);
    assert_eq!(counters.read(channel), Ok(16));
    counters.configure(channel, event).unwrap();
    happens(13);
    assert_eq!(counters.read(channel), Ok(0));
    let beyond = counters.channels();
    assert_eq!(counters.configure(beyond, event), Err(Refused::NoChannel));
}

#[test]
fn modelled_counters_are_the_sum_of_all_cores_since_they_were_started() {
    let words: Page = std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(40)));
    assert!(Modelled::new(&words, 4).is_none(), "nobody counts");
    words[0][0].store(MAGIC, Relaxed);
    let mut counters = Modelled::new(&words, 4).unwrap();
    assert_eq!(counters.configure(0, Event::Cycles), Err(Refused::NoSuchEvent));
    let mut core = 0;
    behaves(&mut counters, 1, Event::SharedMisses, |many| {
        core = (core + 1) % 4;
        words[of_core(core) / EVENTS][event::SHARED_MISSES].fetch_add(many, Relaxed);
        // Of another event, and of a core that there is not.
        words[of_core(core) / EVENTS][event::WRITES].fetch_add(1_000, Relaxed);
        words[of_core(5) / EVENTS][event::SHARED_MISSES].fetch_add(1_000, Relaxed);
    });
    assert_eq!(counters.interrupt_after(1, 5), Err(Refused::NoInterrupt));
}

#[test]
fn modelled_counters_of_a_thread_are_its_own_wherever_it_stands() {
    let words: Page = std::array::from_fn(|_| std::array::from_fn(|_| AtomicU64::new(0)));
    words[0][0].store(MAGIC, Relaxed);
    assert!(Modelled::of_thread(&words, 0).is_none(), "no thread has come");
    for (place, number) in [7, 0, 263].into_iter().enumerate() {
        words[of_thread(place) / EVENTS][event::THREAD].store(number + 1, Relaxed);
    }
    assert!(Modelled::of_thread(&words, 6).is_none(), "another thread");
    for (place, number) in [7, 0, 263].into_iter().enumerate() {
        let mut counters = Modelled::of_thread(&words, number).unwrap();
        behaves(&mut counters, 1, Event::Writes, |many| {
            words[of_thread(place) / EVENTS][event::WRITES].fetch_add(many, Relaxed);
            // Of another thread, and of a core.
            words[of_thread((place + 1) % 3) / EVENTS][event::WRITES].fetch_add(1_000, Relaxed);
            words[of_core(0) / EVENTS][event::WRITES].fetch_add(1_000, Relaxed);
        });
    }
}

/// Drives one channel over a file of registers that is shared with what happens.
fn architectural(file: &mut File, channel: usize, event: Event, selection: u64) {
    struct Shared(*mut File);
    impl Registers for Shared {
        fn read(&self, register: u32) -> u64 {
            // SAFETY: one thread, and no reference is alive beside it.
            unsafe { (*self.0).get(register) }
        }
        fn write(&mut self, register: u32, value: u64) {
            // SAFETY: as above.
            unsafe { (*self.0).registers.insert(register, value) };
        }
        fn cpuid(&self, leaf: u32) -> [u32; 4] {
            // SAFETY: as above.
            unsafe { (&&mut *self.0).cpuid(leaf) }
        }
    }
    let file: *mut File = file;
    let mut counters = Architectural::new(Shared(file)).unwrap();
    // SAFETY: as above.
    behaves(&mut counters, channel, event, |many| unsafe { (*file).happens(selection, many) });
}

#[test]
fn programmable_counters_of_intel_count_what_they_are_told() {
    for (channel, event, selection) in [
        (0, Event::SharedMisses, 0x412e),
        (3, Event::PrivateMisses, 0x4f2e),
        (1, Event::Instructions, 0xc0),
        (2, Event::Cycles, 0x3c),
    ] {
        architectural(&mut File::default(), channel, event, selection);
    }
}

#[test]
fn fixed_counters_of_intel_count_their_own_event_alone() {
    architectural(&mut File::default(), 4, Event::Instructions, 0xc0);
    architectural(&mut File::default(), 5, Event::Cycles, 0x3c);
    let mut file = File::default();
    let mut counters = Architectural::new(&mut file).unwrap();
    assert_eq!((counters.channels(), counters.maker()), (6, Maker::Intel));
    assert_eq!(counters.configure(4, Event::Cycles), Err(Refused::NoSuchEvent));
    assert_eq!(counters.configure(4, Event::SharedMisses), Err(Refused::NoSuchEvent));
}

#[test]
fn lines_changed_by_another_core_are_counted_on_sandy_bridge_alone() {
    architectural(&mut File { signature: 0x206a7, ..File::default() }, 0, Event::Changed, 0x04d2);
    let mut file = File { signature: 0x306c3, ..File::default() };
    assert_eq!(Architectural::new(&mut file).unwrap().configure(0, Event::Changed), Err(Refused::NoSuchEvent));
}

#[test]
fn counters_of_amd_lie_elsewhere_and_are_more_with_the_extension() {
    architectural(&mut File { amd: true, ..File::default() }, 3, Event::Instructions, 0xc0);
    architectural(&mut File { amd: true, extended: true, ..File::default() }, 5, Event::Cycles, 0x76);
    let mut file = File { amd: true, ..File::default() };
    let mut counters = Architectural::new(&mut file).unwrap();
    assert_eq!((counters.channels(), counters.maker()), (4, Maker::Amd));
    assert_eq!(counters.configure(0, Event::SharedMisses), Err(Refused::NoSuchEvent));
}

#[test]
fn a_counter_interrupts_when_it_has_counted_so_much_more() {
    for (channel, selection) in [(1, 0xc0), (4, 0xc0)] {
        let mut file = File::default();
        let mut counters = Architectural::new(&mut file).unwrap();
        counters.configure(channel, Event::Instructions).unwrap();
        assert_eq!(counters.interrupt_after(channel, 0), Err(Refused::NoInterrupt));
        counters.interrupt_after(channel, 100).unwrap();
        counters.start(channel).unwrap();
        let file = counters.into_registers();
        file.happens(selection, 99);
        assert_eq!(file.interrupts, 0);
        file.happens(selection, 1);
        assert_eq!(file.interrupts, 1);
    }
}

#[test]
fn a_processor_without_known_counters_has_none() {
    struct Nobody;
    impl Registers for Nobody {
        fn read(&self, _: u32) -> u64 {
            panic!("a register that there is not")
        }
        fn write(&mut self, _: u32, _: u64) {
            panic!("a register that there is not")
        }
        fn cpuid(&self, leaf: u32) -> [u32; 4] {
            // The emulator's own processor: AMD's name would be there, and no counter.
            if leaf == 0 {
                [10, 0x756e_6547, 0x6c65_746e, 0x4965_6e69]
            } else {
                [0; 4]
            }
        }
    }
    assert!(Architectural::new(Nobody).is_none());
    let mut none = NoCounters;
    assert_eq!((none.channels(), none.configure(0, Event::Cycles)), (0, Err(Refused::NoCounters)));
    assert_eq!(
        (none.start(0), none.stop(0), none.read(0)),
        (Err(Refused::NoCounters), Err(Refused::NoCounters), Err(Refused::NoCounters))
    );
}
