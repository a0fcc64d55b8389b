//! Memory objects: frames for each, in its colours, and the mappings that show them. Once, from the image.

use crate::arch::loader::{BootInfo, Range};
use crate::arch::paging::{direct, Access, AddressSpace, MapError, MEMORY};
use crate::arch::pci::{Function, PciError};
use crate::arch::protect;
use crate::arch::time::Rates;
use crate::arch::FrameSource;
use crate::component;
use crate::frames::Frames;
use crate::monitor;
use crate::percore;
use crate::restart;
use crate::set_up::{Image, ImageError};
use core::sync::atomic::{AtomicU16, AtomicU64};
use tactus_abi::image::{self, pci, Interleaved, MemoryKind};
use tactus_abi::layout::{REGION_STRIDE, SLOTS};
use tactus_abi::shared::{slices, Clock, Region};

/// Where the frames of a memory object are.
#[derive(Clone, Copy)]
enum Place {
    /// One after another from here.
    At(u64),
    /// Pages of the trace memory, which begins here.
    Trace(u64, Interleaved),
    /// Nowhere yet: each is taken when its page is first mapped.
    Anywhere,
}

/// Makes the memory objects and maps them.
pub fn map(image: &Image, info: &BootInfo, frames: &mut Frames, rates: Rates) -> Result<Range, ImageError> {
    let header = &image.header;
    let mut trace = Range::EMPTY;
    // A mapping follows from its object's frames; objects are made one by one, with all of their mappings.
    for number in 0..header.memories {
        let memory: image::Memory = image.entry(2, number);
        let pages = memory.pages(header.cores).ok_or(ImageError::BadCount("pages"))?;
        let place = place(image, info, frames, &memory, &mut trace)?;
        if let Place::Trace(base, of) = place {
            let mut mappings = (0..header.mappings).map(|index| image.entry::<image::Mapping>(3, index));
            if !mappings.any(|mapping| mapping.memory == number) {
                monitor::set_up_log(log(frames, (base, of), pages)?, memory.bytes, header.cores.into());
            }
        }
        if memory.kind == MemoryKind::Clock as u32 {
            if let Place::At(base) = place {
                write_clock(base, rates);
            }
        }
        let uncached = memory.kind == MemoryKind::Device as u32 || memory.kind == MemoryKind::Pci as u32;
        // Where its pages were seen first.
        let mut seen: Option<(AddressSpace, u64)> = None;
        for index in 0..header.mappings {
            let mapping: image::Mapping = image.entry(3, index);
            if mapping.memory != number {
                continue;
            }
            if mapping.component >= header.components {
                return Err(ImageError::BadCount("components"));
            }
            let access = match mapping.flags {
                image::WRITABLE if uncached => Access::Device,
                image::WRITABLE => Access::Write,
                image::EXECUTABLE => Access::Execute,
                _ => Access::Read,
            };
            let space = component::get(mapping.component as u16).space;
            let owner: image::Component = image.entry(0, mapping.component);
            let restartable = owner.restarted_by != image::NO_COMPONENT && mapping.flags == image::WRITABLE;
            let restartable = restartable && memory.kind == MemoryKind::Copied as u32;
            let source = info.image.start + memory.offset;
            if let (Place::At(base), true) = (place, restartable) {
                restart::note(frames, mapping.component as usize, base, pages, source, memory.file_bytes)
                    .ok_or(ImageError::OutOfMemory)?;
            }
            if mapping.address.checked_add(memory.bytes).is_none() {
                return Err(ImageError::Mapping(mapping.component, mapping.address, MapError::BadAddress));
            }
            for page in 0..pages {
                let address = mapping.address + page * 4096;
                let frame = match (place, seen) {
                    (Place::At(base), _) => base + page * 4096,
                    (Place::Trace(base, pages), _) => base + pages.place(page) * 4096,
                    (Place::Anywhere, Some((space, first))) => {
                        space.frame_at(first + page * 4096).ok_or(ImageError::NotAnImage)?
                    }
                    (Place::Anywhere, None) => {
                        let given = memory.file_bytes.saturating_sub(page * 4096).min(4096);
                        let fresh = |frames: &mut Frames| copied(frames, memory.colours, source + page * 4096, given);
                        let frame = fresh(frames).ok_or(ImageError::OutOfMemory)?;
                        if restartable {
                            // What it begins with is kept in its own colours, too.
                            let kept = if given > 0 { fresh(frames) } else { Some(frame) };
                            kept.and_then(|kept| {
                                restart::note(frames, mapping.component as usize, frame, 1, kept, given)
                            })
                            .ok_or(ImageError::OutOfMemory)?;
                        }
                        frame
                    }
                };
                space.map(frames, owner.colours, address, frame, access).map_err(|error| match error {
                    MapError::OutOfFrames => ImageError::OutOfMemory,
                    error => ImageError::Mapping(mapping.component, address, error),
                })?;
            }
            seen = seen.or(Some((space, mapping.address)));
        }
        if memory.kind == MemoryKind::Regions as u32 {
            share_regions(image, frames, (number, place), seen)?;
        }
    }
    Ok(trace)
}

