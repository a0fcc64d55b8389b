//! The console: lines of text from components that may not write to it themselves, each behind its component's name. Lines
//! never mix, whoever preempts whom, and nobody waits.
//!
//! | service | words | gives |
//! |---|---|---|
//! | `write` | number of bytes, 32 at most; the bytes in four words | 0, or 1 if the text is lost |
//!
//! A line is written when it is complete, or full. Text is lost while another thread of the same component writes, or while
//! its last line has not been written yet.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use tactus_rt::abi::layout::MAX_COMPONENTS;
use tactus_rt::abi::shared::name_text;
use tactus_rt::{calls, cards, Caller};

tactus_rt::component! { services: [write] }

const LONGEST: usize = 120;

/// What a component has written of its line.
struct Line {
    busy: AtomicBool,
    /// It is complete and waits to be written.
    ready: AtomicBool,
    length: AtomicUsize,
    text: [AtomicU8; LONGEST],
}

static LINES: [Line; MAX_COMPONENTS] = [const {
    Line {
        busy: AtomicBool::new(false),
        ready: AtomicBool::new(false),
        length: AtomicUsize::new(0),
        text: [const { AtomicU8::new(0) }; LONGEST],
    }
}; MAX_COMPONENTS];
/// Somebody writes lines that are ready.
static WRITING: AtomicBool = AtomicBool::new(false);

fn write(caller: Caller, words: [u64; 5]) -> [u64; 2] {
    let Some(line) = LINES.get(usize::from(caller.component())) else { return [1, 0] };
    if line.busy.swap(true, Ordering::Acquire) {
        return [1, 0];
    }
    let mut lost = 0;
    for place in 0..(words[0] as usize).min(32) {
        if line.ready.load(Ordering::Acquire) {
            lost = 1;
            break;
        }
        let byte = (words[1 + place / 8] >> (place % 8 * 8)) as u8;
        let length = line.length.load(Ordering::Relaxed);
        if byte != b'\n' {
            line.text[length % LONGEST].store(byte, Ordering::Relaxed);
            line.length.store(length + 1, Ordering::Relaxed);
        }
        if byte == b'\n' || length + 1 == LONGEST {
            line.ready.store(true, Ordering::Release);
            write_ready();
        }
    }
    line.busy.store(false, Ordering::Release);
    [lost, 0]
}

/// Writes all lines that are ready, unless somebody does, who then sees them.
fn write_ready() {
    loop {
        if WRITING.swap(true, Ordering::SeqCst) {
            return;
        }
        for (number, line) in LINES.iter().enumerate().filter(|(_, line)| line.ready.load(Ordering::SeqCst)) {
            let name = cards::components().get(number).map_or("?", |card| name_text(&card.name));
            calls::text(name);
            calls::text(": ");
            let mut text = [0; LONGEST];
            let length = line.length.load(Ordering::Relaxed).min(LONGEST);
            for (to, from) in text.iter_mut().zip(&line.text[..length]) {
                // Nothing but text reaches the terminal.
                let byte = from.load(Ordering::Relaxed);
                *to = if (b' '..=b'~').contains(&byte) { byte } else { b'?' };
            }
            calls::text(core::str::from_utf8(&text[..length]).unwrap_or("?"));
            calls::text("\n");
            line.length.store(0, Ordering::Relaxed);
            line.ready.store(false, Ordering::Release);
        }
        WRITING.store(false, Ordering::SeqCst);
        if !LINES.iter().any(|line| line.ready.load(Ordering::SeqCst)) {
            return;
        }
    }
}
