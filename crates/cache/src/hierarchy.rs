//! The hierarchy: private caches of every core above one shared level.
//!
//! Here is what a processor sees: an access, its answer, the counters. What happens is told in `levels.rs`. The two first-level caches of
//! one core do not answer each other: what is not in the second level is asked for from the shared one.

use crate::caches::Caches;
use crate::events::{Events, Evictions, Kind, Served};
use crate::geometry::{Geometry, GeometryError, Index};
use crate::levels::Levels;
use crate::line::Owner;
use crate::set::Set;

type UpTo8 = Set<1, u64, false>;
type UpTo16 = Set<2, u64, false>;
type UpTo16Hashed = Set<2, u64, true>;
type UpTo64Hashed = Set<8, [u8; 64], true>;

/// The levels, compiled for sets of the private and of the shared ones that are no larger than they have to be.
#[derive(Clone, Debug)]
enum Sizes {
    By8And16(Levels<UpTo8, UpTo16>),
    By8And16Hashed(Levels<UpTo8, UpTo16Hashed>),
    By8And64Hashed(Levels<UpTo8, UpTo64Hashed>),
    By16And16Hashed(Levels<UpTo16, UpTo16Hashed>),
    By64And64Hashed(Levels<UpTo64Hashed, UpTo64Hashed>),
}

/// What `act` makes of the levels.
macro_rules! of_levels {
    ($sized:expr, $levels:ident => $act:expr) => {
        match $sized {
            Sizes::By8And16($levels) => $act,
            Sizes::By8And16Hashed($levels) => $act,
            Sizes::By8And64Hashed($levels) => $act,
            Sizes::By16And16Hashed($levels) => $act,
            Sizes::By64And64Hashed($levels) => $act,
        }
    };
}

impl Sizes {
    /// An access where it is not worth to be compiled in place.
    #[inline(never)]
    fn access(&mut self, processor: usize, address: u64, kind: Kind, owner: Owner) -> Served {
        of_levels!(self, levels => levels.access(processor, address, kind, owner))
    }
}

/// The model.
#[derive(Clone, Debug)]
pub struct Hierarchy(Sizes);

impl Hierarchy {
    /// Empty caches that tell 256 owners apart.
    ///
    /// # Errors
    /// Where the hierarchy cannot be.
    pub fn new(geometry: Geometry) -> Result<Hierarchy, GeometryError> {
        Hierarchy::with_owners(geometry, 256)
    }

    /// Empty caches that tell this number of owners apart.
    ///
    /// # Errors
    /// Where the hierarchy cannot be.
    pub fn with_owners(geometry: Geometry, owners: usize) -> Result<Hierarchy, GeometryError> {
        geometry.check()?;
        let shared = geometry.shared.shape;
        let private =
            || [geometry.data, geometry.instruction].into_iter().chain(geometry.second.map(|level| level.shape));
        let most = private().map(|shape| shape.ways).max().unwrap_or(0);
        let hashed = private().any(|shape| shape.index != Index::Modulo);
        Ok(Hierarchy(match (most, hashed, shared.ways, shared.index) {
            (..=8, false, ..=16, Index::Modulo) => Sizes::By8And16(Levels::new(geometry, owners)),
            (..=8, false, ..=16, _) => Sizes::By8And16Hashed(Levels::new(geometry, owners)),
            (..=8, false, _, _) => Sizes::By8And64Hashed(Levels::new(geometry, owners)),
            (..=16, false, ..=16, _) => Sizes::By16And16Hashed(Levels::new(geometry, owners)),
            _ => Sizes::By64And64Hashed(Levels::new(geometry, owners)),
        }))
    }

    /// What it is made of.
    pub const fn geometry(&self) -> &Geometry {
        of_levels!(&self.0, levels => &levels.geometry)
    }

    /// What stands in the caches.
    pub fn caches(&self) -> Caches {
        of_levels!(&self.0, levels => levels.caches())
    }

    /// The counters of a processor. What a core does for others (snoops, invalidations) counts for its first processor.
    pub fn events(&self, processor: usize) -> &Events {
        of_levels!(&self.0, levels => &levels.events[processor])
    }

    /// Who drove whose lines out of the shared level.
    pub const fn evictions(&self) -> &Evictions {
        of_levels!(&self.0, levels => &levels.below.evictions)
    }

    /// Who drove whose lines out of the last private level.
    pub const fn private_evictions(&self) -> &Evictions {
        of_levels!(&self.0, levels => &levels.private_evictions)
    }

    /// Lines written to memory. What one access adds is written because of it: a line that it drove out of the last cache that had it changed,
    /// whoever changed it, or one that another core had to share.
    pub const fn memory_writes(&self) -> u64 {
        of_levels!(&self.0, levels => levels.below.memory_writes)
    }

    /// What this answer costs, in cycles.
    #[inline]
    pub fn cost(&self, served: Served) -> u32 {
        of_levels!(&self.0, levels => levels.cost(served))
    }

    /// Writes every changed line to memory and empties all caches (`wbinvd`). Counters stay.
    pub fn flush(&mut self) {
        of_levels!(&mut self.0, levels => levels.flush());
    }

    /// Sets all counters to zero. What stands in the caches stays.
    pub fn reset_events(&mut self) {
        of_levels!(&mut self.0, levels => levels.reset_events());
    }

    /// One access within one line, by its physical address. Address bits from 45 on are ignored.
    ///
    /// # Panics
    /// Where there is no such processor.
    #[inline]
    pub fn access(&mut self, processor: usize, address: u64, kind: Kind, owner: Owner) -> Served {
        match &mut self.0 {
            Sizes::By8And16(levels) => levels.access(processor, address, kind, owner),
            other => other.access(processor, address, kind, owner),
        }
    }

    /// One access to `size` bytes. Where it spans several lines and one of them misses the first level, the next level is
    /// asked for all of them, and the access counts as one miss of each level in which a line missed (as in cachegrind).
    pub fn access_span(&mut self, processor: usize, address: u64, size: u64, kind: Kind, owner: Owner) -> Served {
        of_levels!(&mut self.0, levels => levels.access_span(processor, address, size, kind, owner))
    }
}
