//! The console: lines of text from components that may not write to it themselves, each behind its component's name. Lines
//! never mix, whoever preempts whom, and nobody waits: see [`HelpedLines`].
//!
//! | service | words | gives |
//! |---|---|---|
//! | `write` | number of bytes, 32 at most; the bytes in four words | 0, or 1 if the text is lost |
//!
//! A line is written when it is complete, or full, by whoever completes it, who first writes the rest of a line that another component's
//! thread has begun. Text is lost while another thread of the same component writes, or if the port takes none.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, Ordering};
use tactus_rt::abi::layout::MAX_COMPONENTS;
use tactus_rt::abi::shared::{name_text, NAME_BYTES};
use tactus_rt::{calls, cards, Caller};
use tactus_sync::{HelpedLines, Piece, Port};

tactus_rt::component! { services: [write] }

/// Bytes of text in a line.
const LONGEST: usize = 120;
/// What stands between name and text.
const COLON: &[u8] = b": ";
const WORDS: usize = (NAME_BYTES + COLON.len() + LONGEST + 1).div_ceil(8);

static LINES: HelpedLines<MAX_COMPONENTS, WORDS> = HelpedLines::new();
/// A thread of the component writes.
static BUSY: [AtomicBool; MAX_COMPONENTS] = [const { AtomicBool::new(false) }; MAX_COMPONENTS];

/// The kernel.
struct Kernel;

impl Port for Kernel {
    fn taken(&self) -> Option<u64> {
        calls::numbered_pieces()
    }
    fn offer(&self, number: u64, piece: Piece) -> Option<u64> {
        calls::numbered_text(number, piece.bytes, piece.words)
    }
}

fn write(caller: Caller, words: [u64; 5]) -> [u64; 2] {
    let component = usize::from(caller.component());
    let Some(busy) = BUSY.get(component) else { return [1, 0] };
    if busy.swap(true, Ordering::Acquire) {
        return [1, 0];
    }
    let written = add(component, words);
    busy.store(false, Ordering::Release);
    [u64::from(!written), 0]
}

/// Adds the text to the component's line. Whether nothing is lost.
fn add(component: usize, words: [u64; 5]) -> bool {
    // A line that the port did not take to its end.
    if !LINES.finish(component, &Kernel) {
        return false;
    }
    let name = cards::components().get(component).map_or("?", |card| name_text(&card.name)).as_bytes();
    for place in 0..(words[0] as usize).min(32) {
        let byte = (words[1 + place / 8] >> (place % 8 * 8)) as u8;
        if LINES.bytes(component) == 0 {
            name.iter().chain(COLON).for_each(|&byte| push(component, byte));
        }
        if byte != b'\n' {
            // Nothing but text reaches the terminal.
            push(component, if (b' '..=b'~').contains(&byte) { byte } else { b'?' });
        }
        if byte == b'\n' || LINES.bytes(component) == name.len() + COLON.len() + LONGEST {
            push(component, b'\n');
            if !LINES.write(component, &Kernel) {
                return false;
            }
        }
    }
    true
}

fn push(component: usize, byte: u8) {
    let fits = LINES.push(component, byte);
    debug_assert!(fits, "a line has room for the name and the longest text");
}
