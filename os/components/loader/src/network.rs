//! Packages that come over the network: another component hands them over message by message, by the channel `packages`, and is told by
//! the channel `hosted` what became of them. Whatever it says, a package is judged as one of the image is.
//!
//! Each is loaded into the first empty slot that admits it. What came is kept on this component's heap to the end of the run, which so
//! bounds how much can come: what finds no room is refused for want of resources.

extern crate alloc;

use alloc::boxed::Box;
use alloc::vec::Vec;
use tactus_record::SlotRefusal;
use tactus_rt::port::{QueuingDestination, QueuingSource};

/// Messages taken in a job.
const AT_ONCE: usize = 8;
/// The longest message.
const LONGEST: usize = 1_056;
/// The longest package.
const LARGEST: usize = 256 << 10;

/// What is asked of the loader.
#[derive(Clone, Copy)]
pub enum Request {
    /// A package is to be hosted.
    Host(&'static [u8]),
    /// The program in the slot that is told is to end.
    End,
}

/// Why no slot took a package so far: the reason and the task to blame.
#[derive(Clone, Copy)]
pub struct Found {
    pub reason: SlotRefusal,
    pub task: Option<usize>,
}

/// What comes, and what is asked for.
pub struct Arrivals {
    from: Option<QueuingDestination>,
    to: Option<QueuingSource>,
    /// The package that comes, and how long it will be.
    package: Vec<u8>,
    length: usize,
    /// The number that whoever asks gave to it.
    number: u32,
    /// What is under way: the next slot to try, and why those before refused.
    pub under_way: Option<(Request, usize, Option<Found>)>,
}

impl Arrivals {
    pub fn new() -> Arrivals {
        Arrivals {
            from: QueuingDestination::open("packages").ok(),
            to: QueuingSource::open("hosted").ok(),
            package: Vec::new(),
            length: 0,
            number: 0,
            under_way: None,
        }
    }

    /// Takes some of what has come, until something is asked for.
    pub fn listen(&mut self) {
        let Some(from) = self.from else { return };
        let mut message = [0; LONGEST];
        for _ in 0..AT_ONCE {
            if self.under_way.is_some() {
                return;
            }
            match from.receive(&mut message) {
                Ok(Some(length)) => self.take(&message[..length]),
                Ok(None) => return,
                Err(_) => self.length = 0,
            }
        }
    }

    fn take(&mut self, message: &[u8]) {
        let word = |n: usize| message.get(4 * n..4 * n + 4)?.try_into().ok().map(u32::from_le_bytes);
        match (word(0), word(1), word(2)) {
            // A package begins.
            (Some(0), Some(number), Some(length)) => {
                (self.number, self.length) = (number, 0);
                self.package = Vec::new();
                let length = length as usize;
                if length > LARGEST || self.package.try_reserve_exact(length).is_err() {
                    return self.answer(Err(Found { reason: SlotRefusal::Resources, task: None }));
                }
                self.length = length;
            }
            // More of it.
            (Some(1), Some(number), _) if number == self.number && self.length > 0 => {
                let bytes = message.get(8..).unwrap_or_default();
                if self.package.len() + bytes.len() > self.length {
                    self.length = 0;
                    return;
                }
                self.package.extend_from_slice(bytes);
                if self.package.len() == self.length {
                    let whole: &'static [u8] = Box::leak(core::mem::take(&mut self.package).into_boxed_slice());
                    self.length = 0;
                    self.under_way = Some((Request::Host(whole), 0, None));
                }
            }
            // The program of a slot ends.
            (Some(2), Some(number), Some(slot)) => {
                self.number = number;
                self.under_way = Some((Request::End, slot as usize, None));
            }
            _ => self.length = 0,
        }
    }

    /// Tells in which slot it is done, or why not; nothing is under way then.
    pub fn answer(&mut self, done: Result<usize, Found>) {
        self.under_way = None;
        let (kind, what, task) = match done {
            Ok(slot) => (0, slot as u8, None),
            Err(found) => (1, found.reason as u8, found.task),
        };
        let [a, b, c, d] = self.number.to_le_bytes();
        let message = [a, b, c, d, kind, what, task.map_or(u8::MAX, |task| task as u8), 0];
        // Whoever takes no answers is told none.
        let _ = self.to.map(|to| to.send(&message));
    }
}
