//! From the image to components and threads, once.

use crate::arch::loader::{BootInfo, Range};
use crate::arch::paging::{direct, Access, AddressSpace, MapError, USER_END};
use crate::arch::pci::{Function, PciError};
use crate::arch::time::Rates;
use crate::component::{self, Grant};
use crate::frames::Frames;
use crate::path::{Entry, Rank};
use crate::percore;
use crate::thread::{self, state};
use crate::{memory, monitor, restart, stop};
use core::fmt;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU16, AtomicU64};
use tactus_abi::image::{self, pci, role, Header, MemoryKind, ThreadKind};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES, MAX_GRANTS, MAX_THREADS, REGION_STRIDE, SLOTS};
use tactus_abi::shared::{slices, Clock, Region};

/// Why the image cannot be started.
#[derive(Debug)]
pub enum ImageError {
    /// Not an image, or another version.
    NotAnImage,
    /// It counts more of something than the kernel has room for, or more than it holds.
    BadCount(&'static str),
    /// A component's entry that is not at a component's address.
    BadEntry(u32),
    /// A mapping that cannot be made.
    Mapping(u32, u64, MapError),
    /// The machine has too little memory.
    OutOfMemory,
    /// The trace memory asked for is not free: its address, its length.
    TraceMemory(u64, u64),
    /// A PCI device cannot be used: its vendor, its number, why.
    Device(u16, u16, PciError),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::NotAnImage => write!(f, "the module is not an image of this kernel's version: build it again"),
            ImageError::BadCount(what) => write!(f, "the image counts more {what} than there can be"),
            ImageError::BadEntry(component) => write!(f, "component {component}: an entry is not in its memory"),
            ImageError::Mapping(component, address, error) => {
                write!(f, "component {component}: cannot map {address:#x}: {error:?}")
            }
            ImageError::OutOfMemory => write!(f, "too little memory: give the machine more"),
            ImageError::TraceMemory(address, bytes) => {
                write!(f, "the trace memory ({bytes} bytes at {address:#x}) is not free: give the machine more memory")
            }
            ImageError::Device(vendor, device, PciError::Absent) => {
                write!(
                    f,
                    "the machine has no PCI device {vendor:04x}:{device:04x}: give it one, or take out its driver"
                )
            }
            ImageError::Device(vendor, device, PciError::NoMemory) => {
                write!(f, "the PCI device {vendor:04x}:{device:04x} has no such memory: choose another bar or size")
            }
        }
    }
}

/// The image and where its parts are.
#[derive(Clone, Copy)]
pub struct Image {
    base: u64,
    /// Its head.
    pub header: Header,
}

impl Image {
    /// Finds the image in the module.
    pub fn read(module: Range) -> Result<Image, ImageError> {
        let bytes = module.end - module.start;
        if bytes < core::mem::size_of::<Header>() as u64 || module.start % 4096 != 0 {
            return Err(ImageError::NotAnImage);
        }
        // SAFETY: the module lies below 4 GiB and is longer than the head, whose every bit pattern is a value.
        let header = unsafe { direct::<Header>(module.start).read() };
        if header.magic != image::MAGIC || header.version != image::VERSION || header.bytes > bytes {
            return Err(ImageError::NotAnImage);
        }
        let image = Image { base: module.start, header };
        if image.end_of_tables() > header.bytes {
            return Err(ImageError::BadCount("entries"));
        }
        if header.components as usize > MAX_COMPONENTS {
            return Err(ImageError::BadCount("components"));
        }
        if header.threads as usize > MAX_THREADS || header.threads < header.cores {
            return Err(ImageError::BadCount("threads"));
        }
        if header.cores == 0 || header.cores as usize > tactus_abi::layout::MAX_CORES {
            return Err(ImageError::BadCount("cores"));
        }
        Ok(image)
    }

    fn offsets(&self) -> [u64; 6] {
        let h = &self.header;
        let mut at = core::mem::size_of::<Header>() as u64;
        let mut offsets = [at; 6];
        for (i, (count, size)) in [
            (h.components, core::mem::size_of::<image::Component>()),
            (h.grants, core::mem::size_of::<image::Grant>()),
            (h.memories, core::mem::size_of::<image::Memory>()),
            (h.mappings, core::mem::size_of::<image::Mapping>()),
            (h.threads, core::mem::size_of::<image::Thread>()),
        ]
        .into_iter()
        .enumerate()
        {
            at += u64::from(count) * size as u64;
            offsets[i + 1] = at;
        }
        offsets
    }

    fn end_of_tables(&self) -> u64 {
        self.offsets()[5]
    }

    fn entry<T: Copy>(&self, table: usize, index: u32) -> T {
        let at = self.base + self.offsets()[table] + u64::from(index) * core::mem::size_of::<T>() as u64;
        // SAFETY: all tables lie inside the module (`read`), their types are plain numbers.
        unsafe { direct::<T>(at).read_unaligned() }
    }
}

