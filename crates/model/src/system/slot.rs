//! Slots: places in the system for programs that come while it runs, and what comes when.

use crate::{PAGE, SET_BACK_THREADS, STACK_PAGES};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use tactus_package::snapshot::Extent;
use tactus_time::Duration;

/// A place for a program that comes while the system runs. Its server counts at its full budget whether a program is there or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Name, unique; that of its component as well.
    pub name: String,
    /// The component that a program in it is, by its place in [`System::components`](crate::System::components).
    pub component: usize,
    /// Its server, by its place in [`Scheduling::servers`](crate::Scheduling::servers); of one core, with nothing else inside.
    pub server: usize,
    /// The reserved tasks, by their places in [`System::tasks`](crate::System::tasks). They are absent at the start.
    pub tasks: Range<usize>,
    /// Pages of memory for the program.
    pub pages: u64,
    /// The heap of a program in it (bytes).
    pub heap: u64,
    /// For which packages it is.
    pub class: String,
    /// Public keys of those who may sign packages for it.
    pub keys: Vec<[u8; 32]>,
    /// Whether an older version than the last one may come.
    pub older: bool,
    /// Line of the system file at which it begins.
    pub line: usize,
}

impl Slot {
    /// The kernel's steps that set the slot back before a program comes, but for the last one, with which it runs: its threads are looked
    /// at, and each of its own pages is filled anew.
    pub fn set_back_steps(&self) -> u64 {
        SET_BACK_THREADS + own_pages(self.tasks.len() as u64, self.heap)
    }

    /// What is saved of a program in it at most that takes this number of pages.
    pub fn extent(&self, program: u64) -> Extent {
        let tasks = self.tasks.len() as u64;
        Extent { program, own: own_pages(tasks, self.heap), tasks }
    }
}

/// Pages of a slot's own memory: stacks of its tasks, heap.
pub(crate) fn own_pages(tasks: u64, heap: u64) -> u64 {
    tasks.saturating_mul(STACK_PAGES).saturating_add(heap.div_ceil(PAGE))
}

/// A load, an unload, a save or a restore that the file asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Load {
    /// From when on the loader does it.
    pub at: Duration,
    /// The slot, by its place in [`System::slots`](crate::System::slots).
    pub slot: usize,
    /// What is to be done.
    pub what: LoadKind,
    /// Line of the system file at which it begins.
    pub line: usize,
}

/// What is to be done to a slot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoadKind {
    /// A package is to be loaded.
    Load {
        /// Its file.
        path: PathBuf,
        /// Its contents.
        bytes: Arc<[u8]>,
    },
    /// The program is to be unloaded.
    Unload,
    /// The program is to be unloaded, and what it was is kept.
    Save,
    /// The program that was saved last is to go on.
    Restore {
        /// The slot of which it was saved, by its place in [`System::slots`](crate::System::slots).
        from: usize,
    },
    /// A new version of the program in this slot or in the other one of a pair is to be loaded into that of the two that is empty, and to
    /// take over.
    Update {
        /// The file of the package.
        path: PathBuf,
        /// Its contents.
        bytes: Arc<[u8]>,
        /// The other slot, by its place in [`System::slots`](crate::System::slots).
        other: usize,
        /// The service that keeps the state of both, by the name that both slots have for it.
        state: String,
        /// Jobs of the new version that must be good.
        trial: u32,
    },
}

impl crate::System {
    /// The component that fills the slots, by its place in [`System::components`](crate::System::components), and its task.
    pub fn loader(&self) -> Option<(usize, usize)> {
        let component = self.components.iter().position(|it| it.rights.loader)?;
        let runs = |task: &crate::Task| task.body == crate::Body::Component(component);
        Some((component, self.tasks.iter().position(runs)?))
    }

    /// How often a job of the task enters the scheduler to tell of a slot: once if it is the loader's; thrice if a save is asked for, since one
    /// that proves impossible is told, taken back and refused in one job.
    pub fn slot_calls(&self, task: usize) -> usize {
        match self.loader() {
            Some((_, loader)) if loader == task => {
                1 + 2 * usize::from(self.loads.iter().any(|load| load.what == LoadKind::Save))
            }
            _ => 0,
        }
    }

    /// The slot that the task is reserved for.
    pub fn slot_of(&self, task: usize) -> Option<usize> {
        self.slots.iter().position(|slot| slot.tasks.contains(&task))
    }
}
