//! The component that manages memory: it gives each buffer of the system file its frames, in the colours named there, and
//! maps them into the one or two components that share it, and into no other; and it wakes the receivers of channels.
//!
//! Nothing is decided here: who shares what stands in the cards that the image builder made. A caller is who the kernel
//! says it is.
//!
//! | service | words | gives |
//! |---|---|---|
//! | `attach` | number of a buffer | its first page in the window, and its pages in the high half |
//! | `detach` | number of a buffer | |
//! | `left` | colour | free frames of the colour |
//! | `listen` | number of a buffer | the brand that is triggered by `wake` of the other side |
//! | `wake` | number of a buffer | |
//!
//! The second word that comes back is the kernel's number of an error, 0 for none: `NotAllowed` for a buffer that the caller
//! does not share, `Busy` while another thread is at the same buffer.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU8, Ordering};
use tactus_rt::abi::call::{BrandOperation, MemoryOperation};
use tactus_rt::abi::layout::WINDOW_PAGES;
use tactus_rt::abi::shared::BufferCard;
use tactus_rt::{calls, cards, Caller, Error};

tactus_rt::component! { services: [attach, detach, left, listen, wake] }

/// The most buffers: each has a page of the window at least.
const BUFFERS: usize = WINDOW_PAGES as usize;

/// A page of the window.
struct Page {
    /// Its frame, plus one; 0 if it has none.
    frame: AtomicU32,
    /// In which of the two it is mapped, as bits.
    mapped: AtomicU8,
}

/// Pages of all buffers: no two buffers share a page of the window.
static PAGES: [Page; BUFFERS] = [const { Page { frame: AtomicU32::new(0), mapped: AtomicU8::new(0) } }; BUFFERS];
/// A thread is at the buffer with this number.
static BUSY: [AtomicBool; BUFFERS] = [const { AtomicBool::new(false) }; BUFFERS];
/// The brand of each side's listener, plus one.
static LISTENERS: [[AtomicU32; 2]; BUFFERS] = [const { [const { AtomicU32::new(0) }; 2] }; BUFFERS];

fn words(answer: Result<u64, Error>) -> [u64; 2] {
    match answer {
        Ok(value) => [value, 0],
        Err(error) => [0, error as u64],
    }
}

/// The buffer and which side of it the caller is.
fn shared(caller: Caller, number: u64) -> Result<(&'static BufferCard, usize), Error> {
    let card = cards::buffers().iter().find(|card| u64::from(card.number) == number).ok_or(Error::BadArgument)?;
    let component = u32::from(caller.component());
    match (card.first == component, card.second == component) {
        (true, _) => Ok((card, 0)),
        (_, true) => Ok((card, 1)),
        _ => Err(Error::NotAllowed),
    }
}

/// Does something at the buffer, unless another thread does.
fn alone(number: u64, act: impl FnOnce() -> Result<u64, Error>) -> Result<u64, Error> {
    let busy = BUSY.get(number as usize).ok_or(Error::BadArgument)?;
    if busy.swap(true, Ordering::Acquire) {
        return Err(Error::Busy);
    }
    let result = act();
    busy.store(false, Ordering::Release);
    result
}

/// Maps the buffer into the caller, page by page; the first time it gets its frames. What was done before a failure stays,
/// and the next call goes on.
fn attach(caller: Caller, words_in: [u64; 5]) -> [u64; 2] {
    let attached = shared(caller, words_in[0]).and_then(|(card, side)| {
        alone(words_in[0], || {
            let component = u64::from(caller.component());
            let reads = card.reader == component as u32;
            let map = if reads { MemoryOperation::MapReadable } else { MemoryOperation::MapWritable };
            for place in 0..card.pages {
                let at = card.window + place;
                let page = PAGES.get(at as usize).ok_or(Error::BadPage)?;
                if page.frame.load(Ordering::Relaxed) == 0 {
                    let frame = calls::memory_control(MemoryOperation::Take, 0, 0, colour(card.colours, place))?[0];
                    page.frame.store(frame as u32 + 1, Ordering::Relaxed);
                }
                let mapped = page.mapped.load(Ordering::Relaxed);
                if mapped & (1 << side) == 0 {
                    let frame = u64::from(page.frame.load(Ordering::Relaxed) - 1);
                    calls::memory_control(map, component, at.into(), frame)?;
                    page.mapped.store(mapped | 1 << side, Ordering::Relaxed);
                }
            }
            Ok(u64::from(card.window) | u64::from(card.pages) << 32)
        })
    });
    words(attached)
}

/// The colour of a buffer's page: its colours in turn.
fn colour(colours: u64, place: u32) -> u64 {
    let chosen = (0..64).filter(|colour| colours >> colour & 1 != 0);
    chosen.clone().nth(place as usize % chosen.count().max(1)).unwrap_or(0)
}

/// Takes the buffer out of the caller. When nobody sees it any more, its frames go back as soon as every core has forgotten
/// them: if that is not at once, with the next call, or they serve the buffer again, contents and all.
fn detach(caller: Caller, words_in: [u64; 5]) -> [u64; 2] {
    let detached = shared(caller, words_in[0]).and_then(|(card, side)| {
        alone(words_in[0], || {
            for at in card.window..card.window + card.pages {
                let page = PAGES.get(at as usize).ok_or(Error::BadPage)?;
                let mapped = page.mapped.load(Ordering::Relaxed);
                if mapped & (1 << side) != 0 {
                    calls::memory_control(MemoryOperation::Unmap, caller.component().into(), at.into(), 0)?;
                    page.mapped.store(mapped & !(1 << side), Ordering::Relaxed);
                }
            }
            for at in card.window..card.window + card.pages {
                let page = PAGES.get(at as usize).ok_or(Error::BadPage)?;
                let Some(frame) = page.frame.load(Ordering::Relaxed).checked_sub(1) else { continue };
                if page.mapped.load(Ordering::Relaxed) == 0 {
                    match calls::memory_control(MemoryOperation::Release, 0, 0, frame.into()) {
                        Ok(_) => page.frame.store(0, Ordering::Relaxed),
                        Err(Error::InUse) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            Ok(0)
        })
    });
    words(detached)
}

/// How many frames of the colour are free.
fn left(_: Caller, words_in: [u64; 5]) -> [u64; 2] {
    words(calls::memory_control(MemoryOperation::Count, 0, 0, words_in[0]).map(|[_, free]| free))
}

/// The brand whose upcalls begin in the caller, made once. After a restart of the caller it is still the same.
fn listen(caller: Caller, words_in: [u64; 5]) -> [u64; 2] {
    let brand = shared(caller, words_in[0]).and_then(|(_, side)| {
        alone(words_in[0], || {
            let listener = &LISTENERS[words_in[0] as usize % BUFFERS][side];
            if let Some(brand) = listener.load(Ordering::Acquire).checked_sub(1) {
                return Ok(brand.into());
            }
            let brand = calls::brand_control(BrandOperation::Create, 0, 0)?;
            listener.store(brand as u32 + 1, Ordering::Release);
            Ok(brand)
        })
    });
    words(brand)
}

/// Triggers the other side's brand. An upcall is told the buffer's number.
fn wake(caller: Caller, words_in: [u64; 5]) -> [u64; 2] {
    let woken = shared(caller, words_in[0]).and_then(|(_, side)| {
        let listener = &LISTENERS[words_in[0] as usize % BUFFERS][1 - side];
        let brand = listener.load(Ordering::Acquire).checked_sub(1).ok_or(Error::BadBrand)?;
        calls::trigger(brand.into(), words_in[0]).map(|()| 0)
    });
    words(woken)
}
