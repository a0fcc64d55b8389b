//! What stands in a `trace.dat` around the events: versions 6 and 7.
//!
//! A file of version 6 has its parts one after another. One of version 7 is a list of options that say where each section lies; sections may
//! be compressed (`Documentation/trace-cmd/trace-cmd.dat.v6.5.txt` and `trace-cmd.dat.v7.5.txt` of trace-cmd).

use super::packing::Packing;
use super::source::{number, Source};
use crate::layout::Layouts;
use std::io::{Cursor, Read, Seek};

/// What such a file begins with.
pub(crate) const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// Where the events of one processor lie.
pub(super) struct Ring {
    pub(super) cpu: u16,
    pub(super) from: u64,
    pub(super) length: u64,
}

/// What a file says of its events.
pub(super) struct Header {
    pub(super) layouts: Layouts,
    pub(super) rings: Vec<Ring>,
    /// Bytes of a page of the kernel's ring buffer.
    pub(super) page: usize,
    /// Bytes before a page's first event.
    pub(super) head: usize,
    /// How the rings are compressed.
    pub(super) packing: Packing,
    pub(super) clock: Clock,
    /// What a person should know.
    pub(super) notes: Vec<String>,
}

/// How the trace's clock counts.
#[derive(Clone, Copy, Default)]
pub(super) struct Clock {
    /// A multiplier, the bits by which the product is shifted, and what is taken away before, where it counts ticks of the processor.
    ticks: Option<(u32, u32, u64)>,
}

