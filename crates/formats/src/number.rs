//! Times as decimal numbers of some unit, turned into whole nanoseconds without a detour over binary fractions.

use tactus_model::LONGEST;
use tactus_time::Duration;

/// Which way what is finer than a nanosecond is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// Up: execution times.
    Up,
    /// Down: periods and deadlines.
    Down,
}

/// A time and whether it was rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub length: Duration,
    pub rounded: bool,
}

/// What a decimal number (`12`, `0.25`, `1e-05`) of units of this length is; nothing if it is none, is negative, or is longer
/// than a day.
pub(crate) fn time(text: &str, unit: Duration, round: Round) -> Option<Read> {
    let text = text.trim();
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (text, 0),
    };
    let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Zeros at the ends say nothing; what is left of an honest number is short.
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let digits = &digits[..digits.len() - trailing];
    if digits.is_empty() {
        return Some(Read { length: Duration::ZERO, rounded: false });
    }
    let mut power = i64::from(exponent) - fraction.len() as i64 + trailing as i64;
    // Beyond 30 digits nothing changes but whether something was left over.
    let (digits, more) = match digits.len() {
        n if n > 30 => {
            power += n as i64 - 30;
            (&digits[..30], true)
        }
        _ => (digits, false),
    };
    // Below 10^30 · 2^24 it fits as it is; a longer unit would not, and there is none.
    let scaled = digits.parse::<u128>().ok()?.checked_mul(u128::from(unit.as_nanos()))?;
    let (length, rest) = match power {
        0.. => (scaled.checked_mul(10_u128.checked_pow(u32::try_from(power).ok()?)?)?, false),
        _ => match u32::try_from(-power).ok().and_then(|n| 10_u128.checked_pow(n)) {
            Some(divisor) => (scaled / divisor, scaled % divisor != 0),
            None => (0, true),
        },
    };
    let rounded = rest || more;
    let length = length + u128::from(rounded && round == Round::Up);
    let length = Duration::from_nanos(u64::try_from(length).ok()?);
    (length <= LONGEST).then_some(Read { length, rounded })
}

/// The time as a number of units; nothing if it is not a whole one.
pub(crate) fn whole(length: Duration, unit: Duration) -> Option<u64> {
    let (n, unit) = (length.as_nanos(), unit.as_nanos().max(1));
    (n % unit == 0).then_some(n / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn ns(text: &str, round: Round) -> Option<(u64, bool)> {
        time(text, MS, round).map(|read| (read.length.as_nanos(), read.rounded))
    }

    #[test]
    fn decimal_numbers_are_read_to_the_nanosecond() {
        for (text, expected) in [
            ("12", 12_000_000),
            ("12.0", 12_000_000),
            ("0.29", 290_000),
            ("1.001", 1_001_000),
            (".5", 500_000),
            ("5.", 5_000_000),
            ("1e-05", 10),
            ("1.5E2", 150_000_000),
            ("+3", 3_000_000),
            ("0", 0),
            ("0.000", 0),
            ("86400000", 86_400_000_000_000),
        ] {
            assert_eq!(ns(text, Round::Up), Some((expected, false)), "{text}");
        }
    }

    #[test]
    fn what_is_finer_is_rounded_the_way_that_was_asked_for() {
        assert_eq!(ns("3.4567890123", Round::Up), Some((3_456_790, true)));
        assert_eq!(ns("3.4567890123", Round::Down), Some((3_456_789, true)));
        assert_eq!(ns("1e-300", Round::Up), Some((1, true)));
        assert_eq!(ns("0.10000000000000000000000000000000000000000001", Round::Down), Some((100_000, true)));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in
            ["", ".", "-1", "1e", "e5", "1,5", "0x10", "nan", "inf", "1 ms", "86400001", "1e99999999999", "1e40", "--1"]
        {
            assert_eq!(ns(text, Round::Up), None, "{text}");
        }
    }
}
