//! Lines of several writers for one port that takes a few words at a time. Lines never mix, and nobody waits for a writer that was
//! displaced in the middle of its line: whoever comes next writes the rest for it (*helping*; Herlihy 1991, section 4).
//!
//! The port takes a piece only with its number, each number once; so a writer that goes on with a line which others have finished
//! meanwhile writes nothing.

use crate::facade::{AtomicU64, Ordering::SeqCst};
#[cfg(any(loom, shuttle))]
use core::array::from_fn;

/// Words of text in a piece.
pub const PIECE_WORDS: usize = 4;
const PIECE_BYTES: u64 = 8 * PIECE_WORDS as u64;

/// A part of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// How many bytes, at least one.
    pub bytes: u64,
    /// The bytes, the first one in the lowest bits of the first word.
    pub words: [u64; PIECE_WORDS],
}

/// What takes pieces.
pub trait Port {
    /// How many pieces were taken so far; none if it takes nothing more.
    fn taken(&self) -> Option<u64>;
    /// Takes a piece if exactly `number` were taken before, in one step. How many were taken then; none if it takes nothing more.
    fn offer(&self, number: u64, piece: Piece) -> Option<u64>;
}

/// The text of one writer, up to eight bytes in each word.
struct Line<const WORDS: usize> {
    bytes: AtomicU64,
    words: [AtomicU64; WORDS],
    /// Its turn has come, and its writer has not seen its end: 1; else 0. The writer's alone.
    begun: AtomicU64,
}

/// Lines of this many writers, of this many words each.
pub struct HelpedLines<const WRITERS: usize, const WORDS: usize> {
    /// Whose line is being written, plus one, or 0; above it how many pieces were taken before that line, or of all lines.
    current: AtomicU64,
    lines: [Line<WORDS>; WRITERS],
}

const WRITER_BITS: u32 = 16;

fn writer_of(current: u64) -> Option<usize> {
    (current as usize & ((1 << WRITER_BITS) - 1)).checked_sub(1)
}

impl<const WRITERS: usize, const WORDS: usize> HelpedLines<WRITERS, WORDS> {
    /// No text, for a port that has taken nothing.
    #[cfg(not(any(loom, shuttle)))]
    pub const fn new() -> Self {
        let lines = [const {
            let words = [const { AtomicU64::new(0) }; WORDS];
            Line { bytes: AtomicU64::new(0), words, begun: AtomicU64::new(0) }
        }; WRITERS];
        HelpedLines { current: AtomicU64::new(0), lines }
    }

    /// No text, for a port that has taken nothing.
    #[cfg(any(loom, shuttle))]
    pub fn new() -> Self {
        let zero = || AtomicU64::new(0);
        let line = |_| Line { bytes: zero(), words: from_fn(|_| zero()), begun: zero() };
        HelpedLines { current: zero(), lines: from_fn(line) }
    }

    /// How many bytes the writer's line has.
    pub fn bytes(&self, writer: usize) -> usize {
        self.lines[writer].bytes.load(SeqCst) as usize
    }

    /// Adds a byte to the writer's line; false if it is full. For the writer alone, while its line is not being written.
    pub fn push(&self, writer: usize, byte: u8) -> bool {
        let line = &self.lines[writer];
        let bytes = line.bytes.load(SeqCst);
        let Some(word) = line.words.get(bytes as usize / 8) else { return false };
        let before = if bytes % 8 == 0 { 0 } else { word.load(SeqCst) };
        word.store(before | u64::from(byte) << (bytes % 8 * 8), SeqCst);
        line.bytes.store(bytes + 1, SeqCst);
        true
    }

