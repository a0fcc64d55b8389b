//! Which schedulers may dispatch a thread: one for each depth of the hierarchy, root first.
//!
//! An entry names a scheduler by its [`Identity`] and, beside it, the thread's event slot in that scheduler's regions; both
//! change in one piece. An identity holds the generation of the scheduler's promotion, so that taking away a scheduler's
//! rights takes no walk: all entries that name the older generation are void.

use crate::component;
use core::num::NonZeroU16;
use core::sync::atomic::{AtomicU64, Ordering::SeqCst};
use tactus_abi::layout::{MAX_COMPONENTS, MAX_SCHEDULERS, SLOTS};

/// A component's number and the generation of its promotion. Never 0: generations begin at 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Identity(u32);

const COMPONENT_BITS: u32 = 8;
/// Bits of an identity.
pub const IDENTITY_BITS: u32 = 28;
const IDENTITY: u64 = (1 << IDENTITY_BITS) - 1;
const DEPTH_SHIFT: u32 = 2 * IDENTITY_BITS;
const SLOT_SHIFT: u32 = 32;
/// A component can be promoted so often.
const MAX_GENERATION: u64 = (1 << (IDENTITY_BITS - COMPONENT_BITS)) - 1;

const _: () = assert!(MAX_COMPONENTS <= 1 << COMPONENT_BITS && SLOTS < 1 << 16);

impl Identity {
    /// The component's number.
    pub fn component(self) -> u16 {
        (self.0 & ((1 << COMPONENT_BITS) - 1)) as u16
    }
}

/// What a component is in the tree of schedulers, in one word: its identity, the identity of its parent, and its depth
/// plus one, 0 if it is no scheduler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rank(pub u64);

impl Rank {
    /// The root scheduler's.
    pub fn root(component: u16) -> Rank {
        Rank(1 << DEPTH_SHIFT | 1 << COMPONENT_BITS | u64::from(component))
    }

    /// Its identity; of the last generation if it is no scheduler.
    #[inline(always)]
    pub fn identity(self) -> Identity {
        Identity((self.0 & IDENTITY) as u32)
    }

    /// The depth that it was given; nothing if it is no scheduler. Whether it still stands is for [`scheduler`] to say.
    #[inline(always)]
    pub fn depth(self) -> Option<usize> {
        ((self.0 >> DEPTH_SHIFT) as usize).checked_sub(1)
    }

    /// How often it was promoted.
    #[cfg(feature = "check")]
    pub fn generation(self) -> u64 {
        (self.0 & IDENTITY) >> COMPONENT_BITS
    }

    /// Who promoted it.
    pub fn parent(self) -> Identity {
        Identity((self.0 >> IDENTITY_BITS & IDENTITY) as u32)
    }

    /// The rank after a promotion by `parent`; nothing if the generations are used up.
    pub fn promoted(self, component: u16, parent: Scheduler) -> Option<Rank> {
        let generation = (self.0 & IDENTITY) >> COMPONENT_BITS;
        (generation < MAX_GENERATION).then(|| {
            Rank(
                (parent.depth as u64 + 2) << DEPTH_SHIFT
                    | u64::from(parent.identity.0) << IDENTITY_BITS
                    | (generation + 1) << COMPONENT_BITS
                    | u64::from(component),
            )
        })
    }

    /// The rank with another parent, and nothing else changed.
    #[cfg(feature = "fault-injection")]
    pub fn below(self, parent: Identity) -> Rank {
        Rank(self.0 & !(IDENTITY << IDENTITY_BITS) | u64::from(parent.0) << IDENTITY_BITS)
    }

    /// The rank after it was taken away.
    pub fn demoted(self) -> Rank {
        Rank(self.0 & IDENTITY)
    }

    /// Whether whoever promoted it is a scheduler still, and so on up to the root.
    pub fn stands(self) -> bool {
        let mut rank = self;
        for _ in 0..MAX_SCHEDULERS {
            let Some(depth) = rank.depth() else { return false };
            let Some(above) = depth.checked_sub(1) else { return true };
            let parent = rank.parent();
            rank = component::get(parent.component()).rank();
            if rank.identity() != parent || rank.depth() != Some(above) {
                return false;
            }
        }
        false
    }
}

/// A component that is a scheduler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Scheduler {
    /// Who it is.
    pub identity: Identity,
    /// 0 for the root.
    pub depth: usize,
}

impl Scheduler {
    /// The component's number.
    pub fn component(self) -> u16 {
        self.identity.component()
    }

    /// The scheduler above; nothing for the root, and for one that was demoted since it was looked at.
    pub fn parent(self) -> Option<Scheduler> {
        let above = self.depth.checked_sub(1)?;
        let rank = component::get(self.component()).rank();
        let same = rank.identity() == self.identity && rank.depth() == Some(self.depth);
        same.then(|| Scheduler { identity: rank.parent(), depth: above })
    }

    /// It and all above it, root first; nothing if it was demoted since it was looked at.
    pub fn line(self) -> Option<[Option<Scheduler>; MAX_SCHEDULERS]> {
        let mut line = [None; MAX_SCHEDULERS];
        let mut scheduler = Some(self);
        while let Some(it) = scheduler {
            *line.get_mut(it.depth)? = Some(it);
            scheduler = it.parent();
        }
        line[0]?;
        Some(line)
    }

