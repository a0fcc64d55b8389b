//! An image read back into its parts. Only the form is checked here: that head and arrays are there.

use crate::verify::{Part, VerifyError};
use crate::wire::Stored;
use tactus_abi::image::{role, Component, Grant, Header, Mapping, Memory, Thread, ThreadKind, MAGIC, VERSION};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_GRANTS, MAX_THREADS, PAGE};
use tactus_abi::shared::{Info, TaskCard};
use tactus_model::{every_colour, MAX_COLOURS, MAX_POOL};
use tactus_time::MAX_CORES;

/// The most frames for those who manage memory.
const MAX_POOL_FRAMES: u32 = (MAX_POOL / PAGE) as u32;

/// The parts of an image.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The head.
    pub header: Header,
    /// Components, by number.
    pub components: Vec<Component>,
    /// Grants of all components.
    pub grants: Vec<Grant>,
    /// Memory objects, by number.
    pub memories: Vec<Memory>,
    /// Mappings of all components.
    pub mappings: Vec<Mapping>,
    /// Threads, by number.
    pub threads: Vec<Thread>,
    /// What each component is told about itself.
    pub infos: Vec<Info>,
    /// What the scheduler is told about each task.
    pub cards: Vec<TaskCard>,
    /// Length of head and arrays in bytes; contents begin at the next page.
    pub array_bytes: u64,
}

impl Parsed {
    /// Reads head and arrays. `infos` and `cards` stay empty: they are contents, found by way of the mappings.
    pub(crate) fn read(bytes: &[u8]) -> Result<Parsed, VerifyError> {
        let mut rest = bytes;
        let header = Header::take(&mut rest).ok_or(VerifyError::Truncated { part: Part::Header })?;
        let broken = |rule| VerifyError::Broken { part: Part::Header, number: 0, rule };
        if header.magic != MAGIC {
            return Err(broken("does not begin with the mark of an image"));
        }
        if header.version != VERSION {
            return Err(VerifyError::Version { found: header.version });
        }
        if header.bytes != bytes.len() as u64 || header.bytes % PAGE != 0 {
            return Err(broken("gives a length that is not the image's, or no whole number of pages"));
        }
        if header.cores == 0 || header.cores as usize > MAX_CORES {
            return Err(broken("gives a number of cores that no machine has"));
        }
        if header.components == 0 || header.components as usize > MAX_COMPONENTS {
            return Err(broken("gives no components, or too many"));
        }
        if header.threads < header.cores || header.threads as usize > MAX_THREADS {
            return Err(broken("gives too few or too many threads"));
        }
        if header.grants as usize > MAX_COMPONENTS * MAX_GRANTS {
            return Err(broken("gives more grants than its components can hold"));
        }
        if header.trace_address % PAGE != 0 {
            return Err(broken("wants the trace at an address that is not page-aligned"));
        }
        if header.speculation > 3 || header.reserved != 0 {
            return Err(broken("says of speculative execution what no kernel knows"));
        }
        if header.turn > 1_000_000_000 {
            return Err(broken("lets a core run for more than a second while others wait"));
        }
        if !header.colours.is_power_of_two() || header.colours > MAX_COLOURS {
            return Err(broken("gives a number of colours that is no power of two, or too large"));
        }
        let every = every_colour(header.colours);
        if header.kernel_colours == 0 || header.kernel_colours & !every != 0 {
            return Err(broken("gives the kernel no colour, or one that there is not"));
        }
        if header.pool_frames > MAX_POOL_FRAMES {
            return Err(broken("keeps more frames for those who manage memory than it may"));
        }
        let components = take_all(&mut rest, header.components, Part::Component)?;
        let grants = take_all(&mut rest, header.grants, Part::Grant)?;
        let memories = take_all(&mut rest, header.memories, Part::Memory)?;
        let mappings = take_all(&mut rest, header.mappings, Part::Mapping)?;
        let threads = take_all(&mut rest, header.threads, Part::Thread)?;
        let array_bytes = (bytes.len() - rest.len()) as u64;
        let (infos, cards) = (Vec::new(), Vec::new());
        Ok(Parsed { header, components, grants, memories, mappings, threads, infos, cards, array_bytes })
    }

    /// The grants of one component; empty if its numbers are out of range.
    pub fn grants_of(&self, component: usize) -> &[Grant] {
        let Some(it) = self.components.get(component) else { return &[] };
        let start = it.first_grant as usize;
        start.checked_add(it.grants as usize).and_then(|end| self.grants.get(start..end)).unwrap_or(&[])
    }

    /// The number of tasks: of the threads that run one, which follow those of the root's cores.
    pub fn tasks(&self) -> usize {
        let rest = self.threads.iter().skip(self.header.cores as usize);
        rest.take_while(|it| it.kind == ThreadKind::Task as u32).count()
    }

    /// Which of its slot's tasks the thread runs, from 1 on; zero if it is of no slot.
    pub fn place_of(&self, thread: usize) -> u32 {
        let it = &self.threads[thread];
        let of_slot = self.components.get(it.component as usize).is_some_and(|it| it.role & role::SLOT != 0);
        let before = self.threads[..thread].iter().filter(|other| other.component == it.component).count();
        if of_slot {
            before as u32 + 1
        } else {
            0
        }
    }

    /// The thread whose stack in this component has this place, or whose page has it, where threads have their own numbers from `first` on.
    pub fn thread_at(&self, component: u32, place: usize, first: usize) -> Option<usize> {
        let of_slot = self.components.get(component as usize).is_some_and(|it| it.role & role::SLOT != 0);
        match of_slot {
            false => Some(first + place).filter(|number| *number < self.threads.len()),
            true => self.threads.iter().position(|it| it.component == component && it.place as usize == place + 1),
        }
    }

    /// The mapping of a component that begins at this address.
    pub fn mapping_at(&self, component: usize, address: u64) -> Option<&Mapping> {
        self.mappings.iter().find(|it| it.component as usize == component && it.address == address)
    }
}

fn take_all<T: Stored>(rest: &mut &[u8], count: u32, part: Part) -> Result<Vec<T>, VerifyError> {
    // Asked before anything is allocated: the count may be anything.
    if (count as usize).checked_mul(T::BYTES).is_none_or(|bytes| bytes > rest.len()) {
        return Err(VerifyError::Truncated { part });
    }
    (0..count).map(|_| T::take(rest).ok_or(VerifyError::Truncated { part })).collect()
}
