//! Lock order as types: ranks are types with a number, and a token says which rank is held.

use core::marker::PhantomData;

/// A place in the order of locks. While a lock of one rank is held, only locks with a smaller number can be taken.
pub trait Rank {
    /// The place: greater numbers are taken first.
    const NUMBER: u32;
}

/// The rank of a core that holds nothing: it may take any lock.
pub struct Unlocked(());

impl Rank for Unlocked {
    const NUMBER: u32 = u32::MAX;
}

/// The right of one core to take locks below `Held`, the rank that it holds at the moment. Zero bytes.
///
/// It can be neither copied nor made, but for the first: [`Order::unlocked`].
pub struct Order<Held: Rank>(PhantomData<fn(Held)>);

impl Order<Unlocked> {
    /// The token of a core that holds no lock. Each core makes one, where its state is made, and keeps it for good;
    /// a second one for the same core would defeat the check.
    pub const fn unlocked() -> Self {
        Order(PhantomData)
    }
}

impl<Held: Rank> Order<Held> {
    pub(crate) const fn holding() -> Self {
        Order(PhantomData)
    }
}

/// Stops the compiler unless `Taken` comes below `Held`.
pub(crate) const fn check_order<Taken: Rank, Held: Rank>() {
    const {
        assert!(
            Taken::NUMBER < Held::NUMBER,
            "wrong lock order: a lock may only be taken while holding one of a greater rank"
        );
    }
}