/// Makes components and threads, and fills each core's block. Where the trace memory lies.
pub fn set_up(image: &Image, info: &BootInfo, frames: &mut Frames, rates: Rates) -> Result<Range, ImageError> {
    let header = &image.header;
    for number in 0..header.components {
        let entry: image::Component = image.entry(0, number);
        if entry.grants as usize > MAX_GRANTS || !entry.grants_lie_within(header.grants) {
            return Err(ImageError::BadCount("grants"));
        }
        if entry.entry >= USER_END {
            return Err(ImageError::BadEntry(number));
        }
        let mut grants = [Grant::NONE; MAX_GRANTS];
        for (i, place) in grants.iter_mut().take(entry.grants as usize).enumerate() {
            let grant: image::Grant = image.entry(1, entry.first_grant + i as u32);
            if grant.component >= header.components {
                return Err(ImageError::BadCount("components"));
            }
            if grant.entry == 0 || grant.entry >= USER_END {
                return Err(ImageError::BadEntry(grant.component));
            }
            *place = Grant { component: grant.component as u16, entry: grant.entry };
        }
        let space = AddressSpace::new(frames).map_err(|_| ImageError::OutOfMemory)?;
        // SAFETY: no thread runs yet.
        unsafe {
            component::set_up(number as usize, |c| {
                c.name = entry.name;
                c.space = space;
                c.entry = entry.entry;
                c.grants = grants;
                c.role = entry.role;
                c.restarted_by = entry.restarted_by;
                c.lines = entry.lines;
                c.brands.store(entry.brands, Relaxed);
                c.sequences = entry.sequences;
                c.has_sequences = entry.sequences.iter().any(|[start, end]| start < end);
                if entry.role & role::ROOT != 0 {
                    c.rank.store(Rank::root(number as u16).0, Relaxed);
                    c.shares.store(true, Relaxed);
                }
            });
        }
    }
    let trace = map_memory(image, info, frames, rates)?;
    memory::set_up_pool(frames, header.pool_frames.into(), header.colours.into()).ok_or(ImageError::OutOfMemory)?;
    for number in 0..header.components {
        let entry: image::Component = image.entry(0, number);
        if entry.role & image::role::WINDOW != 0 {
            memory::set_up_window(frames, number as usize, component::get(number as u16).space)
                .map_err(|_| ImageError::OutOfMemory)?;
        }
    }
    component::get(stop::DEAD).stop();
    make_threads(image)?;
    Ok(trace)
}

/// Fills the table of threads.
fn make_threads(image: &Image) -> Result<(), ImageError> {
    let header = &image.header;
    let root = (0..header.components as u16).find(|&c| component::get(c).is_root()).ok_or(ImageError::NotAnImage)?;
    for number in 0..MAX_CORES {
        // SAFETY: no core but this one runs, and it has no reference to the block.
        unsafe { (*percore::of(number)).root = root.into() };
    }
    for number in header.threads as usize..MAX_THREADS {
        // SAFETY: no thread runs yet.
        unsafe { (*thread::slot(number)).set(state::SPARE) };
    }
    // Backwards, so that a component's spare threads are taken in their order.
    for number in (0..header.threads).rev() {
        let entry: image::Thread = image.entry(4, number);
        if entry.component >= header.components {
            return Err(ImageError::BadCount("components"));
        }
        let home = entry.component as u16;
        // SAFETY: no thread runs yet.
        let thread = unsafe { &mut *thread::slot(number as usize) };
        thread.number(number as u16);
        (thread.home, thread.component) = (home, home);
        thread.argument = entry.number.into();
        thread.begin(0, thread.argument);
        let to_root = Entry::new(component::get(root).rank().identity(), 0);
        match entry.kind {
            k if k == ThreadKind::Task as u32 => thread.path().set(0, to_root),
            k if k == ThreadKind::Upcall as u32 => {
                if entry.number as usize >= MAX_CORES {
                    return Err(ImageError::BadCount("cores"));
                }
                thread.set(state::SCHEDULER | state::INACTIVE);
                thread.counted.store(true, Relaxed);
                thread.core = entry.number as u8;
                // SAFETY: no thread runs yet, and no core but this one.
                unsafe {
                    component::set_up(home.into(), |c| c.upcalls[entry.number as usize] = number as u16 + 1);
                    if home == root {
                        thread.path().set(0, to_root);
                        (*percore::of(entry.number as usize)).upcall = thread;
                    }
                }
            }
            _ => {
                thread.set(state::SPARE);
                let first = component::get(home).spare.swap(number as u16 + 1, Relaxed);
                thread.next_spare.store(first, Relaxed);
            }
        }
    }
    Ok(())
}

