//! What every component is linked with.
#![no_std]
