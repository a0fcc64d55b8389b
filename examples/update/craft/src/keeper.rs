//! Keeps what versions of the controller hand on to each other: two words for each component, so that a bad version cannot spoil what the
//! old one left.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::Caller;

tactus_rt::component! { services: [exchange] }

const MOST: usize = 64;

/// By component: its words, and when they came; 0 if none did.
static KEPT: [[AtomicU64; 3]; MOST] = [const { [const { AtomicU64::new(0) }; 3] }; MOST];
static TURN: AtomicU64 = AtomicU64::new(0);

/// `(1, word, word)` keeps them for the caller; `(0)` gives the newest of anybody else.
fn exchange(caller: Caller, words: [u64; 5]) -> [u64; 2] {
    let own = usize::from(caller.component());
    let Some([first, second, turn]) = KEPT.get(own) else { return [0; 2] };
    if words[0] == 1 {
        first.store(words[1], Ordering::Relaxed);
        second.store(words[2], Ordering::Relaxed);
        turn.store(TURN.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        return [0; 2];
    }
    let others = KEPT.iter().enumerate().filter(|(n, _)| *n != own).map(|(_, kept)| kept);
    let newest = others.max_by_key(|[.., turn]| turn.load(Ordering::Relaxed));
    newest.map_or([0; 2], |[first, second, _]| [first.load(Ordering::Relaxed), second.load(Ordering::Relaxed)])
}
