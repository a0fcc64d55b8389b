//! How much of everything: stacks, heaps, tables of demands, trace rings, and where in the machine's memory the trace
//! lies.

use crate::{quota, ImageError};
use tactus_abi::image::Interleaved;
use tactus_abi::layout::{DEMANDS, HEAP, PAGE, STACKS, TRACE};
use tactus_model::{
    Action, Demand, JobAction, JobStep, Part, Program, Server, ServerKind, System, Task, KERNEL_MEMORY, MAX_MEMORY,
    MOST_LOOKS,
};
use tactus_monitor::Occurrence;
use tactus_record::{RECORD_BYTES, RING_HEADER_BYTES};
use tactus_time::{CoreId, Duration, TaskId};

/// Stack of a thread in one of the user's components (bytes).
pub const USER_STACK: u64 = 16 << 10;
/// Stack of the loader's thread, which verifies signatures (bytes).
pub(crate) const LOADER_STACK: u64 = 48 << 10;
/// Stack of a thread in the scheduler and in the built-in workload (bytes).
pub const SYSTEM_STACK: u64 = 8 << 10;
/// The least heap of the scheduler (bytes): what its policy allocates while it is set up. Four times the length of
/// the encoded set-up comes on top.
pub const SCHEDULER_HEAP: u64 = 1 << 20;
/// The least heap of a component of the user's (bytes).
pub const USER_HEAP: u64 = 64 << 10;
/// What a component has beside that if it is told something, as one that serves a disk is, which keeps the bytes of its clients.
pub const TOLD_HEAP: u64 = 512 << 10;

/// Below this the kernel, its tables and the memory of all components must fit, if they can.
const LOW_MEMORY: u64 = 32 << 20;
/// Kept at the end of memory for tables that firmware leaves there.
const FIRMWARE: u64 = 2 << 20;
/// The same in a small machine, which is an emulated one without firmware: its own tables take half of this.
const SMALL_FIRMWARE: u64 = 256 << 10;
/// The trace begins at a multiple of this, so that few page-table entries map it.
const TRACE_ALIGNMENT: u64 = 2 << 20;
/// The same in a small machine.
const SMALL_TRACE_ALIGNMENT: u64 = 64 << 10;
/// Machines with less memory than this are small.
const SMALL: u64 = 48 << 20;

/// Records that a job costs in all at most, in most systems, all cores together.
const RECORDS_PER_JOB: u64 = 16;
/// Records that a server's period costs on one of its cores at most, in most systems: its budget ends and comes back, and each time
/// a core is entered, turns from one job to another, and is left.
const RECORDS_PER_PERIOD: u64 = 10;
/// Records of a look at a counter of misses: the core is entered, the policy told, and the core left. One more tells of lines written back.
const RECORDS_PER_LOOK: u64 = 3;
/// Records that each end of a mailbox adds to those of a job at most: one at each entry of the scheduler that a job causes.
const RECORDS_PER_MAILBOX: u64 = 4;
/// Records that a job costs at the least: release, entry and decision twice, dispatch, completion, and what follows.
const LEAST_RECORDS_PER_JOB: u64 = 8;
/// From job to job of a task that releases itself, on the average, at the least in most systems.
const THREAD_JOB: Duration = Duration::from_millis(2);
/// The smallest ring (bytes).
const SMALLEST_RING: u64 = 64 << 10;
/// The smallest that is wanted where monitors look at what components do, which do it as often as they like (bytes).
const SMALLEST_OF_MONITORS: u64 = 256 << 10;

/// `bytes` rounded up to whole pages.
pub(crate) fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE) * PAGE
}

