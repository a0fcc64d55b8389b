//! The kernel's calls and their errors.
//!
//! A call is the `syscall` instruction with the call's number in `rax` and arguments in `rdi`, `rsi`, `rdx`, `r10`,
//! `r8`, `r9`. It returns an [`Error`] number in `rax` (0 is success) and values, where there are any, in `rdi` and
//! `rsi`. All other registers except `rsp` come back changed: an invocation crosses to code that nobody trusts. The null
//! call changes only `rax`, `rcx` and `r11`.

/// The calls. Meaning and order of checks: `docs/kernel-calls.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Call {
    /// Does nothing. For measuring.
    Null = 0,
    /// `(grant, a0, a1, a2, a3, a4)`: the thread goes on in the component that the grant names, at the grant's entry,
    /// with who called in `rdi` ([`Caller`]) and `a0`… in `rsi`, `rdx`, `r10`, `r8`, `r9`; all other registers are cleared.
    Invoke = 1,
    /// `(v0, v1)`: back to the component that invoked this one; it finds success in `rax`, `v0` in `rdi`, `v1` in `rsi`.
    Return = 2,
    /// `(thread, flags, time-out)`: dispatches a thread on this core. Schedulers only. With a flag of the lock, time-outs stay
    /// as they are.
    SwitchThread = 3,
    /// `(core)`: sends word to the same scheduler on another core. Schedulers only.
    Notify = 4,
    /// `(length, w0, w1, w2, w3)`: up to 32 bytes of text to the console. Schedulers and consoles only. Above the length's eight bits
    /// a number: 0, or one more than how many numbered pieces the component has written in this life; with any other nothing is
    /// written, and that is no error. In `rdi` comes back how many bytes are held, in `rsi` how many numbered pieces were written.
    Text = 5,
    /// `(code)`: ends the run of the whole machine. The root scheduler only.
    Finish = 6,
    /// `(length, w0, w1, w2, w3)`: with length 0 the component gives up, as if it had faulted. Before that it can say why:
    /// 1 to 32 bytes of text with each call, of which the console shows as many as [`PANIC_PIECES`] in one life.
    Panic = 7,
    /// `(operation, thread, other)`: the tree of schedulers, see [`SchedulerOperation`]. Schedulers only.
    SchedulerControl = 8,
    /// `(component, a0, a1)`: makes a thread that begins in the component and is told `a0` and `a1`; its number comes
    /// back in `rdi`. The root scheduler only.
    CreateThread = 9,
    /// `(operation, brand, other)`: brands and their upcall threads, see [`BrandOperation`].
    BrandControl = 10,
    /// `(brand, word)`: asks for one more run of the brand's upcall, which is told the word of the first trigger that it
    /// serves. Only from the component in which the brand was made.
    Trigger = 11,
    /// `()`: an upcall is finished. Comes back only as a new beginning.
    UpcallDone = 12,
    /// `(operation, component, address, page)`: frames and who sees them, see [`MemoryOperation`]. Only a component that
    /// manages memory.
    MemoryControl = 13,
    /// `(component, step, entry)`: sets a stopped component back to what it was at the start, a bounded piece with each call:
    /// begin with step 0; comes back with the next step in `rdi`, 0 when the component runs again. Only the component
    /// that the system names for it. The threads of a slot begin at `entry`, which lies in its window and is looked at
    /// with step 0; of others that word means nothing.
    Restart = 14,
    /// `(core, brand)`: sends an inter-core event that triggers a brand which is wired to such events on that core.
    TriggerRemote = 15,
    /// `(grant, ten words)`: as [`Call::Invoke`], with five words more in `rbx`, `r12`, `r13`, `r14`, `r15`.
    InvokeWide = 16,
    /// `(ten words)`: as [`Call::Return`], with ten words: `rdi`, `rsi`, `rdx`, `r10`, `r8`, `rbx`, `r12` to `r15`. Ends
    /// an invocation of either kind.
    ReturnWide = 17,
    /// `(instant)`: until this reading of the time-stamp counter the thread computes: it calls nothing and does not end. Lets an
    /// emulated machine give its cores longer slices. Only a component that the image builder made for it.
    Computes = 18,
    /// `(name)`: an event of the component's own, by [`crate::monitors::hash`] of its name, that a monitor watches.
    Signal = 19,
    /// `(event, instant)`: an event that monitors watch and the root scheduler alone knows of has happened at this instant (ns
    /// since the start of the run). With [`EXPIRIES`] for the event: it is this instant, and nothing happened. In `rdi` comes back
    /// until when what a monitor of this core awaits is in time, `u64::MAX` if nothing is awaited; in `rsi` how many violations there
    /// were on all cores. The root scheduler only.
    Observe = 20,
    /// `()`: what the calling thread's job handles: a property that was violated and that no job asked for since. Its monitor comes back
    /// in `rdi`; in the upper half of `rsi` the event that violated it ([`crate::monitors::NONE`] if one did not come in time), in the
    /// lower half the state in which that found the monitor. Only a thread of a task that handles violations, in its own component.
    Violation = 21,
    /// `(component)`: stops the component: nobody enters it, and whoever is in it leaves it, until it is restarted. Only the component
    /// that may restart it.
    Stop = 22,
    /// `(operation, component, what, frame, place)`: pages and threads of a slot that is stopped, kept in frames of the loader's and
    /// written again, see [`SnapshotOperation`]. Only the component that may restart it.
    Snapshot = 23,
}

