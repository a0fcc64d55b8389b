//! Text for the page: escaping, and numbers as a person reads them.

use std::fmt::Write;
use tactus_time::{Duration, Instant};

/// Makes text safe between tags and inside quoted attributes. Control characters, which HTML cannot carry, and
/// marks that turn the direction of the text around become visible stand-ins.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// JSON that may stand inside a `script` element: no `<` is left that could end it.
pub(crate) fn json_in_script(value: &impl serde::Serialize) -> String {
    // Plain structs of numbers, strings and lists: nothing in them can fail to serialise.
    serde_json::to_string(value).unwrap_or_else(|_| "null".into()).replace('<', "\\u003c")
}

/// A count with its thousands set apart.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(d);
    }
    out
}

/// `one` or `many` behind a count.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Milliseconds to the microsecond, for a column whose head names the unit.
pub(crate) fn ms(d: Duration) -> String {
    format!("{:.3}", d.as_millis_f64())
}

/// Microseconds to the nanosecond, for a column whose head names the unit.
pub(crate) fn us(d: Duration) -> String {
    let n = d.as_nanos();
    format!("{}.{:03}", count(n / 1_000), n % 1_000)
}

/// A ratio in percent, with enough digits to tell that it lies above or below 1.
pub(crate) fn percent(ratio: f64) -> String {
    let text = format!("{:.0}%", ratio * 100.0);
    if (text == "100%" && ratio != 1.0) || (ratio > 0.0 && ratio < 0.1) {
        let digits = if text == "100%" { 3 } else { 1 };
        return format!("{:.digits$}%", ratio * 100.0);
    }
    text
}

/// A point of time in the run, exact: `1.204 360 512 s`.
pub(crate) fn at(t: Instant) -> String {
    let n = t.as_nanos();
    let rest = n % 1_000_000_000;
    // Narrow no-break spaces keep the groups of digits together.
    format!(
        "{}.{:03}\u{202f}{:03}\u{202f}{:03} s",
        n / 1_000_000_000,
        rest / 1_000_000,
        rest / 1_000 % 1_000,
        rest % 1_000
    )
}

/// Appends formatted text; writing to a string cannot fail.
pub(crate) fn put(out: &mut String, text: std::fmt::Arguments) {
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_that_means_something_to_html_is_left() {
        assert_eq!(escape("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
        assert_eq!(escape("a\u{0}b\u{202e}c\u{1b}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }

    #[test]
    fn a_script_element_cannot_be_ended_by_data() {
        assert_eq!(json_in_script(&"</script><!--"), "\"\\u003c/script>\\u003c!--\"");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
        assert_eq!(us(Duration::from_nanos(1_234_567)), "1,234.567");
        assert_eq!(at(Instant::from_nanos(1_204_360_512)), "1.204\u{202f}360\u{202f}512 s");
    }

    #[test]
    fn a_ratio_just_off_one_does_not_read_as_one() {
        assert_eq!(percent(1.0), "100%");
        assert_eq!(percent(0.9999), "99.990%");
        assert_eq!(percent(1.0001), "100.010%");
        assert_eq!(percent(0.613), "61%");
    }
}
