//! Reads the rooms of the house, their manifests and their source files, for the tests that hold its rules.
#![forbid(unsafe_code)]

pub mod modules;
pub mod rooms;
