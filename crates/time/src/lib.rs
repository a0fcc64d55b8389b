//! Time and identity: the few types that every room speaks.
//!
//! Time is in nanoseconds and has two types, so that a point cannot be added to a point. Identifiers are
//! newtypes, so that a core number is never taken for a task number.
#![no_std]
#![forbid(unsafe_code)]

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// The largest number of cores of one system.
pub const MAX_CORES: usize = 8;

/// A point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Instant(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Instant = Instant(0);
    /// Later than everything that happens in a run.
    pub const NEVER: Instant = Instant(u64::MAX);

    /// The point `nanoseconds` after the start of the run.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Instant(nanoseconds)
    }
    /// Nanoseconds since the start of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// The time from `earlier` to here; zero if `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
    /// The point `length` after this one, or [`Instant::NEVER`].
    pub const fn saturating_add(self, length: Duration) -> Instant {
        Instant(self.0.saturating_add(length.0))
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Duration = Duration(0);
    /// Longer than any run.
    pub const MAX: Duration = Duration(u64::MAX);

    /// A length in nanoseconds.
    pub const fn from_nanos(n: u64) -> Self {
        Duration(n)
    }
    /// A length in microseconds.
    pub const fn from_micros(n: u64) -> Self {
        Duration(n * 1_000)
    }
    /// A length in milliseconds.
    pub const fn from_millis(n: u64) -> Self {
        Duration(n * 1_000_000)
    }
    /// A length in seconds.
    pub const fn from_secs(n: u64) -> Self {
        Duration(n * 1_000_000_000)
    }
    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds, rounded to what a double holds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// Milliseconds, rounded to what a double holds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// Whether it is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// The difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
    /// The difference, or nothing if `other` is longer.
    pub const fn checked_sub(self, other: Duration) -> Option<Duration> {
        match self.0.checked_sub(other.0) {
            Some(n) => Some(Duration(n)),
            None => None,
        }
    }
    /// The sum, or nothing where it does not fit.
    pub const fn checked_add(self, other: Duration) -> Option<Duration> {
        match self.0.checked_add(other.0) {
            Some(n) => Some(Duration(n)),
            None => None,
        }
    }
    /// `n` times this length, or nothing where it does not fit.
    pub const fn checked_mul(self, n: u64) -> Option<Duration> {
        match self.0.checked_mul(n) {
            Some(n) => Some(Duration(n)),
            None => None,
        }
    }
    /// How many times `other` fits, rounded up. `other` must not be zero.
    pub const fn div_ceil(self, other: Duration) -> u64 {
        self.0.div_ceil(other.0)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, length: Duration) -> Instant {
        Instant(self.0 + length.0)
    }
}
impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, length: Duration) {
        self.0 += length.0;
    }
}
impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, length: Duration) -> Instant {
        Instant(self.0 - length.0)
    }
}
impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        Duration(self.0 - earlier.0)
    }
}
impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0 + other.0)
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        self.0 += other.0;
    }
}
impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0 - other.0)
    }
}
impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Duration) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, n: u64) -> Duration {
        Duration(self.0 * n)
    }
}
impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, n: u64) -> Duration {
        Duration(self.0 / n)
    }
}
impl Div for Duration {
    type Output = u64;
    fn div(self, other: Duration) -> u64 {
        self.0 / other.0
    }
}
impl Rem for Duration {
    type Output = Duration;
    fn rem(self, other: Duration) -> Duration {
        Duration(self.0 % other.0)
    }
}
impl core::iter::Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(lengths: I) -> Duration {
        lengths.fold(Duration::ZERO, Add::add)
    }
}

/// Writes the length in the largest unit that keeps it exact to three decimals: `14.2 ms`, `2 s`, `350 ns`.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            n if n >= 1_000_000_000 => (1_000_000_000_u64, "s"),
            n if n >= 1_000_000 => (1_000_000, "ms"),
            n if n >= 1_000 => (1_000, "µs"),
            _ => return write!(f, "{} ns", self.0),
        };
        // Rounded to the nearest thousandth of the unit, which cannot overflow for lengths of a run.
        let thousandths = (u128::from(self.0) * 1_000 + u128::from(unit) / 2) / u128::from(unit);
        let (whole, mut rest) = (thousandths / 1_000, thousandths % 1_000);
        if rest == 0 {
            return write!(f, "{whole} {name}");
        }
        let mut digits = 3;
        while rest % 10 == 0 {
            rest /= 10;
            digits -= 1;
        }
        write!(f, "{whole}.{rest:0digits$} {name}")
    }
}

/// Writes the time since the start of the run.
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

/// A core, counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct CoreId(pub u8);

impl CoreId {
    /// The core's place in an array.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of cores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct CoreSet(u8);

impl CoreSet {
    /// No core.
    pub const EMPTY: CoreSet = CoreSet(0);

    /// The cores below `n`.
    pub const fn first(n: usize) -> CoreSet {
        CoreSet(if n >= 8 { 0xff } else { (1 << n) - 1 })
    }
    /// The set with bit `i` standing for core `i`.
    pub const fn from_bits(bits: u8) -> CoreSet {
        CoreSet(bits)
    }
    /// Bit `i` stands for core `i`.
    pub const fn bits(self) -> u8 {
        self.0
    }
    /// Adds a core.
    pub fn insert(&mut self, core: CoreId) {
        self.0 |= 1 << core.0;
    }
    /// Takes a core out.
    pub fn remove(&mut self, core: CoreId) {
        self.0 &= !(1 << core.0);
    }
    /// Whether the core is in it.
    pub const fn contains(self, core: CoreId) -> bool {
        self.0 & (1 << core.0) != 0
    }
    /// Whether no core is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// The cores in ascending order.
    pub fn iter(self) -> impl Iterator<Item = CoreId> {
        let mut left = self.0;
        core::iter::from_fn(move || {
            let core = left.trailing_zeros() as u8;
            (left != 0).then(|| {
                left &= left - 1;
                CoreId(core)
            })
        })
    }
}

/// A task, counted from 0 in the order of the system file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct TaskId(pub u16);

impl TaskId {
    /// The task's place in an array.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Criticality level of MC²: `A` is the most critical. Systems without levels use `A` throughout.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
#[repr(u8)]
pub enum Level {
    /// Cyclic-executive table, hard.
    #[default]
    A = 0,
    /// Partitioned EDF, hard.
    B = 1,
    /// Global EDF, bounded tardiness.
    C = 2,
    /// Best effort, no promise.
    D = 3,
}

impl Level {
    /// All levels, most critical first.
    pub const ALL: [Level; 4] = [Level::A, Level::B, Level::C, Level::D];

    /// The level with this number, if there is one.
    pub const fn from_index(index: u8) -> Option<Level> {
        match index {
            0 => Some(Level::A),
            1 => Some(Level::B),
            2 => Some(Level::C),
            3 => Some(Level::D),
            _ => None,
        }
    }
    /// The level's place in an array.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["A", "B", "C", "D"][self.index()])
    }
}
