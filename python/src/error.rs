//! The error about what was given.

use pyo3::PyErr;

pyo3::create_exception!(
    tactus,
    InputError,
    pyo3::exceptions::PyValueError,
    "What was given cannot be used; the message says what to change, and where."
);

/// An error about what was given.
pub(crate) fn input(error: impl std::fmt::Display) -> PyErr {
    InputError::new_err(error.to_string())
}