    /// Whether it is a scheduler still, of the same promotion.
    pub fn stands(self) -> bool {
        scheduler(self.component()) == Some(self)
    }
}

/// The component as a scheduler, if it is one: all above it still stand. A walk of at most the hierarchy's depth.
#[inline(always)]
pub fn scheduler(component: u16) -> Option<Scheduler> {
    let rank = component::get(component).rank();
    let depth = rank.depth()?;
    (depth == 0 || rank.stands()).then_some(Scheduler { identity: rank.identity(), depth })
}

/// The number of a slot of a scheduler's regions: there is such a slot, and it is not 0, which is nobody's.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Place(NonZeroU16);

impl Place {
    /// The slot with this number, if it is one.
    #[inline(always)]
    pub fn of(number: u16) -> Option<Place> {
        NonZeroU16::new(number).filter(|number| usize::from(number.get()) < SLOTS).map(Place)
    }

    /// Its number; less than [`SLOTS`].
    #[inline(always)]
    pub fn number(self) -> u16 {
        self.0.get()
    }
}

/// An entry of a path: a scheduler and the slot that the thread has in its regions (0: none); or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Entry(u64);

impl Entry {
    /// Nobody.
    pub const NONE: Entry = Entry(0);

    /// The scheduler with a slot of its regions.
    pub fn new(identity: Identity, slot: u16) -> Entry {
        let slot = Place::of(slot).map_or(0, Place::number);
        Entry(u64::from(slot) << SLOT_SHIFT | u64::from(identity.0))
    }

    /// The scheduler.
    #[inline(always)]
    pub fn identity(self) -> Option<Identity> {
        let identity = (self.0 & IDENTITY) as u32;
        (identity != 0).then_some(Identity(identity))
    }

    /// The slot; less than [`SLOTS`].
    #[inline(always)]
    pub fn slot(self) -> u16 {
        (self.0 >> SLOT_SHIFT) as u16
    }

    /// The same, as a place.
    #[inline(always)]
    pub fn place(self) -> Option<Place> {
        // Entries are made of places alone ([`Entry::new`]).
        NonZeroU16::new(self.slot()).map(Place)
    }
}

/// The schedulers over a thread.
pub struct Path([AtomicU64; MAX_SCHEDULERS]);

impl Path {
    /// Nobody's.
    // Copied into tables once, never used by itself.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const NONE: Path = Path([const { AtomicU64::new(0) }; MAX_SCHEDULERS]);

    /// The entry at this depth; of nobody if that is too deep.
    #[inline(always)]
    pub fn at(&self, depth: usize) -> Entry {
        self.0.get(depth).map_or(Entry::NONE, |entry| Entry(entry.load(core::sync::atomic::Ordering::Relaxed)))
    }

    /// Whether nobody but the root is on the path.
    #[inline(always)]
    pub fn is_roots(&self) -> bool {
        self.at(1) == Entry::NONE
    }

    /// Whether the scheduler is on it. That it is a scheduler still is for the caller to know.
    #[inline(always)]
    pub fn holds(&self, scheduler: Scheduler) -> bool {
        self.at(scheduler.depth).identity() == Some(scheduler.identity)
    }

    /// Writes an entry, whatever stood there.
    pub fn set(&self, depth: usize, entry: Entry) {
        if let Some(place) = self.0.get(depth) {
            place.store(entry.0, SeqCst);
        }
    }

    /// Writes an entry if `old` stands there; whether it did.
    pub fn replace(&self, depth: usize, old: Entry, new: Entry) -> bool {
        self.0.get(depth).is_some_and(|place| place.compare_exchange(old.0, new.0, SeqCst, SeqCst).is_ok())
    }

    /// Whether the same schedulers hold both.
    pub fn is_as(&self, other: &Path) -> bool {
        self.holders().map(|(scheduler, _)| scheduler).eq(other.holders().map(|(scheduler, _)| scheduler))
    }

    /// The schedulers that hold the other one, without slots. Another core may be changing that one: what no longer follows the
    /// entry above it is left out, as it is void there in a moment.
    pub fn copy(&self, from: &Path) {
        let mut holders = from.holders().fuse();
        for depth in 0..MAX_SCHEDULERS {
            let entry = holders.next().map_or(Entry::NONE, |(scheduler, _)| Entry::new(scheduler.identity, 0));
            self.set(depth, entry);
        }
    }

    /// The schedulers that hold the thread, root first, each with its slot: up to the first that is none any more.
    #[inline(always)]
    pub fn holders(&self) -> Holders<'_> {
        Holders { path: self, depth: 0, above: None }
    }
}

/// See [`Path::holders`].
pub struct Holders<'a> {
    path: &'a Path,
    depth: usize,
    above: Option<Identity>,
}

impl Iterator for Holders<'_> {
    type Item = (Scheduler, u16);

    #[inline(always)]
    fn next(&mut self) -> Option<(Scheduler, u16)> {
        let (depth, entry) = (self.depth, self.path.at(self.depth));
        let identity = entry.identity()?;
        let rank = component::get(identity.component()).rank();
        let parent = self.above.replace(identity);
        // The root is never anything else; the others stand on those above, which were looked at before.
        let stands = match parent {
            None => true,
            Some(parent) => rank.identity() == identity && rank.depth() == Some(depth) && rank.parent() == parent,
        };
        self.depth += 1;
        stands.then_some((Scheduler { identity, depth }, entry.slot()))
    }
}
