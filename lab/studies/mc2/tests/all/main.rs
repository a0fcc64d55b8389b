//! The tests of the variants, but for those under loom.
#![cfg(not(loom))]

mod oracle;
mod setup;
mod source;
mod threads;
