//! What is handed to the loader, one after another and message by message, and what it answers.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use tactus_network::frame::{Name, Version};
use tactus_network::refusals::Refusal;
use tactus_rt::port::{QueuingDestination, QueuingSource};

/// Bytes of a package in a message.
const PART: usize = 1_024;
/// Messages sent in a job.
const AT_ONCE: usize = 8;

/// What is to be done.
#[derive(Clone, Copy)]
enum Wish {
    Host(Name, Version),
    End(usize),
}

/// What the loader has answered.
pub enum Answer {
    Hosted { app: Name, version: Version, slot: usize },
    Refused { app: Name, version: Version, why: Refusal },
}

/// What is under way, what comes next, and what lies in which slot.
pub struct Handover {
    to: QueuingSource,
    from: QueuingDestination,
    wishes: VecDeque<Wish>,
    /// With the bytes of the package, and how many of them the loader has.
    under_way: Option<(Wish, Vec<u8>, usize)>,
    number: u32,
    slots: Vec<(usize, Name, Version)>,
}

impl Handover {
    pub fn open() -> Option<Handover> {
        let (to, from) = (QueuingSource::open("packages").ok()?, QueuingDestination::open("hosted").ok()?);
        Some(Handover { to, from, wishes: VecDeque::new(), under_way: None, number: 0, slots: Vec::new() })
    }

    /// A package is to be hosted.
    pub fn host(&mut self, app: Name, version: Version) {
        self.wishes.push_back(Wish::Host(app, version));
    }

    /// What lies in some slot is to end.
    pub fn end(&mut self, app: Name, version: Version) {
        let own = self.slots.iter().find(|it| (it.1, it.2) == (app, version));
        self.wishes.extend(own.map(|it| Wish::End(it.0)));
    }

    /// Hands over some of what comes next. What has been replaced since is left out.
    pub fn hand<'b>(&mut self, bytes: impl Fn(Name) -> Option<&'b [u8]>) {
        let mut sent = 0;
        if self.under_way.is_none() {
            let Some(wish) = self.wishes.pop_front() else { return };
            self.number += 1;
            let (kind, package) = match wish {
                Wish::Host(app, _) => (0, bytes(app).unwrap_or_default().to_vec()),
                Wish::End(_) => (2, Vec::new()),
            };
            let last = if let Wish::End(slot) = wish { slot } else { package.len() };
            if self.to.send(&message([kind, self.number, last as u32])).is_err() {
                self.wishes.push_front(wish);
                return;
            }
            self.under_way = Some((wish, package, 0));
            sent = 1;
        }
        let Some((_, package, done)) = &mut self.under_way else { return };
        while sent < AT_ONCE && *done < package.len() {
            let end = package.len().min(*done + PART);
            let mut part = message([1, self.number, 0])[..8].to_vec();
            part.extend_from_slice(&package[*done..end]);
            if self.to.send(&part).is_err() {
                return;
            }
            (*done, sent) = (end, sent + 1);
        }
    }

    /// What the loader has answered since.
    pub fn answer(&mut self) -> Option<Answer> {
        let mut message = [0; 8];
        let length = self.from.receive(&mut message).ok()??;
        let [a, b, c, d, kind, what, task, _] = message;
        if length < message.len() || u32::from_le_bytes([a, b, c, d]) != self.number {
            return None;
        }
        let (wish, ..) = self.under_way.take()?;
        match (wish, kind) {
            (Wish::Host(app, version), 0) => {
                self.slots.push((what.into(), app, version));
                Some(Answer::Hosted { app, version, slot: what.into() })
            }
            (Wish::Host(app, version), _) => {
                let why = Refusal { reason: what, task: (task != u8::MAX).then_some(task) };
                Some(Answer::Refused { app, version, why })
            }
            (Wish::End(slot), _) => {
                self.slots.retain(|it| it.0 != slot);
                None
            }
        }
    }
}

fn message(words: [u32; 3]) -> [u8; 12] {
    let mut bytes = [0; 12];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}
