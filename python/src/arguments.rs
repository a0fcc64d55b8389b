//! What Python programs give: times as whole nanoseconds or as text with a unit.

use crate::error::input;
use pyo3::prelude::*;
use tactus_time::Duration;

/// A time: `5_000_000` (nanoseconds) or `"5 ms"`.
#[derive(FromPyObject)]
pub enum Time {
    /// Nanoseconds.
    Nanoseconds(u64),
    /// With a unit.
    Text(String),
}

impl Time {
    /// The time; at most a day, as in files.
    pub fn length(&self, what: &str) -> PyResult<Duration> {
        let length = match self {
            Time::Nanoseconds(n) => Duration::from_nanos(*n),
            Time::Text(text) => tactus_model::parse_duration(text)
                .map_err(|error| input(format!("{what} {text:?}: {error}; write a time such as \"5 ms\"")))?,
        };
        if length > tactus_model::LONGEST {
            return Err(input(format!("{what} is longer than a day")));
        }
        Ok(length)
    }

    /// The same, and more than nothing.
    pub fn positive(&self, what: &str) -> PyResult<Duration> {
        let length = self.length(what)?;
        if length.is_zero() {
            return Err(input(format!("{what} is 0; give more than nothing")));
        }
        Ok(length)
    }
}

/// A number of cores.
pub fn cores(n: usize) -> PyResult<usize> {
    match n {
        1..=4096 => Ok(n),
        _ => Err(input(format!("{n} cores; give 1 to 4096"))),
    }
}

/// A choice by name.
pub fn choose<T: Copy>(what: &str, name: &str, all: &[(&str, T)]) -> PyResult<T> {
    let found = all.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        input(format!("there is no {what} {name:?}; choose one of {}", known.join(", ")))
    })
}
