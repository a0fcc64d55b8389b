//! Lines on the machine's console, and what of them is held until the port takes it.
//!
//! The kernel never waits for the port: text is taken whole if there is room for it, and refused if there is none. A line of a
//! component's begins with a mark and holds nothing but printable ASCII, so that none can be taken for the system's, whoever writes in
//! between and whatever a terminal makes of other bytes.

use core::fmt;

/// So many bytes are held at most.
pub const HELD: usize = 2_048;
/// What a line of any component but the root scheduler begins with, and no line of the system's: a stroke and a blank, between which a
/// number may stand.
const MARK: [u8; 2] = *b"| ";
/// The longest mark.
const LONGEST_MARK: usize = MARK.len() + 5;

/// So often a call fills the port at most: an emulated one is empty again at once.
const BURSTS: usize = 4;

/// What takes the bytes in the end.
pub trait Port {
    /// Whether it has taken all that it was given.
    fn is_empty(&mut self) -> bool;
    /// Gives it a byte.
    fn put(&mut self, byte: u8);
}

/// Who has begun the line that is being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Begun {
    /// Nobody: the last one is complete.
    Nobody,
    /// The kernel or the root scheduler.
    System,
    /// The component with this number.
    Component(u16),
}

/// Lines, the oldest byte first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lines {
    bytes: [u8; HELD],
    first: usize,
    length: usize,
    begun: Begun,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::new()
    }
}

impl Lines {
    /// None yet.
    pub const fn new() -> Lines {
        Lines { bytes: [0; HELD], first: 0, length: 0, begun: Begun::Nobody }
    }

    /// How many bytes are held.
    pub fn held(&self) -> usize {
        self.length
    }

    /// How many more bytes can be held.
    pub fn room(&self) -> usize {
        HELD - self.length
    }

    /// The next byte for the port.
    pub fn take(&mut self) -> Option<u8> {
        let byte = self.bytes[self.first];
        self.length = self.length.checked_sub(1)?;
        self.first = (self.first + 1) % HELD;
        Some(byte)
    }

    /// Passes on what the port takes at once, of which an empty one takes `queue` bytes: looks at it four times at most, however slow it is.
    pub fn pass_on(&mut self, port: &mut impl Port, queue: usize) {
        for _ in 0..BURSTS {
            if self.held() == 0 || !port.is_empty() {
                return;
            }
            (0..queue).map_while(|_| self.take()).for_each(|byte| port.put(byte));
        }
    }

    /// What the kernel or the root scheduler says, on a line of its own. Whether there was room; else nothing is written.
    pub fn say(&mut self, text: &[u8]) -> bool {
        let fits = self.room() > text.len();
        let Some(&last) = text.last().filter(|_| fits) else { return fits };
        if let Begun::Component(_) = self.begun {
            self.put(b'\n');
        }
        text.iter().for_each(|&byte| self.put(byte));
        self.begun = if last == b'\n' { Begun::Nobody } else { Begun::System };
        true
    }

    /// What a component says. Whether there was room; else nothing is written. `numbered`: its marks have its number, since a record is read
    /// from its lines and none may be taken for another's.
    pub fn say_of(&mut self, component: u16, numbered: bool, text: &[u8]) -> bool {
        // Each byte may end a line and so have a mark, the first one after a line of somebody else's.
        if self.room() < text.len() * (1 + LONGEST_MARK) + 1 {
            return false;
        }
        let own = Begun::Component(component);
        for &byte in text {
            if self.begun != own {
                if self.begun != Begun::Nobody {
                    self.put(b'\n');
                }
                self.put(MARK[0]);
                if numbered {
                    self.put_number(component);
                }
                self.put(MARK[1]);
            }
            let is_text = byte == b'\n' || (b' '..=b'~').contains(&byte);
            self.put(if is_text { byte } else { b'?' });
            self.begun = if byte == b'\n' { Begun::Nobody } else { own };
        }
        true
    }

    fn put_number(&mut self, number: u16) {
        let digits = number.checked_ilog10().unwrap_or(0);
        (0..=digits).rev().for_each(|place| self.put(b'0' + (number / 10_u16.pow(place) % 10) as u8));
    }

    fn put(&mut self, byte: u8) {
        self.bytes[(self.first + self.length) % HELD] = byte;
        self.length += 1;
    }
}

impl fmt::Write for Lines {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.say(text.as_bytes()).then_some(()).ok_or(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::VecDeque;
    use std::string::String;
    use std::vec::Vec;

    /// A small generator of numbers.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }
    }