/// Added to the number of a channel that is monitored: in place of a grant it sends the first eight words of [`Call::InvokeWide`].
/// Only the channel's sender.
pub const CHANNEL_SEND: u64 = 1 << 32;
/// As [`CHANNEL_SEND`], to take the oldest message, which comes back as the first eight of ten words. Only the channel's receiver.
pub const CHANNEL_RECEIVE: u64 = 2 << 32;

/// The shortest tick of all (microseconds).
pub const SHORTEST_TICK: u32 = 50;

/// Stands for no event in [`Call::Observe`].
pub const EXPIRIES: u64 = u64::MAX;
/// Stands for no event in [`Call::Observe`]: the monitors whose violations release jobs on this core and were not told of yet come back
/// in `rdi`, as bits.
pub const VIOLATIONS: u64 = u64::MAX - 1;

impl Call {
    /// All calls, by number.
    pub const ALL: [Call; 24] = [
        Call::Null,
        Call::Invoke,
        Call::Return,
        Call::SwitchThread,
        Call::Notify,
        Call::Text,
        Call::Finish,
        Call::Panic,
        Call::SchedulerControl,
        Call::CreateThread,
        Call::BrandControl,
        Call::Trigger,
        Call::UpcallDone,
        Call::MemoryControl,
        Call::Restart,
        Call::TriggerRemote,
        Call::InvokeWide,
        Call::ReturnWide,
        Call::Computes,
        Call::Signal,
        Call::Observe,
        Call::Violation,
        Call::Stop,
        Call::Snapshot,
    ];
}

/// What [`Call::SchedulerControl`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum SchedulerOperation {
    /// `other` is a component: makes it a child scheduler of the caller. Its upcall threads get the caller's path.
    Promote = 0,
    /// `other` is a child of the caller: it and its whole subtree are schedulers no longer and hold no thread.
    Demote = 1,
    /// The child `other` may schedule `thread`.
    Grant = 2,
    /// The child `other`, and with it its whole subtree, may no longer schedule `thread`.
    Revoke = 3,
    /// From now on the kernel shares the caller's regions with it.
    Region = 4,
    /// Binds `thread` to the event slot `other` of the caller's regions; 0 unbinds it.
    Slot = 5,
    /// `thread`, which runs nowhere, begins anew where it is at home: what it was doing is given up. In a service of another
    /// component it first goes on to the end of that. Refused as a dispatch is if events wait on this core.
    Reset = 6,
}

/// What [`Call::BrandControl`] does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum BrandOperation {
    /// Makes a brand of the calling thread's path; `other` is 0: upcalls begin in the component that invoked the caller's
    /// (or, if nobody did, in the caller's own); 1: upcalls begin in the caller's own component, for drivers. The brand's
    /// number comes back in `rdi`. As many as the image allows the component.
    Create = 0,
    /// Adds an upcall thread to `brand`; the thread's number comes back in `rdi`. The root scheduler only.
    AddUpcall = 1,
    /// Wires `brand` to the interrupt source `other` ([`source`]) on the core that the low byte of the source names. Only
    /// from the component in which the brand was made, and only sources that the image allows it.
    Wire = 2,
    /// Takes the brand off its source.
    Unwire = 3,
    /// The handler has served its device: the source of `brand` may interrupt again.
    Acknowledge = 4,
    /// A job has served its device: the interrupt line `brand` may interrupt again. Only from the component to whose task the image
    /// gives the line ([`crate::image::Component::releases`]).
    AcknowledgeLine = 5,
}

