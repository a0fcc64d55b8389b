//! Several systems on one machine, each with a kernel of its own in a sandbox.

use crate::{Mailbox, System};
use std::path::PathBuf;
use tactus_time::Duration;

/// The most sandboxes of a machine.
pub const MOST_SANDBOXES: usize = 4;
/// A sandbox's memory is a multiple of this.
pub const SANDBOX_MEMORY: u64 = 2 << 20;

/// The sandboxes of one machine.
#[derive(Clone, Debug)]
pub struct Sandboxes {
    /// Of the whole.
    pub name: String,
    /// The file that tells of it.
    pub source: PathBuf,
    /// How long each is to run.
    pub duration: Duration,
    /// Whether their kernels may interrupt and stop each other's cores: nothing holds that back then.
    pub open: bool,
    /// The sandboxes, in the file's order.
    pub parts: Vec<Sandbox>,
    /// The mailboxes between them, in the file's order.
    pub mailboxes: Vec<Mailbox>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// What runs in it, by the sandbox's name.
    pub system: System,
    /// How often its kernel is started again that has died.
    pub restarts: u32,
}

/// What a system file tells of.
#[derive(Clone, Debug)]
pub enum SystemFile {
    /// One system, which has the machine.
    System(Box<System>),
    /// Several, each in a sandbox.
    Sandboxes(Sandboxes),
}

impl System {
    /// The cores of its machine: its own, and those of other sandboxes. Where cores take turns all of them share one time.
    pub fn sharing_cores(&self) -> usize {
        self.cores + self.machine.beside
    }
}
