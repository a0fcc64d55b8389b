//! What a loader is told of its slots, and the pages of its window that it fills.

use crate::calls;
use crate::cards::told;
use tactus_abi::layout::{PAGE, WINDOW, WINDOW_PAGES};
use tactus_abi::slot::{LoadCard, LoaderHead, RightCard, SlotCard};

/// A key: 32 bytes.
pub type Key = [u8; 32];

/// Types that the image builder writes into what a loader is told: plain numbers and bytes, of which every value is one.
trait Plain {}
impl Plain for LoaderHead {}
impl Plain for SlotCard {}
impl Plain for LoadCard {}
impl Plain for RightCard {}
impl Plain for Key {}

/// This number of them, from this offset on; none if they do not lie in what the component is told.
fn part<T: Plain>(offset: usize, count: usize) -> &'static [T] {
    let told = told();
    let end = count.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(offset));
    let at = told.as_ptr().wrapping_add(offset).cast::<T>();
    if count == 0 || end.is_none_or(|end| end > told.len()) || !at.is_aligned() {
        return &[];
    }
    // SAFETY: they lie in what is told, which is mapped and never changed; the address is aligned, and all values are valid.
    unsafe { core::slice::from_raw_parts(at, count) }
}

/// Where each part begins: slots, loads, keys, rights; and how many of each there are.
fn parts() -> [(usize, usize); 4] {
    let Some(head) = part::<LoaderHead>(0, 1).first() else { return [(0, 0); 4] };
    let counts = [head.slots, head.loads, head.keys, head.rights].map(|count| count as usize);
    let sizes = [size_of::<SlotCard>(), size_of::<LoadCard>(), size_of::<Key>(), size_of::<RightCard>()];
    let mut at = size_of::<LoaderHead>();
    core::array::from_fn(|n| {
        let begins = at;
        at = at.saturating_add(counts[n].saturating_mul(sizes[n]));
        (begins, counts[n])
    })
}

/// The slots that this component fills, by number; none if it is no loader.
pub fn slots() -> &'static [SlotCard] {
    let [(at, count), ..] = parts();
    part(at, count)
}

/// What comes and goes, in order.
pub fn loads() -> &'static [LoadCard] {
    let [_, (at, count), ..] = parts();
    part(at, count)
}

/// The keys that may sign packages for the slot.
pub fn keys(card: &SlotCard) -> &'static [Key] {
    let [_, _, (at, count), _] = parts();
    some(part(at, count), card.first_key, card.keys)
}

/// What a program in the slot may ask for.
pub fn rights(card: &SlotCard) -> &'static [RightCard] {
    let [.., (at, count)] = parts();
    some(part(at, count), card.first_right, card.rights)
}

fn some<T>(all: &'static [T], first: u32, count: u32) -> &'static [T] {
    let first = first as usize;
    all.get(first..first.saturating_add(count as usize)).unwrap_or(&[])
}

/// The package that is to be loaded.
pub fn package(card: &LoadCard) -> &'static [u8] {
    let begins = card.offset as usize;
    told().get(begins..begins.saturating_add(card.bytes as usize)).unwrap_or(&[])
}

/// Copies from a page of this component's window, on which something must be mapped; else the component is stopped. Where it would go
/// beyond the page, it gives up.
pub fn read(page: u64, offset: usize, to: &mut [u8]) {
    if page >= WINDOW_PAGES || offset.saturating_add(to.len()) > PAGE as usize {
        calls::give_up();
    }
    let at = ((WINDOW + page * PAGE) as *const u8).wrapping_add(offset);
    // SAFETY: inside the window, apart from what this component refers to; what is not mapped faults, and any bytes may be there.
    unsafe { core::ptr::copy_nonoverlapping(at, to.as_mut_ptr(), to.len()) };
}

/// Writes into a page of this component's window, on which something must be mapped to be written; else the component is stopped. What
/// does not fit into the page is left out.
pub fn fill(page: u64, offset: usize, contents: &[u8]) {
    if page >= WINDOW_PAGES || offset > PAGE as usize {
        calls::give_up();
    }
    let bytes = contents.len().min(PAGE as usize - offset);
    let at = ((WINDOW + page * PAGE) as *mut u8).wrapping_add(offset);
    // SAFETY: inside the window, where nothing else of this component lies and into which it has no references; what is not mapped
    // faults.
    unsafe { core::ptr::copy_nonoverlapping(contents.as_ptr(), at, bytes) };
}
