//! Numbers drawn at random, the same for a seed on every computer and for ever.
//!
//! Generators of task sets draw from [`Random`] alone. It is xoshiro256++ (Blackman and Vigna, 2019), filled from its seed
//! by SplitMix64 as its authors say. It lives here because published sets must not change with a library's version.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random([u64; 4]);

/// One step of SplitMix64: a well mixed number for every number.
const fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        Random([1, 2, 3, 4].map(|n| mix(seed.wrapping_add(GOLDEN.wrapping_mul(n)))))
    }

    /// The stream of the `place`-th thing of many: any of them can be drawn without the others.
    pub fn at(seed: u64, place: &[u64]) -> Self {
        Self::new(place.iter().fold(seed, |key, n| mix(key.wrapping_add(GOLDEN)) ^ mix(n.wrapping_add(1))))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform among the whole numbers low ..= high.
    pub fn whole(&mut self, low: u64, high: u64) -> u64 {
        let choices = u128::from(high.saturating_sub(low)) + 1;
        // The product's upper half is uniform up to 2⁻⁶⁴ times the number of choices.
        low + ((u128::from(self.bits()) * choices) >> 64) as u64
    }

    /// Exponential with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Puts the things in random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for i in (1..things.len()).rev() {
            things.swap(i, self.whole(0, i as u64) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_generators() {
        // First outputs of the authors' xoshiro256++ for the state 1, 2, 3, 4.
        let mut r = Random([1, 2, 3, 4]);
        assert_eq!([r.bits(), r.bits(), r.bits()], [41_943_041, 58_720_359, 3_588_806_011_781_223]);
    }

    #[test]
    fn a_stream_depends_on_seed_and_place_alone() {
        assert_eq!(Random::at(1, &[2, 3]).bits(), Random::at(1, &[2, 3]).bits());
        assert_ne!(Random::at(1, &[2, 3]).bits(), Random::at(1, &[3, 2]).bits());
        assert_ne!(Random::at(1, &[0]).bits(), Random::at(2, &[0]).bits());
    }

    #[test]
    fn whole_numbers_are_uniform_between_their_limits() {
        let mut r = Random::new(7);
        let mut seen = [0; 5];
        for _ in 0..50_000 {
            seen[r.whole(3, 7) as usize - 3] += 1;
        }
        assert!(seen.iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
    }
}