    #[test]
    fn whatever_components_write_none_begins_a_line_without_a_mark_and_only_text_passes() {
        let mut numbers = Numbers(1);
        let mut lines = Lines::new();
        let (mut passed, mut refused) = (Vec::new(), 0);
        for _ in 0..20_000 {
            let who = numbers.below(4);
            let length = numbers.below(33) as usize;
            let fitted = if who == 3 {
                lines.say(&b"SYSTEM SAYS\n"[..if numbers.below(2) == 0 { 6 } else { 12 }])
            } else {
                let all = [b'\n', 0x9b, 0xc2, 0x1b, b'\r', 0x7f, b'S', b'|', b'x', b'a' + who as u8];
                let text: Vec<u8> = (0..length).map(|_| all[numbers.below(10) as usize]).collect();
                lines.say_of(who as u16, who == 1, &text)
            };
            refused += u32::from(!fitted);
            passed.extend((0..numbers.below(24)).map_while(|_| lines.take()));
        }
        passed.extend(core::iter::from_fn(|| lines.take()));
        assert!(refused > 100 && lines.held() == 0 && lines.room() == HELD);
        assert!(passed.iter().all(|byte| *byte == b'\n' || (b' '..=b'~').contains(byte)));
        let text = String::from_utf8(passed).unwrap();
        assert!(text.lines().count() > 10_000);
        for line in text.lines() {
            match line.strip_prefix("|1 ").or_else(|| line.strip_prefix("| ")) {
                None => assert!(line.replace("SYSTEM", "").replace(" SAYS", "").is_empty(), "{line}"),
                // Each line is one component's.
                Some(own) => assert!((0..3).filter(|who| own.contains((b'a' + who) as char)).count() <= 1, "{line}"),
            }
        }
    }

    /// A serial port that sends a byte in this time (ns), or never, and of which a look or a byte takes a microsecond of the processor.
    struct Serial {
        byte: Option<u64>,
        now: u64,
        queued: VecDeque<u8>,
        /// When the first of them has been sent.
        sent: u64,
        passed: Vec<u8>,
    }

    impl Serial {
        fn go_on(&mut self, time: u64) {
            self.now += time;
            while let Some(byte) = self.byte.filter(|_| self.sent <= self.now && !self.queued.is_empty()) {
                self.passed.extend(self.queued.pop_front());
                self.sent += byte;
            }
        }
    }

    impl Port for Serial {
        fn is_empty(&mut self) -> bool {
            self.go_on(1_000);
            self.queued.is_empty()
        }
        fn put(&mut self, byte: u8) {
            self.go_on(1_000);
            assert!(self.queued.len() < QUEUE, "more than the port takes");
            if self.queued.is_empty() {
                self.sent = self.now + self.byte.unwrap_or(0);
            }
            self.queued.push_back(byte);
        }
    }

    const QUEUE: usize = 16;

    #[test]
    fn no_call_waits_for_the_port_however_slow_it_is() {
        // A PC's at 115,200 baud, one that takes nothing, and an emulated one, which has sent a byte at once.
        for (byte, longest) in [(Some(86_806), 18_000), (None, 17_000), (Some(0), 68_000)] {
            let (mut numbers, mut lines, mut longest_call) = (Numbers(2), Lines::new(), 0);
            let (queued, passed) = (VecDeque::new(), Vec::new());
            let mut port = Serial { byte, now: 0, queued, sent: 0, passed };
            let (mut written, mut refused) = (Vec::new(), 0);
            for _ in 0..2_000 {
                let text: Vec<u8> = (0..1 + numbers.below(32)).map(|_| b'a' + numbers.below(26) as u8).collect();
                match lines.say(&text) {
                    true => written.extend(text),
                    false => refused += 1,
                }
                let before = port.now;
                lines.pass_on(&mut port, QUEUE);
                longest_call = longest_call.max(port.now - before);
                port.go_on(numbers.below(1_000_000));
            }
            assert!((10_000..=longest).contains(&longest_call), "{byte:?}: {longest_call} ns");
            assert!(written.starts_with(&port.passed) && (byte.is_some() || port.passed.is_empty()));
            assert_eq!(refused > 0, byte != Some(0), "{byte:?}");
        }
    }

    #[test]
    fn a_numbered_mark_has_the_components_number() {
        for (number, mark) in [(0, "|0 x"), (7, "|7 x"), (40, "|40 x"), (u16::MAX, "|65535 x")] {
            let mut lines = Lines::new();
            assert!(lines.say_of(number, true, b"x"));
            assert!(core::iter::from_fn(|| lines.take()).eq(mark.bytes()));
        }
    }

    #[test]
    fn text_is_taken_whole_or_not_at_all() {
        let mut lines = Lines::new();
        assert!(lines.say(&[b'x'; HELD - 1]) && !lines.say(b"y") && !lines.say_of(1, false, b"z"));
        assert_eq!((lines.held(), lines.take()), (HELD - 1, Some(b'x')));
        assert!(lines.say(b"y") && !lines.say(b"y"));
        assert_eq!(core::iter::from_fn(|| lines.take()).last(), Some(b'y'));
        assert_eq!(lines.take(), None);
    }
}
