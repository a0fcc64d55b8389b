//! From the image to components and threads, once.

use crate::arch::floating_point;
use crate::arch::loader::{BootInfo, Range};
use crate::arch::paging::{direct, AddressSpace, MapError, USER_END};
use crate::arch::pci::PciError;
use crate::arch::time::Rates;
use crate::component::{self, Grant};
use crate::dispatch::SPECIAL_CHANGES;
use crate::frames::Frames;
use crate::machine::nanoseconds;
use crate::path::{Entry, Rank};
use crate::percore;
use crate::thread::{self, state};
use crate::{event_source, memory, objects, restart, stop};
use core::fmt;
use core::sync::atomic::Ordering::Relaxed;
use tactus_abi::image::{self, role, Header, ThreadKind};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_CORES, MAX_GRANTS, MAX_THREADS};

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

    /// An entry of one of its tables: components, grants, memory objects, mappings, threads.
    pub fn entry<T: Copy>(&self, table: usize, index: u32) -> T {
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
        event_source::set_up_releases(number as u16, entry.releases);
        let per = nanoseconds(entry.restart_nanos);
        restart::limit(frames, number as usize, entry.restarts.into(), per, entry.role)
            .ok_or(ImageError::OutOfMemory)?;
        let space = AddressSpace::new(frames, entry.colours).map_err(|_| ImageError::OutOfMemory)?;
        // SAFETY: no thread runs yet.
        unsafe {
            component::set_up(number as usize, |c| {
                c.name = entry.name;
                c.space = space;
                c.entry.store(entry.entry, Relaxed);
                c.grants = grants;
                c.role = entry.role;
                c.restarted_by = entry.restarted_by;
                c.lines = entry.lines;
                c.tick = entry.tick;
                c.window_colours = entry.window_colours;
                c.brands.store(entry.brands, Relaxed);
                c.sequences = entry.sequences;
                c.is_special_inside = entry.sequences.iter().any(|[start, end]| start < end);
                if entry.role & role::FLOATING_POINT != 0 {
                    c.is_special_inside = true;
                    c.special.store(component::FLOATING_POINT, Relaxed);
                }
                if entry.role & role::ROOT != 0 {
                    c.rank.store(Rank::root(number as u16).0, Relaxed);
                    c.shares.store(true, Relaxed);
                }
            });
        }
    }
    let trace = objects::map(image, info, frames, rates)?;
    if (0..header.components as u16).any(|number| component::get(number).has_floating_point()) {
        floating_point::set_up(frames, header.threads as usize).ok_or(ImageError::OutOfMemory)?;
        SPECIAL_CHANGES.store(true, Relaxed);
    }
    memory::set_up_pool(frames, header.pool_frames.into(), header.colours.into()).ok_or(ImageError::OutOfMemory)?;
    for number in 0..header.components {
        let entry: image::Component = image.entry(0, number);
        if entry.role & image::role::WINDOW != 0 {
            memory::set_up_window(frames, number as usize, component::get(number as u16).space, entry.colours)
                .map_err(|_| ImageError::OutOfMemory)?;
        }
    }
    component::get(stop::DEAD).stop();
    for number in
        (0..header.components as u16).filter(|number| component::get(*number).has_role(role::LATE | role::SLOT))
    {
        component::get(number).stop();
    }
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
        if let Some(place) = entry.place.checked_sub(1) {
            if place as usize >= MAX_THREADS {
                return Err(ImageError::BadCount("threads"));
            }
            thread.place_at_home(place as u16);
            thread.argument = place.into();
        }
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
