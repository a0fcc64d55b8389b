//! The stored form of every structure in an image: each field little-endian, in the order and at the place that
//! `#[repr(C)]` gives it.

use tactus_abi::image::{Component, Grant, Header, Mapping, Memory, Thread};
use tactus_abi::layout::{MAX_GRANTS, MAX_SEQUENCES};
use tactus_abi::port::{PartitionCard, PortCard, ProcessCard};
use tactus_abi::shared::{BufferCard, ComponentCard, DeviceCard, Info, Name, TaskCard, TaskPage, MISSES, NAME_BYTES};
use tactus_abi::slot::{Label, LoadCard, LoaderHead, RightCard, SlotCard, LABEL_BYTES};

/// A value with a stored form of fixed length.
pub(crate) trait Stored: Sized {
    /// Length of the stored form.
    const BYTES: usize;
    /// Appends the stored form.
    fn put(&self, out: &mut Vec<u8>);
    /// Reads the stored form at the start of `bytes` and moves behind it; nothing if `bytes` is too short.
    fn take(bytes: &mut &[u8]) -> Option<Self>;
}

/// The stored forms of all of them.
pub(crate) fn stored<T: Stored>(all: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    all.iter().for_each(|it| it.put(&mut bytes));
    bytes
}

impl Stored for u32 {
    const BYTES: usize = 4;
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u32::from_le_bytes(*head))
    }
}

impl Stored for u64 {
    const BYTES: usize = 8;
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u64::from_le_bytes(*head))
    }
}

impl Stored for [u64; MISSES] {
    const BYTES: usize = 8 * MISSES;
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|word| word.put(out));
    }
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let mut words = [0; MISSES];
        for word in &mut words {
            *word = u64::take(bytes)?;
        }
        Some(words)
    }
}

impl Stored for Name {
    const BYTES: usize = NAME_BYTES;
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(*head)
    }
}

impl Stored for Label {
    const BYTES: usize = LABEL_BYTES;
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(*head)
    }
}

impl Stored for [[u64; 2]; MAX_SEQUENCES] {
    const BYTES: usize = 16 * MAX_SEQUENCES;
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().flatten().for_each(|word| word.put(out));
    }
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let mut ranges = [[0; 2]; MAX_SEQUENCES];
        for word in ranges.iter_mut().flatten() {
            *word = u64::take(bytes)?;
        }
        Some(ranges)
    }
}

impl Stored for [Name; MAX_GRANTS] {
    const BYTES: usize = NAME_BYTES * MAX_GRANTS;
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|name| name.put(out));
    }
    fn take(bytes: &mut &[u8]) -> Option<Self> {
        let mut names = [[0; NAME_BYTES]; MAX_GRANTS];
        for name in &mut names {
            *name = Name::take(bytes)?;
        }
        Some(names)
    }
}

macro_rules! stored {
    ($name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        impl Stored for $name {
            const BYTES: usize = 0 $(+ <$type as Stored>::BYTES)*;
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }
            fn take(bytes: &mut &[u8]) -> Option<Self> {
                Some($name { $($field: <$type as Stored>::take(bytes)?),* })
            }
        }
        // Holds only if no field was left out and the compiler puts no padding between them.
        const _: () = assert!(<$name as Stored>::BYTES == size_of::<$name>());
    };
}

