//! Several kernels on one machine: each on a core of its own, in a part of the memory that it sees from address 0 on.
//!
//! The first core reads the loader's module, measures the clocks, starts the other cores, and then is a monitor like the others. A
//! monitor loads its kernel, runs it, starts it again if it dies, and writes what happened to its own words of the board
//! ([`tactus_abi::sandbox::board`]). What monitors share is the module and the clocks' rates, which nobody writes from then on, and the
//! number of kernels whose run is over. Kernels share the pages of their mailboxes, of which each is written by one of them; they outlive a
//! restart, so that what was sent before it is taken after it.

use crate::control::{ControlBlock, Guest};
use crate::exits::{self, Cause, Counts, Next};
use crate::processor::{self, time_stamp};
use crate::time::{self, Rates};
use crate::watchdog::{self, Found, Patience, Watched};
use crate::{apic, boot, fail, interrupts, nested, permissions};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use tactus_abi::sandbox::{board, head, page, part, state, MailboxRun, CONSOLES, MAILBOX_RUNS, MOST, PIECE, PIECES};

/// The loader's magic number, for kernels.
const MAGIC: u32 = 0x336e_c578;
/// Where a kernel finds what its loader tells: addresses in the sandbox. The block, its modules, its memory.
const INFO: u64 = 0x5000;
const MODULES: u64 = INFO + 0x100;
const MEMORY: u64 = INFO + 0x200;

/// Bytes that are copied before other cores of an emulated machine have their turns.
const PAUSE: u64 = 4096;
/// Ticks of the interval timer in a turn.
const TURN_TICKS: u16 = 6;
/// What the machine ends with when all kernels have ended, or the time is over: what became of each is on the board.
const OVER: u32 = 0x10;

/// What a kernel ends with after a whole run; with anything else it gave up.
const WHOLE_RUN: [u32; 2] = [0x10, 0x11];

/// The stack of the core that is being started. Named in the start-up code.
#[no_mangle]
static AP_STACK: AtomicU64 = AtomicU64::new(0);
/// The sandbox of that core.
static STARTING: AtomicUsize = AtomicUsize::new(0);
/// Cores that run.
static READY: AtomicUsize = AtomicUsize::new(1);
/// Kernels whose run is over.
static OVER_COUNT: AtomicUsize = AtomicUsize::new(0);

static MODULE: AtomicU64 = AtomicU64::new(0);
static TIME_STAMP_RATE: AtomicU64 = AtomicU64::new(0);
static TIMER_RATE: AtomicU64 = AtomicU64::new(0);
static EMULATED: AtomicU64 = AtomicU64::new(0);
static SINCE: AtomicU64 = AtomicU64::new(0);

#[repr(C, align(16))]
struct Stack(UnsafeCell<[u8; 8192]>);

// SAFETY: one core alone uses each, and no Rust code.
unsafe impl Sync for Stack {}

static STACKS: [Stack; MOST + 1] = [const { Stack(UnsafeCell::new([0; 8192])) }; MOST + 1];

fn word(address: u64) -> u64 {
    // SAFETY: all below 4 GiB is mapped at its own address; what is read there is the loader's, or a sandbox's memory.
    unsafe { ((address & 0xffff_fff8) as usize as *const u64).read_volatile() }
}

fn set_word(address: u64, value: u64) {
    // SAFETY: the callers write the board and the memory of sandboxes whose kernels do not run: nobody has references to either.
    unsafe { ((address & 0xffff_fff8) as usize as *mut u64).write_volatile(value) }
}

/// The loader's module, with sandboxes.
#[derive(Clone, Copy)]
pub struct Module(u64);

impl Module {
    /// At this address, if it is one.
    pub fn read(address: u64) -> Option<Module> {
        (word(address + 8 * head::IS_ONE as u64) == head::MAGIC).then_some(Module(address))
    }

    fn head(self, place: usize) -> u64 {
        word(self.0 + 8 * place as u64)
    }

    fn part(self, sandbox: usize, place: usize) -> u64 {
        self.head(head::WORDS + sandbox * part::WORDS + place)
    }

    fn count(self) -> usize {
        self.head(head::COUNT) as usize
    }
}

