//! Room: whether every level below the first can hold all lines of a job, and what follows for one that others interrupt.
//!
//! **A first level** sees each access of a job and forgets the least recently used line first. After an interruption only the first access
//! to a line can miss that would have hit; from then on the line is as recent as it would have been (Burguière, Reineke and Altmeyer, WCET
//! 2009).
//!
//! **A level below** sees only what misses above, and an interruption changes that. So its order of use differs from then on, it drops other
//! lines, and nothing brings both runs together again: a pattern that repeats can lose something each time (Fischer and Falk, "Towards
//! analysing cache-related preemption delay in non-inclusive cache hierarchies", ACM TECS 24(1), 2024). No number of lines bounds that.
//!
//! **With room it ends.** Let no set of W ways of such a level have more than n ≤ W lines of the job. A line that is touched there goes only
//! after W others came in or were touched since: n − 1 of the job at most, and lines of others. The job touches none of those. What others
//! left in the level above can still come down while the job runs: the first level writes its changed lines into a second one that does not
//! include it, and a victim-filled level gets all that is dropped. Of these F at most belong to one set, each comes once, and
//! it takes W − n + 1 of them to drop a line that was touched. So after an interruption each line of the job is missed there
//! 1 + ⌊F ÷ (W − n + 1)⌋ times at most ([`Again`]); once where nothing comes down. That counts from any state, so also for a job that begins.
//!
//! A shared level that includes the private ones may drop a line of the job that these still have, if others have its colours: then it was
//! not touched there since, comes from memory once, and stays.
//!
//! Lines of a level that fetches ahead come in an order of their own; nothing is proved of them.

use crate::blocks::CacheBlocks;
use crate::colours::Colours;
use crate::geometry::{Geometry, Inclusion, Index, Shape};
use alloc::collections::BTreeMap;

/// The most lines of a job that one set has, at each level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Crowd {
    /// Of either cache of the first level.
    pub first: u64,
    /// Of the second level; 0 if there is none.
    pub second: u64,
    /// Of the shared level.
    pub shared: u64,
}

impl Crowd {
    /// Of these lines, each given once, by their numbers.
    pub fn of(geometry: &Geometry, lines: impl Iterator<Item = u64> + Clone) -> Crowd {
        let most = |shape: &Shape| {
            let mut sets: BTreeMap<usize, u64> = BTreeMap::new();
            lines.clone().for_each(|number| *sets.entry(shape.set_of(number)).or_default() += 1);
            sets.into_values().max().unwrap_or(0)
        };
        Crowd::by_level(geometry, most)
    }

    /// Of whole pages that are dealt to colours in turn, and within a colour to the sets of each level.
    pub fn dealt(geometry: &Geometry, colours: &Colours, blocks: CacheBlocks) -> Crowd {
        let in_page = geometry.page / geometry.line();
        let pages = blocks.lines.div_ceil(in_page);
        let (count, own) = (u64::from(colours.count()), u64::from(blocks.colours.count_ones()).max(1));
        let of_colour = pages.div_ceil(own);
        let most = |shape: &Shape| {
            let rows = shape.rows() as u64;
            if rows <= in_page {
                return pages * (in_page / rows);
            }
            let page_colours = rows / in_page;
            if page_colours >= count {
                return of_colour.div_ceil(page_colours / count);
            }
            let alike =
                |first: u64| (first..count).step_by(page_colours as usize).filter(|at| blocks.colours >> at & 1 == 1);
            let most = (0..page_colours).map(|first| alike(first).count() as u64).max().unwrap_or(0);
            pages.min(most * of_colour)
        };
        Crowd::by_level(geometry, most)
    }

    fn by_level(geometry: &Geometry, most: impl Fn(&Shape) -> u64) -> Crowd {
        Crowd {
            first: most(&geometry.data).max(most(&geometry.instruction)),
            second: geometry.second.map_or(0, |level| most(&level.shape)),
            shared: most(&geometry.shared.shape),
        }
    }
}

/// How often each line of a job is loaded again at most after one interruption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Again {
    /// Into the private levels.
    pub private: u64,
    /// From memory, where others have colours of the job.
    pub memory: u64,
}

/// Why what an interruption or a move leaves behind may last as long as the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lasts {
    /// A set of the second level has fewer ways than the job has lines there.
    Second {
        /// Lines.
        lines: u64,
        /// Ways.
        ways: u64,
        /// Whether it includes the first level.
        inclusive: bool,
    },
    /// A set of the shared level has.
    Shared {
        /// Lines.
        lines: u64,
        /// Ways.
        ways: u64,
    },
    /// A prefetcher brings in lines.
    Prefetcher,
    /// The core that a job left has lines that the job asks for again and again, and answers later than the shared level.
    Moved,
}

impl Shape {
    /// The sets that the low bits of a line's number tell apart, whatever a hash adds.
    pub const fn rows(&self) -> usize {
        match self.index {
            Index::Modulo => self.sets(),
            Index::SandyBridge4 => self.sets() / 4,
        }
    }
}

/// The most lines that can come down from a level above into one set of the one below.
const fn above(upper: Shape, lower: Shape) -> u64 {
    (upper.ways * upper.rows().div_ceil(lower.rows())) as u64
}

impl Geometry {
    /// Why an interruption may cost a job with this crowd more than to load its lines again; nothing if it cannot.
    pub fn lasts(&self, crowd: Crowd) -> Option<Lasts> {
        if self.next_line {
            return Some(Lasts::Prefetcher);
        }
        if let Some(second) = self.second {
            let ways = second.shape.ways as u64;
            if crowd.second > ways {
                let inclusive = second.inclusion == Inclusion::Inclusive;
                return Some(Lasts::Second { lines: crowd.second, ways, inclusive });
            }
        }
        let ways = self.shared.shape.ways as u64;
        (crowd.shared > ways).then_some(Lasts::Shared { lines: crowd.shared, ways })
    }

    /// How often lines are loaded again, for a crowd that has room ([`Geometry::lasts`]).
    pub fn again(&self, crowd: Crowd) -> Again {
        let times = |come: u64, ways: usize, lines: u64| 1 + come / (ways as u64 + 1).saturating_sub(lines).max(1);
        let (shared, victims) = (self.shared.shape, self.shared.inclusion == Inclusion::Victim);
        let Some(second) = self.second else {
            let come = above(self.data, shared) + above(self.instruction, shared);
            return Again { private: 1, memory: if victims { times(come, shared.ways, crowd.shared) } else { 1 } };
        };
        if second.inclusion == Inclusion::Inclusive {
            return Again { private: 1, memory: 1 };
        }
        let private = times(above(self.data, second.shape), second.shape.ways, crowd.second);
        Again { private, memory: if victims { private } else { 1 } }
    }

    /// Whether a job with this crowd that moves to another core asks for each line a known number of times while the core that it left still
    /// has it: its last private level has room for all of them, or other cores answer as soon as the shared level does.
    pub fn leaves_nothing_behind(&self, crowd: Crowd) -> bool {
        let costs = &self.costs;
        let answer = costs.remote_clean.max(costs.remote_modified);
        let ways = self.data.ways.min(self.instruction.ways) as u64;
        self.second.is_some() || crowd.first <= ways || answer <= costs.shared
    }
}
