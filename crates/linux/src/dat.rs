//! The file that `trace-cmd record` writes, `trace.dat` of version 6: what the kernel says of its events' layout, then the pages of
//! each processor's ring buffer as the kernel filled them (`Documentation/trace-cmd/trace-cmd.dat.v6.5.txt` of trace-cmd;
//! `include/linux/ring_buffer.h` of Linux).

use crate::layout::{Layout, Layouts};
use crate::recording::{begins_job, EventKind, Recording, Thread};
use crate::text::{of_bits, state_of};
use tactus_time::Instant;

/// What such a file begins with.
pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// Reads a `trace.dat`.
///
/// # Errors
/// It is of another version, of a machine of the other byte order, its clock counts no time, or it is damaged; the text says which.
pub fn read_dat(bytes: &[u8]) -> Result<Recording, String> {
    let mut cursor = Cursor { bytes, at: MAGIC.len() };
    let version = cursor.text()?;
    if version != "6" {
        let remedy = "print it with `trace-cmd report`, whose text is read, or convert it with `trace-cmd convert --file-version 6`";
        return Err(format!("it is a trace.dat of version {version}, and version 6 is read; {remedy}"));
    }
    let [big, long] = [cursor.take(1)?[0], cursor.take(1)?[0]];
    if big != 0 {
        return Err(
            "it is of a machine with the other byte order; print it with `trace-cmd report`, whose text is read".into(),
        );
    }
    let page = cursor.number(4)?;
    cursor.named(b"header_page\0")?;
    cursor.sized(8)?;
    cursor.named(b"header_event\0")?;
    cursor.sized(8)?;
    let mut layouts = Layouts::default();
    for _ in 0..cursor.number(4)? {
        layouts.add(cursor.sized(8)?);
    }
    for _ in 0..cursor.number(4)? {
        cursor.text()?;
        for _ in 0..cursor.number(4)? {
            layouts.add(cursor.sized(8)?);
        }
    }
    // Symbols, formats of the kernel's own prints, and names of threads, which the events have too.
    cursor.sized(4)?;
    cursor.sized(4)?;
    cursor.sized(8)?;
    let cpus = cursor.number(4)?;
    let mut kind = cursor.take(10)?;
    while kind == b"options  \0" {
        options(&mut cursor)?;
        kind = cursor.take(10)?;
    }
    if kind != b"flyrecord\0" {
        return Err("it holds no events of the ring buffers (a latency trace?); record with `trace-cmd record`".into());
    }
    let head = if long == 8 { 16 } else { 12 };
    if page <= head || cpus > u64::from(u16::MAX) {
        return Err(format!("it is damaged: {cpus} processors, pages of {page} bytes"));
    }
    let mut recording = Recording::default();
    for cpu in 0..cpus {
        let (from, length) = (cursor.number(8)?, cursor.number(8)?);
        let end = from.checked_add(length).filter(|end| *end <= bytes.len() as u64);
        let end = end.ok_or_else(|| format!("it is damaged: the events of core {cpu} lie beyond its end"))?;
        for page in bytes[from as usize..end as usize].chunks(page as usize) {
            read_page(page, head as usize, cpu as u16, &layouts, &mut recording)?;
        }
    }
    if recording.switches() == 0 {
        return Err("no sched_switch among its events; record with -e sched_switch -e sched_waking".into());
    }
    Ok(recording.in_order())
}

/// The options; only the clock's matters.
fn options(cursor: &mut Cursor<'_>) -> Result<(), String> {
    const CLOCK: u64 = 4;
    loop {
        let id = cursor.number(2)?;
        if id == 0 {
            return Ok(());
        }
        let content = String::from_utf8_lossy(cursor.sized(4)?);
        let chosen = content.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
        if let Some(clock) = chosen.filter(|clock| id == CLOCK && ["counter", "x86-tsc", "uptime"].contains(clock)) {
            return Err(format!("its clock, {clock}, counts no nanoseconds; record with `trace-cmd record -C mono`"));
        }
    }
}

