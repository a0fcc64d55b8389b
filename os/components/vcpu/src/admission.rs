//! Which VCPUs fit on a core together (Danish, Li and West, RTAS 2011).

use tactus_time::Duration;

/// A whole core.
const WHOLE: u64 = 1_000_000_000;

/// `n·(2^(1/n) − 1)` in thousand-millionths, rounded down, by `n` main VCPUs. Without any there is nobody to work for.
const BOUNDS: [u32; 16] = [
    1_000_000_000,
    1_000_000_000,
    828_427_124,
    779_763_149,
    756_828_460,
    743_491_774,
    734_772_289,
    728_626_595,
    724_061_861,
    720_537_650,
    717_734_625,
    715_451_983,
    713_557_132,
    711_958_994,
    710_592_941,
    709_411_842,
];

/// The utilisation up to which so many main VCPUs fit, in thousand-millionths of a core.
pub fn bound(mains: usize) -> u64 {
    BOUNDS[mains.min(BOUNDS.len() - 1)].into()
}

/// What VCPUs take of a core.
#[derive(Clone, Copy, Default, Debug)]
pub struct Load {
    mains: usize,
    sum: u64,
}

impl Load {
    /// The same and a main VCPU; rounded up.
    #[must_use]
    pub fn with_rate(self, budget: Duration, period: Duration) -> Load {
        let rate = (u128::from(budget.as_nanos()) * u128::from(WHOLE)).div_ceil(u128::from(period.as_nanos().max(1)));
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        Load { mains: self.mains + 1, sum: self.sum.saturating_add(rate) }
    }

    /// The same and an I/O VCPU with a share in millionths, which can disturb like (2 − U)·U.
    #[must_use]
    pub fn with_share(self, share: u32) -> Load {
        let share = u64::from(share);
        let weight = (share * 2_000_000u64.saturating_sub(share)).div_ceil(1_000);
        Load { sum: self.sum.saturating_add(weight), ..self }
    }

    /// Whether all fit.
    pub fn fits(self) -> bool {
        self.sum <= bound(self.mains)
    }

    /// The sum, in thousand-millionths of a core.
    pub fn sum(self) -> u64 {
        self.sum
    }
}
