//! That components see what is theirs: no page of theirs changes but in windows, and windows show frames of the pool that were
//! given out, each as often as is noted and none both written and executed.

use super::{broken, stays};
use crate::component;
use crate::memory;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use tactus_abi::layout::MAX_COMPONENTS;

/// What each component's tables held at the start, but for windows, as one number.
static FIRST: [AtomicU64; MAX_COMPONENTS] = [const { AtomicU64::new(0) }; MAX_COMPONENTS];
/// Whether it is known.
static KNOWN: AtomicBool = AtomicBool::new(false);

/// Notes what the tables hold, before a window shows anything.
pub fn begin() {
    for number in 0..crate::machine::components() {
        FIRST[usize::from(number) % MAX_COMPONENTS].store(digest(number), SeqCst);
    }
    KNOWN.store(true, SeqCst);
}

/// What the component's tables hold, but for its window.
fn digest(number: u16) -> u64 {
    let mut digest = 0xcbf2_9ce4_8422_2325;
    component::get(number).space.look(&mut |place, entry| {
        if !memory::is_in_window(number, place) {
            for word in [place as u64, entry] {
                digest = (digest ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
            }
        }
    });
    digest
}

/// Looks at all tables, and at the pool unless another core is at it.
pub fn look() {
    if !KNOWN.load(SeqCst) {
        return;
    }
    for number in 0..crate::machine::components() {
        if digest(number) != FIRST[usize::from(number) % MAX_COMPONENTS].load(SeqCst) {
            broken("a component sees what the image gave it", number.into());
        }
    }
    if stays(|| memory::is_sound() == Some(false)) {
        broken("windows show frames that were given out, as often as is noted, and the others are free", 0);
    }
}
