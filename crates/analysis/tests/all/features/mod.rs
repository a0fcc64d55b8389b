//! What the check may promise, by what systems have.

mod overloads;
mod page;
mod pairs;
mod together;
