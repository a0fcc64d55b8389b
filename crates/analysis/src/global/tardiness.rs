//! A tardiness bound for global EDF on processors that are only partly available.
//!
//! **Setting.** m processors; processor h offers at least ŝ_h·Δ − I_h in any window Δ (ŝ_h ≤ 1: its rate, I_h ≥ 0:
//! how far it may fall behind that rate). F of them are always available, H = m − F are not. S = Σŝ_h, I = ΣI_h.
//! Tasks are sporadic, preemptive, sequential, jobs of one task run in order; uᵢ = eᵢ/pᵢ ≤ 1, U = Σuᵢ ≤ S. Deadlines
//! are arbitrary; Vᵢ = eᵢ·max(0, 1 − Dᵢ/pᵢ) is zero where Dᵢ ≥ pᵢ, V = ΣVᵢ. Every job with an earlier deadline has
//! precedence on every available processor.
//!
//! **Bound.** If numbers xᵢ ≥ 0 and G satisfy, for every k,
//!
//! ```text
//! G ≥ Σ_{the Λ largest} (uᵢ·xᵢ + eᵢ)
//! xₖ·S                ≥ G + V + I − eₖ                  if H = 0
//! xₖ·(S − (H−1)·uₖ)   ≥ G + V + I + (H−2)·eₖ            if H ≥ 1 and F ≥ 1
//! xₖ·(S − (m−1)·uₖ)   ≥ G + V + I + (m−1)·eₖ − S·eₖ     if F = 0
//! ```
//!
//! with Λ = m − 1 (for H = 0 also ⌈U⌉ − 1), no job of τₖ ends later than xₖ + eₖ after its deadline.
//!
//! **Sources.** The lag argument of Devi and Anderson (RTS 38, 2008), its compliant vector (one xᵢ per task, Erickson,
//! Devi and Baruah, ECRTS 2010, who also give Vᵢ), and the treatment of partly available processors by Leontyev and
//! Anderson, "Generalized tardiness bounds for global multiprocessor scheduling", RTS 44, 2010. Their bound counts the
//! supply gap I twice, before and after the deadline; the two windows are adjacent, so once is enough.
//!
//! **Proof.** By induction over jobs in deadline order. Let τₖ's job have deadline d, let Ψ be the jobs with deadlines
//! up to d. The reference schedule PS runs each job at a constant rate of at most uᵢ during [its deadline − pᵢ, its
//! deadline). Let LAG(t) be the work on Ψ that PS has done by t less what has really been done.
//!
//! 1. *Before d.* Let t₀ be the last time up to d at which some available processor did not run Ψ (or 0). Then fewer
//!    tasks had pending Ψ jobs than processors were available, so at most m − 1. One whose first pending job is not
//!    past its deadline has lag ≤ eᵢ. Else that job, of which ε is left, ends by its deadline d' + xᵢ + eᵢ, and not
//!    before t₀ + ε: lag ≤ ε + uᵢ(t₀ − d') ≤ uᵢxᵢ + eᵢ. Tasks with nothing pending have lag ≤ Vᵢ, since PS may be ahead
//!    of a release only where Dᵢ < pᵢ. So LAG(t₀) ≤ G + V. If H = 0, t₀ may be the last time at which fewer than U
//!    processors ran Ψ: LAG does not rise after it, and Λ = ⌈U⌉ − 1 tasks were pending.
//! 2. *Across d.* From t₀ to d all available processors run Ψ, and after d the work left of Ψ is LAG (PS is done). If
//!    they went on so until d + y, what is left is at most G + V + U(d − t₀) − (S(d + y − t₀) − I) ≤ G + V + I − S·y.
//! 3. *After d* no task joins those with pending Ψ jobs. While more than F tasks are pending, a processor is left
//!    without Ψ only while τₖ itself runs, and then at most H − 1 are (max with 0). τₖ runs for at most its own
//!    pending work uₖxₖ + eₖ (as in 1). So after y = xₖ at most G + V + I − S·xₖ + (H−1)(uₖxₖ + eₖ) ≤ eₖ is left, and as
//!    at least one processor is always available, all of it ends by d + xₖ + eₖ. If at most F tasks are pending at
//!    some time before d + xₖ, τₖ runs from then on without a break; its earlier job ends by d − pₖ + xₖ + eₖ ≤ d + xₖ,
//!    so the job ends by d + xₖ + eₖ. If F = 0, with y = xₖ + eₖ nothing is left at d + y. ∎

use crate::task::{ceil_div, to_duration, Sporadic};
use crate::utilisation::{Utilisation, ONE};
use tactus_time::Duration;

/// The supply of one processor: at least (1 − U)·Δ − gap in any window Δ.
#[derive(Clone, Debug, Default)]
pub struct Supply {
    /// What others take of the processor, as fractions of its time.
    pub taken: Vec<(Duration, Duration)>,
    /// I: how far the supply may fall behind its rate.
    pub gap: Duration,
}

