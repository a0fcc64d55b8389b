//! Which threads Linux takes into SCHED_DEADLINE.
//!
//! The kernel adds up budget by period of each thread of a root domain, in fractions of 2⁻²⁰, and refuses the thread with which the sum is
//! more than its share of the domain's cores: 95 % of each (`sched_rt_runtime_us` of `sched_rt_period_us`), less 5 % since version 6.12 for
//! the server of all other threads. Deadlines it does not look at. `kernel/sched/deadline.c`: `__checkparam_dl`, `to_ratio`, `__dl_overflow`,
//! `fair_server_init`.

use tactus_time::Duration;

/// What a thread asks of SCHED_DEADLINE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reservation {
    /// `sched_runtime`.
    pub runtime: Duration,
    /// `sched_deadline`.
    pub deadline: Duration,
    /// `sched_period`.
    pub period: Duration,
}

/// Bits after the point.
const SHIFT: u32 = 20;
/// `sched_rt_runtime_us` as the kernel has it, of a period of a second.
const RT_RUNTIME: u64 = 950_000;
/// The server of ordinary threads: 50 ms in each second.
const FAIR_SERVER: u64 = 50_000;

impl Reservation {
    /// Why the kernel takes it nowhere (`EINVAL`); nothing if it may.
    pub fn refused(&self) -> Option<String> {
        const LEAST_RUNTIME: Duration = Duration::from_nanos(1 << 10);
        const PERIODS: (Duration, Duration) = (Duration::from_micros(100), Duration::from_micros(1 << 22));
        let Reservation { runtime, deadline, period } = *self;
        if runtime < LEAST_RUNTIME {
            return Some(format!("its runtime of {runtime} is less than {LEAST_RUNTIME}"));
        }
        if deadline < runtime || period < deadline {
            return Some(format!(
                "runtime, deadline and period ({runtime}, {deadline}, {period}) must each be no longer than the next"
            ));
        }
        if period < PERIODS.0 || period > PERIODS.1 {
            return Some(format!("its period of {period} is not between {} and {}", PERIODS.0, PERIODS.1));
        }
        None
    }

    /// Budget by period as the kernel counts it, in 2⁻²⁰ of a core.
    pub fn bandwidth(&self) -> u64 {
        ratio(self.runtime.as_nanos(), self.period.as_nanos())
    }
}

fn ratio(part: u64, whole: u64) -> u64 {
    u64::try_from((u128::from(part) << SHIFT) / u128::from(whole.max(1))).unwrap_or(u64::MAX)
}

/// A version of the kernel, as far as its admission differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Up to 6.11.
    Before6_12,
    /// The server of ordinary threads counts.
    From6_12,
}

impl Kernel {
    /// Both.
    pub const ALL: [Kernel; 2] = [Kernel::Before6_12, Kernel::From6_12];

    /// The share of each core that may be reserved, in 2⁻²⁰.
    pub fn share(self) -> u64 {
        let all = ratio(RT_RUNTIME, 1_000_000);
        match self {
            Kernel::Before6_12 => all,
            Kernel::From6_12 => all - ratio(FAIR_SERVER, 1_000_000),
        }
    }

    /// How people call it.
    pub const fn label(self) -> &'static str {
        match self {
            Kernel::Before6_12 => "Linux up to 6.11",
            Kernel::From6_12 => "Linux from 6.12 on",
        }
    }

    /// The reservations, in this order, that a root domain of `cores` takes: of each whether.
    pub fn admits(self, cores: usize, all: &[Reservation]) -> Vec<bool> {
        let limit = self.share() * cores as u64;
        let mut sum = 0;
        let mut take = |one: &Reservation| {
            let fits = one.refused().is_none() && sum + one.bandwidth() <= limit;
            sum += if fits { one.bandwidth() } else { 0 };
            fits
        };
        all.iter().map(&mut take).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of([runtime, deadline, period]: [u64; 3]) -> Reservation {
        let [runtime, deadline, period] = [runtime, deadline, period].map(Duration::from_nanos);
        Reservation { runtime, deadline, period }
    }

    #[test]
    fn what_a_kernel_of_two_cores_said_is_what_is_said_here() {
        // Asked of 6.18 by sched_setattr: 36 threads of 5 % fit on two cores, and not one of 0.1 % more.
        let mut all = vec![of([500_000, 10_000_000, 10_000_000]); 38];
        let admitted = |all: &[Reservation], kernel: Kernel| kernel.admits(2, all).iter().filter(|it| **it).count();
        assert_eq!((admitted(&all, Kernel::From6_12), admitted(&all, Kernel::Before6_12)), (36, 38));
        all[36] = of([10_000, 10_000_000, 10_000_000]);
        assert!(!Kernel::From6_12.admits(2, &all)[36]);
        // The same kernel's answers to single threads.
        for (values, taken) in [
            ([1_023, 10_000_000, 10_000_000], false),
            ([1_024, 10_000_000, 10_000_000], true),
            ([20_000, 99_000, 99_000], false),
            ([20_000, 100_000, 100_000], true),
            ([10_000_000, 4_194_304_000, 4_194_304_000], true),
            ([10_000_000, 4_200_000_000, 4_200_000_000], false),
            ([1_000_000, 500_000, 10_000_000], false),
            ([5_000_000, 5_000_000, 10_000_000], true),
            ([1_000_000, 20_000_000, 10_000_000], false),
        ] {
            assert_eq!(of(values).refused().is_none(), taken, "{values:?}");
        }
    }
}