/// Interrupt sources that a brand can be wired to.
pub mod source {
    /// A device's interrupt line: `LINE | line << 8 | core`.
    pub const LINE: u64 = 1 << 32;
    /// Inter-core events sent to the core for this brand: `REMOTE | core`.
    pub const REMOTE: u64 = 2 << 32;
    /// A periodic tick of the core: `TICK | microseconds << 8 | core`, no shorter than the system file lets the component have. The upcall
    /// is told how many went by.
    pub const TICK: u64 = 3 << 32;
}

/// What [`Call::MemoryControl`] does. Pages are counted from the start of the component's window: [`crate::layout::WINDOW`], of a slot
/// [`crate::layout::PROGRAM`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum MemoryOperation {
    /// Takes a free frame of the colour `page` from the pool; its number comes back in `rdi`.
    Take = 0,
    /// Maps the frame `page` into `component` at the window's page `address` to be read and written.
    MapWritable = 1,
    /// As [`MemoryOperation::MapWritable`], to be read only.
    MapReadable = 2,
    /// Unmaps the window's page `address` of `component`.
    Unmap = 3,
    /// Gives the frame `page` back, cleared; refused while it is mapped or while a core may still see it.
    Release = 4,
    /// Number of frames of the colour `page` in the pool in `rdi`, of free ones in `rsi`.
    Count = 5,
    /// As [`MemoryOperation::MapWritable`], to be read and executed. Into slots only. A frame that may be written anywhere is executed
    /// nowhere, and the other way round.
    MapExecutable = 6,
}

/// What [`Call::Snapshot`] does. Pages have numbers: those of the window first, then those of the slot's own memory, in an order of
/// the kernel's that stays the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum SnapshotOperation {
    /// Whether the state of the thread `what` can be saved: it is in the component, called by nobody, and calls nobody.
    Look = 0,
    /// Copies the page `what` into the frame.
    SavePage = 1,
    /// Copies the registers of the thread `what` into the frame, as the state with the number `place` ([`ThreadState`]).
    SaveThread = 2,
    /// Copies the frame into the page `what`; one that may be written.
    RestorePage = 3,
    /// Gives the thread `what` the registers that stand in the frame as the state with the number `place`.
    RestoreThread = 4,
}

/// General registers and flags of a thread, as they are kept: 8 bytes each, in the order in which the kernel has them. What the kernel
/// would not have saved so is refused.
pub type ThreadState = [u64; 32];

/// How many of them lie in a page.
pub const THREAD_STATES: u64 = crate::layout::PAGE / size_of::<ThreadState>() as u64;

/// Who invoked a component, as the kernel tells it; a component cannot forge it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caller(pub u64);

impl Caller {
    /// The component that made the call.
    pub const fn component(self) -> u16 {
        self.0 as u16
    }
    /// The thread that came in.
    pub const fn thread(self) -> u16 {
        (self.0 >> 16) as u16
    }
    /// The core on which it came in. It may have moved on when it was preempted since.
    pub const fn core(self) -> u8 {
        (self.0 >> 32) as u8
    }
}

/// Why a call was refused. Each failure has its own number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum Error {
    /// Success.
    None = 0,
    /// An event is pending for this scheduler, or its shared `next_thread` is not the thread named: decide again.
    Again = 1,
    /// The thread is still running on another core, which has not saved it yet: try again.
    Busy = 2,
    /// No such call.
    BadCall = 3,
    /// The caller's component is not a scheduler.
    NotScheduler = 4,
    /// No such thread.
    BadThread = 5,
    /// The thread can never run again: its component was stopped.
    ThreadStopped = 6,
    /// The caller may not schedule this thread.
    NoRight = 7,
    /// The component has no such grant.
    NotGranted = 8,
    /// The component called was stopped after a fault.
    ComponentStopped = 9,
    /// The thread has entered as many components as it can.
    TooDeep = 10,
    /// There is no invocation to return from.
    NothingToReturn = 11,
    /// No such core.
    BadCore = 12,
    /// The component faulted during the call and was stopped; what it did before is not undone.
    Faulted = 13,
    /// An argument has a value that the call does not know.
    BadArgument = 14,
    /// The thread is an upcall that is not active.
    NotActive = 15,
    /// The component is a scheduler already, or cannot become one.
    NotPromotable = 16,
    /// The hierarchy of schedulers would become too deep.
    HierarchyTooDeep = 17,
    /// The component is not a child of the caller.
    NotChild = 18,
    /// Another child of the caller holds the thread.
    Held = 19,
    /// The child does not hold the thread.
    NotHeld = 20,
    /// The scheduler has no shared region, or has not asked for it.
    NoRegion = 21,
    /// There is no such event slot, or another thread has it.
    BadSlot = 22,
    /// The thread was suspended by a scheduler closer to the root, which alone may resume it.
    Suspended = 23,
    /// The caller is not the root scheduler.
    NotRoot = 24,
    /// No such brand.
    BadBrand = 25,
    /// The brand was made in another component.
    NotBrandOwner = 26,
    /// The component, or the machine, has no more of what was asked for: threads, brands, frames, restarts.
    Exhausted = 27,
    /// The calling thread is not an upcall, or not where its upcall began.
    NotUpcall = 28,
    /// No such interrupt source, or the component may not have it.
    BadSource = 29,
    /// No such component, or memory cannot be mapped into it.
    BadComponent = 30,
    /// No such page, or nothing, or something else, is mapped there.
    BadPage = 31,
    /// The component was not stopped.
    NotStopped = 32,
    /// The frame, or the page, is in use; or a core may still see the frame where it was mapped.
    InUse = 33,
    /// The image does not let the component make this call.
    NotAllowed = 34,
    /// The frame has a colour that the component may not have.
    BadColour = 35,
    /// The channel is full, or empty.
    NoMessage = 36,
}