stored!(Header {
    magic: u64,
    version: u32,
    cores: u32,
    components: u32,
    grants: u32,
    memories: u32,
    mappings: u32,
    threads: u32,
    pool_frames: u32,
    colours: u32,
    turn: u32,
    speculation: u32,
    reserved: u32,
    trace_address: u64,
    kernel_colours: u64,
    bytes: u64,
});
stored!(Component {
    name: Name,
    entry: u64,
    first_grant: u32,
    grants: u32,
    role: u32,
    restarted_by: u32,
    brands: u32,
    lines: u32,
    releases: u32,
    tick: u32,
    colours: u64,
    window_colours: u64,
    sequences: [[u64; 2]; MAX_SEQUENCES],
    restart_nanos: u64,
    restarts: u32,
    reserved: u32,
});
stored!(Grant { entry: u64, component: u32, reserved: u32 });
stored!(Memory { kind: u32, late: u32, bytes: u64, offset: u64, file_bytes: u64, colours: u64 });
stored!(Mapping { component: u32, memory: u32, address: u64, flags: u32, reserved: u32 });
stored!(Thread { component: u32, kind: u32, number: u32, place: u32 });
stored!(Info {
    component: u32,
    grant_count: u32,
    cores: u32,
    tasks: u32,
    heap_bytes: u64,
    plan_bytes: u64,
    ring_bytes: u64,
    duration: u64,
    touch_bytes: u64,
    instruction_nanos: u64,
    components: u32,
    buffers: u32,
    devices: u32,
    colours: u32,
    threads: u32,
    ports: u32,
    processes: u32,
    counters: u32,
    watched: u32,
    promised_by_host: u32,
    heap_parts: u64,
    told_bytes: u64,
    name: Name,
    system: Name,
    grants: [Name; MAX_GRANTS],
});
stored!(TaskCard {
    name: Name,
    component: Name,
    home: u64,
    thread: u64,
    promise: u64,
    bound: u64,
    deadline: u64,
    minimum: u64,
    level: u64,
    raiser: u64,
    line: u64,
    calls: u64,
    arrivals: u64,
    events: u64,
});
stored!(TaskPage {
    job: u64,
    charged: u64,
    since: u64,
    release: u64,
    complete: u64,
    sections: u64,
    awaited: u64,
    line: u64,
    index: u64,
    missed: u64,
    missed_at: [u64; MISSES],
    name: Label,
});
stored!(ComponentCard {
    name: Name,
    role: u32,
    parent: u32,
    restarted_by: u32,
    restarts: u32,
    restart_nanos: u64,
    first_spare: u32,
    spares: u32,
    first_upcall: u32,
    brands: u32,
    waits: u32,
    load_core: u32,
    load_start: u64,
    load_length: u64,
    load_frame: u64,
});
stored!(LoaderHead { slots: u32, loads: u32, keys: u32, rights: u32 });
stored!(SlotCard {
    class: Label,
    component: u32,
    first_task: u32,
    tasks: u32,
    order: u32,
    pages: u64,
    heap: u64,
    colours: u64,
    set_back: u64,
    budget: u64,
    period: u64,
    blackout: u64,
    cost_of_job: u64,
    older: u32,
    first_key: u32,
    keys: u32,
    first_right: u32,
    rights: u32,
    processor: u32,
    first_thread: u32,
    reserved: u32,
});
stored!(LoadCard {
    at: u64,
    slot: u32,
    what: u32,
    offset: u64,
    bytes: u64,
    settles_after: u64,
    other: u32,
    trial: u32,
    state: Label,
});
stored!(RightCard { name: Label });
stored!(BufferCard {
    name: Name,
    colours: u64,
    number: u32,
    pages: u32,
    window: u32,
    first: u32,
    second: u32,
    reader: u32,
    releases: u32,
    channel: u32,
});
stored!(DeviceCard { name: Name, address: u64, bytes: u64, dma: u64, dma_bytes: u64, configuration: u64 });
stored!(PortCard {
    name: Name,
    channel: u32,
    kind: u32,
    direction: u32,
    size: u32,
    depth: u32,
    writer: u32,
    refresh: u64,
    service: u64,
});
stored!(PartitionCard { name: Name, number: u32, cores: u32, period: u64, duration: u64, warm: u64 });
stored!(ProcessCard {
    name: Name,
    task: u32,
    core: u32,
    priority: u32,
    releases: u32,
    period: u64,
    capacity: u64,
    deadline: u64,
    offset: u64,
});
