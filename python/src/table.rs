//! Tables: columns of Apache Arrow, handed to polars, pandas or pyarrow without a copy through the Arrow C stream interface.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::Arc;

/// A table that polars, pandas, pyarrow and everything else that speaks Arrow takes as it is.
#[pyclass(module = "tactus", frozen)]
pub struct Table(RecordBatch);

/// Columns to be.
#[derive(Default)]
pub struct Columns(Vec<(Field, ArrayRef)>);

impl Columns {
    fn add(mut self, name: &str, kind: DataType, array: ArrayRef) -> Self {
        self.0.push((Field::new(name, kind, true), array));
        self
    }
    pub fn text<S: AsRef<str>>(self, name: &str, values: impl IntoIterator<Item = Option<S>>) -> Self {
        self.add(name, DataType::Utf8, Arc::new(values.into_iter().collect::<StringArray>()))
    }
    pub fn number(self, name: &str, values: impl IntoIterator<Item = Option<u64>>) -> Self {
        self.add(name, DataType::UInt64, Arc::new(values.into_iter().collect::<UInt64Array>()))
    }
    pub fn real(self, name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.add(name, DataType::Float64, Arc::new(values.into_iter().collect::<Float64Array>()))
    }
    pub fn truth(self, name: &str, values: impl IntoIterator<Item = Option<bool>>) -> Self {
        self.add(name, DataType::Boolean, Arc::new(values.into_iter().collect::<BooleanArray>()))
    }
    pub fn table(self) -> PyResult<Table> {
        let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = self.0.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        batch.map(Table).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

impl Table {
    fn values<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyList>> {
        let array = self.0.column(column);
        let n = array.len();
        match array.data_type() {
            DataType::UInt64 => {
                let all = array.as_primitive::<UInt64Type>();
                PyList::new(py, (0..n).map(|i| all.is_valid(i).then(|| all.value(i))))
            }
            DataType::Float64 => {
                let all = array.as_primitive::<Float64Type>();
                PyList::new(py, (0..n).map(|i| all.is_valid(i).then(|| all.value(i))))
            }
            DataType::Boolean => {
                let all = array.as_boolean();
                PyList::new(py, (0..n).map(|i| all.is_valid(i).then(|| all.value(i))))
            }
            _ => {
                let all = array.as_string::<i32>();
                PyList::new(py, (0..n).map(|i| all.is_valid(i).then(|| all.value(i))))
            }
        }
    }
}

#[pymethods]
impl Table {
    /// The table for whoever speaks Arrow: a capsule that holds an `ArrowArrayStream`.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer leave a wish for other types unfulfilled.
        let _ = requested_schema;
        let schema = self.0.schema();
        let batches = RecordBatchIterator::new(std::iter::once(Ok(self.0.clone())), schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// One column as a list.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        let place = self.0.schema().index_of(column);
        let place =
            place.map_err(|_| PyKeyError::new_err(format!("{column}; there are {}", self.columns().join(", "))))?;
        self.values(py, place)
    }

    /// Every column as a list, by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (place, field) in self.0.schema().fields().iter().enumerate() {
            dict.set_item(field.name(), self.values(py, place)?)?;
        }
        Ok(dict)
    }

    /// As a polars data frame; polars has to be installed.
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let table = Py::new(py, Table(self.0.clone()))?;
        py.import("polars")?.call_method1("DataFrame", (table,))
    }

    /// As a pyarrow table; pyarrow has to be installed.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let table = Py::new(py, Table(self.0.clone()))?;
        py.import("pyarrow")?.call_method1("table", (table,))
    }

    /// As a pandas data frame; pandas and pyarrow have to be installed.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_arrow(py)?.call_method0("to_pandas")
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows: {})", self.0.num_rows(), self.columns().join(", "))
    }
}