/// Where the kernel sees, in one piece, its own part of the trace memory.
fn log(frames: &mut Frames, (base, of): (u64, Interleaved), pages: u64) -> Result<*mut u64, ImageError> {
    if of.is_whole() {
        return Ok(direct(base));
    }
    shown((0..pages).map(|page| protect::show(frames, base + of.place(page) * 4096))).map(|address| address as *mut u64)
}

/// The first of addresses that follow each other, if all of them are there.
fn shown(mut pages: impl Iterator<Item = Option<u64>>) -> Result<u64, ImageError> {
    let first = pages.next().flatten();
    first.filter(|_| pages.all(|page| page.is_some())).ok_or(ImageError::OutOfMemory)
}

/// A frame of one of these colours with so many bytes from there, then zeros.
fn copied(frames: &mut Frames, colours: u64, source: u64, bytes: u64) -> Option<u64> {
    let frame = frames.page(colours)?;
    // SAFETY: the source lies inside the module (`place`), the target is fresh and at least as long.
    unsafe { core::ptr::copy_nonoverlapping(direct::<u8>(source), direct::<u8>(frame), bytes as usize) };
    Some(frame)
}

/// Finds the frames of a memory object, or says that they are to be taken one by one.
fn place(
    image: &Image,
    info: &BootInfo,
    frames: &mut Frames,
    memory: &image::Memory,
    trace: &mut Range,
) -> Result<Place, ImageError> {
    let header = &image.header;
    let pages = memory.pages(header.cores).ok_or(ImageError::BadCount("pages"))?;
    let within = |bytes: u64| memory.offset.checked_add(bytes).is_some_and(|end| end <= header.bytes);
    let whole = frames.is_every(memory.colours);
    let of = Interleaved { bits: memory.colours, colours: header.colours };
    Ok(Place::At(match memory.kind {
        k if k == MemoryKind::InPlace as u32 => {
            if !within(memory.bytes) || memory.offset % 4096 != 0 {
                return Err(ImageError::BadCount("bytes"));
            }
            info.image.start + memory.offset
        }
        k if k == MemoryKind::Copied as u32 => {
            if !within(memory.file_bytes) || memory.file_bytes > memory.bytes {
                return Err(ImageError::BadCount("bytes"));
            }
            if !whole {
                return Ok(Place::Anywhere);
            }
            if memory.late != 0 {
                let base = frames.pages_uncleared(pages, memory.colours).ok_or(ImageError::OutOfMemory)?;
                return Ok(Place::At(base));
            }
            let base = frames.pages(pages, memory.colours).ok_or(ImageError::OutOfMemory)?;
            // SAFETY: the source lies inside the module, the target is fresh and at least as long.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    direct::<u8>(info.image.start + memory.offset),
                    direct::<u8>(base),
                    memory.file_bytes as usize,
                );
            }
            base
        }
        k if k == MemoryKind::Regions as u32 && !whole => return Ok(Place::Anywhere),
        k if k == MemoryKind::Regions as u32 => frames.pages(pages, memory.colours).ok_or(ImageError::OutOfMemory)?,
        k if k == MemoryKind::Trace as u32 => {
            let part = if header.trace_address == 0 {
                // One turn of the colours more, to begin at a frame of the first one.
                let spare = if of.is_whole() { 0 } else { u64::from(header.colours) };
                let all = frames.pages_uncleared(of.extent(pages) + spare, u64::MAX).ok_or(ImageError::OutOfMemory)?;
                let base = if spare == 0 { all } else { all.next_multiple_of(spare * 4096) };
                Range { start: base, end: base + of.extent(pages) * 4096 }
            } else {
                let part = memory.part_from(header.trace_address, header.colours);
                let refused = || ImageError::TraceMemory(header.trace_address, memory.bytes);
                let part = part.map(|(start, end)| Range { start: MEMORY + start, end: MEMORY + end });
                part.filter(|&part| frames.is_free(part)).ok_or_else(refused)?
            };
            // Each scheduler with a trace has its own part, one behind the other, and all come before any other memory.
            *trace = if trace.end == 0 { part } else { Range { end: part.end, ..*trace } };
            if header.trace_address != 0 {
                frames.reserve(*trace);
            }
            return Ok(Place::Trace(part.start, of));
        }
        k if k == MemoryKind::Monitors as u32 => {
            if !within(memory.bytes) || memory.offset % 4096 != 0 {
                return Err(ImageError::BadCount("bytes"));
            }
            let base = info.image.start + memory.offset;
            let mut object: *mut u32 = direct(base);
            if !whole {
                let own = protect::piece(frames, pages).ok_or(ImageError::OutOfMemory)?;
                // SAFETY: the source lies inside the module, the target is fresh and as long.
                unsafe { core::ptr::copy_nonoverlapping(object, own, (memory.bytes / 4) as usize) };
                object = own;
            }
            monitor::set_up(frames, object, memory.bytes, header.components).map_err(ImageError::BadCount)?;
            base
        }
        k if k == MemoryKind::Device as u32 => memory.offset,
        k if k == MemoryKind::Pci as u32 => {
            function(memory.offset)?.memory(pci::bar(memory.offset), memory.bytes).map_err(refused(memory.offset))?
        }
        k if k == MemoryKind::Clock as u32 => frames.page(memory.colours).ok_or(ImageError::OutOfMemory)?,
        k if k == MemoryKind::PciConfiguration as u32 => {
            let base = frames.page(memory.colours).ok_or(ImageError::OutOfMemory)?;
            let function = function(memory.offset)?;
            for word in 0..64 {
                // SAFETY: a fresh frame.
                unsafe { direct::<u32>(base).add(word).write(function.read(word as u8 * 4)) };
            }
            base
        }
        k if k == MemoryKind::Dma as u32 => {
            let base = frames.pages(pages, memory.colours).ok_or(ImageError::OutOfMemory)?;
            // SAFETY: a fresh frame.
            unsafe { direct::<u64>(base).write(base) };
            if memory.offset != 0 {
                function(memory.offset)?.let_it_access_memory();
            }
            base
        }
        k if k == MemoryKind::Mailbox as u32 => memory.offset,
        _ => return Err(ImageError::NotAnImage),
    }))
}

