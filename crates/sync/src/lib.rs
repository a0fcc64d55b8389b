//! Locks between cores, their order carried by types.
//!
//! A [`Lock`] is a ticket spin lock with a [`Rank`]. To take it a core shows an [`Order`], a zero-size token that
//! says which rank it holds at the moment; the guard keeps that token and hands out the one for its own rank. So a
//! core can only go down in rank, and a wrong order does not compile:
//!
//! ```
//! use tactus_sync::{Lock, Order, Rank};
//! struct Container;
//! struct PerCore;
//! impl Rank for Container { const NUMBER: u32 = 20; }
//! impl Rank for PerCore { const NUMBER: u32 = 10; }
//!
//! let container: Lock<Vec<u32>, Container> = Lock::new(vec![7]);
//! let core: Lock<u32, PerCore> = Lock::new(0);
//! let mut order = Order::unlocked();
//! let mut held = container.lock(&mut order);
//! let (queue, order) = held.parts();
//! *core.lock(order) = queue[0];
//! ```
//!
//! The other way round:
//!
//! ```compile_fail
//! use tactus_sync::{Lock, Order, Rank};
//! struct Container;
//! struct PerCore;
//! impl Rank for Container { const NUMBER: u32 = 20; }
//! impl Rank for PerCore { const NUMBER: u32 = 10; }
//!
//! let container: Lock<Vec<u32>, Container> = Lock::new(vec![7]);
//! let core: Lock<u32, PerCore> = Lock::new(0);
//! let mut order = Order::unlocked();
//! let mut held = core.lock(&mut order);
//! let (number, order) = held.parts();
//! *number = container.lock(order)[0]; // 20 is not below 10
//! ```
//!
//! Two locks of one rank at once, with the first guard's token:
//!
//! ```compile_fail
//! use tactus_sync::{Lock, Order, Rank};
//! struct Container;
//! impl Rank for Container { const NUMBER: u32 = 20; }
//!
//! let one: Lock<u32, Container> = Lock::new(0);
//! let two: Lock<u32, Container> = Lock::new(0);
//! let mut order = Order::unlocked();
//! let mut held = one.lock(&mut order);
//! let (number, order) = held.parts();
//! *number = *two.lock(order);
//! ```
//!
//! Nor can the token that a guard keeps be used behind its back:
//!
//! ```compile_fail,E0499
//! use tactus_sync::{Lock, Order, Rank};
//! struct Container;
//! impl Rank for Container { const NUMBER: u32 = 20; }
//!
//! let one: Lock<u32, Container> = Lock::new(0);
//! let two: Lock<u32, Container> = Lock::new(0);
//! let mut order = Order::unlocked();
//! let first = one.lock(&mut order);
//! let second = two.lock(&mut order);
//! drop((first, second));
//! ```
//!
//! **Model checking.** Atomics and cells come through one module, [`facade`], which is `core` in ordinary builds, loom with
//! `--cfg loom` and shuttle with `--cfg shuttle`. The lock is checked by
//! `RUSTFLAGS="--cfg loom" cargo test -p tactus-sync --release --test loom`; `docs/measured/models.md` lists all models.
#![cfg_attr(not(any(loom, shuttle)), no_std)]

#[cfg(any(test, feature = "patience"))]
extern crate std;

#[cfg(loom)]
pub mod abstraction;
mod arch;
pub mod facade;
mod helping;
mod lock;
mod nest;
mod order;
mod post;
mod queue;
mod slices;
#[cfg(loom)]
mod turns;

#[cfg(target_arch = "x86_64")]
pub use arch::stamp;
pub use helping::{HelpedLines, Piece, Port, PIECE_WORDS};
pub use lock::{lock_all, lock_two, Guard, Lock};
pub use nest::{Cell, CellRank, Container, ContainerRank, Inside, Seen};
pub use order::{Order, Rank, Unlocked};
pub use post::{MessageRing, TripleBuffer};
pub use queue::{get, put, MessageQueue, MessageSlots, Untaken, HEADER_WORDS, SLOT_HEADER_WORDS};
pub use slices::{SliceLimits, SHORT_SLICES};
