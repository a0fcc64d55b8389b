//! Nested page tables: which physical memory a kernel sees.

use crate::apic::APIC;
use core::cell::UnsafeCell;
use tactus_abi::sandbox::{MailboxRun, MAILBOXES, MOST};

const PAGE: u64 = 4096;
const LARGE: u64 = 512 * PAGE;
/// Present, writable, and for everybody: a nested walk is one of a user.
const OPEN: u64 = 7;
const WRITABLE: u64 = 2;
/// A page of 2 MiB.
const LEAF: u64 = 1 << 7;

#[repr(C, align(4096))]
struct Table(UnsafeCell<[u64; 512]>);

// SAFETY: written before the kernel runs, by the core that runs it; read by the processor alone after that.
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

/// The tables of one sandbox.
struct Tables {
    top: Table,
    gibibytes: Table,
    large: [Table; 4],
    /// Of single pages.
    small: Table,
    /// The same, of mailboxes.
    mailboxes: Table,
}

static TABLES: [Tables; MOST] = [const {
    Tables {
        top: Table::empty(),
        gibibytes: Table::empty(),
        large: [const { Table::empty() }; 4],
        small: Table::empty(),
        mailboxes: Table::empty(),
    }
}; MOST];

extern "C" {
    static monitor_start: u8;
    static monitor_end: u8;
}

/// The physical addresses of the monitor: the first, and the one behind the last.
pub fn own() -> (u64, u64) {
    (&raw const monitor_start as u64, &raw const monitor_end as u64)
}

/// All of the first 4 GiB at its own address, but for the monitor's pages: for a kernel that has the machine. The first table's address.
pub fn build() -> u64 {
    let tables = &TABLES[0];
    let (start, end) = own();
    for page in 0..512 {
        let address = page * PAGE;
        let entry = if start <= address && address < end { 0 } else { address | OPEN };
        tables.small.set(page as usize, entry);
    }
    for (n, table) in tables.large.iter().enumerate() {
        for place in 0..512 {
            table.set(place, ((n * 512 + place) as u64 * LARGE) | OPEN | LEAF);
        }
    }
    tables.large[0].set(0, tables.small.address() | OPEN);
    tables.joined()
}

/// A sandbox's memory from address 0 on, which lies from `base` on; and the page of its core's interrupt controller, unless what goes from
/// there to other cores is to be held back. The first table's address.
pub fn build_part(sandbox: usize, base: u64, bytes: u64, holds_back: bool) -> u64 {
    let tables = &TABLES[sandbox % MOST];
    for place in 0..bytes / LARGE {
        let entry = (base + place * LARGE) | OPEN | LEAF;
        tables.large[place as usize / 512 % 4].set(place as usize % 512, entry);
    }
    if holds_back {
        return tables.joined();
    }
    tables.small.set((APIC % LARGE / PAGE) as usize, APIC | OPEN);
    tables.large[3].set((APIC / LARGE % 512) as usize, tables.small.address() | OPEN);
    tables.joined()
}

/// Shows a sandbox pages of mailboxes, all of which lie from `base` on: those that it writes, and others that it may only read.
pub fn show_mailboxes(sandbox: usize, base: u64, runs: impl Iterator<Item = MailboxRun>) {
    let tables = &TABLES[sandbox % MOST];
    for run in runs {
        let rights = if run.writable { OPEN } else { OPEN & !WRITABLE };
        for page in run.first..run.first + run.pages {
            tables.mailboxes.set(page as usize, (base + page * PAGE) | rights);
        }
    }
    let place = (MAILBOXES / LARGE) as usize;
    tables.large[place / 512 % 4].set(place % 512, tables.mailboxes.address() | OPEN);
}

impl Tables {
    fn joined(&self) -> u64 {
        for (n, table) in self.large.iter().enumerate() {
            self.gibibytes.set(n, table.address() | OPEN);
        }
        self.top.set(0, self.gibibytes.address() | OPEN);
        self.top.address()
    }
}
