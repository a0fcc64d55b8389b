//! The limits of a system file.

use tactus_time::Duration;

/// The most tasks of one system. An image holds fewer: see [`MAX_IMAGE_THREADS`].
pub const MAX_TASKS: usize = 4_000;
/// The most user's own components of one system.
pub const MAX_COMPONENTS: usize = 96;
/// The most services that a component provides. It is granted fewer: see [`MAX_GRANTS`].
pub const MAX_SERVICES: usize = 64;
/// The most components of an image: schedulers, those of tasks of the built-in workload, and the file's own.
pub const MAX_IMAGE_COMPONENTS: usize = 256;
/// The most threads of an image: of tasks, of schedulers on each core, and spare ones.
pub const MAX_IMAGE_THREADS: usize = 264;
/// The most grants of a component, what its jobs need of their schedulers among them.
pub const MAX_GRANTS: usize = 16;
/// The longest name of a grant (bytes).
pub const MAX_GRANT_NAME: usize = 24;
/// Names of grants that the system gives.
pub const SYSTEM_GRANTS: [&str; 5] = ["complete", "raise", "section", "event", "wait"];
/// The most components that a call goes through, the scheduler among them.
pub const MAX_CALL_DEPTH: usize = 8;
/// The longest time that a file may name, and so the longest run.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The shortest period of a task that is simulated.
pub const SHORTEST_SIMULATED: Duration = Duration::from_micros(1);
/// The shortest period on a machine. One with slow instructions has a longer one: see [`shortest_period`].
pub const SHORTEST_PERIOD: Duration = Duration::from_micros(100);
/// How many instructions a period must hold on a machine, so that the system's own work can fit.
pub const INSTRUCTIONS_PER_PERIOD: u64 = 10_000;
/// Memory that the kernel needs, the first MiB, which is left alone, among it.
pub const KERNEL_MEMORY: u64 = 7 << 18;
/// Memory that each task needs beside its own: thread, stack, tables.
pub const TASK_MEMORY: u64 = 64 << 10;
/// The most memory of a machine.
pub const MAX_MEMORY: u64 = 2 << 30;
/// The longest name.
pub const MAX_NAME: usize = 31;
/// The most servers of one system.
pub const MAX_SERVERS: usize = 64;
/// The most windows of one system.
pub const MAX_WINDOWS: usize = 1_024;
/// The most schedules of windows.
pub const MAX_SCHEDULES: usize = 16;
/// The most switches from one schedule to another.
pub const MAX_SWITCHES: usize = 64;
/// The last major frame in which a partition may start, or a schedule begin.
pub const MAX_START_FRAME: u64 = 1_000_000;
/// The most changes of one system.
pub const MAX_CHANGES: usize = 64;
/// The most jobs of a task that may be under way within their deadlines: no more arrivals than that wait for the one before them.
pub const MAX_UNDER_WAY: u64 = 16;
/// The most slots of one system.
pub const MAX_SLOTS: usize = 8;
/// The most memory of the program in a slot.
pub const MAX_SLOT_MEMORY: u64 = 2 << 20;
/// Steps of the kernel that look at a slot's threads when it is set back.
pub const SET_BACK_THREADS: u64 = 33;
/// The instructions of a loader's dearest step at most: an admission that takes all its work and its quick test, or a piece of a digest
/// (`docs/measured/slots.md`). A scenario holds the loader to it.
pub const LOADER_STEP: u64 = 1_700_000;
/// Pages of the stack of a thread in a component of the user's own.
pub const STACK_PAGES: u64 = 4;
/// The most tasks of a slot.
pub const MAX_SLOT_TASKS: usize = 32;
/// The most loads and unloads that a file asks for.
pub const MAX_LOADS: usize = 20_000;
/// The most jobs of the trial of an update.
pub const LARGEST_TRIAL: u64 = 100_000;
/// The largest package (bytes).
pub const LARGEST_PACKAGE: u64 = 4 << 20;
/// The most channels of one system.
pub const MAX_CHANNELS: usize = 64;
/// The most mailboxes between the sandboxes of a machine.
pub const MAX_MAILBOXES: usize = 8;
/// The pages of all mailboxes together at most.
pub const MAX_MAILBOX_PAGES: u64 = 512;
/// The longest message of a channel (bytes).
pub const MAX_MESSAGE_SIZE: u32 = 8_192;
/// The most messages of a channel that wait, and the most that a job sends.
pub const MAX_MESSAGES: u32 = 512;
/// The most memory of a channel's messages (bytes).
pub const MAX_CHANNEL_MEMORY: u64 = 960 << 10;
/// The most destinations of a channel.
pub const MAX_DESTINATIONS: usize = 16;
/// The longest name of a port (bytes).
pub const MAX_PORT_NAME: usize = 24;
/// The longest name of a service (bytes), so that each client's two ports have names.
pub const MAX_SERVICE_NAME: usize = 20;
/// The most monitors of one system.
pub const MAX_MONITORS: usize = 64;
/// The most servers from the root down, the root included.
pub const MAX_DEPTH: usize = 6;
/// The largest priority.
pub const MAX_PRIORITY: u32 = 1_000_000;
/// The shortest turn, time between two looks, and budget of a server.
pub const SHORTEST_QUANTUM: Duration = Duration::from_micros(50);
/// Turns, and the time between two looks, where the file does not say.
pub const DEFAULT_QUANTUM: Duration = Duration::from_millis(1);
/// The longest list of job times.
pub const MAX_LIST: usize = 100_000;
/// The memory of a machine, where the file does not say.
pub const DEFAULT_MEMORY: u64 = 256 << 20;
/// The seed, where the file does not say.
pub const DEFAULT_SEED: u64 = 1;
/// Instructions take 2^1 = 2 ns, where the file does not say.
pub const DEFAULT_SHIFT: u8 = 1;
/// Length of a page of memory.
pub const PAGE: u64 = 4096;
/// The most spare threads of a component.
pub const MAX_SPARES: usize = 24;
/// The most brands of a component, and of all together.
pub const MAX_BRANDS: usize = 32;
/// The shortest tick of a brand, in instructions: what it takes from whoever runs stays below a hundredth.
pub const INSTRUCTIONS_PER_TICK: u64 = 50_000;
/// The longest tick.
pub const LONGEST_TICK: Duration = Duration::from_secs(16);
/// The highest interrupt line of a machine.
pub const MAX_LINE: u64 = 23;
/// The deepest tree of schedulers, the root counted.
pub const MAX_SCHEDULER_DEPTH: usize = 4;
/// The most restarts that a limit may allow.
pub const MAX_RESTARTS: u32 = 1_000;
/// The most colours of memory.
pub const MAX_COLOURS: u32 = 64;
/// The most memory for those who manage memory.
pub const MAX_POOL: u64 = 64 << 20;
/// The most resources of a system.
pub const MAX_RESOURCES: usize = 64;
/// The most critical sections of a task.
pub const MAX_SECTIONS: usize = 64;
/// The shortest critical section.
pub const SHORTEST_SECTION: Duration = Duration::from_micros(1);
/// Memory for those who manage memory, where the file does not say.
pub const DEFAULT_POOL: u64 = 1 << 20;
/// The most memory that all buffers take together.
pub const MAX_SHARED: u64 = 2 << 20;
/// The most devices of a system.
pub const MAX_DEVICES: usize = 16;
/// The most memory of one device that its driver sees.
pub const LARGEST_DEVICE: u64 = 512 << 10;
/// The most memory that one device may read and write.
pub const LARGEST_DMA: u64 = 508 << 10;
/// The largest heap of a component that the file gives it.
pub const LARGEST_HEAP: u64 = 32 << 20;
/// The most disks of a system.
pub const MAX_DISKS: usize = 8;
/// The most clients of a disk.
pub const MAX_DISK_CLIENTS: usize = 32;
/// Places that a client asks for, where the file does not say.
pub const DEFAULT_PLACES: u32 = 32;
/// The most requests that a best-effort client has outstanding.
pub const MAX_OUTSTANDING: u64 = 64;
/// The most requests of a client that may wait within one deadline.
pub const MAX_WAITING: u64 = 16;

/// The most writes that a drive's cache keeps.
pub const MAX_WRITE_CACHE: u64 = 16;
/// The most failing requests of a busy time that a check counts on.
pub const MAX_TOLERATED: u64 = 8;
/// The shortest mean time between power cuts: the power is away for half of it.
pub const SHORTEST_POWER: Duration = Duration::from_millis(100);
/// The most bytes that a component keeps which serves a disk: of its clients' places where it drives no device, of the write cache, and of
/// a write.
pub const MAX_DISK_MEMORY: u64 = 480 << 10;
/// Pages of a disk client's buffer beside its data: one of requests, one of answers.
pub const RING_PAGES: u64 = 2;

/// The shortest tick on a machine whose instructions take 2^shift ns.
pub fn shortest_tick(shift: u8) -> Duration {
    Duration::from_nanos(INSTRUCTIONS_PER_TICK << shift.min(6))
}

/// The shortest period on a machine whose instructions take 2^shift ns.
pub fn shortest_period(shift: u8) -> Duration {
    SHORTEST_PERIOD.max(Duration::from_nanos(INSTRUCTIONS_PER_PERIOD << shift.min(6)))
}
