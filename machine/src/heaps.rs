//! What components tell of their heaps, read out of the machine's memory when it has ended.

use crate::rings::Rings;
use std::io;
use std::mem::{offset_of, size_of};
use tactus_abi::card::{self, MAGIC, PLACE};
use tactus_abi::layout::HEAP;
use tactus_abi::shared::{HeapCard, HEAP_MAGIC};
use tactus_image::Facts;
use tactus_trace::HeapUse;

/// The address bits of a page-table entry.
const ADDRESS: u64 = 0x000f_ffff_ffff_f000;

/// The heaps that were asked for memory, in the order of components. A component tells of its own, and of nobody else's; what it tells is its
/// word.
///
/// # Errors
/// If the memory cannot be read.
pub fn read(facts: &Facts, rings: &Rings) -> io::Result<Vec<HeapUse>> {
    let told = |number: usize| word(rings, rings.begins() + PLACE + 8 * number as u64);
    if told(card::word::MAGIC)? != MAGIC || told(card::word::COMPONENTS)? as usize != facts.components.len() {
        return Ok(Vec::new());
    }
    let mut heaps = Vec::new();
    for (number, component) in facts.components.iter().enumerate() {
        // The upper half tells where its counters are.
        let top = told(card::word::TOPS + number)? & u64::from(u32::MAX);
        let (bytes, parts) = (facts.heaps[number], facts.heap_parts[number]);
        let mut whole: Option<HeapUse> = None;
        for part in 0..parts {
            let Some(at) = translate(rings, top, HEAP + part * (bytes / parts))? else { continue };
            let field = |offset: usize| word(rings, at + offset as u64);
            if field(offset_of!(HeapCard, magic))? != HEAP_MAGIC {
                continue;
            }
            let it = whole.get_or_insert_with(|| HeapUse { component: component.clone(), bytes, ..HeapUse::default() });
            it.used += field(offset_of!(HeapCard, used))?;
            it.most += field(offset_of!(HeapCard, most))?;
            it.allocations += field(offset_of!(HeapCard, allocations))?;
            it.refused += field(offset_of!(HeapCard, refused))?;
        }
        heaps.extend(whole);
    }
    Ok(heaps)
}

/// The word at this physical address.
fn word(rings: &Rings, at: u64) -> io::Result<u64> {
    let mut bytes = [0; size_of::<u64>()];
    rings.frame(at, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Where the page at this address of the space lies, if there is one.
fn translate(rings: &Rings, top: u64, address: u64) -> io::Result<Option<u64>> {
    let mut table = top;
    for shift in [39, 30, 21, 12] {
        let entry = word(rings, table + (address >> shift & 511) * 8)?;
        if entry & 1 == 0 {
            return Ok(None);
        }
        table = entry & ADDRESS;
    }
    Ok(Some(table))
}
