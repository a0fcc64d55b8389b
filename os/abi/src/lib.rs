//! What kernel and components share: calls, errors, shared memory, the layout of addresses and of the boot image.
//!
//! Nothing here touches anything. A number that both sides must agree on stands here once.
#![no_std]
#![forbid(unsafe_code)]

pub mod call;
pub mod card;
pub mod console;
pub mod counters;
pub mod frames;
pub mod image;
pub mod layout;
pub mod monitors;
pub mod port;
pub mod process;
pub mod sandbox;
pub mod shared;
pub mod slot;
pub mod turns;
