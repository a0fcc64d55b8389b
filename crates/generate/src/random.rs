//! Random numbers that are the same on every machine and in every release: SplitMix64 (G. Steele, D. Lea, C. Flood,
//! *Fast splittable pseudorandom number generators*, OOPSLA 2014), and the distributions drawn from it.

/// A generator.
pub struct Random(u64);

impl Random {
    /// Started from a seed.
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed);
        // Neighbouring seeds start neighbouring sequences; one step of the output function puts them far apart.
        Random(random.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform, both ends included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        let span = u128::from(most.saturating_sub(least)) + 1;
        least + ((u128::from(self.next()) * span) >> 64) as u64
    }

    /// Uniform below `limit`, which is greater than zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.between(0, limit.saturating_sub(1))
    }

    /// One of these, each as likely as the others.
    ///
    /// # Panics
    /// If there are none.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Log-uniform in [least, most).
    pub fn log_uniform(&mut self, least: f64, most: f64) -> f64 {
        (least.ln() + self.unit() * (most / least).ln()).exp()
    }

    /// `n` utilisations with the given sum, uniform over all such, none above 1 (UUniFast-Discard). Where the sum
    /// leaves next to no choice, what is above 1 after a thousand draws is cut off.
    pub fn utilisations(&mut self, n: usize, sum: f64) -> Vec<f64> {
        let mut drawn = Vec::new();
        for _ in 0..1_000 {
            drawn = self.uunifast(n, sum);
            if drawn.iter().all(|u| *u <= 1.0) {
                return drawn;
            }
        }
        drawn.iter().map(|u| u.min(1.0)).collect()
    }

    fn uunifast(&mut self, n: usize, sum: f64) -> Vec<f64> {
        let mut left = sum;
        let mut drawn = Vec::with_capacity(n);
        for after in (1..n).rev() {
            let next = left * self.unit().powf(1.0 / after as f64);
            drawn.push(left - next);
            left = next;
        }
        drawn.extend((n > 0).then_some(left));
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utilisations_add_up_and_none_exceeds_a_core() {
        let mut random = Random::new(7);
        for n in 2..60 {
            let sum = 0.2 * n as f64;
            let drawn = random.utilisations(n, sum);
            assert_eq!(drawn.len(), n);
            assert!((drawn.iter().sum::<f64>() - sum).abs() < 1e-9, "{n} tasks");
            assert!(drawn.iter().all(|u| (0.0..=1.0).contains(u)), "{drawn:?}");
        }
        assert!(random.utilisations(0, 0.3).is_empty());
    }

    #[test]
    fn the_sequence_is_the_published_one() {
        // First output for the state 1234567, from the algorithm's reference implementation.
        assert_eq!(Random(1_234_567).next(), 6_457_827_717_110_365_317);
    }
}
