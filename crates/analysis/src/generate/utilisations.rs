//! Utilisations of n tasks that sum up to a given total.
//!
//! - [`uunifast_discard`]: Bini and Buttazzo, "Measuring the performance of schedulability tests", Real-Time Systems 30, 2005;
//!   for more than one core Davis and Burns, Real-Time Systems 47, 2011: sets with a value above the limit are thrown away.
//! - [`randfixedsum`]: Stafford's algorithm, as Emberson, Stafford and Davis use it for task sets, WATERS 2010: uniform over the
//!   same sets without throwing any away.
//! - [`drs`]: Griffin, Bate and Davis, "Generating utilization vectors for the systematic evaluation of schedulability tests",
//!   RTSS 2020: lower and upper limits of each task's own.

use super::Random;

/// n values in [0, total] that sum up to it, uniform over all such, none above `limit`; nothing if `tries` draws gave none.
pub fn uunifast_discard(random: &mut Random, n: usize, total: f64, limit: f64, tries: u32) -> Option<Vec<f64>> {
    if n == 0 || total > n as f64 * limit {
        return None;
    }
    let mut values = Vec::with_capacity(n);
    'draw: for _ in 0..tries {
        values.clear();
        let mut left = total;
        for i in 1..n {
            let next = left * random.unit().powf(1.0 / (n - i) as f64);
            values.push(left - next);
            if left - next > limit {
                continue 'draw;
            }
            left = next;
        }
        if left <= limit {
            values.push(left);
            return Some(values);
        }
    }
    None
}

/// n values between `low` and `high` that sum up to `total`, uniform over all such; nothing if there are none.
///
/// The unit cube's slice Σx = s is cut into simplices. Going from the last coordinate down, a table holds the volumes
/// of the lower slices, scaled so that they do not vanish, and the chances that follow from them.
pub fn randfixedsum(random: &mut Random, n: usize, total: f64, low: f64, high: f64) -> Option<Vec<f64>> {
    let spread = high - low;
    if n == 0 || spread.is_nan() || spread < 0.0 || total < n as f64 * low - 1e-12 || total > n as f64 * high + 1e-12 {
        return None;
    }
    if n == 1 || spread == 0.0 {
        return Some(vec![total / n as f64; n]);
    }
    let s = ((total - n as f64 * low) / spread).clamp(0.0, n as f64);
    let k = (s.floor() as usize).min(n - 1);
    let s = s.clamp(k as f64, (k + 1) as f64);
    // chance[i − 2][j]: among i coordinates with j of the whole numbers used up, to take the higher face.
    let mut volume = vec![0.0; n + 1];
    volume[1] = f64::MAX;
    let mut chance = vec![vec![0.0; n]; n - 1];
    for i in 2..=n {
        let mut next = vec![0.0; n + 1];
        for j in 0..i {
            let (below, above) = (s - k as f64 + j as f64, (k + i) as f64 - j as f64 - s);
            let (first, second) = (volume[j + 1] * below / i as f64, volume[j] * above / i as f64);
            next[j + 1] = first + second;
            let whole = next[j + 1] + f64::MIN_POSITIVE;
            chance[i - 2][j] = if above > below { second / whole } else { 1.0 - first / whole };
        }
        volume = next;
    }
    let mut values = vec![0.0; n];
    let (mut s, mut j) = (s, k);
    let (mut sum, mut product) = (0.0, 1.0);
    for i in (1..n).rev() {
        let higher = random.unit() <= chance[i - 1][j];
        let share = random.unit().powf(1.0 / i as f64);
        sum += (1.0 - share) * product * s / (i + 1) as f64;
        product *= share;
        let up = f64::from(u8::from(higher));
        values[n - i - 1] = sum + product * up;
        s -= up;
        j = j.saturating_sub(usize::from(higher));
    }
    values[n - 1] = sum + product * s;
    random.shuffle(&mut values);
    Some(values.into_iter().map(|x| low + x.clamp(0.0, 1.0) * spread).collect())
}

