//! Threads: registers, the stack of components that the thread is inside of, the path of schedulers over it.
//!
//! **A thread is on one core at a time.** [`Thread::hold`] names the core that runs it or holds its registers in use;
//! a core takes a thread with [`Thread::take`], which fails while another core owns it, and gives it up with
//! [`Thread::release`] only when its registers are saved. All other fields belong to the owner.
//!
//! The owner's number and the state are one word, so that both can be looked at and changed in one piece. The entry code writes
//! the halves, each only as the owner, and plainly: on this processor an aligned half is written in one piece as well.

use crate::arch::floating_point;
use crate::arch::registers::{Registers, Words, RETURN_ADDRESS};
use crate::component;
use crate::path::Path;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU64, Ordering};
use tactus_abi::call::reason;
use tactus_abi::layout::{MAX_INVOCATIONS, MAX_THREADS, STACKS, STACK_STRIDE};

#[cfg(feature = "check")]
pub mod shared;

/// The state's half of [`Thread::hold`]: the lower one, since it is looked at more often.
const STATE_BITS: u64 = u32::MAX as u64;
/// Where the owner's half begins.
const OWNER_SHIFT: u32 = 32;
/// Stands in the owner's half for no core; core `c` is stored as `c + 1`, so that the table is all zeros at first.
const NOBODY: u64 = 0;

/// Where a caller goes on when the thread returns to it. Known to the entry code.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Frame {
    /// The calling component.
    pub component: u16,
    /// [`RECORDED`] if nobody called: the frame was recorded by a brand, and the thread goes on at the component's entry.
    /// [`WATCHED`] or more if a monitor watches the return: what it adds is the row of the grant. The entry code clears it
    /// with each invocation.
    pub recorded: u16,
    /// Its instruction.
    pub instruction: u64,
    /// Its stack.
    pub stack: u64,
}

/// See [`Frame::recorded`].
pub const RECORDED: u16 = 1;
/// See [`Frame::recorded`].
pub const WATCHED: u16 = 2;

/// What a thread is, as bits of [`Thread::state`]; 0 for an ordinary thread that any of its schedulers may dispatch.
pub mod state {
    /// It can never run again.
    pub const STOPPED: u32 = 1;
    /// An upcall that is not running, nor to be resumed.
    pub const INACTIVE: u32 = 2;
    /// A scheduler's upcall thread.
    pub const SCHEDULER: u32 = 4;
    /// A brand's upcall thread.
    pub const BRAND: u32 = 8;
    /// In use by nobody yet.
    pub const SPARE: u32 = 16;
    /// The depth, plus one, of the scheduler that suspended it; above the other bits.
    pub const SUSPENDED_SHIFT: u32 = 8;
    /// See [`SUSPENDED_SHIFT`].
    pub const SUSPENDED: u32 = 0xff << SUSPENDED_SHIFT;
}

/// Stands in [`Thread::interrupted`] for the idle core.
pub const IDLE_CORE: u16 = u16::MAX;

/// A thread. Known to the entry code.
#[repr(C, align(64))]
pub struct Thread {
    /// Saved registers; first, since the entry code relies on it.
    pub registers: Registers,
    /// The component that it is in.
    pub component: u16,
    /// How many of `frames` count.
    pub depth: u8,
    /// The core whose upcall it is.
    pub core: u8,
    /// Its number.
    pub id: u16,
    /// Whether its time is counted in a region: always for upcalls, and once it has a slot.
    pub counted: AtomicBool,
    /// The owner, see [`Thread::take`], and the state, see [`state`].
    hold: AtomicU64,
    /// The callers to return to.
    pub frames: [Frame; MAX_INVOCATIONS],
    /// The component where it begins.
    pub home: u16,
    /// The brand, plus one, whose upcall thread it is; 0 for none.
    pub brand: u16,
    /// The brand's upcall thread, plus one, that interrupted this thread; 0 for none. Broken by any dispatch.
    pub preempter: u16,
    /// The thread, plus one, that this brand's upcall interrupted; 0 for none, or [`IDLE_CORE`].
    pub interrupted: u16,
    /// The next spare thread of its component, plus one.
    pub next_spare: AtomicU16,
    path: Path,
    /// Its own path, or its brand's.
    path_used: AtomicPtr<Path>,
    /// Time-stamp ticks it has used.
    pub used: u64,
    /// What it is told when it begins.
    pub argument: u64,
    /// If a scheduler made it, the words that it was given.
    made_with: Option<[u64; 2]>,
    /// Its part of what an invoked component is told about its caller ([`tactus_abi::call::Caller`]).
    pub caller: u64,
    /// The stack pointer with which it enters a component: as if just called. A thread has one place for its stack,
    /// the same in every component but for a slot that is its home; where the component has none for it, the first push faults.
    pub fresh_stack: u64,
    /// The stack pointer with which it begins at home.
    pub home_stack: u64,
    /// Until when it computes and does nothing else, in time-stamp ticks; see [`crate::timer`].
    pub quiet: u64,
}

