//! What the check may promise, by what systems have.

mod overloads;
mod pairs;
mod together;
