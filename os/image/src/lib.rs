//! From a system and the programs that it runs to a boot image, and from kernel and image to a bootable medium.
//!
//! [`build`] lays out everything that exists when the machine starts: components, threads, memory, who may call
//! whom. The kernel maps what the image says and decides nothing. [`verify`] reads an image back and checks, in its
//! own way, that it gives nobody more than the layout allows. [`iso`] wraps kernel and image for a real PC. What lies
//! where, and why, is told in `os/image/README.md`.
#![forbid(unsafe_code)]

mod arch;
mod build;
mod channels;
mod colours;
mod error;
mod late;
mod layout;
mod monitors;
mod packed;
mod parsed;
mod parts;
mod platform;
mod program;
mod quota;
mod reach;
mod size;
mod slots;
mod verify;
mod wire;

pub use arch::iso::{iso, IsoError};
pub use build::{build, fits, TURN_INSTRUCTIONS};
pub use error::{ImageError, ProgramError};
pub use packed::PackedProgram;
pub use parsed::Parsed;
pub use size::{expected_records, SCHEDULER_HEAP, SYSTEM_STACK, USER_HEAP, USER_STACK};
pub use verify::{verify, VerifyError};

pub use tactus_abi::image::Interleaved;

use tactus_abi::image::{Header, ThreadKind};
use tactus_model::System;
use tactus_task::Bound;
use tactus_time::{Duration, TaskId};
use wire::Stored;

/// What an image is made from.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The system.
    pub system: &'a System,
    /// The policy's set-up, encoded for the scheduler, which alone knows its form.
    pub plan: &'a [u8],
    /// What was promised for each task, in the order of [`System::tasks`].
    pub promises: &'a [Option<Bound>],
    /// To how many clients of disks and chains something was promised.
    pub promised_by_host: u32,
    /// The scheduler's program: an ELF file.
    pub scheduler: &'a [u8],
    /// Schedulers below the root's that run the same program, each after the one that it is below.
    pub children: &'a [ChildScheduler],
    /// The program of the built-in workload: an ELF file.
    pub workload: &'a [u8],
    /// The programs of the user's components, in the order of [`System::components`]: ELF files; of a slot nothing.
    pub components: &'a [Vec<u8>],
    /// What some of the user's components are told beside all else: their places, and bytes whose form only their programs know.
    pub told: &'a [(usize, Vec<u8>)],
    /// What a program in each slot is given, in the order of [`System::slots`].
    pub slots: &'a [SlotSupply],
    /// Of each update, in the order of [`System::loads`]: jobs of the loader from its hand-over to the end of its trial.
    pub trials: &'a [u64],
}

/// A scheduler below the root's, with a plan of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChildScheduler {
    /// Its name as a component.
    pub name: String,
    /// The scheduler that it is below, by its place among the children; nothing for the root's.
    pub parent: Option<usize>,
    /// Its policy's set-up, encoded.
    pub plan: Vec<u8>,
    /// The tasks that it schedules itself.
    pub tasks: Vec<TaskId>,
}

/// What a program in a slot is given at least, and by which order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlotSupply {
    /// What its server gives in each period.
    pub budget: Duration,
    /// That period.
    pub period: Duration,
    /// The longest time without service.
    pub blackout: Duration,
    /// Whether the earliest deadline runs first inside; else the most urgent priority.
    pub earliest_deadline: bool,
    /// The system's own work for each job.
    pub cost_of_job: Duration,
}

/// A boot image and what is to be known about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    /// What the boot loader hands to the kernel; the layout is that of `tactus_abi::image`.
    pub bytes: Vec<u8>,
    /// What lies where.
    pub facts: Facts,
}

/// What lies where in an image and in the machine that it starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Names of the components, by component number. Number 0 is the scheduler.
    pub components: Vec<String>,
    /// Length of each component's heap in bytes, by component number.
    pub heaps: Vec<u64>,
    /// In how many equal parts each of these is.
    pub heap_parts: Vec<u64>,
    /// The threads, by thread number.
    pub threads: Vec<ThreadFact>,
    /// The stacks, by thread and then by component.
    pub stacks: Vec<StackFact>,
    /// Length of the image in bytes.
    pub image_bytes: u64,
    /// Memory (bytes) that the machine must have for this image.
    pub memory_needed: u64,
    /// What the kernel fills of it when it starts (bytes): memory of components, and tables.
    pub memory_filled: u64,
    /// Physical address of the trace memory: the rings of all cores, one after another. 0 if the kernel chooses it.
    pub trace_address: u64,
    /// Length of one core's ring in bytes, its head included.
    pub ring_bytes: u64,
    /// How many records each core's ring can hold.
    pub ring_records: u64,
    /// How many schedulers have rings for all cores, the root's first.
    pub traces: usize,
    /// Whether the kernel has rings for what monitors see, behind those of the schedulers.
    pub watched: bool,
    /// Which pages of the trace memory hold a scheduler's rings; the next one's begin behind their last turn.
    pub trace_pages: Interleaved,
    /// How many colours memory has.
    pub colours: u32,
    /// The colours of the kernel's frames, as bits.
    pub kernel_colours: u64,
    /// Of each component, as bits: the colours of its own frames, and of those that its window may show.
    pub component_colours: Vec<[u64; 2]>,
}

/// A thread of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadFact {
    /// Number of the component in which it begins.
    pub component: u32,
    /// What it is there for.
    pub kind: ThreadKind,
    /// Its task, the core whose upcall it is, or its number among the spare ones of its component.
    pub number: u32,
    /// Of a slot's task: which of the slot's it is, from 1 on. Zero of others.
    pub place: u32,
}

impl ThreadFact {
    /// By which number its page lies in its component, and by which its stack there, which has this number otherwise.
    pub fn places(&self, number: usize) -> (u64, u64) {
        match self.place.checked_sub(1) {
            Some(place) => (place.into(), place.into()),
            None => (self.number.into(), number as u64),
        }
    }

    /// The task whose jobs it runs; nothing if it runs none.
    pub fn task(&self) -> Option<TaskId> {
        (self.kind == ThreadKind::Task).then_some(TaskId(self.number as u16))
    }
}

/// A thread's stack in one component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackFact {
    /// The thread's number.
    pub thread: u32,
    /// The component's number.
    pub component: u32,
    /// The stack's upper end, the first address above it.
    pub top: u64,
    /// Length in bytes.
    pub bytes: u64,
}

impl Image {
    /// The same image with the trace wherever the kernel finds room, for a machine whose firmware may keep memory
    /// anywhere: a real PC, or UEFI. Nobody outside the machine can read the trace then.
    pub fn with_trace_anywhere(mut self) -> Image {
        let mut header = Vec::new();
        if let Ok(parsed) = Parsed::read(&self.bytes) {
            Header { trace_address: 0, ..parsed.header }.put(&mut header);
        }
        self.bytes[..header.len()].copy_from_slice(&header);
        self.facts.trace_address = 0;
        self
    }

    /// What the image holds, for the line of a run that tells about the build: `9 components · image 412 KiB`.
    pub fn sections_report(&self) -> String {
        let count = self.facts.components.len();
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} component{plural} · image {} KiB", self.facts.image_bytes.div_ceil(1024))
    }
}
