//! What the boot loader tells: where the image lies, which memory is usable, where the firmware's tables are.

use super::paging::direct;
use super::time::Rates;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::sandbox::page;

pub use tactus_abi::frames::Range;

/// What both loaders tell.
#[derive(Clone, Copy)]
pub struct BootInfo {
    /// The image (first module).
    pub image: Range,
    /// The loader's own tables, kept until start-up is over.
    pub tables: Range,
    /// Usable memory below 4 GiB.
    pub usable: [Range; BootInfo::MAX_RANGES],
    /// Where the firmware's tables begin (ACPI's root pointer); 0 if the loader did not tell.
    pub firmware: u64,
}

/// What the loader passes in registers.
pub type Passed = u32;
/// The protocols of loaders that are understood.
pub const PROTOCOLS: &str = "PVH or multiboot2";

const PVH_MAGIC: u32 = 0x336e_c578;
const MULTIBOOT2_MAGIC: u32 = 0x36d7_6289;

impl BootInfo {
    /// The most ranges of usable memory that are kept.
    pub const MAX_RANGES: usize = 32;

    /// Reads the block that the loader left at `address`; nothing if it is neither form or holds no module.
    pub fn read(magic: Passed, address: Passed) -> Option<BootInfo> {
        let mut info = BootInfo {
            image: Range::EMPTY,
            tables: Range::EMPTY,
            usable: [Range::EMPTY; BootInfo::MAX_RANGES],
            firmware: 0,
        };
        let address = u64::from(address);
        if magic == MULTIBOOT2_MAGIC {
            info.read_multiboot2(address);
        } else if read::<u32>(address) == PVH_MAGIC {
            info.read_pvh(address);
        } else {
            return None;
        }
        (info.image.end > info.image.start).then_some(info)
    }

    fn add_usable(&mut self, count: &mut usize, start: u64, bytes: u64) {
        const LIMIT: u64 = 1 << 32;
        // The first mebibyte holds the start-up code of the other cores and firmware data.
        let range = Range { start: start.max(0x10_0000), end: start.saturating_add(bytes).min(LIMIT) };
        if range.start < range.end && *count < Self::MAX_RANGES {
            self.usable[*count] = range;
            *count += 1;
        }
    }

    fn read_pvh(&mut self, at: u64) {
        let modules = read::<u32>(at + 12);
        let list = read::<u64>(at + 16);
        self.firmware = read(at + 32);
        let map = read::<u64>(at + 40);
        let entries = read::<u32>(at + 48);
        if modules > 0 {
            let start = read::<u64>(list);
            self.image = Range { start, end: start + read::<u64>(list + 8) };
        }
        let mut count = 0;
        for i in 0..u64::from(entries.min(64)) {
            let entry = map + i * 24;
            if read::<u32>(entry + 16) == 1 {
                self.add_usable(&mut count, read(entry), read(entry + 8));
            }
        }
    }

    fn read_multiboot2(&mut self, at: u64) {
        let total = u64::from(read::<u32>(at));
        self.tables = Range { start: at, end: at + total };
        let mut count = 0;
        let mut tag = at + 8;
        while tag + 8 <= at + total {
            let (kind, bytes) = (read::<u32>(tag), u64::from(read::<u32>(tag + 4)));
            match kind {
                0 => break,
                3 if self.image.end == 0 => {
                    self.image = Range { start: read::<u32>(tag + 8).into(), end: read::<u32>(tag + 12).into() };
                }
                6 => {
                    let step = u64::from(read::<u32>(tag + 8)).max(24);
                    let mut entry = tag + 16;
                    while entry + 24 <= tag + bytes {
                        if read::<u32>(entry + 16) == 1 {
                            self.add_usable(&mut count, read(entry), read(entry + 8));
                        }
                        entry += step;
                    }
                }
                14 | 15 => self.firmware = tag + 8,
                _ => {}
            }
            tag += bytes.max(8).next_multiple_of(8);
        }
    }
}

/// What the monitor of a sandbox tells the kernel in it.
#[derive(Clone, Copy)]
pub struct Sandbox(u64);

/// Physical address of its page; 0 without a sandbox.
static TOLD: AtomicU64 = AtomicU64::new(0);

impl Sandbox {
    /// What [`Sandbox::find`] found.
    pub fn own() -> Option<Sandbox> {
        Some(Sandbox(TOLD.load(Relaxed))).filter(|it| it.0 != 0)
    }

    /// Finds the monitor's page, if the monitor of a sandbox is the loader. Once, before anything else.
    pub fn find(magic: Passed, address: Passed) -> Option<Sandbox> {
        let address = u64::from(address);
        if magic == MULTIBOOT2_MAGIC || read::<u32>(address) != PVH_MAGIC || read::<u32>(address + 12) < 2 {
            return None;
        }
        // The second module.
        let told = read::<u64>(read::<u64>(address + 16) + 32);
        if read::<u64>(told) != page::MAGIC || told % 8 != 0 {
            return None;
        }
        TOLD.store(told, Relaxed);
        Some(Sandbox(told))
    }

    fn word(self, place: usize) -> u64 {
        read(self.0 + 8 * place as u64)
    }

    /// How fast its clocks run: it shares the interval timer with others.
    pub fn rates(self) -> Rates {
        let [time_stamp, timer, emulated] =
            [page::TIME_STAMP, page::TIMER, page::EMULATED].map(|place| self.word(place));
        Rates { time_stamp, timer, emulated: emulated != 0 }
    }

    /// The first address of its serial port.
    pub fn console(self) -> u16 {
        self.word(page::CONSOLE) as u16
    }

    /// How long a core may run before others do, in nanoseconds, 0 if cores execute at the same time; and how many the machine has.
    pub fn turns(self) -> (u64, usize) {
        (self.word(page::TURN), self.word(page::CORES) as usize)
    }

    /// How it is to destroy itself, and when.
    #[cfg(feature = "destruction")]
    pub fn fault(self) -> Option<(u64, u64)> {
        let [way, at, began] = [page::FAULT, page::FAULT_AT, page::BEGAN].map(|place| self.word(place));
        (way != 0 && began != 0).then_some((way, began + at))
    }

    /// When its run begins, if it may at `earliest`; the monitor is told.
    pub fn begin(self, earliest: u64) -> u64 {
        let begin = earliest.max(self.word(page::BEGIN));
        // SAFETY: a word of the monitor's page, aligned; the page is this kernel's alone while it runs, and no component's.
        unsafe { direct::<u64>(self.0 + 8 * page::BEGAN as u64).write_volatile(begin) };
        begin
    }
}

/// Reads a value of the loader's or the firmware's tables, which may lie at any alignment below 4 GiB.
pub fn read<T: Copy>(physical: u64) -> T {
    // SAFETY: all memory below 4 GiB is mapped at `direct`; `T` is a plain number wherever this is used.
    unsafe { direct::<T>(physical & 0xffff_ffff).read_unaligned() }
}
