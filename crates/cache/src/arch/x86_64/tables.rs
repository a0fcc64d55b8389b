//! Page tables of x86-64, walked from outside the machine: which frames an address space shows, and which the tables take.

use core::ops::Range;

const PRESENT: u64 = 1;
const LARGE: u64 = 0x80;
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// A frame that a walk came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// It holds a table.
    Table {
        /// Physical address.
        frame: u64,
    },
    /// It is seen at an address.
    Page {
        /// Physical address.
        frame: u64,
        /// Where it is seen; the lower 48 bits.
        address: u64,
    },
}

/// Walks the entries of a top table, without that table itself. `read` gives a frame's words, or nothing where there is no memory. Pages
/// larger than a frame are not shown.
pub fn walk(
    top: u64,
    entries: Range<usize>,
    read: &mut dyn FnMut(u64) -> Option<[u64; 512]>,
    see: &mut dyn FnMut(Shown),
) {
    level(top, 3, 0, entries, read, see);
}

fn level(
    table: u64,
    depth: u32,
    address: u64,
    entries: Range<usize>,
    read: &mut dyn FnMut(u64) -> Option<[u64; 512]>,
    see: &mut dyn FnMut(Shown),
) {
    let Some(words) = read(table) else { return };
    for (number, entry) in words.iter().enumerate().take(entries.end).skip(entries.start) {
        let (frame, at) = (entry & ADDRESS, address | (number as u64) << (12 + 9 * depth));
        match (entry & PRESENT, depth) {
            (0, _) => {}
            (_, 0) => see(Shown::Page { frame, address: at }),
            _ if entry & LARGE != 0 => {}
            _ => {
                see(Shown::Table { frame });
                level(frame, depth - 1, at, 0..512, read, see);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn tables_and_pages_are_shown_and_large_pages_are_not() {
        let mut memory = Vec::new();
        memory.resize(6, [0_u64; 512]);
        let frame = |number: u64| number * 4096;
        memory[0][1] = frame(1) | 7;
        memory[1][2] = frame(2) | 7;
        memory[2][0] = frame(5) | LARGE | 3;
        memory[2][3] = frame(3) | 7;
        memory[3][4] = frame(4) | 5;
        let mut seen = Vec::new();
        walk(0, 0..256, &mut |at| memory.get((at / 4096) as usize).copied(), &mut |it| seen.push(it));
        let table = |number| Shown::Table { frame: frame(number) };
        let address = 1 << 39 | 2 << 30 | 3 << 21 | 4 << 12;
        assert_eq!(seen, [table(1), table(2), table(3), Shown::Page { frame: frame(4), address }]);
    }
}
