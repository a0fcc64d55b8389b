//! Reservations: what a share of processors guarantees, and what can be promised inside it.
//!
//! [`supply`] has the supply functions, [`uniprocessor`](self::local) the tests for tasks inside one reservation,
//! [`design`] finds the cheapest reservation for given tasks, [`windows`] is the supply of a static table, [`tree`] nests reservations to any depth, with what the
//! system itself takes of them ([`charge`]). [`platform`] and
//! [`mpr`] are shares of several processors; [`questv`] is the admission bound of Quest-V.

pub mod charge;
pub mod design;
pub mod local;
pub mod mpr;
pub mod platform;
pub mod questv;
pub mod soft;
pub mod supply;
pub mod tree;
pub mod windows;

pub use supply::{BoundedDelay, Recurring, Server, Supply};