/// Place of the thread's owner. Known to the entry code.
pub const OWNER: usize = STATE + 4;
/// Place of the thread's state, and of the word that holds both. Known to the entry code.
pub const STATE: usize = core::mem::offset_of!(Thread, hold);

/// What stands in the owner's half for this core.
pub const fn mark(core: u64) -> u64 {
    (core + 1) << OWNER_SHIFT
}
/// Place of the pointer to the thread's path. Known to the entry code.
pub const PATH_USED: usize = core::mem::offset_of!(Thread, path_used);

impl Thread {
    // Copied into the table once, never used by itself.
    #[allow(clippy::declare_interior_mutable_const)]
    const EMPTY: Thread = Thread {
        registers: Registers::NONE,
        component: 0,
        depth: 0,
        core: 0,
        id: 0,
        counted: AtomicBool::new(false),
        hold: AtomicU64::new(NOBODY),
        frames: [Frame { component: 0, recorded: 0, instruction: 0, stack: 0 }; MAX_INVOCATIONS],
        home: 0,
        brand: 0,
        preempter: 0,
        interrupted: 0,
        next_spare: AtomicU16::new(0),
        path: Path::NONE,
        path_used: AtomicPtr::new(core::ptr::null_mut()),
        used: 0,
        argument: 0,
        made_with: None,
        caller: 0,
        fresh_stack: 0,
        home_stack: 0,
        quiet: 0,
    };

    /// Stands for no thread in what a scheduler is told.
    pub const NOBODY: u64 = u64::MAX;

    /// Upper end of the register area.
    pub fn registers_end(&self) -> u64 {
        (&raw const self.registers) as u64 + core::mem::size_of::<Registers>() as u64
    }

    /// Gives the thread its number.
    pub fn number(&mut self, id: u16) {
        self.id = id;
        self.caller = u64::from(id) << 16;
        self.fresh_stack = STACKS + (u64::from(id) + 1) * STACK_STRIDE - RETURN_ADDRESS;
        self.home_stack = self.fresh_stack;
        self.follow_at((&raw const self.path).cast_mut());
    }

    /// Puts its stack at home where that of the thread with this number would lie.
    pub fn place_at_home(&mut self, number: u16) {
        self.home_stack = STACKS + (u64::from(number) + 1) * STACK_STRIDE - RETURN_ADDRESS;
    }

    /// The lower end of its stack where it is, a page that is never mapped included.
    pub fn stack(&self) -> u64 {
        let top = if self.depth == 0 { self.home_stack } else { self.fresh_stack };
        top + RETURN_ADDRESS - STACK_STRIDE
    }

