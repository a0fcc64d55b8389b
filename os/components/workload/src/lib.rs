//! Room kept.
#![no_std]
