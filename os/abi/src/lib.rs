//! What kernel and components share.
#![no_std]
