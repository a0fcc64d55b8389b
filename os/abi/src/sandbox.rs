//! Several kernels on one machine, each in a sandbox: what the loader passes to the monitors, what a monitor tells its kernel, and
//! what the monitors leave for who reads the machine's memory from outside.
//!
//! All are words of 64 bits. The loader's module begins with [`head`], and has a [`part`] for each sandbox behind it; kernels and images,
//! which the parts name by their offsets, follow.

/// The most sandboxes: each has a serial port of its own.
pub const MOST: usize = 4;
/// The most pieces of a kernel that are loaded.
pub const PIECES: usize = 6;
/// Words of a piece: offset in the module, address in the sandbox, bytes that are copied, length.
pub const PIECE: usize = 4;

/// The machine's serial ports, in the sandboxes' order.
pub const CONSOLES: [u16; MOST] = [0x3f8, 0x2f8, 0x3e8, 0x2e8];

/// Where a sandbox sees the pages of mailboxes, above all memory: each at the same place in all sandboxes that see it.
pub const MAILBOXES: u64 = 0xe000_0000;
/// The most pages of all mailboxes together.
pub const MAILBOX_PAGES: usize = 512;
/// The most runs of pages that a sandbox sees of mailboxes: of each of 8 the messages, and the page of what was taken.
pub const MAILBOX_RUNS: usize = 16;

/// Pages of a mailbox that a sandbox sees, one after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MailboxRun {
    /// The first, among those of all mailboxes.
    pub first: u64,
    /// How many.
    pub pages: u64,
    /// Whether it writes them.
    pub writable: bool,
}

impl MailboxRun {
    /// In one word.
    pub const fn word(self) -> u64 {
        self.first | self.pages << 16 | (self.writable as u64) << 32
    }

    /// What the word says; nothing if it is no run of pages that there are.
    pub const fn of(word: u64) -> Option<MailboxRun> {
        let run = MailboxRun { first: word & 0xffff, pages: word >> 16 & 0xffff, writable: word >> 32 & 1 != 0 };
        if run.pages == 0 || run.first + run.pages > MAILBOX_PAGES as u64 {
            return None;
        }
        Some(run)
    }
}

/// The loader's module: places of words.
pub mod head {
    /// `TACTUSBX`.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTUSBX");
    /// [`MAGIC`].
    pub const IS_ONE: usize = 0;
    /// How many sandboxes there are.
    pub const COUNT: usize = 1;
    /// When the machine ends whatever its kernels do: nanoseconds after the monitors begin.
    pub const LIMIT: usize = 2;
    /// How long a core of an emulated machine may run before the others do, in nanoseconds.
    pub const TURN: usize = 3;
    /// Whether kernels' interrupts to other cores are held back: 1 or 0. Their interrupt controllers are reached through registers then.
    pub const HOLDS_BACK: usize = 4;
    /// Where the pages of mailboxes begin on the machine: a multiple of 2 MiB; 0 where there are none.
    pub const MAILBOXES: usize = 5;
    /// Number of words.
    pub const WORDS: usize = 6;
}

/// A sandbox in the loader's module: places of words, counted from its first.
pub mod part {
    /// Where its memory begins on the machine: a multiple of 2 MiB.
    pub const BASE: usize = 0;
    /// Length of its memory: a multiple of 2 MiB.
    pub const BYTES: usize = 1;
    /// The kernel's first instruction.
    pub const ENTRY: usize = 2;
    /// How often its monitor starts the kernel again that has died.
    pub const RESTARTS: usize = 3;
    /// See [`super::page::FAULT`]: how its kernel destroys itself, and when.
    pub const FAULT: usize = 4;
    /// See [`FAULT`].
    pub const FAULT_AT: usize = 5;
    /// Where in its memory a word changes whenever its scheduler does something.
    pub const HEARTBEAT: usize = 6;
    /// For how long that word may stand still before the kernel is looked at, and for how long the kernel may keep interrupts off then: ticks of
    /// the time-stamp counter.
    pub const PATIENCE: usize = 7;
    /// See [`PATIENCE`].
    pub const INTERRUPTS_OFF: usize = 8;
    /// For how long that word may stand still whatever the kernel does; all ones where its scheduler may have nothing to do for any length of
    /// time.
    pub const STILL: usize = 9;
    /// Its image, and behind it the pieces of its kernel: [`PIECE`](super::PIECE) words each. What is copied is followed by zeros; a
    /// length of 0 is none.
    pub const IMAGE: usize = 10;
    /// What it sees of mailboxes: [`MailboxRun`](super::MailboxRun)s, and zeros. Only where there are mailboxes.
    pub const MAILBOXES: usize = IMAGE + super::PIECE * (1 + super::PIECES);
    /// Number of words.
    pub const WORDS: usize = MAILBOXES + super::MAILBOX_RUNS;
}

