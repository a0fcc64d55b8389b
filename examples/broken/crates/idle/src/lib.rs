//! Stands in for a component of a broken system; never built.
#![no_std]
