//! Threads without a will of their own: they do what the chief says, in the component that they are in.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::abi::shared::name_text;
use tactus_rt::clock::time_stamp;
use tactus_rt::hostile::{self, Field};
use tactus_rt::{calls, grant, info, Job};

/// What a puppet can be told to do, with its words.
pub mod order {
    /// `(call, a0 … a4)`: a kernel call. Tells status, first word, ticks since any thread of the component began one.
    pub const CALL: u64 = 1;
    /// `(address)`: reads a word of its component.
    pub const READ: u64 = 2;
    /// `(address, value)`: writes one.
    pub const WRITE: u64 = 3;
    /// `(ticks)`: executes so long. Tells for how long it did not run meanwhile.
    pub const SPIN: u64 = 4;
    /// `(place)`: tells what upcalls noted, and when a call was last begun or a thread interrupted.
    pub const NOTED: u64 = 5;
    /// `(address, thread)`: takes a scheduler lock; tells the ticks.
    pub const LOCK: u64 = 6;
    /// `(address)`: releases it.
    pub const UNLOCK: u64 = 7;
    /// `(rounds)`: adds to the component's counter by a restartable sequence.
    pub const COUNT: u64 = 8;
    /// `()`: invokes and comes back; tells the ticks.
    pub const VISIT: u64 = 9;
    /// `(calls, seed)`: does harm with kernel calls.
    pub const HARM: u64 = 10;
    /// `(address, thread)`: takes the lock and gives it back at once; tells the ticks.
    pub const LOCK_BOTH: u64 = 11;
    /// `(flags, whom)`: asks the root for a dispatch of its own, see [`crate::chief::leave`]. Tells the invocation's status and what
    /// it gave.
    pub const LEAVE: u64 = 12;
}

/// What an upcall does without being told, by the low byte of its word; any other one: notes, and is done.
pub mod act {
    /// Executes for so many ticks as the next three bytes say, notes, is done.
    pub const WORK: u64 = 0x10;
    /// Makes the thread, in the bits from 32 on, the root's choice; notes, is done.
    pub const WAKE: u64 = 0x11;
}

/// What a puppet tells first.
pub mod said {
    /// A thread of a task begins.
    pub const TASK: u64 = 100;
    /// A thread that was made begins.
    pub const BEGAN: u64 = 101;
    /// A scheduler's upcall begins.
    pub const UPCALL: u64 = 102;
}

/// When a thread of this component last began a call that was timed, or was interrupted while it executed.
static STAMP: AtomicU64 = AtomicU64::new(0);
/// How often upcalls ran, when the last began, when it was done, its word, what it interrupted.
static NOTED: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];
/// The component's counter.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// The component's name.
pub fn own_name() -> &'static str {
    name_text(&info().name)
}

/// A task's thread.
pub fn job(_: &Job) {
    obey([said::TASK, 0, 0, 0, 0])
}

/// A thread that was made.
pub fn thread(words: [u64; 2]) {
    obey([said::BEGAN, words[0], words[1], 0, 0])
}

/// A child scheduler's upcall.
pub fn upcall() -> ! {
    obey([said::UPCALL, 0, 0, 0, 0])
}

/// A brand's upcall.
pub fn brand(word: u64) {
    let began = time_stamp();
    match word & 0xff {
        act::WORK => while time_stamp() - began < word >> 8 & 0xff_ffff {},
        act::WAKE => {
            let _ = grant("wake").call([word >> 32, 0, 0, 0, 0]);
        }
        _ => {}
    }
    note(began, word);
}

fn note(began: u64, word: u64) {
    NOTED[0].fetch_add(1, Relaxed);
    NOTED[1].store(began, Relaxed);
    NOTED[3].store(word, Relaxed);
    NOTED[2].store(time_stamp(), Relaxed);
}

/// Asks and obeys for ever.
fn obey(first: [u64; 5]) -> ! {
    let (next, words) = (grant("next"), grant("words"));
    let mut told = first;
    loop {
        let Ok([order, count]) = next.call(told) else { calls::give_up() };
        let mut given = [0; 6];
        for (place, pair) in given.chunks_exact_mut(2).enumerate().take(count.div_ceil(2) as usize) {
            if let Ok(two) = words.call([place as u64, 0, 0, 0, 0]) {
                pair.copy_from_slice(&two);
            }
        }
        told = obey_one(order, given);
    }
}