impl Clock {
    /// Nanoseconds.
    pub(super) fn nanos(self, time: u64) -> u64 {
        match self.ticks {
            None => time,
            Some((multiplier, shift, offset)) => {
                let ticks = u128::from(time.saturating_sub(offset));
                u64::try_from((ticks * u128::from(multiplier)) >> shift.min(127)).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Reads it; `source` is at the beginning.
pub(super) fn read<R: Read + Seek>(source: &mut Source<R>) -> Result<Header, String> {
    source.go(MAGIC.len() as u64)?;
    let version = source.text()?;
    if version != "6" && version != "7" {
        let remedy = "print it with `trace-cmd report`, whose text is read";
        return Err(format!("it is a trace.dat of version {version}, and 6 and 7 are read; {remedy}"));
    }
    let (big, long) = (source.number(1)?, source.number(1)?);
    if big != 0 {
        return Err(
            "it is of a machine with the other byte order; print it with `trace-cmd report`, whose text is read".into(),
        );
    }
    let page = source.number(4)?;
    let head = if long == 8 { 16 } else { 12 };
    let mut header = Header {
        layouts: Layouts::default(),
        rings: Vec::new(),
        page: page as usize,
        head,
        packing: Packing::None,
        clock: Clock::default(),
        notes: Vec::new(),
    };
    match version.as_str() {
        "6" => one_after_another(source, &mut header)?,
        _ => sections(source, &mut header)?,
    }
    if header.page <= head || header.page > 1 << 24 {
        return Err(format!("it is damaged: pages of {} bytes", header.page));
    }
    Ok(header)
}

/// Version 6.
fn one_after_another<R: Read + Seek>(source: &mut Source<R>, header: &mut Header) -> Result<(), String> {
    pages(source)?;
    own_formats(source, &mut header.layouts)?;
    formats(source, &mut header.layouts)?;
    // Symbols, formats of the kernel's own prints, and names of threads, which the events have too.
    for length in [4, 4, 8] {
        let length = source.number(length)?;
        let after = source.at().checked_add(length).ok_or("it is damaged: a length")?;
        source.go(after)?;
    }
    let cpus = source.number(4)?;
    let mut kind = source.take(10)?;
    while kind == b"options  \0" {
        loop {
            let id = source.number(2)?;
            if id == 0 {
                break;
            }
            let content = source.sized(4)?;
            if id == TRACECLOCK {
                clock(&chosen(&content), header)?;
            }
        }
        kind = source.take(10)?;
    }
    if kind != b"flyrecord\0" {
        return Err(NO_EVENTS.into());
    }
    if cpus > u64::from(u16::MAX) {
        return Err(format!("it is damaged: {cpus} processors"));
    }
    for cpu in 0..cpus {
        let (from, length) = (source.number(8)?, source.number(8)?);
        ring(source, header, cpu, from, length)?;
    }
    Ok(())
}

const NO_EVENTS: &str = "it holds no events of the ring buffers (a latency trace?); record with `trace-cmd record`";

const DONE: u64 = 0;
const BUFFER: u64 = 3;
const TRACECLOCK: u64 = 4;
const TSC2NSEC: u64 = 14;
const HEADER_INFO: u64 = 16;
const FTRACE_EVENTS: u64 = 17;
const EVENT_FORMATS: u64 = 18;
/// The flag of a section that is compressed.
const COMPRESSED: u64 = 1;
/// More options sections than any file has.
const MOST_SECTIONS: usize = 1000;

/// Version 7.
fn sections<R: Read + Seek>(source: &mut Source<R>, header: &mut Header) -> Result<(), String> {
    let name = source.text()?;
    source.text()?;
    header.packing = Packing::named(&name)?;
    let mut next = source.number(8)?;
    let (mut buffers, mut ticks) = (Vec::new(), None);
    for _ in 0..MOST_SECTIONS {
        if next == 0 {
            break;
        }
        let mut options = section(source, next, header.packing)?;
        next = loop {
            let id = options.number(2)?;
            let content = options.sized(4)?;
            let place = || content.get(..8).map(number).ok_or("it is damaged: an option without a place");
            match id {
                DONE => break place()?,
                BUFFER => buffers.push(content),
                TSC2NSEC if content.len() >= 16 => {
                    let (multiplier, shift) = (number(&content[..4]), number(&content[4..8]));
                    ticks = Some((multiplier as u32, shift as u32, number(&content[8..16])));
                }
                HEADER_INFO => pages(&mut section(source, place()?, header.packing)?)?,
                FTRACE_EVENTS => own_formats(&mut section(source, place()?, header.packing)?, &mut header.layouts)?,
                EVENT_FORMATS => formats(&mut section(source, place()?, header.packing)?, &mut header.layouts)?,
                _ => {}
            }
        };
    }
    header.clock.ticks = ticks;
    choose(source, buffers, header)
}

/// A section, without compression.
fn section<R: Read + Seek>(
    source: &mut Source<R>,
    at: u64,
    packing: Packing,
) -> Result<Source<Cursor<Vec<u8>>>, String> {
    source.go(at)?;
    source.number(2)?;
    let flags = source.number(2)?;
    source.number(4)?;
    let length = source.number(8)?;
    let bytes = match flags & COMPRESSED != 0 {
        false => source.take(length)?,
        true => {
            let (packed, whole) = (source.number(4)?, source.number(4)?);
            let mut bytes = Vec::new();
            packing.unpack(&source.take(packed)?, whole as usize, &mut bytes)?;
            bytes
        }
    };
    Source::new(Cursor::new(bytes))
}

/// Takes the recording with most in it, where several were made at once.
fn choose<R: Read + Seek>(source: &mut Source<R>, buffers: Vec<Vec<u8>>, header: &mut Header) -> Result<(), String> {
    let mut found = Vec::new();
    for buffer in buffers {
        let mut buffer = Source::new(Cursor::new(buffer))?;
        let at = buffer.number(8)?;
        let (name, clock) = (buffer.text()?, buffer.text()?);
        let (page, cpus) = (buffer.number(4)?, buffer.number(4)?);
        let mut rings = Vec::new();
        for _ in 0..cpus {
            rings.push((buffer.number(4)?, buffer.number(8)?, buffer.number(8)?));
        }
        let bytes: u128 = rings.iter().map(|(_, _, length)| u128::from(*length)).sum();
        found.push((bytes, at, name, clock, page, rings));
    }
    let several = found.len() > 1;
    let Some((_, at, name, text, page, rings)) = found.into_iter().max_by_key(|buffer| buffer.0) else {
        return Err(NO_EVENTS.into());
    };
    if several {
        header.notes.push(format!("of several recordings in the file the longest is read, {name:?}"));
    }
    // The section's own flags say whether its events are compressed.
    source.go(at)?;
    source.number(2)?;
    if source.number(2)? & COMPRESSED == 0 {
        header.packing = Packing::None;
    }
    header.page = page as usize;
    clock(&text, header)?;
    for (cpu, from, length) in rings {
        ring(source, header, cpu, from, length)?;
    }
    Ok(())
}

fn ring<R: Read + Seek>(
    source: &Source<R>,
    header: &mut Header,
    cpu: u64,
    from: u64,
    length: u64,
) -> Result<(), String> {
    let cpu = u16::try_from(cpu).map_err(|_| format!("it is damaged: processor {cpu}"))?;
    if length == 0 {
        return Ok(());
    }
    from.checked_add(length)
        .filter(|end| *end <= source.length())
        .ok_or_else(|| format!("it is damaged: the events of core {cpu} lie beyond its end"))?;
    header.rings.push(Ring { cpu, from, length });
    Ok(())
}

/// `local global [mono] x86-tsc`: the one that was chosen.
fn chosen(content: &[u8]) -> String {
    let content = String::from_utf8_lossy(content);
    let chosen = content.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    chosen.unwrap_or_default().into()
}

/// Refuses a clock that counts no time, and says what one may lack.
fn clock(name: &str, header: &mut Header) -> Result<(), String> {
    let ticks = name == "x86-tsc" && header.clock.ticks.is_none();
    if ticks || ["counter", "uptime"].contains(&name) {
        return Err(format!("its clock, {name}, counts no nanoseconds; record with `trace-cmd record -C mono`"));
    }
    if name == "local" && header.notes.is_empty() {
        header.notes.push(
            "its clock, local, is each core's own, and what happens on two cores may stand in the wrong order; record with -C mono".into(),
        );
    }
    Ok(())
}

fn pages<R: Read + Seek>(source: &mut Source<R>) -> Result<(), String> {
    for name in [b"header_page\0".as_slice(), b"header_event\0"] {
        source.named(name)?;
        source.sized(8)?;
    }
    Ok(())
}

fn own_formats<R: Read + Seek>(source: &mut Source<R>, layouts: &mut Layouts) -> Result<(), String> {
    for _ in 0..source.number(4)? {
        layouts.add(&source.sized(8)?);
    }
    Ok(())
}

fn formats<R: Read + Seek>(source: &mut Source<R>, layouts: &mut Layouts) -> Result<(), String> {
    for _ in 0..source.number(4)? {
        source.text()?;
        for _ in 0..source.number(4)? {
            layouts.add(&source.sized(8)?);
        }
    }
    Ok(())
}
