//! What policies are made of, for policies that stand outside of this crate: the variants of MC² that a study compares.
//!
//! Who writes a scheduler needs none of it: see `docs/writing-a-scheduler.md`.

pub use crate::cores::{Cores, RELEASE_CORE};
pub use crate::heap::{Heap, IndexedHeap, Key};
pub use crate::records::{Clock, Recorder};

/// Those of MC².
pub mod mc2 {
    pub use crate::mc2::{
        checked, Activity, CoreStatus, Ghost, Job, Local, LocalWanted, Shared, SharedWanted, State, TaskState,
    };
}
