//! A length of time as an option.

/// A length of time, as it is written in a system file.
pub fn duration(text: &str) -> Result<tactus_time::Duration, String> {
    tactus_model::parse_duration(text)
        .map_err(|error| format!("{error}; write a number and ns, us, ms or s, as in '250 ms'"))
}
