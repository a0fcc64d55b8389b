//! Tactus for Python: task sets and systems, schedulability tests, generators, the simulator, and traces as tables.
//!
//! The Python package `tactus` puts names and documentation around this module; `tactus/_native.pyi` has its types. Times are
//! whole nanoseconds. Long computations let other Python threads run.

mod arguments;
mod error;
mod generate;
mod mixed;
mod reservations;
mod run;
mod system;
mod table;
mod taskset;
mod tests;

use error::InputError;
use pyo3::prelude::*;

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
