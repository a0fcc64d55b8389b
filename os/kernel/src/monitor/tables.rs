//! The monitors of an image: their tables, where they lie in it, and their states, in memory of the kernel's own.
//!
//! Several cores agree on one order of events where monitors need it: those that share events are a *group*. A group whose events
//! all happen on one core is that core's, as everything of a core is. Any other has a lock, the only one in the kernel beside those
//! of channels: cores get it in the order in which they ask, so that each waits for as many steps as there are other cores.

use super::log;
use crate::arch::protect::piece;
use crate::component::{self, Grant};
use crate::frames::Frames;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use tactus_abi::layout::{MAX_CORES, MAX_THREADS, PAGE};
use tactus_abi::monitors::{action, place_of, words, Head, MAX_SHARES, MESSAGE_WORDS, NONE};
use tactus_monitor::{Stored, Watcher};
use tactus_sync::{Lock, Order, Rank};

/// The order of groups.
pub struct Groups;
impl Rank for Groups {
    const NUMBER: u32 = 1;
}

/// The order of channels: a message's event happens while its channel is held.
pub struct Channels;
impl Rank for Channels {
    const NUMBER: u32 = 2;
}

/// Monitors that agree on one order of events.
pub struct Group {
    /// The core on which all their events happen; [`NONE`] if there are several.
    core: u32,
    lock: Lock<(), Groups>,
    place: UnsafeCell<Place>,
}

/// How far a group is.
pub struct Place {
    /// How many events there were.
    pub events: u32,
    /// The time of the last one (ns).
    pub now: u64,
}

/// A monitor.
pub struct Monitor {
    /// Its group.
    pub group: u32,
    /// What is done where it is violated, and to whom.
    pub action: (u32, u32),
    /// The core on which jobs are released for it; [`NONE`] for any.
    pub core: u32,
    /// What its handler is told of the last violation: event, and below it the state.
    pub violation: AtomicU64,
    watcher: UnsafeCell<Watcher<'static>>,
}

/// A channel that is monitored: the kernel keeps its messages.
pub struct Channel {
    /// Who may send.
    pub sender: u32,
    /// Who may receive.
    pub receiver: u32,
    /// The events.
    pub events: [u32; 2],
    /// Its messages.
    pub queue: Lock<Queue, Channels>,
}

/// Messages that wait.
pub struct Queue {
    slots: &'static mut [[u64; MESSAGE_WORDS]],
    sent: usize,
    taken: usize,
}

impl Queue {
    /// Whether there is room.
    pub fn has_room(&self) -> bool {
        self.sent.wrapping_sub(self.taken) < self.slots.len()
    }
    /// Puts a message behind the others.
    pub fn put(&mut self, message: [u64; MESSAGE_WORDS]) {
        let at = self.sent % self.slots.len().max(1);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = message;
            self.sent = self.sent.wrapping_add(1);
        }
    }
    /// Takes the oldest message.
    pub fn take(&mut self) -> Option<[u64; MESSAGE_WORDS]> {
        let waits = self.sent != self.taken;
        let message = *self.slots.get(self.taken % self.slots.len().max(1)).filter(|_| waits)?;
        self.taken = self.taken.wrapping_add(1);
        Some(message)
    }
}

/// All of it. Written during set-up, and then only through groups and channels.
pub struct Tables {
    /// By event: its first step, how many there are, and its group.
    events: &'static [u32],
    /// Monitor and column of each step.
    steps: &'static [u32],
    /// The events that components raise, as many places as a power of two, or none.
    signals: &'static [u32],
    /// The threads whose faults are watched, and the events.
    faults: &'static [u32],
    /// The event of a restart.
    pub restart: u32,
    /// The groups.
    pub groups: &'static [Group],
    /// The monitors.
    pub monitors: &'static [Monitor],
    /// The channels.
    pub channels: &'static [Channel],
    /// The grants whose calls are watched.
    pub grants: &'static [WatchedGrant],
    /// Whether a monitor has a clock.
    pub clocked: bool,
    /// The monitors that have one, as bits.
    pub timed: u64,
}

// SAFETY: what changes lies behind locks, or is one core's: see `Group::within`.
unsafe impl Sync for Tables {}

static TABLES: AtomicPtr<Tables> = AtomicPtr::new(core::ptr::null_mut());

/// The tables, where the image has monitors.
#[inline(always)]
pub fn tables() -> Option<&'static Tables> {
    // SAFETY: null, or stored once during set-up and never given back.
    unsafe { TABLES.load(Ordering::Relaxed).as_ref() }
}

/// The monitors of one group, while nobody else can use them.
pub struct Within<'a> {
    /// How far the group is.
    pub place: &'a mut Place,
    tables: &'static Tables,
    group: u32,
}

