//! What the ten sources of Tactus say that can be checked, and what shows it here.
//!
//! `docs/sources/statements.toml` holds every statement with its status and its evidence. This crate reads and validates the
//! file ([`read()`]), holds its tests, figures and packages against the tree ([`evidence`]), and makes the pages
//! `docs/sources/<source>.md` and the table of the book's first page from it ([`page`]). It promises that nothing counts as shown
//! without a test that ordinary runs do, or a command with a figure that is kept, and that kept figures agree with the text where
//! that has numbers ([`relation`]). Whether the command line takes a command is
//! asserted by the command line's own tests.
#![forbid(unsafe_code)]

pub mod evidence;
pub mod mutant;
pub mod page;
mod read;
pub mod relation;
mod statement;

pub use read::{read, Problem};
pub use statement::{Source, Statement, Status};
