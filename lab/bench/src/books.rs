//! What lies in a machine's memory after a run: the books of measuring components, and address spaces.

use object::{Object, ObjectSymbol};
use std::collections::BTreeMap;
use tactus_bench_book::{read, Series};

const PAGE: usize = 4096;
/// The kernel's own address of physical address 0.
const KERNEL_BASE: u64 = 0xffff_ffff_8000_0000;
/// The address bits of a page-table entry.
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// All entries of all books, by series, each in the order in which it was written.
pub fn books(memory: &[u8]) -> BTreeMap<Series, Vec<u64>> {
    let mut found: BTreeMap<Series, Vec<u64>> = BTreeMap::new();
    for page in (0..memory.len()).step_by(PAGE) {
        for (series, value) in read(&memory[page..]).into_iter().flatten() {
            found.entry(series).or_default().push(value);
        }
    }
    found
}

fn word(memory: &[u8], at: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    memory.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// Address and length of the kernel's variable of this name; the longest, if several modules have one.
pub fn symbol(elf: &object::File, name: &str) -> Option<(u64, u64)> {
    let mangled = format!("{}{name}17h", name.len());
    let named = elf.symbols().filter(|s| s.name().is_ok_and(|n| n == name || n.contains(&mangled)));
    named.max_by_key(|symbol| symbol.size()).map(|symbol| (symbol.address(), symbol.size()))
}

/// The physical address of something of the kernel's.
pub fn physical(address: u64) -> u64 {
    if address >= KERNEL_BASE {
        address - KERNEL_BASE
    } else {
        address
    }
}

/// The address spaces, by component: their top tables. They are told by the kernel's half, which is the same in all,
/// and were made in the order of the components from rising addresses.
pub fn spaces(memory: &[u8], elf: &object::File) -> Option<Vec<u64>> {
    let (boot, _) = symbol(elf, "boot_pml4")?;
    let half = |top: u64| memory.get(top as usize + PAGE / 2..top as usize + PAGE);
    let kernel = half(physical(boot))?;
    let tops = (0..memory.len() as u64).step_by(PAGE).filter(|&top| top != physical(boot) && half(top) == Some(kernel));
    Some(tops.collect())
}

/// Where the page at this address of the space lies.
pub fn translate(memory: &[u8], top: u64, address: u64) -> Option<u64> {
    let mut table = top;
    for shift in [39, 30, 21, 12] {
        let entry = word(memory, table + (address >> shift & 511) * 8)?;
        if entry & 1 == 0 {
            return None;
        }
        table = entry & ADDRESS;
    }
    Some(table + address % PAGE as u64)
}

/// How many bytes of a stack, whose pages were full of zeros, were used: from its deepest word that is not zero to its
/// upper end. A stack that was never pushed on but with zeros counts as unused.
pub fn used(memory: &[u8], page_of: impl Fn(u64) -> Option<u64>, top: u64, bytes: u64) -> u64 {
    let deepest = (top - bytes..top)
        .step_by(8)
        .find(|&at| page_of(at).and_then(|physical| word(memory, physical)).is_some_and(|word| word != 0));
    deepest.map_or(0, |at| top - at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_used_down_to_its_deepest_word_that_is_not_zero() {
        let mut memory = vec![0; 2 * PAGE];
        memory[PAGE + 100] = 1;
        memory[PAGE + 3000] = 1;
        assert_eq!(used(&memory, Some, 2 * PAGE as u64, PAGE as u64), PAGE as u64 - 96);
        assert_eq!(used(&memory, Some, PAGE as u64, PAGE as u64), 0);
    }

    #[test]
    fn an_address_is_found_through_four_tables() {
        let mut memory = vec![0; 6 * PAGE];
        let address = 0x7000_1238_u64;
        for (level, shift) in [39, 30, 21, 12].into_iter().enumerate() {
            let at = level * PAGE + (address >> shift & 511) as usize * 8;
            memory[at..at + 8].copy_from_slice(&(((level as u64 + 1) * PAGE as u64) | 7).to_le_bytes());
        }
        assert_eq!(translate(&memory, 0, address), Some(4 * PAGE as u64 + 0x238));
        assert_eq!(translate(&memory, 0, address + PAGE as u64), None);
    }
}
