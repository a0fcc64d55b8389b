//! Resources that one job at a time may hold, and the critical sections in which jobs hold them.

use tactus_time::Duration;

/// Who may not begin while a job holds a resource, and who runs while another one waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResourceProtocol {
    /// `non-preemptive`: nobody else on the core.
    NonPreemptive,
    /// `ceiling`: nobody whose preemption level is not above those of all that use the resource. The immediate ceiling protocol
    /// under fixed priorities, the stack resource policy under earliest deadline first (Baker, Real-Time Systems 3, 1991).
    Ceiling,
    /// `inheritance`: nobody is kept off; but while a job waits for the resource, its holder runs in its place (Sha, Rajkumar and
    /// Lehoczky, IEEE Transactions on Computers 39(9), 1990).
    Inheritance,
    /// `msrp`: on one core as [`ResourceProtocol::Ceiling`]; of several, a job keeps its core from all others while it waits for the
    /// resource, first come first served, and while it holds it (Gai, Lipari and Di Natale, RTSS 2001).
    Msrp,
    /// `fmlp`: as the last one, but nobody else begins on one core either (short resources of Block, Leontyev, Brandenburg and Anderson,
    /// RTCSA 2007).
    Fmlp,
}

impl ResourceProtocol {
    /// All of them.
    pub const ALL: [ResourceProtocol; 5] = [
        ResourceProtocol::NonPreemptive,
        ResourceProtocol::Ceiling,
        ResourceProtocol::Inheritance,
        ResourceProtocol::Msrp,
        ResourceProtocol::Fmlp,
    ];

    /// Whether tasks of several cores may use such a resource.
    pub const fn spans_cores(self) -> bool {
        matches!(self, ResourceProtocol::Msrp | ResourceProtocol::Fmlp)
    }
}

/// A critical section of each job of a task, as jobs really do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CriticalSection {
    /// The resource's number.
    pub resource: u8,
    /// The job holds it when it has executed longer than this,
    pub from: Duration,
    /// and until it has executed this long.
    pub until: Duration,
}

/// The resources that a job holds, the outermost first, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Sections(u32);

impl Sections {
    /// The most that are held at once.
    pub const DEEPEST: usize = 4;
    /// The most resources of a system.
    pub const MAX_RESOURCES: usize = 254;
    /// Nothing is held.
    pub const NONE: Sections = Sections(0);

    /// The word of this value: a byte for each resource, its number and one, the outermost lowest; the rest is zero. Nothing
    /// that was not made by [`Sections::bits`] is taken for more than what its first bytes say.
    #[inline]
    pub const fn from_bits(bits: u32) -> Sections {
        Sections(bits)
    }

    /// The word.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// How many are held.
    #[inline]
    pub fn depth(self) -> usize {
        self.0.to_le_bytes().iter().position(|byte| *byte == 0).unwrap_or(Sections::DEEPEST)
    }

    /// The resources held, the outermost first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..self.depth()).map(move |n| self.0.to_le_bytes()[n] - 1)
    }

    /// The outermost of this number of them.
    #[must_use]
    pub fn outermost(self, depth: usize) -> Sections {
        match depth.min(self.depth()) {
            Sections::DEEPEST => self,
            depth => Sections(self.0 & ((1 << (8 * depth)) - 1)),
        }
    }

    /// With one more inside; nothing if that is too deep or there is no such resource.
    pub fn enter(self, resource: u8) -> Option<Sections> {
        let depth = self.depth();
        let fits = depth < Sections::DEEPEST && usize::from(resource) < Sections::MAX_RESOURCES;
        fits.then(|| Sections(self.outermost(depth).0 | (u32::from(resource) + 1) << (8 * depth)))
    }

    /// Without the innermost.
    #[must_use]
    pub fn leave(self) -> Sections {
        self.outermost(self.depth().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::vec::Vec;

    #[test]
    fn what_is_entered_last_is_left_first() {
        let mut held = Sections::NONE;
        for resource in [3, 0, 253, 7] {
            held = held.enter(resource).expect("there is room");
        }
        assert_eq!(held.iter().collect::<Vec<_>>(), [3, 0, 253, 7]);
        assert_eq!((held.enter(1), Sections::NONE.enter(254)), (None, None));
        assert_eq!(held.leave().leave().iter().collect::<Vec<_>>(), [3, 0]);
        assert_eq!(held.outermost(1).iter().collect::<Vec<_>>(), [3]);
        assert_eq!(Sections::NONE.leave(), Sections::NONE);
        // A word that nobody made: what lies behind a zero is not there.
        assert_eq!(Sections::from_bits(0x0500_0004).leave(), Sections::NONE);
        assert_eq!(Sections::from_bits(0x0500_0004).enter(8), Sections::NONE.enter(3).and_then(|it| it.enter(8)));
    }
}
