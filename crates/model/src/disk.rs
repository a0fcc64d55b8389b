//! Disks and their clients.

use tactus_disk::parameters::Model;
use tactus_disk::{Budget, Client, Faults, Form, Policy};

/// A disk: one request at a time, picked by a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disk {
    /// Name, unique.
    pub name: String,
    /// The drive that the check counts on; its map is surveyed.
    pub drive: Model,
    /// The drive that answers (default: the same).
    pub actual: Model,
    /// How the queue picks (default: G-MATRIX that looks 4 ahead).
    pub queue: Policy,
    /// Whether the map tells the two directions apart (default: it does).
    pub map: Form,
    /// The component that serves it on the machine, by its place in [`crate::System::components`].
    pub component: Option<usize>,
    /// How many writes the drive answers before they are on the platter (default: none).
    pub write_cache: u32,
    /// What the drive does wrong (default: nothing).
    pub faults: Faults,
    /// How many requests of a busy time may fail without harm to others (default: none).
    pub tolerated: u32,
    /// Its clients, in file order.
    pub clients: Vec<DiskClient>,
    /// Line of the system file at which it begins.
    pub line: usize,
}

/// A client of a disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskClient {
    /// Name, unique on its disk.
    pub name: String,
    /// Extent and requests.
    pub client: Client,
    /// How long the drive may be busy for it, where it is best-effort and limited.
    pub budget: Option<Budget>,
    /// The buffer by which a component sends its requests, by its place in [`crate::Platform::buffers`]; nothing where the disk makes
    /// them itself.
    pub buffer: Option<usize>,
    /// Line of the system file at which it begins.
    pub line: usize,
}

impl Disk {
    /// The clients as the disk's queue knows them, in file order.
    pub fn streams(&self) -> Vec<Client> {
        self.clients.iter().map(|it| it.client).collect()
    }
}