/// What a monitor tells its kernel, as the loader's second module: places of words.
pub mod page {
    /// Its address in the sandbox.
    pub const PLACE: u64 = 0x6000;
    /// `TACTUSBP`.
    pub const MAGIC: u64 = u64::from_le_bytes(*b"TACTUSBP");
    /// [`MAGIC`].
    pub const IS_ONE: usize = 0;
    /// Ticks of the time-stamp counter in a second.
    pub const TIME_STAMP: usize = 1;
    /// Ticks of the interrupt controller's timer in a second.
    pub const TIMER: usize = 2;
    /// Whether the machine is emulated, and counts instructions: 1 or 0.
    pub const EMULATED: usize = 3;
    /// The serial port's first address.
    pub const CONSOLE: usize = 4;
    /// The run does not begin before this reading of the time-stamp counter, which is the same in all sandboxes.
    pub const BEGIN: usize = 5;
    /// When the run began, which the kernel writes.
    pub const BEGAN: usize = 6;
    /// How the kernel destroys itself; 0: not at all. Only a kernel with the feature `destruction` looks.
    pub const FAULT: usize = 7;
    /// When: nanoseconds from the begin of the run on.
    pub const FAULT_AT: usize = 8;
    /// How long a core may run before the others do, in nanoseconds, where the machine's cores take turns; else 0.
    pub const TURN: usize = 9;
    /// How many cores the machine has.
    pub const CORES: usize = 10;
    /// Number of words.
    pub const WORDS: usize = 11;
}

/// What the monitors leave, at [`board::PLACE`] of the machine's memory: places of words, counted from a sandbox's first.
pub mod board {
    /// Physical address on the machine.
    pub const PLACE: u64 = 0x10_0000;
    /// See [`super::state`]; 0 before.
    pub const STATE: usize = 0;
    /// With which code the kernel ended.
    pub const CODE: usize = 1;
    /// How often the kernel was started again.
    pub const RESTARTS: usize = 2;
    /// Exit that was the last death, and two words about it; the instruction; the time-stamp counter.
    pub const DEATH: usize = 3;
    /// When the kernel was entered again after it, by the time-stamp counter.
    pub const ENTERED: usize = DEATH + 5;
    /// Since when the monitors count the machine's time, by the time-stamp counter.
    pub const SINCE: usize = ENTERED + 1;
    /// Exits by their cause, see [`super::CAUSES`].
    pub const EXITS: usize = SINCE + 1;
    /// The port and the register that were refused last.
    pub const LAST: usize = EXITS + super::CAUSES.len();
    /// Words from one sandbox to the next.
    pub const STRIDE: usize = 32;
}

/// Causes of exits.
pub const CAUSES: [&str; 11] = [
    "end of the run",
    "modes turned on",
    "ports",
    "registers",
    "instructions",
    "interrupts",
    "deaths",
    "interrupts to itself",
    "interrupts to others",
    "looks of the watchdog",
    "kinds of interrupts",
];

/// States of a sandbox on the board.
pub mod state {
    /// Its kernel runs.
    pub const RUNS: u64 = 1;
    /// Its kernel ended the run.
    pub const ENDED: u64 = 2;
    /// In place of an exit's code: a kernel kept interrupts off for longer than it may.
    pub const SILENT: u64 = 0x61;
    /// In place of an exit's code: a kernel ended itself, with the code that stands in the next word.
    pub const GAVE_UP: u64 = 0x7b;
    /// Its kernel is dead, and is not started again.
    pub const DEAD: u64 = 3;
    /// Its kernel is dead, and its monitor has not gone on yet.
    pub const STOPPED: u64 = 4;
}

const _: () = assert!(board::LAST + 2 <= board::STRIDE && board::STRIDE * MOST * 8 <= 4096);
