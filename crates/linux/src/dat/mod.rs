//! The file that `trace-cmd record` writes, `trace.dat` of versions 6 and 7: its events in the order of time, read as they come.

mod header;
mod packing;
mod ring;
mod source;

pub(crate) use header::MAGIC;

use crate::layout::Layouts;
use crate::recording::{marker, EventKind, Keep, Recording, Thread};
use crate::text::{of_bits, state_of};
use ring::{Item, Reader};
use source::Source;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Cursor, Read, Seek};
use tactus_time::Instant;

/// Reads a `trace.dat`.
///
/// # Errors
/// It is of another version, of a machine of the other byte order, its clock counts no time or goes back, or it is damaged; the text says
/// which.
pub fn read_dat(bytes: &[u8]) -> Result<Recording, String> {
    read_dat_from(Cursor::new(bytes))
}

/// Reads a `trace.dat` of which no more than a page, or a compressed part, of each processor is in memory at once.
///
/// # Errors
/// As [`read_dat`], or the file cannot be read.
pub fn read_dat_from(file: impl Read + Seek) -> Result<Recording, String> {
    read_keeping(file, Keep::All)
}

pub(crate) fn read_keeping(file: impl Read + Seek, keep: Keep) -> Result<Recording, String> {
    let mut source = Source::new(file)?;
    let header = header::read(&mut source)?;
    let mut recording = Recording { notes: header.notes.clone(), keep, ..Recording::default() };
    let mut readers = Vec::new();
    let mut items = Vec::new();
    let mut heap = BinaryHeap::new();
    for ring in &header.rings {
        let mut reader = Reader::new(ring, &mut source, header.packing)?;
        let Some((time, item)) = reader.next(&mut source, &header)? else { continue };
        heap.push(Reverse((time, readers.len())));
        readers.push(reader);
        items.push(item);
    }
    while let Some(Reverse((time, n))) = heap.pop() {
        let reader = &mut readers[n];
        let at = (Instant::from_nanos(time), reader.cpu);
        match &items[n] {
            Item::Lost => recording.push(at.0, at.1, EventKind::Lost),
            Item::Event(place) => {
                if event(reader.bytes(place), at, &header.layouts, &mut recording).is_none() {
                    recording.unread += 1;
                }
            }
        }
        if let Some((time, item)) = reader.next(&mut source, &header)? {
            items[n] = item;
            heap.push(Reverse((time, n)));
        }
    }
    if recording.switches() == 0 {
        return Err("no sched_switch among its events; record with -e sched_switch -e sched_waking".into());
    }
    Ok(recording)
}

/// An event; nothing if it does not have what its layout says.
fn event(data: &[u8], (time, cpu): (Instant, u16), layouts: &Layouts, recording: &mut Recording) -> Option<()> {
    let Some(layout) = layouts.of(data) else {
        recording.passed_over += 1;
        return Some(());
    };
    let thread = |name: &str| Some(Thread(layout.number(data, name)? as u32));
    match layout.name.as_str() {
        "sched_switch" => {
            let (from, to) = (thread("prev_pid")?, thread("next_pid")?);
            // What the bits mean differs from kernel to kernel.
            let bits = layout.number(data, "prev_state")?;
            let state = layout.flag(bits).and_then(state_of).unwrap_or_else(|| of_bits(bits));
            recording.name(from, &layout.text(data, "prev_comm")?);
            recording.name(to, &layout.text(data, "next_comm")?);
            recording.push(time, cpu, EventKind::Switch { from, state, to });
        }
        "print" => {
            let text = layout.text(data, "buf")?;
            match marker(&text, thread("common_pid")?) {
                Some(kind) => recording.push(time, cpu, kind),
                None => recording.passed_over += 1,
            }
        }
        _ => {
            let woken = thread("pid")?;
            recording.name(woken, &layout.text(data, "comm")?);
            recording.push(time, cpu, EventKind::Wakeup(woken));
        }
    }
    Some(())
}