    /// Writes the writer's line, if it has text, after what another one has begun, and clears it. False if the port takes nothing more: what it has not
    /// taken of the line comes once it does, see [`HelpedLines::finish`]. For the writer alone.
    pub fn write(&self, writer: usize, port: &impl Port) -> bool {
        // Each line takes a piece, so that no two have the same `current`.
        while self.bytes(writer) > 0 {
            let current = self.current.load(SeqCst);
            match writer_of(current) {
                None => {
                    let own = current | (writer as u64 + 1);
                    if self.current.compare_exchange(current, own, SeqCst, SeqCst).is_ok() {
                        self.lines[writer].begun.store(1, SeqCst);
                        return self.finish(writer, port);
                    }
                }
                Some(_) if self.help(port) => {}
                Some(_) => {
                    self.lines[writer].bytes.store(0, SeqCst);
                    return false;
                }
            }
        }
        true
    }

    /// Writes the rest of the writer's line if it is being written, and clears it then. False if the port takes nothing more. For the
    /// writer alone.
    pub fn finish(&self, writer: usize, port: &impl Port) -> bool {
        let line = &self.lines[writer];
        if line.begun.load(SeqCst) == 0 {
            return true;
        }
        while writer_of(self.current.load(SeqCst)) == Some(writer) {
            if !self.help(port) {
                return false;
            }
        }
        line.bytes.store(0, SeqCst);
        line.begun.store(0, SeqCst);
        true
    }

    /// Writes the rest of the line that is being written. False if the port takes nothing more.
    fn help(&self, port: &impl Port) -> bool {
        let Some(mut taken) = port.taken() else { return false };
        loop {
            let current = self.current.load(SeqCst);
            let Some(writer) = writer_of(current) else { return true };
            let piece = match taken.checked_sub(current >> WRITER_BITS) {
                Some(place) => self.piece(writer, place),
                // The line began after the look at the port.
                None => return true,
            };
            // Otherwise the text may be that of a later line. A line that is still being written is the one of which piece `taken` is,
            // for as long as the port has taken no other.
            if self.current.load(SeqCst) != current {
                continue;
            }
            match piece {
                Some(piece) => match port.offer(taken, piece) {
                    Some(now) => taken = now,
                    None => return false,
                },
                None => {
                    let _ = self.current.compare_exchange(current, taken << WRITER_BITS, SeqCst, SeqCst);
                    return true;
                }
            }
        }
    }

    /// A piece of the writer's line; none behind its end.
    fn piece(&self, writer: usize, place: u64) -> Option<Piece> {
        let line = &self.lines[writer];
        let bytes = line.bytes.load(SeqCst).checked_sub(place.checked_mul(PIECE_BYTES)?).filter(|rest| *rest > 0)?;
        let first = place as usize * PIECE_WORDS;
        let mut words = [0; PIECE_WORDS];
        for (to, from) in words.iter_mut().zip(line.words.get(first..)?) {
            *to = from.load(SeqCst);
        }
        Some(Piece { bytes: bytes.min(PIECE_BYTES), words })
    }
}