/// How many jobs of the task are released before the end of the run, at most. A task that changes may have its shortest period all
/// along, and begin anew at any time.
fn jobs(system: &System, task: TaskId) -> u64 {
    let Task { offset, period, .. } = system.tasks[task.index()];
    let changes = system.scheduling.changes.iter().filter(|change| change.part == Part::Task(task.index()));
    let periods = changes.clone().filter_map(|change| match change.action {
        Action::Alter(values) => values.period,
        Action::Add | Action::Remove => None,
    });
    // Of a task that releases itself nobody knows; so many as threads that wait for each other have.
    let itself = system.scheduling.places.get(task.index()).is_some_and(|it| it.release.predecessor() == Some(task));
    let period = if itself { THREAD_JOB.min(period) } else { period };
    let shortest = periods.fold(period, Duration::min);
    // It need not begin at its offset where it is added, and whenever it is, a job more than the time in between has periods.
    let added = changes.filter(|change| change.action == Action::Add).count() as u64;
    let from = if added == 0 { offset } else { Duration::ZERO };
    // Those of a burst come by as much earlier.
    let burst = system.scheduling.places.get(task.index()).and_then(|it| it.release.burst());
    let jitter = burst.map_or(Duration::ZERO, |burst| burst.jitter);
    let length = system.duration.saturating_sub(from).checked_add(jitter).unwrap_or(Duration::MAX);
    length.div_ceil(shortest).saturating_add(added)
}

/// What the task's jobs take, in the form of `tactus_abi::layout::DEMANDS`: the count, then so many lengths in ns, the
/// next job taking the first again after the last; then the number of waits of each job, and for each what the job has executed before
/// it and how long it is, in ns; then its programs. `spare` is how many bytes there may be.
pub(crate) fn demands(system: &System, task: TaskId, spare: u64) -> Result<Vec<u64>, ImageError> {
    let it = &system.tasks[task.index()];
    // One job may begin just at the end, and one more is in hand when it does.
    let all = jobs(system, task).saturating_add(2);
    let count = match &it.demand {
        Demand::Fixed(_) => 1,
        Demand::List(lengths) => all.min(lengths.len() as u64).max(1),
        Demand::Uniform { .. } | Demand::Beta { .. } => all,
    };
    let program = system.scheduling.programs.get(task.index()).cloned().unwrap_or_default();
    let waits = system.scheduling.waits_of(task.index()).len() as u64;
    let programs = programs(&program, count + 2 + 2 * waits);
    let words = count.saturating_add(2 + 2 * waits + programs.len() as u64);
    let (bytes, limit) = (words.saturating_mul(8), (HEAP - DEMANDS).min(spare));
    if bytes > limit || count > u64::from(u32::MAX) {
        let what = format!("the lengths of the {count} jobs of task {:?} (line {})", it.name, it.line);
        let remedy = "write a shorter duration, a longer period, a fixed demand or more memory";
        return Err(ImageError::NoRoom { what, bytes, limit, remedy });
    }
    let lengths = (0..count as u32).map(|job| it.demand(system.seed, task, job).as_nanos());
    let steps = system.job_steps();
    let waits = steps.waits.get(task.index()).map_or(&[][..], Vec::as_slice);
    let waits = waits.iter().flat_map(|wait| [wait.after.as_nanos(), wait.length.as_nanos()]);
    let count_of_waits = system.scheduling.waits_of(task.index()).len() as u64;
    let first = [count].into_iter().chain(lengths).chain([count_of_waits]).chain(waits);
    Ok(first.chain(programs).collect())
}

/// What jobs do, as words that begin so many words behind the beginning of the table.
fn programs(program: &Program, start: u64) -> Vec<u64> {
    let bodies: Vec<Vec<u64>> = program.bodies.iter().map(|steps| body(steps)).collect();
    let mut at = start + 1 + program.order.len() as u64;
    let mut places = Vec::new();
    for words in &bodies {
        places.push(at);
        at += words.len() as u64;
    }
    let order = program.order.iter().map(|body| places.get(usize::from(*body)).copied().unwrap_or(0));
    [program.order.len() as u64].into_iter().chain(order).chain(bodies.into_iter().flatten()).collect()
}

/// The steps of one job.
fn body(steps: &[JobStep]) -> Vec<u64> {
    let step = |step: &JobStep| {
        let [kind, of, gives] = match step.action {
            JobAction::Sleep(length) => [0, length.as_nanos(), 0],
            JobAction::Await { event, gives } => [1, event.into(), gives.map_or(0, |gives| u64::from(gives) + 1)],
            JobAction::Signal(event) => [2, event.into(), 0],
            JobAction::Broadcast(event) => [3, event.into(), 0],
        };
        [step.after.as_nanos(), kind, of, gives]
    };
    [steps.len() as u64].into_iter().chain(steps.iter().flat_map(step)).collect()
}

