//! The two rules of fine-grained locking in MC² (Herman et al., 2.6), as types: containers of tasks, and small cells of
//! cores inside them.
//!
//! - **Rule (a): a core's cell is held for a time that does not grow with the number of tasks.** What it guards is
//!   [`Copy`], so it owns no queue; and while it is held inside a container, that container shows only what was looked up
//!   before: [`Inside::look`] gives the one token with which a cell can be taken, and borrows the container meanwhile.
//! - **Rule (b): a container is never taken inside a container.** All of them have one rank.
//!
//! So nobody waits for a container who holds a cell or another container, and there is no circle of waiting. The right way:
//!
//! ```
//! use tactus_sync::{Cell, Container, Order};
//! let ready = Container::new(vec![30, 10, 20]);
//! let core = Cell::new(15);
//! let mut order = Order::unlocked();
//!
//! let mut inside = ready.enter(&mut order);
//! let mut seen = inside.look(|queue| queue.iter().min().copied()); // as long as it takes
//! let best = seen.known();
//! let displaced = core.with(seen.order(), |linked| best.filter(|best| best < linked).map(|best| std::mem::replace(linked, best)));
//! inside.work().extend(displaced); // the cell is free again
//! ```
//!
//! Rule (a), a container's queue while a cell is held:
//!
//! ```compile_fail,E0499
//! use tactus_sync::{Cell, Container, Order};
//! let ready = Container::new(vec![30, 10, 20]);
//! let core = Cell::new(15);
//! let mut order = Order::unlocked();
//!
//! let mut inside = ready.enter(&mut order);
//! let mut seen = inside.look(|queue| queue.len());
//! core.with(seen.order(), |linked| *linked = inside.work().pop().unwrap()); // the queue is out of reach here
//! ```
//!
//! Rule (a), a queue in a cell:
//!
//! ```compile_fail,E0277
//! use tactus_sync::Cell;
//! let core = Cell::new(vec![1, 2, 3]); // not `Copy`: its length is not known
//! ```
//!
//! Rule (a), what was looked up must be a copy, and not a way back into the queue:
//!
//! ```compile_fail
//! use tactus_sync::{Container, Order};
//! let ready = Container::new(vec![30, 10, 20]);
//! let mut order = Order::unlocked();
//! let mut inside = ready.enter(&mut order);
//! let seen = inside.look(|queue| queue.first());
//! ```
//!
//! The wrong order, a container inside a cell: what is done with a cell gets no token at all, and the one that it was taken
//! with is in use:
//!
//! ```compile_fail,E0499
//! use tactus_sync::{Cell, Container, Order};
//! let ready = Container::new(vec![30, 10, 20]);
//! let core = Cell::new(15);
//! let mut order = Order::unlocked();
//! core.with(&mut order, |linked| ready.enter(&mut order).work().push(*linked));
//! ```
//!
//! Rule (b), a container inside a container:
//!
//! ```compile_fail
//! use tactus_sync::{Container, Order};
//! let (b, c) = (Container::new(vec![1]), Container::new(vec![2]));
//! let mut order = Order::unlocked();
//! let mut inside = b.enter(&mut order);
//! let mut seen = inside.look(|queue| queue.len());
//! c.enter(seen.order()).work().push(3); // same rank
//! ```

use crate::{Guard, Lock, Order, Rank};

/// The rank of all containers.
pub struct ContainerRank;
impl Rank for ContainerRank {
    const NUMBER: u32 = 100;
}

/// The rank of all cells.
pub struct CellRank;
impl Rank for CellRank {
    const NUMBER: u32 = 50;
}

/// Queues of tasks that several cores share, behind one lock.
pub struct Container<T>(Lock<T, ContainerRank>);

impl<T> Container<T> {
    /// One that nobody holds.
    pub fn new(value: T) -> Self {
        Container(Lock::new(value))
    }

    /// Waits for the container and takes it.
    #[inline]
    pub fn enter<'a, Held: Rank>(&'a self, order: &'a mut Order<Held>) -> Inside<'a, T> {
        Inside(self.0.lock(order))
    }
}

/// A container that is held.
pub struct Inside<'a, T>(Guard<'a, T, ContainerRank>);

impl<T> Inside<'_, T> {
    /// What it guards, while no cell is held.
    #[inline]
    pub fn work(&mut self) -> &mut T {
        &mut self.0
    }

    /// Looks something up, and keeps the container closed while cells are taken with what was found.
    #[inline]
    pub fn look<K: Copy + 'static>(&mut self, look: impl FnOnce(&mut T) -> K) -> Seen<'_, K> {
        let (value, order) = self.0.parts();
        Seen { known: look(value), order }
    }
}

/// What was looked up in a container that is held, and the right to take cells.
pub struct Seen<'a, K> {
    known: K,
    order: &'a mut Order<ContainerRank>,
}

impl<K: Copy> Seen<'_, K> {
    /// What was looked up.
    #[inline]
    pub fn known(&self) -> K {
        self.known
    }

    /// The token to take a cell with.
    #[inline]
    pub fn order(&mut self) -> &mut Order<ContainerRank> {
        self.order
    }
}

/// What several cores want to know of one core: a fixed number of words behind a lock of its own.
pub struct Cell<T: Copy>(Lock<T, CellRank>);

impl<T: Copy> Cell<T> {
    /// One that nobody holds.
    pub fn new(value: T) -> Self {
        Cell(Lock::new(value))
    }

    /// Does something with it while it is held. No other lock can be taken meanwhile.
    #[inline]
    pub fn with<R, Held: Rank>(&self, order: &mut Order<Held>, does: impl FnOnce(&mut T) -> R) -> R {
        does(&mut self.0.lock(order))
    }
}