/// Fills the clock page.
fn write_clock(base: u64, rates: Rates) {
    crate::machine::CLOCK.store(base, core::sync::atomic::Ordering::Relaxed);
    let clock = direct::<Clock>(base);
    let scale = if rates.time_stamp == 1_000_000_000 { (1, 0) } else { scale(rates.time_stamp) };
    // SAFETY: a fresh frame.
    unsafe {
        clock.write(Clock {
            epoch: 0,
            multiplier: scale.0,
            shift: scale.1,
            frequency: rates.time_stamp,
            slices: AtomicU64::new(slices::NONE),
        });
    }
}

/// Tells each core where the kernel sees what it shares with the scheduler that maps these regions.
fn share_regions(
    image: &Image,
    frames: &mut Frames,
    (number, place): (u32, Place),
    seen: Option<(AddressSpace, u64)>,
) -> Result<(), ImageError> {
    let header = &image.header;
    let owner = (0..header.mappings)
        .map(|index| image.entry::<image::Mapping>(3, index))
        .find(|mapping| mapping.memory == number && mapping.component < header.components)
        .map_or(0, |mapping| mapping.component as usize);
    let holders: *mut AtomicU16 = direct(frames.kernel_page().ok_or(ImageError::OutOfMemory)?);
    // SAFETY: a fresh frame of zeros, longer than the table; neither component nor core runs yet.
    unsafe { component::set_up(owner, |c| c.slots = Some(core::slice::from_raw_parts(holders, SLOTS))) };
    for core in 0..header.cores {
        let offset = u64::from(core) * REGION_STRIDE;
        let region: *mut Region = match (place, seen) {
            (Place::At(base), _) => direct(base + offset),
            (_, Some((space, first))) => {
                let pages = (0..REGION_STRIDE / 4096).map(|page| {
                    let frame = space.frame_at(first + offset + page * 4096)?;
                    protect::show(frames, frame)
                });
                shown(pages)? as *mut Region
            }
            (_, None) => return Err(ImageError::NotAnImage),
        };
        // SAFETY: neither component nor core runs yet.
        unsafe {
            let core = percore::of(core as usize);
            (*core).regions[owner] = region;
            if component::get(owner as u16).is_root() {
                (*core).region = region;
            }
        }
    }
    Ok(())
}

/// The function of the PCI device with this number.
fn function(number: u64) -> Result<Function, ImageError> {
    Function::find(pci::vendor(number), pci::devices(number)).map_err(refused(number))
}

fn refused(number: u64) -> impl Fn(PciError) -> ImageError {
    move |error| ImageError::Device(pci::vendor(number), pci::devices(number)[0], error)
}

/// `(multiplier, shift)` with `ticks * multiplier >> shift` nanoseconds.
fn scale(frequency: u64) -> (u64, u64) {
    const SHIFT: u64 = 32;
    (((1_000_000_000_u128 << SHIFT) / u128::from(frequency)) as u64, SHIFT)
}