/// Makes the memory objects and maps them.
fn map_memory(image: &Image, info: &BootInfo, frames: &mut Frames, rates: Rates) -> Result<Range, ImageError> {
    let header = &image.header;
    let mut trace = Range::EMPTY;
    // A mapping follows from its object's frames; objects are made one by one, with all of their mappings.
    for number in 0..header.memories {
        let memory: image::Memory = image.entry(2, number);
        let pages = memory.pages(header.cores).ok_or(ImageError::BadCount("pages"))?;
        let within = |bytes: u64| memory.offset.checked_add(bytes).is_some_and(|end| end <= header.bytes);
        let base = match memory.kind {
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
                let base = frames.pages(pages).ok_or(ImageError::OutOfMemory)?;
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
            k if k == MemoryKind::Clock as u32 => {
                let base = frames.page().ok_or(ImageError::OutOfMemory)?;
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
                base
            }
            k if k == MemoryKind::Regions as u32 => {
                let base =
                    frames.pages(u64::from(header.cores) * (REGION_STRIDE / 4096)).ok_or(ImageError::OutOfMemory)?;
                let owner = (0..header.mappings)
                    .map(|index| image.entry::<image::Mapping>(3, index))
                    .find(|mapping| mapping.memory == number && mapping.component < header.components)
                    .map_or(0, |mapping| mapping.component as usize);
                let holders: *mut AtomicU16 = direct(frames.page().ok_or(ImageError::OutOfMemory)?);
                // SAFETY: a fresh frame of zeros, longer than the table; neither component nor core runs yet.
                unsafe {
                    component::set_up(owner, |c| c.slots = Some(core::slice::from_raw_parts(holders, SLOTS)));
                    for core in 0..header.cores {
                        let region = direct::<Region>(base + u64::from(core) * REGION_STRIDE);
                        let core = percore::of(core as usize);
                        (*core).regions[owner] = region;
                        if component::get(owner as u16).is_root() {
                            (*core).region = region;
                        }
                    }
                }
                base
            }
            k if k == MemoryKind::Trace as u32 => {
                let part = if header.trace_address == 0 {
                    let base = frames.pages_uncleared(pages).ok_or(ImageError::OutOfMemory)?;
                    Range { start: base, end: base + memory.bytes }
                } else {
                    let part = memory.part_from(header.trace_address).map(|(start, end)| Range { start, end });
                    let refused = || ImageError::TraceMemory(header.trace_address, memory.bytes);
                    part.filter(|&part| frames.is_free(part)).ok_or_else(refused)?
                };
                // Each scheduler with a trace has its own part, one behind the other, and all come before any other memory.
                trace = if trace.end == 0 { part } else { Range { end: part.end, ..trace } };
                if header.trace_address != 0 {
                    frames.reserve(trace);
                }
                let mut mappings = (0..header.mappings).map(|index| image.entry::<image::Mapping>(3, index));
                if !mappings.any(|mapping| mapping.memory == number) {
                    monitor::set_up_log(part.start, part.end - part.start, header.cores.into());
                }
                part.start
            }
            k if k == MemoryKind::Monitors as u32 => {
                if !within(memory.bytes) || memory.offset % 4096 != 0 {
                    return Err(ImageError::BadCount("bytes"));
                }
                let base = info.image.start + memory.offset;
                monitor::set_up(frames, base, memory.bytes, header.components).map_err(ImageError::BadCount)?;
                base
            }
            k if k == MemoryKind::Device as u32 => memory.offset,
            k if k == MemoryKind::Pci as u32 => function(memory.offset)?
                .memory(pci::bar(memory.offset), memory.bytes)
                .map_err(refused(memory.offset))?,
            k if k == MemoryKind::PciConfiguration as u32 => {
                let base = frames.page().ok_or(ImageError::OutOfMemory)?;
                let function = function(memory.offset)?;
                for word in 0..64 {
                    // SAFETY: a fresh frame.
                    unsafe { direct::<u32>(base).add(word).write(function.read(word as u8 * 4)) };
                }
                base
            }
            k if k == MemoryKind::Dma as u32 => {
                let base = frames.pages(pages).ok_or(ImageError::OutOfMemory)?;
                // SAFETY: a fresh frame.
                unsafe { direct::<u64>(base).write(base) };
                if memory.offset != 0 {
                    function(memory.offset)?.let_it_access_memory();
                }
                base
            }
            _ => return Err(ImageError::NotAnImage),
        };
        let uncached = memory.kind == MemoryKind::Device as u32 || memory.kind == MemoryKind::Pci as u32;
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
            if restartable && memory.kind == MemoryKind::Copied as u32 {
                let (component, source) = (mapping.component as usize, info.image.start + memory.offset);
                restart::note(frames, component, base, pages, source, memory.file_bytes)
                    .ok_or(ImageError::OutOfMemory)?;
            }
            if mapping.address.checked_add(memory.bytes).is_none() {
                return Err(ImageError::Mapping(mapping.component, mapping.address, MapError::BadAddress));
            }
            for page in 0..pages {
                let address = mapping.address + page * 4096;
                space.map(frames, address, base + page * 4096, access).map_err(|error| match error {
                    MapError::OutOfFrames => ImageError::OutOfMemory,
                    error => ImageError::Mapping(mapping.component, address, error),
                })?;
            }
        }
    }
    Ok(trace)
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
