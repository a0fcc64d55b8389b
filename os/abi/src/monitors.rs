//! Monitors in a boot image: the contents of the one memory object of kind [`crate::image::MemoryKind::Monitors`], which no
//! component sees.
//!
//! Words of 32 bits: a [`Head`], then the tables that it counts in the order of its fields, then the bytes of the transition tables.
//! Events and monitors are numbered; what makes an event happen names it by its number. [`NONE`] stands for no event.

/// First word.
pub const MAGIC: u32 = u32::from_le_bytes(*b"MONI");
/// Stands for no event, no component, or no core: of several.
pub const NONE: u32 = u32::MAX;

/// Words of a row of each table.
pub mod words {
    /// First of its steps, their number, group; from bit 16 of that on, where a component can cause it as often as it likes, one more than
    /// the share of the record that it has ([`super::MAX_SHARES`]).
    pub const EVENT: usize = 3;
    /// Monitor, column.
    pub const STEP: usize = 2;
    /// The only core on which its events happen, or [`super::NONE`].
    pub const GROUP: usize = 1;
    /// `tactus_monitor::Stored`, then group, action ([`super::action`]), whom it concerns, and the core on which that one's jobs are
    /// released, or [`super::NONE`] for any.
    pub const MONITOR: usize = 14 + 4;
    /// Name as [`super::hash`] has it (low half, high half), component, event.
    pub const SIGNAL: usize = 4;
    /// Sender, receiver, slots, event of sending, event of receiving.
    pub const CHANNEL: usize = 5;
    /// Component, grant, event of the call, event of the return.
    pub const GRANT: usize = 4;
    /// Thread, event.
    pub const FAULT: usize = 2;
}

/// What is done where a property is violated.
pub mod action {
    /// Nothing but a record.
    pub const NOTE: u32 = 0;
    /// The component is stopped.
    pub const STOP: u32 = 1;
    /// The run ends.
    pub const END: u32 = 2;
    /// A job of the task with this thread is released.
    pub const RUN: u32 = 3;
}

/// Words of a message.
pub const MESSAGE_WORDS: usize = 8;
/// The most slots of a channel.
pub const MAX_SLOTS: u32 = 4096;
/// The most monitors of an image.
pub const MAX_MONITORS: u32 = 64;
/// The most events with a share of the record of their own; further ones have the last one together.
pub const MAX_SHARES: u32 = 64;
/// The most rows of any other table.
pub const MAX_ROWS: u32 = 4096;

/// How many rows each table has.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Head {
    /// Events.
    pub events: u32,
    /// Steps of events.
    pub steps: u32,
    /// Groups of monitors that agree on one order.
    pub groups: u32,
    /// Monitors.
    pub monitors: u32,
    /// Places for events that components raise: a power of two, or none. Each event is at its [`place_of`], or at the first free one
    /// behind; half of them at least are free, with [`NONE`] for the component.
    pub signals: u32,
    /// Channels.
    pub channels: u32,
    /// Grants whose calls are watched.
    pub grants: u32,
    /// Threads whose faults are watched.
    pub faults: u32,
    /// The event of a restart.
    pub restart: u32,
    /// Bytes of the transition tables.
    pub bytes: u32,
}

/// A table's place: first word and words in all.
pub type Place = (usize, usize);

impl Head {
    /// Words of the head itself.
    pub const WORDS: usize = 11;

    /// The head in words.
    pub const fn words(&self) -> [u32; Head::WORDS] {
        [
            MAGIC,
            self.events,
            self.steps,
            self.groups,
            self.monitors,
            self.signals,
            self.channels,
            self.grants,
            self.faults,
            self.restart,
            self.bytes,
        ]
    }