impl Within<'_> {
    /// The monitor with this number, if it is of the group.
    #[inline(always)]
    pub fn watcher(&mut self, monitor: u32) -> Option<&mut Watcher<'static>> {
        let it = self.tables.monitors.get(monitor as usize).filter(|it| it.group == self.group)?;
        // SAFETY: this value exists once for each group at a time; the borrow of it keeps this reference alone.
        Some(unsafe { &mut *it.watcher.get() })
    }
}

impl Tables {
    /// Does something with a group while no other core can; nothing if it is another core's. `order`: what the core holds.
    #[inline(always)]
    pub fn within<R, Held: Rank>(
        &'static self,
        (core, number): (u64, u32),
        order: &mut Order<Held>,
        act: impl FnOnce(&mut Within<'_>) -> R,
    ) -> Option<R> {
        let group = self.groups.get(number as usize)?;
        let _held = match group.core {
            NONE => Some(group.lock.lock(order)),
            own if u64::from(own) == core => None,
            _ => return None,
        };
        // SAFETY: the group is this core's, whose kernel is not preempted, or this core has its lock; `act` cannot come here
        // again, since it has no order of locks that would let it.
        let place = unsafe { &mut *group.place.get() };
        Some(act(&mut Within { place, tables: self, group: number }))
    }

    /// The steps of an event, each with monitor and column; its group; and its share of the record and one, 0 if it has none.
    #[inline(always)]
    pub fn event(&self, number: u32) -> Option<(&'static [u32], u32, u32)> {
        let row = self.events.get(number as usize * words::EVENT..)?.first_chunk::<{ words::EVENT }>()?;
        let first = row[0] as usize * words::STEP;
        let steps = self.steps.get(first..first + row[1] as usize * words::STEP)?;
        Some((steps, row[2] & 0xffff, row[2] >> 16))
    }

    /// The event that a component raises by this name.
    #[inline(always)]
    pub fn signal(&self, component: u32, name: u64) -> Option<u32> {
        let (rows, places) = (self.signals, (self.signals.len() / words::SIGNAL) as u32);
        let mut place = place_of(component, name, places);
        for _ in 0..places {
            let row = rows.get(place as usize * words::SIGNAL..)?.first_chunk::<{ words::SIGNAL }>()?;
            if row[2] == NONE {
                return None;
            }
            if row[2] == component && (u64::from(row[1]) << 32 | u64::from(row[0])) == name {
                return Some(row[3]);
            }
            place = (place + 1) & places.wrapping_sub(1);
        }
        None
    }

    /// The grant that is watched, and its row.
    pub fn grant(&self, component: u16, number: u64) -> Option<(u16, &'static WatchedGrant)> {
        let left = component::get(component).grants.get(number as usize).filter(|it| it.entry == 0)?;
        let row = left.component.checked_sub(1)?;
        Some((row, self.grants.get(usize::from(row))?))
    }

    /// The event of a thread's fault.
    pub fn fault(&self, thread: u32) -> Option<u32> {
        self.faults.chunks_exact(words::FAULT).find(|row| row[0] == thread).map(|row| row[1])
    }
}

/// A grant whose calls are watched. In the component's own table it is none, which tells its row here, so that the entry code leaves it
/// to `call.rs`.
pub struct WatchedGrant {
    /// The right itself.
    pub right: Grant,
    /// The events of its call and of its return.
    pub events: [u32; 2],
}

/// Makes the monitors of an image from its object, or from the kernel's copy of it. During set-up; why it cannot be done.
pub fn set_up(frames: &mut Frames, object: *const u32, bytes: u64, components: u32) -> Result<(), &'static str> {
    // SAFETY: whole pages, in the image or of the kernel's own, which are never written.
    let all: &'static [u32] = unsafe { core::slice::from_raw_parts(object, (bytes / 4) as usize) };
    let head = Head::read(all).ok_or(WRONG)?;
    let places = head.places();
    let (first, length) = places[8];
    if first + length > all.len() {
        return Err(WRONG);
    }
    // SAFETY: inside the same object.
    let tables = unsafe { core::slice::from_raw_parts(all[first..].as_ptr().cast::<u8>(), head.bytes as usize) };
    let rows = |table: usize, width: usize| all[places[table].0..][..places[table].1].chunks_exact(width);
    for row in rows(0, words::EVENT) {
        let (group, share) = (row[2] & 0xffff, row[2] >> 16);
        if row[0].checked_add(row[1]).is_none_or(|end| end > head.steps) || group >= head.groups || share > MAX_SHARES {
            return Err(WRONG);
        }
    }
    log::divide(rows(0, words::EVENT).map(|row| row[2] >> 16).max().unwrap_or(0));
    let group = |row: &[u32]| {
        let known = row[0] == NONE || row[0] < MAX_CORES as u32;
        let place = UnsafeCell::new(Place { events: 0, now: 0 });
        known.then_some(Group { core: row[0], lock: Lock::new(()), place })
    };
    let monitor = |row: &[u32]| {
        let (stored, rest) = row.split_first_chunk::<{ Stored::WORDS }>()?;
        let watcher = UnsafeCell::new(Stored(*stored).watcher(tables).ok()?);
        let &[group, action, whom, core] = rest else { return None };
        let is_whom = match action {
            action::RUN => whom < MAX_THREADS as u32,
            _ => whom == NONE || whom < components,
        };
        let known = group < head.groups && is_whom && (core == NONE || core < MAX_CORES as u32);
        known.then_some(Monitor { group, action: (action, whom), core, violation: AtomicU64::new(0), watcher })
    };
    let groups = make(frames, head.groups, rows(2, words::GROUP).map(group))?;
    let monitors = make(frames, head.monitors, rows(3, words::MONITOR).map(monitor))?;
    let channels: *mut Channel = piece(frames, CHANNEL_PAGES).ok_or(WRONG)?;
    let most = (CHANNEL_PAGES * PAGE) as usize / size_of::<Channel>();
    let mut made = 0;
    for row in rows(5, words::CHANNEL).take(most) {
        let slots = queue(frames, row[2]).ok_or(WRONG)?;
        let queue = Lock::new(Queue { slots, sent: 0, taken: 0 });
        // SAFETY: fresh frames, long enough for `most`.
        unsafe {
            channels.add(made).write(Channel { sender: row[0], receiver: row[1], events: [row[3], row[4]], queue });
        }
        made += 1;
    }
    // SAFETY: as above; so many were written.
    let channels = unsafe { core::slice::from_raw_parts(channels, made) };
    let grant = |(place, row): (usize, &[u32])| {
        let (component, number) = (row[0], row[1] as usize);
        let right = *component::get(row[0] as u16).grants.get(number).filter(|_| component < components)?;
        let left = Grant { component: place as u16 + 1, ..Grant::NONE };
        // SAFETY: no thread runs yet.
        unsafe { component::set_up(component as usize, |it| it.grants[number] = left) };
        Some(WatchedGrant { right, events: [row[2], row[3]] })
    };
    let grants = make(frames, head.grants, rows(6, words::GRANT).enumerate().map(grant))?;
    // SAFETY: no core runs yet.
    let is_timed = |it: &Monitor| matches!(unsafe { &*it.watcher.get() }, Watcher::Timed(_));
    let timed = monitors.iter().enumerate().fold(0, |bits, (number, it)| bits | u64::from(is_timed(it)) << number);
    let clocked = timed != 0;
    let [events, steps, _, _, signals, _, _, faults] = [0, 1, 2, 3, 4, 5, 6, 7].map(|table: usize| {
        let (first, length) = places[table];
        &all[first..first + length]
    });
    let restart = head.restart;
    let all = Tables { events, steps, signals, faults, restart, groups, monitors, channels, grants, clocked, timed };
    let made = make(frames, 1, core::iter::once(Some(all)))?;
    TABLES.store((&raw const made[0]).cast_mut(), Ordering::Relaxed);
    Ok(())
}

