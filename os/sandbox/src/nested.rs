//! Nested page tables: which physical memory the kernel sees. All of the first 4 GiB at its own address, but for the monitor's pages.

use core::cell::UnsafeCell;

const PAGE: u64 = 4096;
const LARGE: u64 = 512 * PAGE;
/// Present, writable, and for everybody: a nested walk is one of a user.
const OPEN: u64 = 7;
/// A page of 2 MiB.
const LEAF: u64 = 1 << 7;

#[repr(C, align(4096))]
struct Table(UnsafeCell<[u64; 512]>);

// SAFETY: written before the kernel runs, by the only core; read by the processor alone after that.
unsafe impl Sync for Table {}

impl Table {
    const fn empty() -> Table {
        Table(UnsafeCell::new([0; 512]))
    }

    fn address(&self) -> u64 {
        self.0.get() as u64
    }

    fn set(&self, place: usize, entry: u64) {
        // SAFETY: see `Sync`; in bounds by the remainder.
        unsafe { (*self.0.get())[place % 512] = entry }
    }
}

static TOP: Table = Table::empty();
static GIBIBYTES: Table = Table::empty();
static LARGE_PAGES: [Table; 4] = [const { Table::empty() }; 4];
/// The first 2 MiB, page by page.
static FIRST: Table = Table::empty();

extern "C" {
    static monitor_start: u8;
    static monitor_end: u8;
}

/// The physical addresses of the monitor: the first, and the one behind the last.
pub fn own() -> (u64, u64) {
    (&raw const monitor_start as u64, &raw const monitor_end as u64)
}

/// Builds them; the address of the first.
pub fn build() -> u64 {
    let (start, end) = own();
    for page in 0..512 {
        let address = page * PAGE;
        let entry = if start <= address && address < end { 0 } else { address | OPEN };
        FIRST.set(page as usize, entry);
    }
    for (n, table) in LARGE_PAGES.iter().enumerate() {
        for place in 0..512 {
            table.set(place, ((n * 512 + place) as u64 * LARGE) | OPEN | LEAF);
        }
        GIBIBYTES.set(n, table.address() | OPEN);
    }
    LARGE_PAGES[0].set(0, FIRST.address() | OPEN);
    TOP.set(0, GIBIBYTES.address() | OPEN);
    TOP.address()
}
