//! From the image to components and threads, once.

use crate::arch::loader::{BootInfo, Range};
use crate::arch::paging::{direct, Access, AddressSpace, MapError, USER_END};
use crate::arch::percore;
use crate::arch::time::Rates;
use crate::component::{self, Grant};
use crate::frames::Frames;
use crate::thread::{self, Role};
use core::fmt;
use tactus_abi::image::{self, Header, MemoryKind};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_GRANTS, MAX_THREADS, REGION_STRIDE};
use tactus_abi::shared::{Clock, Region};

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
        if entry.grants as usize > MAX_GRANTS || entry.first_grant + entry.grants > header.grants {
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
                c.scheduler_depth = (entry.role & image::role::ROOT != 0).then_some(0);
            });
        }
    }
    let trace = map_memory(image, info, frames, rates)?;
    for number in 0..header.threads {
        let entry: image::Thread = image.entry(4, number);
        if entry.component >= header.components {
            return Err(ImageError::BadCount("components"));
        }
        let upcall = number < header.cores;
        // SAFETY: no thread runs yet.
        let thread = unsafe { &mut *thread::slot(number as usize) };
        thread.number(number as u16);
        thread.component = entry.component as u16;
        thread.role = if upcall { Role::Upcall } else { Role::Task };
        thread.path[0] =
            (0..header.components).find(|&c| component::get(c as u16).scheduler_depth == Some(0)).map(|c| c as u16);
        thread.argument = entry.number.into();
        thread.stopped = false;
        thread.begin(0, thread.argument);
        if upcall {
            // SAFETY: the cores do not run yet.
            unsafe { (*percore::of(number as usize)).upcall = thread };
        }
    }
    Ok(trace)
}

/// Makes the memory objects and maps them.
fn map_memory(image: &Image, info: &BootInfo, frames: &mut Frames, rates: Rates) -> Result<Range, ImageError> {
    let header = &image.header;
    let mut trace = Range::EMPTY;
    // A mapping follows from its object's frames; objects are made one by one, with all of their mappings.
    for number in 0..header.memories {
        let memory: image::Memory = image.entry(2, number);
        let pages = memory.bytes / 4096;
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
                crate::CLOCK.store(base, core::sync::atomic::Ordering::Relaxed);
                let clock = direct::<Clock>(base);
                let scale = if rates.time_stamp == 1_000_000_000 { (1, 0) } else { scale(rates.time_stamp) };
                // SAFETY: a fresh frame.
                unsafe {
                    clock.write(Clock { epoch: 0, multiplier: scale.0, shift: scale.1, frequency: rates.time_stamp });
                }
                base
            }
            k if k == MemoryKind::Regions as u32 => {
                let base =
                    frames.pages(u64::from(header.cores) * (REGION_STRIDE / 4096)).ok_or(ImageError::OutOfMemory)?;
                for core in 0..header.cores {
                    // SAFETY: the cores do not run yet.
                    unsafe {
                        (*percore::of(core as usize)).region = direct::<Region>(base + u64::from(core) * REGION_STRIDE)
                    };
                }
                base
            }
            k if k == MemoryKind::Trace as u32 => {
                if header.trace_address == 0 {
                    let base = frames.pages_uncleared(pages).ok_or(ImageError::OutOfMemory)?;
                    trace = Range { start: base, end: base + memory.bytes };
                } else {
                    trace = Range { start: header.trace_address, end: header.trace_address + memory.bytes };
                    if !frames.is_free(trace) {
                        return Err(ImageError::TraceMemory(trace.start, memory.bytes));
                    }
                    frames.reserve(trace);
                }
                trace.start
            }
            _ => return Err(ImageError::NotAnImage),
        };
        for index in 0..header.mappings {
            let mapping: image::Mapping = image.entry(3, index);
            if mapping.memory != number {
                continue;
            }
            if mapping.component >= header.components {
                return Err(ImageError::BadCount("components"));
            }
            let access = match mapping.flags {
                image::WRITABLE => Access::Write,
                image::EXECUTABLE => Access::Execute,
                _ => Access::Read,
            };
            let space = component::get(mapping.component as u16).space;
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

/// `(multiplier, shift)` with `ticks * multiplier >> shift` nanoseconds.
fn scale(frequency: u64) -> (u64, u64) {
    const SHIFT: u64 = 32;
    (((1_000_000_000_u128 << SHIFT) / u128::from(frequency)) as u64, SHIFT)
}