/// What is wrong with an image whose monitors are.
const WRONG: &str = "monitors, or parts of them,";

/// Pages for what is known of channels.
const CHANNEL_PAGES: u64 = 2;

/// Room for this number of messages.
fn queue(frames: &mut Frames, slots: u32) -> Option<&'static mut [[u64; MESSAGE_WORDS]]> {
    if slots == 0 || slots > tactus_abi::monitors::MAX_SLOTS {
        return None;
    }
    let bytes = u64::from(slots) * (MESSAGE_WORDS * 8) as u64;
    let base = piece(frames, bytes.div_ceil(PAGE))?;
    // SAFETY: fresh frames, which are this queue's alone and long enough.
    Some(unsafe { core::slice::from_raw_parts_mut(base, slots as usize) })
}

/// Puts this number of values into fresh frames; an error if one of them is none.
fn make<T>(
    frames: &mut Frames,
    count: u32,
    values: impl Iterator<Item = Option<T>>,
) -> Result<&'static [T], &'static str> {
    let count = count as usize;
    let base: *mut T = piece(frames, ((count * size_of::<T>()) as u64).div_ceil(PAGE)).ok_or(WRONG)?;
    let mut made = 0;
    for value in values.take(count) {
        // SAFETY: fresh frames, long enough for all of them.
        unsafe { base.add(made).write(value.ok_or(WRONG)?) };
        made += 1;
    }
    // SAFETY: as above; so many were written.
    Ok(unsafe { core::slice::from_raw_parts(base, made) })
}