/// The first core goes on here. It becomes the first sandbox's, unless the machine is emulated.
pub fn begin(module: Module) -> ! {
    if !(1..=MOST).contains(&module.count()) {
        fail("the loader tells of more sandboxes than there can be, or of none");
    }
    let Rates { time_stamp: rate, timer, emulated } = time::rates();
    MODULE.store(module.0, SeqCst);
    TIME_STAMP_RATE.store(rate, SeqCst);
    TIMER_RATE.store(timer, SeqCst);
    EMULATED.store(emulated.into(), SeqCst);
    SINCE.store(time_stamp(), SeqCst);
    time::bound_turns(if emulated { TURN_TICKS } else { 0 });
    if module.head(head::HOLDS_BACK) != 0 {
        permissions::open_controllers();
    }
    boot::place_start_code();
    let cores = module.count() + usize::from(emulated);
    for (core, stack) in STACKS.iter().enumerate().take(cores).skip(1) {
        AP_STACK.store(stack.0.get() as u64 + size_of::<Stack>() as u64, SeqCst);
        STARTING.store(core, SeqCst);
        apic::start(core as u8, (boot::START_PAGE / 4096) as u8);
        let begin = time_stamp();
        while READY.load(SeqCst) <= core {
            if time_stamp() - begin > rate {
                fail("a core of the machine does not start");
            }
            core::hint::spin_loop();
        }
    }
    if emulated {
        let_time_pass()
    }
    monitor(0)
}

/// Another core goes on here.
#[no_mangle]
extern "C" fn core_main() -> ! {
    let number = STARTING.load(SeqCst);
    READY.fetch_add(1, SeqCst);
    monitor(number - usize::from(EMULATED.load(SeqCst) != 0))
}

/// The monitor of one sandbox.
fn monitor(sandbox: usize) -> ! {
    let module = Module(MODULE.load(SeqCst));
    let board = |place: usize, value: u64| {
        set_word(board::PLACE + 8 * (sandbox * board::STRIDE + place) as u64, value);
    };
    processor::begin_virtualisation(sandbox);
    interrupts::set_up();
    let [base, bytes, entry, restarts] =
        [part::BASE, part::BYTES, part::ENTRY, part::RESTARTS].map(|place| module.part(sandbox, place));
    let holds_back = module.head(head::HOLDS_BACK) != 0;
    if holds_back && !apic::use_registers() {
        fail("the processor's interrupt controller has no registers (x2APIC), without which a kernel's interrupts to others are not held back");
    }
    let tables = nested::build_part(sandbox, base, bytes, holds_back);
    let mailboxes = module.head(head::MAILBOXES);
    if mailboxes != 0 {
        let words = (0..MAILBOX_RUNS).map(|n| module.part(sandbox, part::MAILBOXES + n));
        nested::show_mailboxes(sandbox, mailboxes, words.filter_map(MailboxRun::of));
    }
    let mut counts = Counts::default();
    board(board::SINCE, SINCE.load(SeqCst));
    let mut begun = 0;
    loop {
        load(module, sandbox, begun == 0);
        board(board::STATE, state::RUNS);
        board(board::ENTERED, time_stamp());
        let maps = permissions::of_part(sandbox, CONSOLES[sandbox]);
        let block = ControlBlock::for_kernel(sandbox, (entry, MAGIC), tables, maps);
        let ended = run(sandbox, block, &mut counts, &board);
        if let Some(code) = ended.filter(|code| WHOLE_RUN.contains(code)) {
            board(board::CODE, code.into());
            board(board::STATE, state::ENDED);
            over(module);
        }
        let (exit, first, second) = ended.map_or(block.exit(), |code| (state::GAVE_UP, code.into(), 0));
        board(board::STATE, state::STOPPED);
        watchdog::forget(sandbox);
        for (n, value) in [exit, first, second, block.rip(), time_stamp()].into_iter().enumerate() {
            board(board::DEATH + n, value);
        }
        apic::silence();
        if begun == restarts {
            board(board::STATE, state::DEAD);
            over(module);
        }
        begun += 1;
        board(board::RESTARTS, begun);
    }
}

/// Runs a kernel to its end: its code, or nothing if it died.
fn run(sandbox: usize, block: ControlBlock, counts: &mut Counts, board: &dyn Fn(usize, u64)) -> Option<u32> {
    let mut guest = Guest { rbx: INFO, ..Guest::default() };
    loop {
        block.run(&mut guest);
        let next = watch(sandbox, block, counts).unwrap_or_else(|| exits::handle(block, &mut guest, counts));
        for (n, count) in counts.by_cause.into_iter().enumerate() {
            board(board::EXITS + n, count);
        }
        board(board::LAST, counts.last_port.into());
        board(board::LAST + 1, counts.last_register.into());
        match next {
            Next::GoOn => {}
            Next::End(code) => return Some(code),
            Next::Dead => return None,
        }
    }
}

/// What comes after an exit that is the watchdog's, if it is.
fn watch(sandbox: usize, block: ControlBlock, counts: &mut Counts) -> Option<Next> {
    const NOT_MASKABLE: u64 = 0x61;
    const LETS_IN: u64 = 0x64;
    let found = match block.exit().0 {
        NOT_MASKABLE => watchdog::interrupted(sandbox, block),
        LETS_IN => {
            watchdog::lets_in(sandbox, block);
            Found::Alive
        }
        _ => Found::NotAsked,
    };
    if matches!(found, Found::NotAsked) {
        return None;
    }
    if block.exit().0 == NOT_MASKABLE {
        interrupts::take();
    }
    counts.add(Cause::Look);
    Some(if matches!(found, Found::Silent) { Next::Dead } else { Next::GoOn })
}

