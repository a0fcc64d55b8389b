//! No structure at all: each core writes its number, and whoever looks looks at all of them. Writing is one store;
//! finding grows with the number of cores.

use super::values::Values;
use super::Directory;
use crate::{planted, Cores, Flaw};
use tactus_sync::{Order, Rank};

/// Each core's number, and nothing else.
pub struct Scan<const BUG: u8 = { planted::NONE }> {
    values: Values,
}

impl<const BUG: u8> Directory for Scan<BUG> {
    const NAME: &'static str = "scan";

    fn init(cores: usize) -> Self {
        Scan { values: Values::new(cores) }
    }
    #[inline]
    fn preempt<H: Rank>(&self, _: usize, _: &mut Order<H>, core: usize, value: u64) {
        self.values.set(core, value);
    }
    #[inline]
    fn find<H: Rank>(&self, _: usize, _: &mut Order<H>, than: u64, allowed: Cores) -> Option<usize> {
        let last = self.values.len() - 1;
        let allowed = if BUG == planted::LAST_LEFT_OUT { allowed.without(last) } else { allowed };
        self.values.scan(than, allowed)
    }
    fn check<H: Rank>(&self, _: &mut Order<H>, actual: &[u64]) -> Result<(), Flaw> {
        self.values.check(Self::NAME, actual)
    }
}
