//! What the loader tells, by the device tree: which memory is usable, and in the kernel's command line where the image lies.
//!
//! Words of the command line, with blanks between: `image=ADDRESS+BYTES` in hexadecimal; `counted` on an emulated machine that counts
//! instructions; `exit-codes` where the emulator takes the code of the run's end (semihosting).

use super::paging::direct;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use fdt::Fdt;

pub use tactus_abi::frames::Range;

/// What the loader tells.
#[derive(Clone, Copy)]
pub struct BootInfo {
    /// The image.
    pub image: Range,
    /// The loader's own tables, kept until start-up is over: none.
    pub tables: Range,
    /// Usable memory below 4 GiB.
    pub usable: [Range; BootInfo::MAX_RANGES],
    /// Where the device tree lies.
    pub firmware: u64,
}

/// What the loader passes in registers.
pub type Passed = u64;
/// The protocols of loaders that are understood.
pub const PROTOCOLS: &str = "a device tree whose command line has image=";

/// Where the emulator puts the tree for a kernel that is an ELF file.
const TREE: u64 = super::paging::MEMORY;
static COUNTED: AtomicBool = AtomicBool::new(false);
static TAKES_EXIT_CODES: AtomicBool = AtomicBool::new(false);

/// Whether the emulator counts instructions, as it says.
pub fn is_counted() -> bool {
    COUNTED.load(Relaxed)
}

/// Whether the emulator takes the code of the run's end, as it says.
pub fn takes_exit_codes() -> bool {
    TAKES_EXIT_CODES.load(Relaxed)
}

impl BootInfo {
    /// The most ranges of usable memory that are kept.
    pub const MAX_RANGES: usize = 32;

    /// Reads the device tree at `address`; nothing if there is none, or if it names no image.
    pub fn read(address: Passed, _: Passed) -> Option<BootInfo> {
        let firmware = if address == 0 { TREE } else { address };
        // SAFETY: all memory below 4 GiB is mapped at `direct`; the reader looks at the tree's magic number and length first.
        let tree = unsafe { Fdt::from_ptr(direct::<u8>(firmware)) }.ok()?;
        let mut info = BootInfo {
            image: Range::EMPTY,
            tables: Range::EMPTY,
            usable: [Range::EMPTY; BootInfo::MAX_RANGES],
            firmware,
        };
        for word in tree.chosen().bootargs()?.split(' ') {
            match word {
                "counted" => COUNTED.store(true, Relaxed),
                "exit-codes" => TAKES_EXIT_CODES.store(true, Relaxed),
                _ => info.image = word.strip_prefix("image=").and_then(range).unwrap_or(info.image),
            }
        }
        const LIMIT: u64 = 1 << 32;
        for (place, region) in info.usable.iter_mut().zip(tree.memory().regions()) {
            let start = region.starting_address as u64;
            let end = start.saturating_add(region.size.unwrap_or(0) as u64).min(LIMIT);
            *place = if start < end { Range { start, end } } else { Range::EMPTY };
        }
        (info.image.end > info.image.start).then_some(info)
    }
}

/// `0x1000+200`: where it begins, and how long it is.
fn range(text: &str) -> Option<Range> {
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let (start, bytes) = text.split_once('+')?;
    let start = number(start)?;
    Some(Range { start, end: start.checked_add(number(bytes)?)? })
}

/// What the monitor of a sandbox tells the kernel in it: there is none on this processor.
#[derive(Clone, Copy)]
pub enum Sandbox {}

impl Sandbox {
    /// None.
    pub fn own() -> Option<Sandbox> {
        None
    }

    /// None.
    pub fn find(_: Passed, _: Passed) -> Option<Sandbox> {
        None
    }

    /// How long a core may run before others do.
    pub fn turns(self) -> (u64, usize) {
        match self {}
    }

    /// When its run begins.
    pub fn begin(self, _earliest: u64) -> u64 {
        match self {}
    }
}
