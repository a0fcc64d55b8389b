//! Every restartable sequence, interrupted before every one of its instructions.
//!
//! The processor's trap flag stops it after each instruction; the handler plays the kernel: where the interrupted
//! instruction lies inside a sequence, the thread goes on at its beginning. Before it does, somebody else may run and change
//! the word. The outcome must be that of a sequence which nobody interrupted, begun after that.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::cell::UnsafeCell;
use std::sync::Mutex;
use tactus_rt::sequences::{self, table};

/// What happens in one run. Used by the handler, one run at a time.
struct Script {
    /// The sequence looked at.
    bounds: [u64; 2],
    /// Interrupt before the instruction of the sequence with this number.
    at: usize,
    /// Instructions of the sequence seen so far.
    seen: usize,
    /// Where the interrupted one lay.
    interrupted_at: Option<u64>,
    /// Whether the kernel does its part.
    restart: bool,
    /// Who runs meanwhile.
    meanwhile: Option<(*mut u64, u64)>,
    /// Instructions stepped over in all, so that a test cannot run for ever.
    steps: usize,
}

struct Shared(UnsafeCell<Script>);
// SAFETY: one run at a time, under `ONE`.
unsafe impl Sync for Shared {}

static SCRIPT: Shared = Shared(UnsafeCell::new(Script {
    bounds: [0; 2],
    at: 0,
    seen: 0,
    interrupted_at: None,
    restart: true,
    meanwhile: None,
    steps: 0,
}));
static ONE: Mutex<()> = Mutex::new(());

const TRAP_FLAG: i64 = 0x100;

/// The "kernel": runs between any two instructions of the run.
extern "C" fn trapped(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: Linux passes a context of this type; the script is this run's alone.
    let (registers, script) =
        unsafe { (&mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs, &mut *SCRIPT.0.get()) };
    script.steps += 1;
    if script.steps > 100_000 {
        registers[libc::REG_EFL as usize] &= !TRAP_FLAG;
        return;
    }
    let rip = registers[libc::REG_RIP as usize] as u64;
    let [start, end] = script.bounds;
    if rip < start || rip >= end || script.interrupted_at.is_some() {
        return;
    }
    if script.seen == script.at {
        script.interrupted_at = Some(rip);
        if let Some((word, value)) = script.meanwhile {
            // SAFETY: the word of this run.
            unsafe { word.write_volatile(value) };
        }
        // The rule that the kernel follows: strictly inside means back to the start.
        if script.restart && rip > start && rip < end {
            registers[libc::REG_RIP as usize] = start as i64;
        }
    }
    script.seen += 1;
}

/// Runs `sequence`, interrupted before its instruction `at`. Where that lay, or none if it has no so many.
fn interrupted<T>(
    number: usize,
    at: usize,
    restart: bool,
    meanwhile: Option<(*mut u64, u64)>,
    sequence: impl FnOnce() -> T,
) -> (Option<u64>, T) {
    let _one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // SAFETY: nobody else is here; the handler runs on this thread only, while the trap flag is set.
    unsafe {
        *SCRIPT.0.get() =
            Script { bounds: table()[number], at, seen: 0, interrupted_at: None, restart, meanwhile, steps: 0 };
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = trapped as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut());
        std::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq");
        let result = sequence();
        std::arch::asm!("pushfq", "and qword ptr [rsp], ~0x100", "popfq");
        ((*SCRIPT.0.get()).interrupted_at, result)
    }
}

/// All instructions of a sequence: outcome of `run` (on a word that begins as `word`) with each one interrupted, with
/// and without somebody who writes `other` meanwhile. Gives the number of instructions.
fn sweep<T: PartialEq + std::fmt::Debug>(
    number: usize,
    word: u64,
    other: u64,
    run: impl Fn(*mut u64) -> T,
    expected: impl Fn(u64) -> (T, u64),
) -> usize {
    for at in 0.. {
        for meanwhile in [None, Some(other)] {
            let mut place = word;
            let pointer = &raw mut place;
            let (hit, result) = interrupted(number, at, true, meanwhile.map(|value| (pointer, value)), || run(pointer));
            if hit.is_none() {
                assert!(at >= 2, "a sequence has more than one instruction");
                return at;
            }
            // SAFETY: still this function's word.
            let left = unsafe { pointer.read_volatile() };
            assert_eq!((result, left), expected(meanwhile.unwrap_or(word)), "instruction {at}, {meanwhile:x?}");
        }
    }
    unreachable!("the loop has no other end")
}

#[test]
fn exchange_is_atomic_wherever_it_is_interrupted() {
    // SAFETY: the word is the sweep's own.
    let run = |place| unsafe { sequences::exchange(place, 7, 9) };
    let expected = |word| if word == 7 { (9, 9) } else { (7, word) };
    assert_eq!(sweep(0, 7, 8, run, expected), 5, "a match, and somebody spoils it");
    assert_eq!(sweep(0, 8, 7, run, expected), 3, "no match, and somebody makes it one");
}

#[test]
fn a_word_is_taken_whole_wherever_it_is_interrupted() {
    // The upper half belongs to others and stays.
    // SAFETY: the word is the sweep's own.
    let run = |place: *mut u64| unsafe { sequences::take_word(place.cast()) };
    let expected = |word: u64| (word as u32, word & !0xFFFF_FFFF);
    assert_eq!(sweep(1, 0x5555_0000_0001_0003, 0x5555_0000_0007_0004, run, expected), 2);
    assert_eq!(sweep(1, 0, 0x0002_0001, run, expected), 2);
}

#[test]
fn the_lock_is_taken_wherever_that_is_interrupted() {
    // SAFETY: the word is the sweep's own.
    let run = |place| unsafe { sequences::take_lock(place, 41) };
    // Somebody who takes and releases it meanwhile leaves it as it was.
    assert_eq!(sweep(2, 0, 0, run, |_| ((), 42)), 3);
}

#[test]
fn the_lock_is_released_wherever_that_is_interrupted() {
    // SAFETY: the word is the sweep's own.
    let run = |place| unsafe { sequences::release_lock(place) };
    assert_eq!(sweep(3, 42, 42, run, |_| ((), 0)), 3);
}

#[test]
fn no_more_sequences_than_the_kernel_knows_and_each_short() {
    for [start, end] in table() {
        assert!(start < end && end - start < 32, "{start:x} {end:x}");
        assert_eq!(start / 64, (end - 1) / 64, "it lies in one cache line");
    }
}

#[test]
fn without_a_restart_the_same_interruptions_do_harm() {
    // The check can fail: an event that comes between the two instructions is lost if the thread just goes on.
    let mut place = 1_u64;
    let pointer = &raw mut place;
    // SAFETY: this function's word.
    let (hit, taken) = interrupted(1, 1, false, Some((pointer, 3)), || unsafe { sequences::take_word(pointer.cast()) });
    assert_eq!(hit, Some(table()[1][0] + 2));
    // SAFETY: this function's word.
    assert_eq!((taken, unsafe { pointer.read_volatile() }), (1, 0), "the 3 is gone");
}