impl Supply {
    /// A processor that is always available.
    pub fn full() -> Self {
        Supply::default()
    }
    fn is_full(&self) -> bool {
        self.taken.is_empty() && self.gap.is_zero()
    }
}

/// Why there is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unbounded {
    /// More is asked for than the processors offer.
    Overload {
        /// Σuᵢ in millionths, rounded up.
        utilisation: u64,
        /// Σŝ_h in millionths, rounded down.
        supply: u64,
    },
    /// A task needs more than one processor.
    TooHeavy(usize),
    /// The condition on the heaviest tasks fails: too few processors are always available.
    TooSparse(usize),
}

/// x in nanoseconds never gets as large as this: an hour.
const LARGEST: i128 = 3_600_000_000_000;

/// The bound on the tardiness of every task, rounded up. Without tasks nothing is late, however little the processors offer.
pub fn bounds(tasks: &[Sporadic], supply: &[Supply]) -> Result<Vec<Duration>, Unbounded> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let m = supply.len() as i128;
    if let Some(k) = tasks.iter().position(|τ| τ.execution > τ.period) {
        return Err(Unbounded::TooHeavy(k));
    }
    let asked = tasks.iter().map(|τ| (τ.execution, τ.period));
    let taken = supply.iter().flat_map(|s| s.taken.iter().copied());
    // U ≤ S, as Σuᵢ + Σ(1 − ŝ_h) ≤ m so that one exact comparison decides.
    if !Utilisation::of(asked.clone().chain(taken.clone())).at_most(m as u64) {
        let millionths = |n: u128| (n * 1_000_000 / ONE as u128) as u64;
        let free = (m * ONE) as u128;
        return Err(Unbounded::Overload {
            utilisation: Utilisation::of(asked).millionths(),
            supply: millionths(free.saturating_sub(Utilisation::of(taken).bracket().1)),
        });
    }
    // Fixed point with 60 bits: S rounded down, every u rounded up.
    let s = m * ONE - Utilisation::of(taken).bracket().1 as i128;
    let h = supply.iter().filter(|s| !s.is_full()).count() as i128;
    let u: Vec<i128> = tasks.iter().map(|τ| Utilisation::of([(τ.execution, τ.period)]).bracket().1 as i128).collect();
    let gaps: i128 = supply.iter().map(|s| i128::from(s.gap.as_nanos())).sum::<i128>()
        + tasks.iter().map(|τ| ceil_div(τ.c() * (τ.t() - τ.d()).max(0), τ.t())).sum::<i128>();
    if m == 1 {
        // Λ = 0: G is empty, and no task needs xₖ ≥ 0.
        let tardiness = ceil_div(gaps * ONE, s.max(1));
        return if s > 0 && tardiness < LARGEST {
            Ok(vec![to_duration(tardiness); tasks.len()])
        } else {
            Err(Unbounded::TooSparse(0))
        };
    }
    let lambda = if h == 0 { ceil_div(u.iter().sum::<i128>(), ONE).clamp(1, m) - 1 } else { m - 1 };

    // Per task: x = max(0, ⌈(G + constant) / rate⌉), the constant in 2⁻⁶⁰ ns.
    let waste = if h == m { m - 1 } else { (h - 1).max(0) };
    let rate: Vec<i128> = u.iter().map(|u| s - waste * u).collect();
    if let Some(k) = rate.iter().position(|r| *r <= 0) {
        return Err(Unbounded::TooSparse(k));
    }
    let constant: Vec<i128> = tasks
        .iter()
        .map(|τ| gaps * ONE + if h == m { (m - 1) * ONE * τ.c() - s * τ.c() } else { (waste - 1) * ONE * τ.c() })
        .collect();
    let mut g = 0i128;
    loop {
        let x: Vec<i128> = (0..tasks.len()).map(|k| ceil_div(g * ONE + constant[k], rate[k]).max(0)).collect();
        let mut lags: Vec<i128> = (0..tasks.len()).map(|k| ceil_div(u[k] * x[k], ONE) + tasks[k].c()).collect();
        lags.sort_unstable_by(|a, b| b.cmp(a));
        let next: i128 = lags.iter().take(lambda as usize).sum();
        if next <= g {
            return Ok((0..tasks.len()).map(|k| to_duration(x[k] + tasks[k].c())).collect());
        }
        if next > LARGEST {
            let heaviest = (0..tasks.len()).max_by_key(|&k| u[k]).unwrap_or(0);
            return Err(Unbounded::TooSparse(heaviest));
        }
        // The map is convex and increasing; from below, a secant step would overshoot, so only plain steps are taken,
        // with a relative jump of 1/1024 to end in few of them: any fixed point from above is a solution as well.
        g = next + next / 1024;
    }
}
