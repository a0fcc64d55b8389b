//! Disks and their clients.

use tactus_disk::parameters::Model;
use tactus_disk::{Client, Form, Policy};

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
    /// Line of the system file at which it begins.
    pub line: usize,
}

impl Disk {
    /// The clients as the disk's queue knows them, in file order.
    pub fn streams(&self) -> Vec<Client> {
        self.clients.iter().map(|it| it.client).collect()
    }
}