/// The word of the component's regions at this address: the chief names no other.
fn word(address: u64) -> Field<u64> {
    hostile::word_at(address).unwrap_or_else(|| calls::give_up())
}

fn obey_one(order: u64, words: [u64; 6]) -> [u64; 5] {
    match order {
        order::CALL => {
            let (status, value, ticks) = timed_call(words[0], [words[1], words[2], words[3], words[4], words[5]]);
            [status, value, ticks, 0, 0]
        }
        order::READ => [word(words[0]).read(), 0, 0, 0, 0],
        order::WRITE => {
            word(words[0]).write(words[1]);
            [0; 5]
        }
        order::SPIN => spin(words[0]),
        order::NOTED => {
            let [count, began, done, word] = NOTED.each_ref().map(|noted| noted.load(Relaxed));
            [count, began, done, word, STAMP.load(Relaxed)]
        }
        order::LOCK => {
            let (word, begin) = (word(words[0]), time_stamp());
            word.lock(words[1]);
            [time_stamp() - begin, 0, 0, 0, 0]
        }
        order::UNLOCK => {
            word(words[0]).unlock();
            [0; 5]
        }
        order::LOCK_BOTH => lock_both(word(words[0]), words[1]),
        order::COUNT => count(words[0]),
        order::VISIT => visit(),
        order::HARM => harm(words[0], words[1]),
        order::LEAVE => match grant("leave").call([words[0], words[1], 0, 0, 0]) {
            Ok([first, second]) => [0, first, second, 0, 0],
            Err(error) => [error as u64, 0, 0, 0, 0],
        },
        _ => [u64::MAX; 5],
    }
}

/// The call, its status, the first word that came back, and the ticks since a thread of this component began one.
fn timed_call(number: u64, words: [u64; 5]) -> (u64, u64, u64) {
    let begin = time_stamp();
    STAMP.store(begin, Relaxed);
    let (status, value) = hostile::call(number, words);
    (status, value, time_stamp() - STAMP.load(Relaxed))
}

/// Executes for so many ticks of its own; tells for how long it was away, how often, and when it was done.
fn spin(ticks: u64) -> [u64; 5] {
    const GAP: u64 = 60;
    let (mut had, mut away, mut times) = (0, 0, 0);
    let mut last = time_stamp();
    while had < ticks {
        let now = time_stamp();
        if now - last > GAP {
            STAMP.store(last, Relaxed);
            away += now - last;
            times += 1;
        } else {
            had += now - last;
        }
        last = now;
    }
    [away, times, last, 0, 0]
}

/// What taking and releasing the lock costs, beside the reading of the clock.
fn lock_both(word: Field<u64>, thread: u64) -> [u64; 5] {
    let mut least = [u64::MAX; 2];
    for _ in 0..100 {
        let begin = time_stamp();
        let empty = time_stamp();
        word.lock(thread);
        word.unlock();
        let end = time_stamp();
        least = [least[0].min(empty - begin), least[1].min(end - empty)];
    }
    [least[1] - least[0], 0, 0, 0, 0]
}

/// Adds one to the component's counter so often, each time by a restartable sequence.
fn count(rounds: u64) -> [u64; 5] {
    for _ in 0..rounds {
        loop {
            let old = COUNTER.load(Relaxed);
            if hostile::exchange(&COUNTER, old, old + 1) == old + 1 {
                break;
            }
        }
    }
    [COUNTER.load(Relaxed), 0, 0, 0, 0]
}

fn visit() -> [u64; 5] {
    let grant = grant("visit");
    let mut least = [u64::MAX; 2];
    for _ in 0..100 {
        let begin = time_stamp();
        let empty = time_stamp();
        let _ = grant.call([0; 5]);
        let end = time_stamp();
        least = [least[0].min(empty - begin), least[1].min(end - empty)];
    }
    [least[1] - least[0], 0, 0, 0, 0]
}

/// Calls that nobody asked for, some of them right. Counts those that were accepted.
fn harm(calls: u64, seed: u64) -> [u64; 5] {
    let mut state = seed | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut accepted = 0;
    for _ in 0..calls {
        let number = [3, 3, 4, 8, 8, 8, 9, 10, 11, 12, 15][(random() % 11) as usize];
        let mut word = |most: u64| if random() % 8 == 0 { u64::MAX - random() % 4 } else { random() % most };
        let words = [word(12), word(24), word(24), word(8), 0, 0];
        accepted += u64::from(calls::raw(number, words) == 0);
    }
    [accepted, 0, 0, 0, 0]
}
