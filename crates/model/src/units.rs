//! Times and sizes as people write them: `"25 ms"`, `"1.5 s"`, `"32 KiB"`.

use std::fmt;
use tactus_time::Duration;

/// Why a text is not a time or a size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitError {
    /// Not a number with a unit.
    Form,
    /// Less than nothing.
    Negative,
    /// More than fits.
    TooLarge,
    /// Finer than a nanosecond, or than a byte.
    TooFine,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnitError::Form => "not a number with a unit",
            UnitError::Negative => "negative",
            UnitError::TooLarge => "more than fits",
            UnitError::TooFine => "finer than the smallest unit",
        })
    }
}

impl std::error::Error for UnitError {}

const TIMES: [(&str, u64); 6] =
    // The micro sign has two code points.
    [("ns", 1), ("us", 1_000), ("\u{b5}s", 1_000), ("\u{3bc}s", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

const SIZES: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Reads a time: a decimal number and one of `ns`, `us` or `µs`, `ms`, `s`.
///
/// # Errors
/// If the text has another form, is negative, finer than a nanosecond, or more than 2^64 − 1 ns.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    quantity(text, &TIMES).map(Duration::from_nanos)
}

/// Reads a size in bytes: a decimal number and one of `B`, `KiB`, `MiB`, `GiB`.
///
/// # Errors
/// If the text has another form, is negative, is no whole number of bytes, or more than 2^64 − 1 bytes.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    quantity(text, &SIZES)
}

/// Writes a size in the largest unit in which it is a whole number.
pub fn format_size(bytes: u64) -> String {
    let unit = SIZES.iter().rev().find(|(_, factor)| bytes >= *factor && bytes % factor == 0);
    let (name, factor) = unit.unwrap_or(&SIZES[0]);
    format!("{} {name}", bytes / factor)
}

fn quantity(text: &str, units: &[(&str, u64)]) -> Result<u64, UnitError> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start();
    let factor = units.iter().find(|(name, _)| *name == unit).ok_or(UnitError::Form)?.1;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
        return Err(UnitError::Form);
    }
    if negative {
        return Err(UnitError::Negative);
    }
    let whole: u64 = whole.parse().map_err(|_| UnitError::TooLarge)?;
    let fraction = fraction.trim_end_matches('0');
    // Factors are 2^30 at most, so a fraction of 28 digits times a factor stays below 2^128. No time has more than
    // nine digits; a size in GiB that has more than 28 is not one that anybody means.
    if fraction.len() > 28 {
        return Err(UnitError::TooFine);
    }
    let parts = 10_u128.pow(fraction.len() as u32);
    let rest = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().map_err(|_| UnitError::Form)? };
    let rest = rest * u128::from(factor);
    if rest % parts != 0 {
        return Err(UnitError::TooFine);
    }
    let total = u128::from(whole) * u128::from(factor) + rest / parts;
    u64::try_from(total).map_err(|_| UnitError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_in_every_unit() {
        for (text, nanos) in [
            ("10 ns", 10),
            ("100 us", 100_000),
            ("2.5 \u{b5}s", 2_500),
            ("2.5\u{3bc}s", 2_500),
            ("25 ms", 25_000_000),
            (" 1.5 s ", 1_500_000_000),
            ("0.1ms", 100_000),
            ("1.000000001 s", 1_000_000_001),
            ("0 s", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_time_is_refused_with_its_kind_of_fault() {
        for (text, fault) in [
            ("", UnitError::Form),
            ("25", UnitError::Form),
            ("ms", UnitError::Form),
            (". ms", UnitError::Form),
            ("1. ms", UnitError::Form),
            ("1.2.3 ms", UnitError::Form),
            ("1 m s", UnitError::Form),
            ("1 MS", UnitError::Form),
            ("-3 ms", UnitError::Negative),
            ("1.5 ns", UnitError::TooFine),
            ("0.0000000001 s", UnitError::TooFine),
            ("99999999999 s", UnitError::TooLarge),
            ("99999999999999999999999999 ns", UnitError::TooLarge),
        ] {
            assert_eq!(parse_duration(text), Err(fault), "{text}");
        }
        let long = format!("0.{} s", "1".repeat(200));
        assert_eq!(parse_duration(&long), Err(UnitError::TooFine));
        let long = format!("0.{} s", "9".repeat(30));
        assert_eq!(parse_duration(&long), Err(UnitError::TooFine));
    }

    #[test]
    fn sizes_are_binary_and_written_back_in_the_largest_whole_unit() {
        assert_eq!(parse_size("32 KiB"), Ok(32 << 10));
        assert_eq!(parse_size("0.5 MiB"), Ok(512 << 10));
        assert_eq!(parse_size("32 KB"), Err(UnitError::Form));
        assert_eq!(format_size(32 << 10), "32 KiB");
        assert_eq!(format_size(1_000), "1000 B");
        assert_eq!(format_size(0), "0 B");
    }
}