/// Where the trace lies and how long it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placement {
    /// Length of one core's ring (bytes).
    pub ring: u64,
    /// Physical address of the first ring.
    pub trace: u64,
    /// Memory that the machine must have (bytes).
    pub needed: u64,
}

/// So many bytes of trace and the page tables that map them.
fn with_tables(trace: u64) -> u64 {
    trace.saturating_add((trace >> 21) * PAGE)
}

/// What is kept at the end of memory, and what the trace's beginning is a multiple of.
fn margins(small: bool) -> (u64, u64) {
    if small {
        (SMALL_FIRMWARE, SMALL_TRACE_ALIGNMENT)
    } else {
        (FIRMWARE, TRACE_ALIGNMENT)
    }
}

/// Finds room for the trace in the machine's memory.
///
/// `image` is the image's length, `fresh` what the kernel has to find for the memory of components and for page
/// tables other than the trace's (both bytes).
///
/// From below: kernel, tables and fresh memory, and the image if the boot loader puts it low, as GRUB does. From
/// above: what firmware keeps, the image if the loader puts it high, as QEMU's does, then the trace.
///
/// `schedulers`: how many have a ring for each core, and which pages of the memory from the trace's beginning on hold them. `restarts`: how
/// many records restarts of components cause.
pub(crate) fn place(
    system: &System,
    image: u64,
    fresh: u64,
    (schedulers, pages_of): (usize, Interleaved),
    restarts: u64,
) -> Result<Placement, ImageError> {
    let cores = (system.cores * schedulers) as u64;
    // Where rings have some colours only, the frames between theirs stay empty.
    let spread = |ring: u64| {
        let each = pages_of.extent(ring.saturating_mul(system.cores as u64) / PAGE).saturating_mul(PAGE);
        each.saturating_mul(schedulers as u64)
    };
    let turn = pages_of.extent(1) * PAGE;
    let share = if pages_of.is_whole() { 1 } else { pages_of.bits.count_ones() };
    let image = pages(image);
    let small = system.memory < SMALL;
    let (firmware, alignment) = margins(small);
    let alignment = alignment.max(turn);
    let without = |small: bool| {
        let (firmware, alignment) = margins(small);
        // And where each scheduler's last turn of the colours ends.
        let alignment = alignment.max(turn) + if pages_of.is_whole() { 0 } else { turn * schedulers as u64 };
        // A small machine is booted by QEMU itself, which puts the image high.
        let low = if small { KERNEL_MEMORY + fresh } else { (KERNEL_MEMORY + fresh).max(LOW_MEMORY) + image };
        // Two more tables: where the trace begins, and above all of its others.
        low + image + firmware + alignment + 2 * PAGE
    };
    let without_trace = without(small);
    let (wanted, least) = (wanted_ring(system, restarts), least_ring(system));

    // Each 2 MiB of the trace take a page table.
    let left = system.memory.saturating_sub(without_trace);
    let fits = ((left - left / 513) / (turn / PAGE) * u64::from(share)).min(STACKS - TRACE) / cores / PAGE * PAGE;
    let ring = wanted.min(fits);
    if ring < least {
        // Enough for what is wanted, if a machine can have that much; else enough to run at all.
        let of = |small, ring: u64| (without(small).saturating_add(with_tables(spread(ring)))).div_ceil(1 << 20) << 20;
        let with = |ring: u64| Some(of(true, ring)).filter(|&it| it < SMALL).unwrap_or_else(|| of(false, ring));
        let most = MAX_MEMORY.min(without(false) + (STACKS - TRACE));
        let generous = with(wanted) <= most;
        let ring = if generous { wanted } else { least };
        return Err(ImageError::Memory { memory: system.memory, needed: with(ring), trace: spread(ring), most });
    }
    let trace = (system.memory - firmware - image - spread(ring)) / alignment * alignment;
    Ok(Placement { ring, trace, needed: without_trace + with_tables(spread(ring)) })
}

/// How many records the system's run leaves, all cores together, where few jobs are preempted: what its trace takes at least.
pub fn expected_records(system: &System) -> u64 {
    let jobs = (0..system.tasks.len()).map(|n| turns(system, n)).fold(0, u64::saturating_add);
    jobs.saturating_mul(LEAST_RECORDS_PER_JOB)
}

