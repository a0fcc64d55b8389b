//! Which streams of requests can be promised, and how long each request takes at most.
//!
//! A stream sends a request at most every `period`, which ends `deadline` after it came at the latest. One request is
//! with the drive at a time and cannot be stopped: this is scheduling without preemption.
//!
//! - **EDF**: no deadline is missed if for every length t the demand of deadlines within t, and the longest request
//!   with a longer deadline, fit into t (Jeffay, Stanat and Martel, RTSS 1991; George, Rivierre and Spuri, INRIA RR-2966).
//! - **Any rule that never idles**, G-MATRIX among them: nobody waits longer than the longest time that the drive is busy
//!   without a pause. Coarser, but it holds whatever order the map suggests.

use alloc::vec::Vec;
use core::fmt;
use tactus_time::Duration;

/// A stream of requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    /// At most one request in this time.
    pub period: Duration,
    /// At most so long after it came it must be done.
    pub deadline: Duration,
    /// One request takes at most this: the largest cell that can lead to it, times the granules that it is divided into.
    pub service: Duration,
}

/// What the drive does beside the streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Beside {
    /// The longest request that is promised nothing; it may have begun just before.
    pub best_effort: Duration,
    /// By how much the first request after a pause may be longer than its stream's service, since the platter may then be
    /// anywhere. A busy time has one such request.
    pub after_pause: Duration,
}

/// Why streams are not promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// This stream has no period, deadline or service.
    Nothing(usize),
    /// Together they need more than the drive has: thousandths of its time.
    Overload(u64),
    /// Within this time more is demanded than fits.
    Demand(Duration),
    /// The drive may be busy so long, which is longer than this stream's deadline.
    Busy(usize, Duration),
    /// The drive may be busy for so long that we do not look further.
    TooLong,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Nothing(n) => write!(f, "stream {n} needs a period, a deadline and a service time"),
            Refused::Overload(share) => {
                write!(f, "the streams need {}.{} % of the drive; lengthen periods", share / 10, share % 10)
            }
            Refused::Demand(within) => write!(f, "deadlines within {within} need more than that time; lengthen them"),
            Refused::Busy(n, busy) => {
                write!(
                    f,
                    "the drive may be busy for {busy}, longer than the deadline of stream {n}; lengthen it or use EDF"
                )
            }
            Refused::TooLong => {
                write!(f, "the drive is busy for too long at a time to be looked through; lengthen periods")
            }
        }
    }
}

/// How many steps are looked through at most.
const MOST_STEPS: usize = 100_000;

/// The longest time that requests of streams wait or are served without a pause: all streams begin together, just after a
/// request that is promised nothing.
///
/// # Errors
/// Where a stream has nothing, or together they need more than there is.
pub fn busy_time(streams: &[Stream], beside: &Beside) -> Result<Duration, Refused> {
    let empty = |stream: &Stream| stream.period.is_zero() || stream.deadline.is_zero() || stream.service.is_zero();
    if let Some(n) = streams.iter().position(empty) {
        return Err(Refused::Nothing(n));
    }
    let millionths = |stream: &Stream| {
        (u128::from(stream.service.as_nanos()) * 1_000_000).div_ceil(u128::from(stream.period.as_nanos()))
    };
    let share: u128 = streams.iter().map(millionths).sum();
    if share >= 1_000_000 {
        return Err(Refused::Overload(u64::try_from(share / 1000).unwrap_or(u64::MAX)));
    }
    let once = beside.best_effort.as_nanos() + beside.after_pause.as_nanos();
    let mut busy: u64 = once + streams.iter().map(|stream| stream.service.as_nanos()).sum::<u64>();
    for _ in 0..MOST_STEPS {
        let work = |stream: &Stream| busy.div_ceil(stream.period.as_nanos()) * stream.service.as_nanos();
        let next = once + streams.iter().map(work).sum::<u64>();
        if next == busy {
            return Ok(Duration::from_nanos(busy));
        }
        busy = next;
    }
    Err(Refused::TooLong)
}

/// Admits streams for EDF. Tells how long each one's requests take at most.
///
/// # Errors
/// Why they are not admitted.
pub fn edf(streams: &[Stream], beside: &Beside) -> Result<Vec<Duration>, Refused> {
    let busy = busy_time(streams, beside)?;
    let longest = streams.iter().map(|stream| stream.deadline).max().unwrap_or(Duration::ZERO);
    let horizon = busy.max(longest);
    let mut steps = 0;
    for stream in streams {
        let mut at = stream.deadline.as_nanos();
        while at <= horizon.as_nanos() {
            steps += 1;
            if steps > MOST_STEPS {
                return Err(Refused::TooLong);
            }
            let demand = |other: &Stream| match at.checked_sub(other.deadline.as_nanos()) {
                Some(rest) => (rest / other.period.as_nanos() + 1) * other.service.as_nanos(),
                None => 0,
            };
            let before =
                streams.iter().filter(|other| other.deadline.as_nanos() > at).map(|other| other.service.as_nanos());
            let before = before.max().unwrap_or(0).max(beside.best_effort.as_nanos());
            if streams.iter().map(demand).sum::<u64>() + before + beside.after_pause.as_nanos() > at {
                return Err(Refused::Demand(Duration::from_nanos(at)));
            }
            at += stream.period.as_nanos();
        }
    }
    Ok(streams.iter().map(|stream| stream.deadline.min(busy)).collect())
}

/// Admits streams for any rule that never idles. Tells how long each one's requests take at most.
///
/// # Errors
/// Why they are not admitted.
pub fn any_order(streams: &[Stream], beside: &Beside) -> Result<Vec<Duration>, Refused> {
    let busy = busy_time(streams, beside)?;
    match streams.iter().position(|stream| stream.deadline < busy) {
        Some(n) => Err(Refused::Busy(n, busy)),
        None => Ok(streams.iter().map(|_| busy).collect()),
    }
}
