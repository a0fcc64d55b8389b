//! Useful and evicting cache blocks of tasks whose accesses nobody recorded: how many lines, in which colours.
//!
//! *Useful* lines are those that a job may use again after a preemption, *evicting* ones all that the preempting jobs touch (Lee et al.
//! 1998; Altmeyer, Davis and Maiza 2012). A file tells neither; it tells the memory of a task and its colours. So every line of a task
//! counts as useful and as evicting, in whole pages that are dealt to its colours in turn. Under LRU one evicting line can cost a set all
//! its useful lines (Burguière, Reineke and Altmeyer, WCET 2009), so it counts for as many as the set has ways.
//!
//! Colours keep tasks apart in the shared level. The private levels of a core are everybody's who runs there: what is displaced from
//! them alone is found in the shared level. All this holds where each level below the first has room for the task ([`crate::room`]).

use crate::bounds::ReloadFrom;
use crate::colours::Colours;
use crate::geometry::{Geometry, Shape};
use crate::room::{Again, Crowd, Lasts};

/// Lines of memory within some colours.
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
#[derive(Clone, Copy, Debug)]
pub struct Capacity<'g> {
    geometry: &'g Geometry,
    colours: Colours,
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

impl Capacity<'_> {
    /// Of this geometry. A line from memory takes `wait` cycles more than it takes alone.
    pub fn of<'g>(geometry: &'g Geometry, colours: &Colours, wait: u64) -> Capacity<'g> {
        let line = geometry.line();
        let second = geometry.second.map(|level| level.shape);
        let (data, instruction) = (geometry.data, geometry.instruction);
        Capacity {
            geometry,
            colours: *colours,
            each: colours.bytes_each(geometry) / line,
            private: (data.bytes + instruction.bytes + second.map_or(0, |shape| shape.bytes)) / line,
            ways: (
                (data.ways + instruction.ways + second.map_or(0, |shape| shape.ways)) as u64,
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

    /// How often each line of these is loaded again at most.
    ///
    /// # Errors
    /// Where what others displace may cost more than that, as long as a job lasts.
    pub fn again(&self, blocks: CacheBlocks) -> Result<Again, Lasts> {
        let crowd = Crowd::dealt(self.geometry, &self.colours, blocks);
        self.geometry.lasts(crowd).map_or_else(|| Ok(self.geometry.again(crowd)), Err)
    }

    /// The most cycles that a job takes longer than alone, from caches that have none of its lines, because of what others displaced at one
    /// time and left behind.
    ///
    /// A line that left the private levels comes from the shared one, which has room for all of the job's; and once, perhaps
    /// later, from memory where others have its colours.
    ///
    /// # Errors
    /// As [`Capacity::again`].
    pub fn reload(&self, useful: CacheBlocks, evicting: CacheBlocks) -> Result<u64, Lasts> {
        let again = self.again(useful)?;
        let from_memory = self.met(useful, evicting);
        let private = useful.lines.min(self.private).min(evicting.lines.saturating_mul(self.ways.0));
        Ok(from_memory * again.memory * self.memory + private * again.private * self.shared)
    }

    /// The same for a job that goes on on another core: each line from the core that it left, but what others displaced.
    ///
    /// # Errors
    /// As [`Capacity::again`]; and where the core that was left may answer for the same line again and again.
    pub fn reload_elsewhere(&self, blocks: CacheBlocks, evicting: CacheBlocks) -> Result<u64, Lasts> {
        let again = self.again(blocks)?;
        if !self.geometry.leaves_nothing_behind(Crowd::dealt(self.geometry, &self.colours, blocks)) {
            return Err(Lasts::Moved);
        }
        let moved = self.geometry.reload(blocks.lines * again.private, ReloadFrom::OtherCore);
        Ok(self.met(blocks, evicting) * again.memory * self.memory + moved)
    }

    /// Lines of a job that others can displace from the shared level.
    fn met(&self, useful: CacheBlocks, evicting: CacheBlocks) -> u64 {
        let common = self.each * u64::from((useful.colours & evicting.colours).count_ones());
        useful.lines.min(common).min(evicting.lines.saturating_mul(self.ways.1))
    }

    /// The most cycles that loading again takes what these blocks can displace at once, of whomever. What comes down later into a second
    /// level counts where the job goes on in whose time it does ([`Capacity::reload`]).
    pub fn displaced(&self, evicting: CacheBlocks) -> u64 {
        let common = self.each * u64::from(evicting.colours.count_ones());
        let from_memory = common.min(evicting.lines.saturating_mul(self.ways.1));
        let private = self.private.min(evicting.lines.saturating_mul(self.ways.0));
        let ways = |shape: Shape| shape.ways as u64;
        let second = self.geometry.second.map_or(0, |level| ways(level.shape));
        let again = self.geometry.again(Crowd { first: 0, second, shared: ways(self.geometry.shared.shape) });
        // Whose lines these are is not known, so whether the shared level holds them is not, either.
        (from_memory * again.memory + private) * self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 colours of 2,048 lines, 5,120 lines private, 31 cycles from the shared level and 200 from memory.
    fn reload(useful: CacheBlocks, lines: u64, colours: u64) -> Result<u64, Lasts> {
        let geometry = Geometry::of("i7-2600").expect("comes with Tactus");
        let coloured = Colours::new(&geometry, 64).expect("64 of 128");
        Capacity::of(&geometry, &coloured, 0).reload(useful, CacheBlocks { lines, colours })
    }

    #[test]
    fn only_what_has_a_colour_in_common_comes_from_memory() {
        // Eight colours are eight of the second level. Of 32 pages each has four lines in its sets: five changed lines have to come down to
        // drop one that was touched, and eight can.
        let useful = CacheBlocks { lines: 2_048, colours: 0xff };
        let beside = |lines, colours| reload(useful, lines, colours).expect("room");
        assert_eq!(beside(100_000, 0xff00), 2 * 2_048 * 31);
        assert_eq!(beside(100_000, 0xff80), 2_048 * 200 + 2 * 2_048 * 31);
        // Ten lines meet ten sets of each level: 16 ways of the shared one, 8 of each of the others.
        assert_eq!(beside(10, 0xff00), 2 * 240 * 31);
        assert_eq!(beside(10, 0x0180), 160 * 200 + 2 * 240 * 31);
        assert_eq!(beside(0, 0x0180), 0);
    }

    #[test]
    fn what_a_level_has_no_room_for_has_no_bound() {
        // Thirteen pages of one colour in sets of eight ways; in two colours seven, of which two changed lines drop one.
        let lasts = Lasts::Second { lines: 13, ways: 8, inclusive: false };
        assert_eq!(reload(CacheBlocks { lines: 13 * 64, colours: 1 }, 128, 2), Err(lasts));
        assert_eq!(reload(CacheBlocks { lines: 13 * 64, colours: 0b11 }, 1_000, 4), Ok(5 * 832 * 31));
        // Colours that the second level does not tell apart.
        let alike = reload(CacheBlocks { lines: 13 * 64, colours: 0x101 }, 128, 2);
        assert!(matches!(alike, Err(Lasts::Second { .. })), "{alike:?}");
    }

    #[test]
    fn without_a_second_level_only_the_shared_one_needs_room() {
        let geometry = Geometry::of("zynq-ultrascale").expect("comes with Tactus");
        let colours = Colours::new(&geometry, 16).expect("sixteen");
        let capacity = Capacity::of(&geometry, &colours, 0);
        let useful = |pages: u64| CacheBlocks { lines: pages * 64, colours: 1 };
        // 1,024 lines private, 15 cycles from the shared level.
        assert_eq!(capacity.reload(useful(16), CacheBlocks::all_of(2)), Ok(1_024 * 15));
        assert_eq!(capacity.reload(useful(17), CacheBlocks::all_of(2)), Err(Lasts::Shared { lines: 17, ways: 16 }));
        // Nor may it move: what does not stay in the first level is asked for again, and the core that was left answers.
        assert_eq!(capacity.reload_elsewhere(useful(16), useful(0)), Err(Lasts::Moved));
        assert_eq!(capacity.reload_elsewhere(useful(2), useful(0)), Ok(128 * 55));
    }
}