/// The ring that holds everything even if one core does all the work that it may do and components have recorded what they may, with a
/// quarter to spare.
fn wanted_ring(system: &System, restarts: u64) -> u64 {
    let mailboxes = RECORDS_PER_MAILBOX * system.mailboxes.len() as u64;
    let each = RECORDS_PER_JOB + quota::records_of_looks(system) + mailboxes;
    let of_task = |n| {
        turns(system, n).saturating_mul(each).saturating_add(quota::records(system, n, jobs(system, TaskId(n as u16))))
    };
    let all = worst_core(system, 1, of_task).saturating_add(worst_periods(system)).saturating_add(restarts);
    // One of each source that has not written.
    let all = all.saturating_add(system.channels.len() as u64);
    let watches = |(_, it): &(String, Occurrence)| it.kind.is_of_components();
    let watched = system.monitors.iter().flat_map(|monitor| &monitor.events).any(watches);
    let ring = ring_for(all.saturating_mul(5) / 4).max(SMALLEST_RING);
    if watched {
        // Half of the kernel's ring is theirs.
        (2 * ring).max(SMALLEST_OF_MONITORS)
    } else {
        ring
    }
}

/// Records of the most periods that servers begin on one core, as if each had its shortest one all along, and of the looks at a counter of
/// misses.
fn worst_periods(system: &System) -> u64 {
    let periods = |n: usize, of: Duration| {
        let changes = system.scheduling.changes.iter().filter(|change| change.part == Part::Server(n));
        let altered = changes.filter_map(|change| match change.action {
            Action::Alter(values) => values.period,
            Action::Add | Action::Remove => None,
        });
        let shortest = altered.fold(of, Duration::min).max(Duration::from_nanos(1));
        system.duration.div_ceil(shortest)
    };
    let each = |server: &Server| {
        if server.kind == ServerKind::Misses {
            RECORDS_PER_PERIOD + (RECORDS_PER_LOOK + u64::from(server.write_backs.is_some())) * MOST_LOOKS
        } else {
            RECORDS_PER_PERIOD
        }
    };
    let servers = || system.scheduling.servers.iter().enumerate();
    let on = |core: CoreId| {
        let there = servers().filter(|(_, server)| server.cores.contains(core));
        there.map(|(n, server)| periods(n, server.period).saturating_mul(each(server))).fold(0, u64::saturating_add)
    };
    (0..system.cores).map(|core| on(CoreId(core as u8))).max().unwrap_or(0)
}

/// The ring below which a run would be certain to lose records, were the work spread evenly.
fn least_ring(system: &System) -> u64 {
    let turns = worst_core(system, system.cores as u64, |n| turns(system, n));
    ring_for(turns.saturating_mul(LEAST_RECORDS_PER_JOB)).max(SMALLEST_RING)
}

fn ring_for(records: u64) -> u64 {
    // The cap keeps sums in range; nothing that long fits anywhere.
    let bytes = records.saturating_mul(RECORD_BYTES as u64).min(1 << 48);
    pages(bytes + RING_HEADER_BYTES as u64)
}

/// How often jobs of the task come to a core: each once, and once more after each wait.
fn turns(system: &System, n: usize) -> u64 {
    let waits = system.scheduling.waits_of(n).len() as u64;
    let steps = |program: &Program| {
        let of = |body: &u16| program.bodies.get(usize::from(*body)).map_or(0, Vec::len) as u64;
        program.order.iter().map(of).sum::<u64>().div_ceil(program.order.len().max(1) as u64)
    };
    let steps = system.scheduling.programs.get(n).map_or(0, steps);
    jobs(system, TaskId(n as u16)).saturating_mul(1 + waits + steps + system.request_calls(n))
}

/// The most of what each task brings to a core, if one core does one in `share` of those that are bound to none.
fn worst_core(system: &System, share: u64, of_task: impl Fn(usize) -> u64) -> u64 {
    let jobs_of = |core: Option<CoreId>| -> u64 {
        let bound = system.tasks.iter().enumerate().filter(|(_, task)| task.core == core);
        bound.map(|(n, _)| of_task(n)).fold(0, u64::saturating_add)
    };
    let bound = (0..system.cores).map(|core| jobs_of(Some(CoreId(core as u8)))).max().unwrap_or(0);
    bound.saturating_add(jobs_of(None).div_ceil(share))
}