/// A page of a ring buffer.
fn read_page(page: &[u8], head: usize, cpu: u16, layouts: &Layouts, recording: &mut Recording) -> Result<(), String> {
    const MISSED: u64 = 1 << 31;
    let damaged = || format!("it is damaged: a page of core {cpu} is cut");
    if page.len() < head {
        return Err(damaged());
    }
    let mut cursor = Cursor { bytes: page, at: 0 };
    let mut time = cursor.number(8)?;
    let commit = cursor.number(head - 8)?;
    if commit & MISSED != 0 {
        recording.push(Instant::from_nanos(time), cpu, EventKind::Lost);
    }
    let end = head + (commit & 0x7ff_ffff) as usize;
    cursor.bytes = page.get(..end).ok_or_else(damaged)?;
    while cursor.at + 4 <= end {
        let word = cursor.number(4)?;
        let (kind, delta) = (word & 0x1f, word >> 5);
        match kind {
            // The rest of the page is empty.
            29 if delta == 0 => break,
            29 => {
                let length = cursor.number(4)?.saturating_sub(4);
                cursor.take(length as usize)?;
                time = time.wrapping_add(delta);
            }
            30 => time = time.wrapping_add((cursor.number(4)? << 27) + delta),
            // The lower 59 bits of the time itself.
            31 => time = (time & !((1 << 59) - 1)) | ((cursor.number(4)? << 27) + delta),
            words => {
                time = time.wrapping_add(delta);
                let length = if words == 0 { cursor.number(4)?.saturating_sub(4) } else { words * 4 };
                let data = cursor.take(length as usize)?;
                if event(data, (Instant::from_nanos(time), cpu), layouts, recording).is_none() {
                    recording.unread += 1;
                }
            }
        }
    }
    Ok(())
}

/// An event; nothing if it does not have what its layout says.
fn event(data: &[u8], (time, cpu): (Instant, u16), layouts: &Layouts, recording: &mut Recording) -> Option<()> {
    let thread = |layout: &Layout, name: &str| Some(Thread(layout.number(data, name)? as u32));
    let Some(layout) = layouts.of(data) else {
        recording.passed_over += 1;
        return Some(());
    };
    match layout.name.as_str() {
        "sched_switch" => {
            let (from, to) = (thread(layout, "prev_pid")?, thread(layout, "next_pid")?);
            // What the bits mean differs from kernel to kernel.
            let bits = layout.number(data, "prev_state")?;
            let state = layout.flag(bits).and_then(state_of).unwrap_or_else(|| of_bits(bits));
            recording.name(from, &layout.text(data, "prev_comm")?);
            recording.name(to, &layout.text(data, "next_comm")?);
            recording.push(time, cpu, EventKind::Switch { from, state, to });
        }
        "print" => {
            let text = layout.text(data, "buf")?;
            match begins_job(&text) {
                true => recording.push(time, cpu, EventKind::Begin(thread(layout, "common_pid")?)),
                false => recording.passed_over += 1,
            }
        }
        _ => {
            let woken = thread(layout, "pid")?;
            recording.name(woken, &layout.text(data, "comm")?);
            recording.push(time, cpu, EventKind::Wakeup(woken));
        }
    }
    Some(())
}

/// Bytes that are read one after another.
struct Cursor<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Cursor<'b> {
    fn take(&mut self, length: usize) -> Result<&'b [u8], String> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| format!("it is damaged: {length} bytes at {} are not there", self.at))?;
        self.at += length;
        Ok(taken)
    }
    /// A number of up to 8 bytes, the lowest first.
    fn number(&mut self, length: usize) -> Result<u64, String> {
        Ok(self.take(length)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
    /// What a length in bytes stands before.
    fn sized(&mut self, length: usize) -> Result<&'b [u8], String> {
        let length = self.number(length)?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }
    /// A text that a zero ends.
    fn text(&mut self) -> Result<String, String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == 0).ok_or("it is damaged: a name does not end")?;
        let text = String::from_utf8_lossy(&rest[..length]).into_owned();
        self.at += length + 1;
        Ok(text)
    }
    fn named(&mut self, name: &[u8]) -> Result<(), String> {
        match self.take(name.len())? == name {
            true => Ok(()),
            false => Err(format!(
                "it is damaged: no {} at {}",
                String::from_utf8_lossy(name).trim_end_matches('\0'),
                self.at
            )),
        }
    }
}