    /// Reads a head; nothing if it is none, or counts more than there can be.
    pub fn read(words: &[u32]) -> Option<Head> {
        let [MAGIC, events, steps, groups, monitors, signals, channels, grants, faults, restart, bytes] =
            *words.first_chunk::<{ Head::WORDS }>()?
        else {
            return None;
        };
        let rows = [events, steps, groups, signals, channels, grants, faults];
        let few = monitors <= MAX_MONITORS && rows.iter().all(|rows| *rows <= MAX_ROWS);
        few.then_some(Head { events, steps, groups, monitors, signals, channels, grants, faults, restart, bytes })
    }

    /// Where each table lies, in the order of the fields, and behind them the bytes.
    pub const fn places(&self) -> [Place; 9] {
        let rows = [
            (self.events, words::EVENT),
            (self.steps, words::STEP),
            (self.groups, words::GROUP),
            (self.monitors, words::MONITOR),
            (self.signals, words::SIGNAL),
            (self.channels, words::CHANNEL),
            (self.grants, words::GRANT),
            (self.faults, words::FAULT),
            ((self.bytes as u64).div_ceil(4) as u32, 1),
        ];
        let mut places = [(0, 0); 9];
        let mut at = Head::WORDS;
        let mut table = 0;
        while table < rows.len() {
            let words = rows[table].0 as usize * rows[table].1;
            places[table] = (at, words);
            at += words;
            table += 1;
        }
        places
    }
}

/// The name of an event that a component raises, as the kernel compares it (FNV-1a).
pub const fn hash(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

/// The place of a component's event among this number of places, a power of two.
pub const fn place_of(component: u32, name: u64, places: u32) -> u32 {
    let mixed = name ^ (name >> 32) ^ (component as u64).wrapping_mul(0x9e37_79b9);
    mixed as u32 & places.wrapping_sub(1)
}

/// A kind of event that the root scheduler tells of, as a row of [`crate::layout::WATCHED`] names it: kind, task, server or
/// component ([`NONE`] for none), event. Words of 32 bits; the first is the number of rows, the second not zero if a monitor has a clock.
pub mod watched {
    /// Words before the rows.
    pub const HEAD: usize = 2;
    /// Words of a row.
    pub const ROW: usize = 3;
    /// Kinds.
    pub const RELEASE: u32 = 0;
    /// See [`RELEASE`].
    pub const START: u32 = 1;
    /// See [`RELEASE`].
    pub const DISPATCH: u32 = 2;
    /// See [`RELEASE`].
    pub const PREEMPT: u32 = 3;
    /// See [`RELEASE`].
    pub const COMPLETE: u32 = 4;
    /// See [`RELEASE`].
    pub const MISS: u32 = 5;
    /// See [`RELEASE`].
    pub const DROP: u32 = 6;
    /// See [`RELEASE`].
    pub const EXHAUST: u32 = 7;
    /// See [`RELEASE`].
    pub const REPLENISH: u32 = 8;
    /// Kinds of a task.
    pub const OF_TASKS: usize = 9;
    /// A server's.
    pub const SERVER_EXHAUST: u32 = 9;
    /// A server's.
    pub const SERVER_REPLENISH: u32 = 10;
    /// Nobody's.
    pub const MODE: u32 = 11;
    /// Nobody's.
    pub const RECONFIGURE: u32 = 12;
    /// No event, but a task whose jobs violations release: task, monitor.
    pub const HANDLER: u32 = 13;
    /// A component's.
    pub const GIVE_UP: u32 = 14;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_follow_one_another_and_a_head_is_read_as_it_was_written() {
        let head =
            Head { events: 2, steps: 3, groups: 1, monitors: 2, faults: 1, restart: NONE, bytes: 5, ..Head::default() };
        assert_eq!(Head::read(&head.words()), Some(head));
        let places = head.places();
        assert_eq!(places[0], (Head::WORDS, 6));
        assert_eq!(places[8], (Head::WORDS + 6 + 6 + 1 + 2 * words::MONITOR + 2, 2));
        assert_eq!(Head::read(&[]), None);
        assert_eq!(Head::read(&Head { monitors: 65, ..head }.words()), None);
    }
}