/// Puts a kernel, its image and what it is told into its memory, as a loader does. Only in its first life it is told to destroy itself.
fn load(module: Module, sandbox: usize, is_first: bool) {
    let base = module.part(sandbox, part::BASE);
    let tell = |place: u64, value: u64| set_word(base + place, value);
    let piece = |n: usize| [0, 1, 2, 3].map(|word| module.part(sandbox, part::IMAGE + n * PIECE + word));
    for [offset, address, copied, length] in (0..=PIECES).map(piece) {
        for at in (0..length).step_by(8) {
            if at % PAUSE == 0 {
                core::hint::spin_loop();
            }
            tell(address + at, if at < copied { word(module.0 + offset + at) } else { 0 });
        }
    }
    let [_, image, _, image_bytes] = piece(0);
    tell(INFO, u64::from(MAGIC) | 1 << 32);
    // Two modules.
    tell(INFO + 8, 2 << 32);
    tell(INFO + 16, MODULES);
    tell(INFO + 24, 0);
    tell(INFO + 32, 0);
    tell(INFO + 40, MEMORY);
    tell(INFO + 48, 1);
    for (n, value) in [image, image_bytes, 0, 0, page::PLACE, 8 * page::WORDS as u64, 0, 0].into_iter().enumerate() {
        tell(MODULES + 8 * n as u64, value);
    }
    for (n, value) in [0, module.part(sandbox, part::BYTES), 1].into_iter().enumerate() {
        tell(MEMORY + 8 * n as u64, value);
    }
    let rate = TIME_STAMP_RATE.load(SeqCst);
    for (place, value) in [
        (page::IS_ONE, page::MAGIC),
        (page::TIME_STAMP, rate),
        (page::TIMER, TIMER_RATE.load(SeqCst)),
        (page::EMULATED, EMULATED.load(SeqCst)),
        (page::CONSOLE, CONSOLES[sandbox % MOST].into()),
        (page::BEGIN, SINCE.load(SeqCst) + rate / BEGINS_AFTER),
        (page::BEGAN, 0),
        (page::FAULT, if is_first { module.part(sandbox, part::FAULT) } else { 0 }),
        (page::TURN, module.head(head::TURN) * EMULATED.load(SeqCst)),
        (page::CORES, module.count() as u64 + EMULATED.load(SeqCst)),
        (page::FAULT_AT, module.part(sandbox, part::FAULT_AT)),
    ] {
        tell(page::PLACE + 8 * place as u64, value);
    }
}

/// Runs begin this part of a second after the monitors: by then all kernels have started.
const BEGINS_AFTER: u64 = 10;

/// This sandbox's run is over. The machine ends with the last one.
fn over(module: Module) -> ! {
    if OVER_COUNT.fetch_add(1, SeqCst) + 1 == module.count() {
        processor::out32(permissions::EXIT_PORT, OVER);
    }
    processor::halt()
}

/// The word that changes whenever the sandbox's scheduler does something; none before its run begins, and once it is over.
fn beat(module: Module, sandbox: usize) -> Option<u64> {
    let state = word(board::PLACE + 8 * (sandbox * board::STRIDE + board::STATE) as u64);
    let base = module.part(sandbox, part::BASE);
    let began = word(base + page::PLACE + 8 * page::BEGAN as u64);
    (state == state::RUNS && began != 0 && began < time_stamp())
        .then(|| word(base + module.part(sandbox, part::HEARTBEAT)))
}

/// The first core of an emulated machine, which has one more than there are sandboxes: it executes, so that never all cores halt. For then the emulator moves its
/// clock by itself, in an order with the cores' execution that is the host's, and no run would be like another. It ends the machine when
/// the time is over, whatever the kernels do, and watches them.
fn let_time_pass() -> ! {
    let module = Module(MODULE.load(SeqCst));
    let mut watched = [Watched::default(); MOST];
    let limit = u128::from(module.head(head::LIMIT)) * u128::from(TIME_STAMP_RATE.load(SeqCst)) / 1_000_000_000;
    let end = SINCE.load(SeqCst).saturating_add(limit as u64);
    while time_stamp() < end {
        for (sandbox, watched) in watched.iter_mut().enumerate().take(module.count()) {
            let [asks, off, still] =
                [part::PATIENCE, part::INTERRUPTS_OFF, part::STILL].map(|place| module.part(sandbox, place));
            watched.look(sandbox, sandbox as u8 + 1, beat(module, sandbox), Patience { asks, off, still });
        }
        processor::execute_nothing();
        core::hint::spin_loop();
    }
    processor::out32(permissions::EXIT_PORT, OVER);
    processor::halt()
}
