//! Sets of cores, as one word.

/// The most cores that a directory can hold.
pub const CORES: usize = 64;

/// A set of cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cores(pub u64);

impl Cores {
    /// No core.
    pub const NONE: Cores = Cores(0);
    /// Every core.
    pub const ALL: Cores = Cores(u64::MAX);

    /// The cores below `n`, 64 at most.
    pub const fn below(n: usize) -> Cores {
        Cores(if n >= CORES { u64::MAX } else { (1 << n) - 1 })
    }
    /// This core alone.
    pub const fn only(core: usize) -> Cores {
        Cores(1 << core)
    }
    /// Whether the core is one of them.
    #[inline]
    pub const fn contains(self, core: usize) -> bool {
        self.0 >> core & 1 != 0
    }
    /// Those that are in both.
    #[inline]
    pub const fn and(self, other: Cores) -> Cores {
        Cores(self.0 & other.0)
    }
    /// All but this one.
    #[inline]
    pub const fn without(self, core: usize) -> Cores {
        Cores(self.0 & !(1 << core))
    }
    /// The first one.
    #[inline]
    pub const fn first(self) -> Option<usize> {
        if self.0 == 0 {
            None
        } else {
            Some(self.0.trailing_zeros() as usize)
        }
    }
    /// One after another.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            let core = Cores(left).first()?;
            left &= left - 1;
            Some(core)
        })
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_it_was_made_of() {
        assert_eq!(Cores(0b1011).iter().collect::<alloc::vec::Vec<_>>(), [0, 1, 3]);
        assert_eq!(Cores::below(64), Cores::ALL);
        assert_eq!(Cores::below(3), Cores(0b111));
        assert_eq!(Cores::below(3).without(0).first(), Some(1));
        assert!(Cores::only(63).contains(63) && !Cores::only(63).contains(62));
        assert_eq!(Cores::NONE.first(), None);
    }
}
