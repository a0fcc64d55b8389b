//! What a system says of its components beyond calls: which may schedule, manage memory, restart others or drive
//! devices, and which memory two of them share.

use crate::colour_assignment::{Caches, ColourAssignment};
use tactus_time::Duration;

/// One component as another one's superior: its scheduler, or the one that restarts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Superior {
    /// The root scheduler, whether built in or a component of the user's.
    #[default]
    Root,
    /// Another component, by its place in [`crate::System::components`].
    Component(usize),
}

/// What a component may do beside calling the services that it was granted. Nothing by default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rights {
    /// It may be promoted to a scheduler, by this one.
    pub scheduler: Option<Superior>,
    /// Threads that a scheduler may make to begin in it, upcalls of its brands among them.
    pub threads: usize,
    /// Brands that it may make.
    pub brands: usize,
    /// Interrupt lines that it may wire brands to.
    pub lines: Vec<u8>,
    /// The shortest tick that it may wire a brand to, on whatever core; nothing if to none.
    pub ticks: Option<Duration>,
    /// It may write to the console.
    pub console: bool,
    /// It may give out and map memory.
    pub memory_manager: bool,
    /// It fills the slots.
    pub loader: bool,
    /// It has floating point and vectors, and is compiled for them.
    pub floating_point: bool,
    /// Its heap (bytes), where the file says more than the memory of its tasks.
    pub heap: u64,
    /// Its heap is in equal parts, one for each of its colours, in the order of their numbers.
    pub heap_by_colour: bool,
    /// It may read what is counted of its accesses.
    pub counters: bool,
    /// It may be restarted after a fault.
    pub restart: Option<Restart>,
}

/// Who may restart a component, and how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Restart {
    /// Who.
    pub by: Superior,
    /// How often within `per`.
    pub most: u32,
    /// See `most`.
    pub per: Duration,
    /// Once it was restarted that often, it waits until it may be again; else it stays stopped.
    pub waits: bool,
}

/// What lies beside the components. Nothing by default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Platform {
    /// The component that is the root scheduler, by its place in [`crate::System::components`]; the built-in one if
    /// there is none.
    pub root: Option<usize>,
    /// Colours of memory: a power of two.
    pub colours: u32,
    /// Who has which of them; nothing where all have all.
    pub colour_assignment: Option<ColourAssignment>,
    /// The caches that the machine is meant to have.
    pub caches: Option<Caches>,
    /// What a line from memory takes, where the file says.
    pub memory: Option<MemoryTimes>,
    /// Memory for those who manage memory (bytes).
    pub pool: u64,
    /// Memory that components see together, in file order.
    pub buffers: Vec<Buffer>,
    /// Devices and their drivers, in file order.
    pub devices: Vec<Device>,
    /// What is done about processors that execute ahead of themselves.
    pub speculation: Speculation,
}

/// What is done about speculative execution. By default components rely on a processor that does not read memory ahead of its
/// rights, and no barrier is paid for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Speculation {
    /// The system runs on a processor with Meltdown as well, on which any component may read all memory.
    pub accepts_meltdown: bool,
    /// What a component taught the branch predictor is forgotten when another one begins, on processors that can.
    pub branch_barriers: bool,
}

impl Default for Platform {
    fn default() -> Self {
        Platform {
            root: None,
            colours: 1,
            colour_assignment: None,
            caches: None,
            memory: None,
            pool: 0,
            buffers: Vec::new(),
            devices: Vec::new(),
            speculation: Speculation::default(),
        }
    }
}

/// What a cache line from memory takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryTimes {
    /// The least time from one line to the next that a core asks for.
    pub line: Duration,
    /// The most that one line of another core takes from a job, by keeping memory busy and by what it drives out of shared caches.
    pub cost: Option<Duration>,
    /// The most that one line which another core makes memory take back takes from a job, by keeping memory busy. Given only beside `cost`.
    pub write_back: Option<Duration>,
}

/// Memory that one or two components see, once a component that manages memory has mapped it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Name, unique.
    pub name: String,
    /// Length in bytes, whole pages.
    pub bytes: u64,
    /// Who sees it: one or two components, by their places in [`crate::System::components`].
    pub between: Vec<usize>,
    /// Which of them may only read it.
    pub reader: Option<usize>,
    /// The colours of its frames; all if there are none.
    pub colours: Vec<u32>,
    /// Line of the system file at which it begins.
    pub line: usize,
}

/// A device and its driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Device {
    /// Name, unique.
    pub name: String,
    /// The driver, by its place in [`crate::System::components`].
    pub component: usize,
    /// What it is and where.
    pub kind: DeviceKind,
    /// Length of its memory that the driver sees (bytes, whole pages).
    pub bytes: u64,
    /// Memory for the device to read and write (bytes, whole pages).
    pub dma: u64,
    /// Line of the system file at which it begins.
    pub line: usize,
}

/// How a device's memory is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceKind {
    /// At a physical address.
    Memory {
        /// The address, page-aligned.
        address: u64,
    },
    /// In a base address register of the first PCI device with these numbers.
    Pci {
        /// The vendor.
        vendor: u16,
        /// The device numbers that will do.
        devices: [u16; 2],
        /// The register, 0 to 5.
        bar: u8,
    },
}

impl DeviceKind {
    /// The first virtio disk.
    pub const VIRTIO_BLK: DeviceKind = DeviceKind::Pci { vendor: 0x1af4, devices: [0x1042, 0x1001], bar: 4 };
    /// Memory that the host lends, which answers at once.
    pub const IVSHMEM: DeviceKind = DeviceKind::Pci { vendor: 0x1af4, devices: [0x1110, 0x1110], bar: 2 };
}
