//! Useful and evicting cache blocks of tasks whose accesses nobody recorded: how many lines, in which colours.
//!
//! *Useful* lines are those that a job may use again after a preemption, *evicting* ones all that the preempting jobs touch (Lee et al.
//! 1998; Altmeyer, Davis and Maiza 2012). A file tells neither; it tells the memory of a task and its colours. So every line of a task
//! counts as useful and as evicting, anywhere within its colours. Under LRU one evicting line can cost a set all its useful lines
//! (Burguière, Reineke and Altmeyer, WCET 2009), so it counts for as many as the set has ways.
//!
//! Colours keep tasks apart in the shared level. The private levels of a core are everybody's who runs there: what is displaced from
//! them alone is found in the shared level.

use crate::bounds::ReloadFrom;
use crate::colours::Colours;
use crate::geometry::Geometry;

/// Lines of memory that lie anywhere within some colours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CacheBlocks {
    /// How many.
    pub lines: u64,
    /// The colours, as bits.
    pub colours: u64,
}

impl CacheBlocks {
    /// Any number of lines.
    pub const fn all_of(colours: u64) -> CacheBlocks {
        CacheBlocks { lines: u64::MAX, colours }
    }

    /// Those of both.
    #[must_use]
    pub const fn union(self, other: CacheBlocks) -> CacheBlocks {
        CacheBlocks { lines: self.lines.saturating_add(other.lines), colours: self.colours | other.colours }
    }
}

/// What a geometry with colours has room for, in lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// Of the shared level, in each colour.
    each: u64,
    /// Of the private levels of a core.
    private: u64,
    /// What one line can displace of the private levels, and of the shared one.
    ways: (u64, u64),
    /// Cycles of a line from the shared level, and from memory.
    shared: u64,
    memory: u64,
}

impl Capacity {
    /// Of this geometry. A line from memory takes `wait` cycles more than it takes alone.
    pub fn of(geometry: &Geometry, colours: &Colours, wait: u64) -> Capacity {
        let line = geometry.line();
        let second = geometry.second.map(|level| level.shape);
        Capacity {
            each: colours.bytes_each(geometry) / line,
            private: (geometry.data.bytes + second.map_or(0, |shape| shape.bytes)) / line,
            ways: (
                (geometry.data.ways + second.map_or(0, |shape| shape.ways)) as u64,
                geometry.shared.shape.ways as u64,
            ),
            shared: geometry.reload(1, ReloadFrom::Shared),
            memory: geometry.reload(1, ReloadFrom::Memory) + wait,
        }
    }

    /// Whether the shared level has room for all of it at once.
    pub const fn holds(&self, blocks: CacheBlocks) -> bool {
        blocks.lines <= self.each * blocks.colours.count_ones() as u64
    }

    /// The most cycles that a job spends on loading again what of its useful blocks others displaced, at most once each.
    ///
    /// A line that left the shared level comes from memory. One that left the private levels only comes from the shared level, if that has
    /// room for all of the job's; else from memory, too.
    pub fn reload(&self, useful: CacheBlocks, evicting: CacheBlocks) -> u64 {
        let common = self.each * u64::from((useful.colours & evicting.colours).count_ones());
        let from_memory = useful.lines.min(common).min(evicting.lines.saturating_mul(self.ways.1));
        let private = self.private.min(evicting.lines.saturating_mul(self.ways.0));
        let others = private.min(useful.lines - from_memory);
        let each = if self.holds(useful) { self.shared } else { self.memory };
        from_memory * self.memory + others * each
    }

    /// The most cycles that loading again takes what these blocks can displace at once, of whomever.
    pub fn displaced(&self, evicting: CacheBlocks) -> u64 {
        let common = self.each * u64::from(evicting.colours.count_ones());
        let from_memory = common.min(evicting.lines.saturating_mul(self.ways.1));
        let private = self.private.min(evicting.lines.saturating_mul(self.ways.0));
        // Whose lines these are is not known, so whether the shared level holds them is not, either.
        (from_memory + private) * self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 colours of 2,048 lines, 4,608 lines private, 31 cycles from the shared level and 200 from memory.
    fn capacity() -> Capacity {
        let geometry = Geometry::of("i7-2600").expect("comes with Tactus");
        let colours = Colours::new(&geometry, 64).expect("64 of 128");
        Capacity::of(&geometry, &colours, 0)
    }

    #[test]
    fn only_what_has_a_colour_in_common_comes_from_memory() {
        let capacity = capacity();
        let useful = CacheBlocks { lines: 3_000, colours: 0b11 };
        let beside = |lines, colours| capacity.reload(useful, CacheBlocks { lines, colours });
        assert_eq!(beside(100_000, 0b1100), 3_000 * 31);
        assert_eq!(beside(100_000, 0b0110), 2_048 * 200 + 952 * 31);
        assert_eq!(beside(100_000, 0b0111), 3_000 * 200);
        // Ten lines meet ten sets of each level: 16 ways of the shared one, 8 and 8 of the others.
        assert_eq!(beside(10, 0b1100), 160 * 31);
        assert_eq!(beside(10, 0b0111), 160 * 200 + 160 * 31);
        assert_eq!(beside(0, 0b0111), 0);
    }

    #[test]
    fn what_the_shared_level_has_no_room_for_comes_from_memory() {
        let capacity = capacity();
        let useful = CacheBlocks { lines: 5_000, colours: 0b11 };
        assert!(!capacity.holds(useful) && capacity.holds(CacheBlocks { lines: 4_096, ..useful }));
        // No more than the private levels hold can leave them.
        assert_eq!(capacity.reload(useful, CacheBlocks::all_of(0b100)), 4_608 * 200);
        assert_eq!(capacity.displaced(CacheBlocks { lines: 10, colours: 1 }), 320 * 200);
    }
}