impl<const WRITERS: usize, const WORDS: usize> Default for HelpedLines<WRITERS, WORDS> {
    fn default() -> Self {
        HelpedLines::new()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::string::String;
    use std::vec::Vec;

    const WRITERS: usize = 4;
    static SIGNS: &[u8; WRITERS] = b"abcd";

    /// A port on one core: before and after it takes a piece, the writer can be displaced by another one that is not displaced itself.
    struct Core {
        lines: HelpedLines<WRITERS, 19>,
        port: RefCell<(u64, Vec<u8>)>,
        displaced: RefCell<Vec<usize>>,
        written: RefCell<[usize; WRITERS]>,
        seed: Cell<u64>,
        helped: Cell<u64>,
    }

    impl Core {
        fn below(&self, n: u64) -> u64 {
            let next = self.seed.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.seed.set(next);
            (next >> 33) % n
        }

        fn text(writer: usize, number: usize) -> String {
            let rest = (writer * 7 + number * 31) % 140;
            std::format!("{}{number}{}", SIGNS[writer] as char, ".".repeat(rest))
        }

        /// Writes the writer's next line, of which nothing is missing then, whoever is displaced.
        fn write(&self, writer: usize) {
            let number = self.written.borrow()[writer];
            let text = Self::text(writer, number);
            text.bytes().chain([b'\n']).for_each(|byte| assert!(self.lines.push(writer, byte)));
            self.displaced.borrow_mut().push(writer);
            assert!(self.lines.write(writer, self));
            self.displaced.borrow_mut().pop();
            self.written.borrow_mut()[writer] += 1;
            let log = self.log();
            assert!(log.lines().any(|line| line == text), "{text} is missing in {log}");
        }

        fn log(&self) -> String {
            String::from_utf8(self.port.borrow().1.clone()).unwrap()
        }

        fn maybe_displace(&self) {
            let free = |it: &usize| !self.displaced.borrow().contains(it);
            let others: Vec<usize> = (0..WRITERS).filter(free).collect();
            if !others.is_empty() && self.below(5) == 0 {
                self.write(others[self.below(others.len() as u64) as usize]);
            }
        }
    }

    impl Port for Core {
        fn taken(&self) -> Option<u64> {
            self.maybe_displace();
            let taken = self.port.borrow().0;
            self.maybe_displace();
            Some(taken)
        }
        fn offer(&self, number: u64, piece: Piece) -> Option<u64> {
            self.maybe_displace();
            let mut port = self.port.borrow_mut();
            if port.0 == number {
                port.0 += 1;
                let bytes = piece.words.iter().flat_map(|word| word.to_le_bytes());
                port.1.extend(bytes.take(piece.bytes as usize));
            } else {
                self.helped.set(self.helped.get() + 1);
            }
            let taken = port.0;
            drop(port);
            self.maybe_displace();
            Some(taken)
        }
    }

    #[test]
    fn whoever_is_displaced_the_others_lines_come_whole_and_each_once() {
        let mut helped = 0;
        for seed in 0..200 {
            let core = Core {
                lines: HelpedLines::new(),
                port: RefCell::default(),
                displaced: RefCell::default(),
                written: RefCell::default(),
                seed: Cell::new(seed),
                helped: Cell::new(0),
            };
            (0..6).for_each(|n| core.write(n % WRITERS));
            let log = core.log();
            let mut lines: Vec<&str> = log.lines().collect();
            let written = *core.written.borrow();
            let all = (0..WRITERS).flat_map(|it| (0..written[it]).map(move |n| Core::text(it, n)));
            let mut all: Vec<String> = all.collect();
            lines.sort_unstable();
            all.sort_unstable();
            assert_eq!(lines, all);
            helped += core.helped.get();
        }
        assert!(helped > 100, "{helped}");
    }

    #[test]
    fn what_a_port_does_not_take_to_its_end_comes_once_it_does() {
        struct Slow(Cell<u64>, Cell<u64>);
        impl Port for Slow {
            fn taken(&self) -> Option<u64> {
                Some(self.0.get())
            }
            fn offer(&self, _: u64, _: Piece) -> Option<u64> {
                (self.0.get() < self.1.get()).then(|| self.0.set(self.0.get() + 1))?;
                self.taken()
            }
        }
        let (lines, port) = (HelpedLines::<2, 19>::new(), Slow(Cell::new(0), Cell::new(1)));
        let push = |writer| (0..40).for_each(|_| assert!(lines.push(writer, b'x')));
        push(0);
        assert!(!lines.write(0, &port) && !lines.finish(0, &port));
        // The other one's line is lost, and not the next.
        push(1);
        assert!(!lines.write(1, &port) && lines.bytes(1) == 0 && lines.finish(1, &port));
        port.1.set(10);
        push(1);
        assert!(lines.write(1, &port) && lines.finish(0, &port));
        assert_eq!((port.0.get(), lines.bytes(0), lines.bytes(1)), (4, 0, 0));
        assert!(lines.write(0, &port), "there is no text");
        assert_eq!(port.0.get(), 4);
    }
}
