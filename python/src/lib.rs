//! Tactus for Python: task sets and systems, schedulability tests, generators, the simulator, and traces as tables.
//!
//! The Python package `tactus` puts names and documentation around this module; `tactus/_native.pyi` has its types. Times are
//! whole nanoseconds. Long computations let other Python threads run.

mod arguments;
mod generate;
mod mixed;
mod reservations;
mod run;
mod system;
mod table;
mod taskset;
mod tests;

use pyo3::prelude::*;

pyo3::create_exception!(
    tactus,
    InputError,
    pyo3::exceptions::PyValueError,
    "What was given cannot be used; the message says what to change, and where."
);

/// An error about what was given.
fn input(error: impl std::fmt::Display) -> PyErr {
    InputError::new_err(error.to_string())
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::Table>()?;
    module.add_class::<taskset::Task>()?;
    module.add_class::<taskset::TaskSet>()?;
    module.add_class::<system::System>()?;
    module.add_class::<system::Check>()?;
    module.add_class::<system::Finding>()?;
    module.add_class::<run::Trace>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<mixed::Dual>()?;
    tests::add(module)?;
    mixed::add(module)?;
    reservations::add(module)?;
    generate::add(module)
}