impl Error {
    /// The error with this number.
    pub const fn from_u64(n: u64) -> Option<Error> {
        Some(match n {
            0 => Error::None,
            1 => Error::Again,
            2 => Error::Busy,
            3 => Error::BadCall,
            4 => Error::NotScheduler,
            5 => Error::BadThread,
            6 => Error::ThreadStopped,
            7 => Error::NoRight,
            8 => Error::NotGranted,
            9 => Error::ComponentStopped,
            10 => Error::TooDeep,
            11 => Error::NothingToReturn,
            12 => Error::BadCore,
            13 => Error::Faulted,
            14 => Error::BadArgument,
            15 => Error::NotActive,
            16 => Error::NotPromotable,
            17 => Error::HierarchyTooDeep,
            18 => Error::NotChild,
            19 => Error::Held,
            20 => Error::NotHeld,
            21 => Error::NoRegion,
            22 => Error::BadSlot,
            23 => Error::Suspended,
            24 => Error::NotRoot,
            25 => Error::BadBrand,
            26 => Error::NotBrandOwner,
            27 => Error::Exhausted,
            28 => Error::NotUpcall,
            29 => Error::BadSource,
            30 => Error::BadComponent,
            31 => Error::BadPage,
            32 => Error::NotStopped,
            33 => Error::InUse,
            34 => Error::NotAllowed,
            35 => Error::BadColour,
            36 => Error::NoMessage,
            _ => return None,
        })
    }
}

/// Flag of [`Call::SwitchThread`]: the calling upcall is finished and need not be resumed.
pub const SWITCH_UPCALL_DONE: u64 = 1;
/// Flag of [`Call::SwitchThread`]: only the caller and the schedulers above it may resume the thread that leaves.
pub const SWITCH_SUSPEND: u64 = 2;
/// Flag of [`Call::SwitchThread`]: the thread named owns the region's lock; it is helped to release it.
pub const SWITCH_SYNC_BLOCK: u64 = 4;
/// Flag of [`Call::SwitchThread`]: the lock was released; the thread named waited for it.
pub const SWITCH_SYNC_UNBLOCK: u64 = 8;
/// Flag of [`Call::SwitchThread`]: the thread that leaves will not go on here but at its caller, which finds success and zeros.
pub const SWITCH_RETURN: u64 = 16;

/// What a thread is told in `rdi` when it begins.
pub mod reason {
    /// A new thread for a task: its number in `rsi`.
    pub const TASK: u64 = 0;
    /// A scheduler's upcall: the core in `rsi`.
    pub const SCHEDULER: u64 = 1;
    /// A brand's upcall: the trigger's word in `rsi`.
    pub const BRAND: u64 = 2;
    /// A thread that a scheduler made: its words in `rsi` and `r10`.
    pub const CREATED: u64 = 3;
}

/// Pieces of text that a component can say with [`Call::Panic`] in one life.
pub const PANIC_PIECES: u8 = 16;

/// The thread number that stands for "nothing to run": the core sleeps until an event.
pub const IDLE: u64 = u64::MAX;

/// The time-out that never comes.
pub const NO_TIMEOUT: u64 = u64::MAX;