/// One value for each pair of limits (low, high) that sum up to `total`, uniform over all such; nothing if there are none.
///
/// A point is drawn from the simplex of all values ≥ low. Where it is above some highs, the points above just these form a
/// smaller simplex, which is blown up to the whole one; so it goes on until the point is within all limits.
pub fn drs(random: &mut Random, limits: &[(f64, f64)], total: f64) -> Option<Vec<f64>> {
    let (low, high) = limits.iter().fold((0.0, 0.0), |sum, l| (sum.0 + l.0, sum.1 + l.1));
    let known = limits.iter().all(|l| 0.0 <= l.0 && l.0 <= l.1);
    if limits.is_empty() || !known || total < low - 1e-12 || total > high + 1e-12 {
        return None;
    }
    // Seen from above, the same set is nearer to a simplex where the total is nearer to the highs.
    let room: Vec<f64> = limits.iter().map(|l| l.1 - l.0).collect();
    let turned = total - low > (high - low) / 2.0;
    let left = (if turned { high - total } else { total - low }).max(0.0);
    let drawn = loop {
        if let Some(drawn) = within(random, &room, left) {
            break drawn;
        }
    };
    let place = |((low, high), x): (&(f64, f64), f64)| if turned { high - x } else { low + x };
    Some(limits.iter().zip(drawn).map(place).collect())
}

/// Values in [0, room] that sum up to `total` ≤ Σroom/2; nothing where the rescaling lost its precision.
fn within(random: &mut Random, room: &[f64], total: f64) -> Option<Vec<f64>> {
    let mut x: Vec<f64> = room.iter().map(|_| random.exponential(1.0)).collect();
    let sum: f64 = x.iter().sum();
    x.iter_mut().for_each(|x| *x *= total / sum);
    for _ in 0..1_000 {
        let above: f64 = x.iter().zip(room).filter(|(x, room)| x > room).map(|(_, room)| room).sum();
        if x.iter().zip(room).all(|(x, room)| x <= room) {
            return Some(x);
        }
        let grown = total / (total - above);
        if !(grown.is_finite() && grown > 0.0) {
            return None;
        }
        for (x, room) in x.iter_mut().zip(room) {
            *x = (if *x > *room { *x - room } else { *x }) * grown;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(values: &[f64], total: f64) {
        assert!((values.iter().sum::<f64>() - total).abs() < 1e-9, "{values:?} do not sum up to {total}");
    }

    #[test]
    fn every_generator_hits_its_total_within_its_limits() {
        let mut random = Random::new(3);
        for n in [1, 2, 5, 20, 100] {
            for share in [0.05, 0.3, 0.62, 0.95] {
                let total = n as f64 * share;
                let fixed = randfixedsum(&mut random, n, total, 0.0, 1.0).expect("there are such values");
                close(&fixed, total);
                assert!(fixed.iter().all(|x| (0.0..=1.0).contains(x)), "{n} {share}");
                let limits: Vec<(f64, f64)> = (0..n).map(|i| (0.01, 1.0 - 0.3 * (i % 3) as f64 / 2.0)).collect();
                let most: f64 = limits.iter().map(|l| l.1).sum();
                let total = most * share;
                let drawn = drs(&mut random, &limits, total).expect("there are such values");
                close(&drawn, total);
                assert!(drawn.iter().zip(&limits).all(|(x, l)| l.0 - 1e-9 <= *x && *x <= l.1 + 1e-9));
                if share < 0.1 {
                    close(
                        &uunifast_discard(&mut random, n, n as f64 * share, 1.0, 1_000).expect("light"),
                        n as f64 * share,
                    );
                }
            }
        }
        assert_eq!(randfixedsum(&mut random, 3, 3.1, 0.0, 1.0), None);
        assert_eq!(drs(&mut random, &[(0.0, 0.5)], 0.6), None);
        assert_eq!(uunifast_discard(&mut random, 3, 3.1, 1.0, 10), None);
    }

    /// Shares of `draw`'s first value in ten equal ranges of [0, 1].
    fn spread(mut draw: impl FnMut() -> f64) -> [f64; 10] {
        let mut seen = [0.0; 10];
        for _ in 0..20_000 {
            seen[((draw() * 10.0) as usize).min(9)] += 1.0 / 20_000.0;
        }
        seen
    }

    #[test]
    fn the_three_generators_draw_from_the_same_distribution() {
        // Uniform over {x in [0, 1]⁴, Σx = 1.6}: what throwing away gives is the yardstick.
        let mut random = Random::new(5);
        let thrown = spread(|| uunifast_discard(&mut random, 4, 1.6, 1.0, 10_000).expect("likely")[0]);
        let mut random = Random::new(6);
        let fixed = spread(|| randfixedsum(&mut random, 4, 1.6, 0.0, 1.0).expect("possible")[0]);
        let mut random = Random::new(7);
        let rescaled = spread(|| drs(&mut random, &[(0.0, 1.0); 4], 1.6).expect("possible")[0]);
        for i in 0..10 {
            assert!((thrown[i] - fixed[i]).abs() < 0.012, "{i}: {thrown:?} {fixed:?}");
            assert!((thrown[i] - rescaled[i]).abs() < 0.012, "{i}: {thrown:?} {rescaled:?}");
        }
    }
}