    /// The schedulers over it: of a brand's upcall thread, the brand's.
    #[inline(always)]
    pub fn path(&self) -> &'static Path {
        // SAFETY: set with the thread's number, to a field of a table that is never moved. (Tables hold no thread without a
        // number that anybody asks for its path: see `get`.)
        unsafe { &*self.path_used.load(Ordering::Relaxed) }
    }

    /// From now on the brand's path is the thread's.
    pub fn follow(&mut self, path: &'static Path) {
        self.follow_at((&raw const *path).cast_mut());
    }

    fn follow_at(&mut self, path: *mut Path) {
        // Another core may be looking for the thread.
        self.path_used.store(path, Ordering::Relaxed);
    }

    /// Whether its time is counted in a region.
    #[inline(always)]
    pub fn counts(&self) -> bool {
        self.counted.load(Ordering::Relaxed)
    }

    /// See [`state`].
    #[inline(always)]
    pub fn state(&self) -> u32 {
        self.hold.load(Ordering::Relaxed) as u32
    }

    /// Whether all these bits of [`state`] are clear.
    #[inline(always)]
    pub fn lacks(&self, bits: u32) -> bool {
        self.hold.load(Ordering::Relaxed) & u64::from(bits) == 0
    }

    /// Sets bits of [`state`]. By the owner.
    pub fn set(&self, bits: u32) {
        self.hold.fetch_or(bits.into(), Ordering::Relaxed);
    }

    /// Clears bits of [`state`]. By the owner.
    pub fn clear(&self, bits: u32) {
        self.hold.fetch_and(!u64::from(bits), Ordering::Relaxed);
    }

    /// Whether it is a scheduler's upcall thread.
    #[inline(always)]
    pub fn is_scheduler_upcall(&self) -> bool {
        !self.lacks(state::SCHEDULER)
    }

    /// Whether it is this component's upcall thread.
    #[inline(always)]
    pub fn is_upcall_of(&self, component: u16) -> bool {
        self.is_scheduler_upcall() && self.home == component
    }

    /// The depth of the scheduler that suspended it.
    pub fn suspended_by(&self) -> Option<usize> {
        ((self.state() & state::SUSPENDED) >> state::SUSPENDED_SHIFT).checked_sub(1).map(|depth| depth as usize)
    }

    /// Sets the thread to its beginning at home.
    #[inline(always)]
    pub fn begin(&mut self, reason: u64, argument: u64) {
        self.begin_at(component::get(self.home), reason, argument)
    }

    /// As [`Thread::begin`]; `home` is the thread's.
    #[inline(always)]
    pub fn begin_at(&mut self, home: &component::Component, reason: u64, argument: u64) {
        (self.depth, self.component) = (0, self.home);
        self.go_on(home.entry.load(Ordering::Relaxed), self.home_stack, [0, reason, argument, self.id.into()]);
    }

    /// As at the thread's first beginning.
    pub fn begin_again(&mut self) {
        match self.made_with {
            Some(words) => self.begin_created(words),
            None => self.begin(reason::TASK, self.argument),
        }
    }

    /// As [`Thread::begin`], for a thread that a scheduler makes.
    pub fn begin_created(&mut self, words: [u64; 2]) {
        self.made_with = Some(words);
        self.begin(reason::CREATED, words[0]);
        let [first, second, third, ..] = self.registers.words();
        self.pass_all([first, second, third, words[1], 0, 0, 0, 0, 0, 0, 0]);
    }

    /// Gives words to the thread, those of a wide return for example; all general registers count.
    pub fn pass_all(&mut self, words: Words) {
        self.registers.pass_all(words);
    }

    /// Lets the thread go on here with a status and three words, and all other registers cleared.
    #[inline(always)]
    fn go_on(&mut self, instruction: u64, stack: u64, words: [u64; 4]) {
        self.registers.go_on_at(instruction, stack);
        self.pass(words);
    }

    /// Gives a status and three words to the thread, which called; all other registers are cleared.
    #[inline(always)]
    pub fn pass(&mut self, words: [u64; 4]) {
        self.registers.pass(words);
    }

    /// Whether an interrupt or fault took the thread from its component, where it goes on with all that it had in its registers.
    pub fn is_interrupted(&self) -> bool {
        self.registers.are_interrupted()
    }

    /// Where the thread goes when it leaves the component.
    pub fn frame(&self) -> Option<&Frame> {
        self.frames.get(usize::from(self.depth.checked_sub(1)?))
    }

    /// Whether the thread is where it began: nobody called it here.
    #[inline(always)]
    pub fn is_at_base(&self) -> bool {
        match self.depth.checked_sub(1) {
            None => true,
            Some(top) => self.frames[usize::from(top) % MAX_INVOCATIONS].recorded == RECORDED,
        }
    }

    /// Goes on in this component, called with these words by the one that it is in. There is room for one more caller. `row` is that
    /// of the grant if its return is watched.
    pub fn push(&mut self, row: Option<u16>, component: u16, entry: u64, words: Words) {
        let (instruction, stack) = (self.registers.instruction(), self.registers.stack());
        let place = usize::from(self.depth) % MAX_INVOCATIONS;
        let recorded = row.map_or(0, |row| WATCHED + row);
        self.frames[place] = Frame { component: self.component, recorded, instruction, stack };
        (self.depth, self.component) = (self.depth + 1, component);
        self.registers.go_on_at(entry, self.fresh_stack);
        self.pass_all(words);
    }

    /// Goes back to the caller's place, with a status and two values; whether there was one.
    pub fn pop(&mut self, status: u64, values: [u64; 2]) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else { return false };
        let frame = self.frames[depth as usize];
        self.depth = depth;
        self.component = frame.component;
        self.go_on(frame.instruction, frame.stack, [status, values[0], values[1], 0]);
        true
    }

    /// As [`Thread::pop`], but only to somebody who called.
    pub fn pop_called(&mut self, status: u64) -> bool {
        !self.is_at_base() && self.pop(status, [0; 2])
    }

    /// Takes the thread for a core: waits for nothing, fails while another core has it.
    pub fn take(&self, core: u64) -> bool {
        let held = self.hold.load(Ordering::Relaxed);
        held & !STATE_BITS == mark(core) || self.take_from(held, core)
    }

    /// Takes the thread for a core, and fails if any core has it, this one included.
    pub fn take_new(&self, core: u64) -> bool {
        self.take_from(self.hold.load(Ordering::Relaxed), core)
    }

    /// Takes it if nobody has it. Where the word has changed since it was read, another core has or had it.
    #[inline(always)]
    fn take_from(&self, held: u64, core: u64) -> bool {
        held & !STATE_BITS == NOBODY
            && self.hold.compare_exchange(held, held | mark(core), Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Takes a thread that nobody has and whose state is exactly this, and changes the state, in one piece.
    #[inline(always)]
    pub fn exchange_state(&self, from: u32, to: u32, mark: u64) -> bool {
        let (from, to) = (u64::from(from) | NOBODY, u64::from(to) | mark);
        self.hold.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives up a thread of this core's with exactly this state, before whatever this core reads afterwards.
    #[inline(always)]
    pub fn release_as(&self, state: u32) {
        self.hold.swap(u64::from(state) | NOBODY, Ordering::SeqCst);
    }

    /// As if another core had it.
    #[cfg(feature = "fault-injection")]
    pub fn hand_to(&self, core: u64) {
        self.hold.store(self.hold.load(Ordering::SeqCst) & STATE_BITS | mark(core), Ordering::SeqCst);
    }

    /// Gives the thread up: from here on any core may take it. Its registers must be saved.
    #[inline(always)]
    pub fn release(&self) {
        // Nobody else writes the word of a thread that is taken.
        self.hold.store(self.hold.load(Ordering::Relaxed) & STATE_BITS | NOBODY, Ordering::Release);
    }
}

/// All threads, by number. For the entry code; everybody else goes through [`get`].
pub static mut THREADS: [Thread; MAX_THREADS] = [const { Thread::EMPTY }; MAX_THREADS];

/// The thread with this number, if it is in use.
#[inline(always)]
pub fn get(number: u64) -> Option<*mut Thread> {
    let thread = any(number)?;
    // SAFETY: `path_used` of a thread in the image is set during set-up; its entries are atomics. Others have none.
    unsafe {
        let path = (*thread).path_used.load(Ordering::Relaxed);
        (!path.is_null() && (*path).at(0) != crate::path::Entry::NONE).then_some(thread)
    }
}

/// The table's entry.
#[inline(always)]
pub fn any(number: u64) -> Option<*mut Thread> {
    if number >= MAX_THREADS as u64 {
        return None;
    }
    // SAFETY: in bounds by the line above.
    Some(unsafe { (&raw mut THREADS).cast::<Thread>().add(number as usize) })
}

/// As [`any`], for numbers of the image.
pub fn slot(number: usize) -> *mut Thread {
    assert!(number < MAX_THREADS);
    // SAFETY: in bounds by the line above.
    unsafe { (&raw mut THREADS).cast::<Thread>().add(number) }
}

/// What an interrupt does beside saving the thread's general registers. Whoever was inside a restartable sequence of its component
/// goes on at its beginning; of whoever has floating point, that is saved.
#[inline(always)]
pub fn interrupted(thread: &mut Thread) {
    let component = component::get(thread.component);
    if component.is_special_inside {
        restart_sequence(&component.sequences, thread.registers.instruction_mut());
        if component.has_floating_point() {
            floating_point::save(thread.id);
        }
    }
}

fn restart_sequence(sequences: &[[u64; 2]], at: &mut u64) {
    if let Some([start, _]) = sequences.iter().find(|[start, end]| *start < *at && *at < *end) {
        *at = *start;
    }
}
