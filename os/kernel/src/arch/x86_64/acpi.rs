//! What is asked of ACPI: the local APIC numbers of the processors, and where interrupt lines go.

use super::loader::read;

/// The processors' APIC numbers, in firmware order; how many there are. Falls back to 0, 1, 2 … without tables.
pub fn processors(root: u64) -> ([u8; 64], usize) {
    let mut found = [0; 64];
    let count = madt(root).map_or(0, |table| list(table, &mut found));
    if count > 0 {
        return (found, count);
    }
    for (i, id) in found.iter_mut().enumerate() {
        *id = i as u8;
    }
    (found, tactus_abi::layout::MAX_CORES)
}

fn madt(root: u64) -> Option<u64> {
    if root == 0 || read::<u64>(root) != u64::from_le_bytes(*b"RSD PTR ") {
        return None;
    }
    let extended = read::<u8>(root + 15) >= 2;
    let (table, width) = if extended { (read::<u64>(root + 24), 8) } else { (u64::from(read::<u32>(root + 16)), 4) };
    let entries = u64::from(read::<u32>(table + 4)).checked_sub(36)? / width;
    (0..entries.min(128))
        .map(|i| table + 36 + i * width)
        .map(|at| if width == 8 { read::<u64>(at) } else { u64::from(read::<u32>(at)) })
        .find(|&at| read::<u32>(at) == u32::from_le_bytes(*b"APIC"))
}

fn list(table: u64, found: &mut [u8; 64]) -> usize {
    let end = table + u64::from(read::<u32>(table + 4));
    let (mut at, mut count) = (table + 44, 0);
    while at + 2 <= end {
        let (kind, bytes) = (read::<u8>(at), u64::from(read::<u8>(at + 1)));
        // A processor with a local APIC, enabled.
        if kind == 0 && read::<u32>(at + 4) & 1 != 0 && count < found.len() {
            found[count] = read(at + 3);
            count += 1;
        }
        at += bytes.max(2);
    }
    count
}

/// The physical address of the I/O APIC that has the first lines, 0 if there is none. Calls with each line that is connected
/// otherwise than by its number: the line, its input, its flags.
pub fn lines(root: u64, mut connected: impl FnMut(usize, u32, u16)) -> u64 {
    let Some(table) = madt(root) else { return 0 };
    let end = table + u64::from(read::<u32>(table + 4));
    let (mut at, mut address) = (table + 44, 0);
    while at + 2 <= end {
        let (kind, bytes) = (read::<u8>(at), u64::from(read::<u8>(at + 1)));
        match kind {
            1 if read::<u32>(at + 8) == 0 => address = u64::from(read::<u32>(at + 4)),
            2 => connected(read::<u8>(at + 3).into(), read(at + 4), read(at + 8)),
            _ => {}
        }
        at += bytes.max(2);
    }
    address
}
