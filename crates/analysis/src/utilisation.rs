//! Sums of fractions compared exactly: Σ eᵢ/pᵢ against a limit, and rounded views of them for people.

use std::cmp::Ordering;
use tactus_time::Duration;

/// Bits after the binary point of the bracket that decides almost every comparison.
const BITS: u32 = 60;

/// A sum of fractions e/p, kept as its terms so that a comparison can be exact.
#[derive(Clone, Default, Debug)]
pub struct Utilisation {
    terms: Vec<(u64, u64)>,
}

impl Utilisation {
    /// The sum of the fractions `e/p`; every `p` greater than zero.
    pub fn of(fractions: impl IntoIterator<Item = (Duration, Duration)>) -> Self {
        Utilisation { terms: fractions.into_iter().map(|(e, p)| (e.as_nanos(), p.as_nanos())).collect() }
    }

    /// Compares the sum with a whole number. `None` only where the sum lies within 2⁻⁵⁰ of the limit and its common
    /// denominator does not fit 128 bits.
    pub fn compare(&self, limit: u64) -> Option<Ordering> {
        let (low, high) = self.bracket();
        let limit_scaled = u128::from(limit) << BITS;
        if high < limit_scaled {
            return Some(Ordering::Less);
        }
        if low > limit_scaled {
            return Some(Ordering::Greater);
        }
        self.compare_exactly(limit)
    }

    /// Whether the sum is at most `limit`; a sum that cannot be told from the limit counts as over it.
    pub fn at_most(&self, limit: u64) -> bool {
        matches!(self.compare(limit), Some(Ordering::Less | Ordering::Equal))
    }

    /// The sum in millionths, rounded up: for people, and for ordering systems by load.
    pub fn millionths(&self) -> u64 {
        let exactly = self.exact().and_then(|(n, d)| Some(n.checked_mul(1_000_000)?.div_ceil(d)));
        let rounded = || self.bracket().1.saturating_mul(1_000_000).div_ceil(1 << BITS);
        u64::try_from(exactly.unwrap_or_else(rounded)).unwrap_or(u64::MAX)
    }

    /// The sum times 2⁶⁰, rounded down and rounded up.
    pub(crate) fn bracket(&self) -> (u128, u128) {
        let mut low = 0u128;
        let mut inexact = 0u128;
        for &(e, p) in &self.terms {
            let scaled = u128::from(e) << BITS;
            low += scaled / u128::from(p);
            inexact += u128::from(scaled % u128::from(p) != 0);
        }
        (low, low + inexact)
    }

    fn compare_exactly(&self, limit: u64) -> Option<Ordering> {
        let (numerator, denominator) = self.exact()?;
        Some(numerator.cmp(&denominator.checked_mul(u128::from(limit))?))
    }

    /// The sum as one fraction, where its common denominator fits.
    fn exact(&self) -> Option<(u128, u128)> {
        let (mut numerator, mut denominator) = (0u128, 1u128);
        for &(e, p) in &self.terms {
            let (e, p) = (u128::from(e), u128::from(p));
            let scale = p / gcd(denominator, p);
            numerator =
                numerator.checked_mul(scale)?.checked_add(e.checked_mul(denominator.checked_mul(scale)? / p)?)?;
            denominator = denominator.checked_mul(scale)?;
            let g = gcd(numerator, denominator);
            numerator /= g;
            denominator /= g;
        }
        Some((numerator, denominator))
    }
}

/// 2⁶⁰: the scale of [`Utilisation::bracket`].
pub(crate) const ONE: i128 = 1 << BITS;

pub(crate) const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    if a == 0 {
        1
    } else {
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(fractions: &[(u64, u64)]) -> Utilisation {
        Utilisation::of(fractions.iter().map(|&(e, p)| (Duration::from_nanos(e), Duration::from_nanos(p))))
    }

    #[test]
    fn three_thirds_are_exactly_one() {
        assert_eq!(sum(&[(1, 3), (1, 3), (1, 3)]).compare(1), Some(Ordering::Equal));
    }

    #[test]
    fn one_nanosecond_in_an_hour_is_seen() {
        let hour = 3_600_000_000_000;
        assert_eq!(sum(&[(1, 3), (2, 3), (1, hour)]).compare(1), Some(Ordering::Greater));
        assert_eq!(sum(&[(1, 3), (2 * hour / 3 - 1, hour)]).compare(1), Some(Ordering::Less));
    }

    #[test]
    fn what_people_see_is_rounded_up() {
        assert_eq!(sum(&[(1, 3)]).millionths(), 333_334);
        assert_eq!(sum(&[(3, 5), (4, 10)]).millionths(), 1_000_000);
    }
}
