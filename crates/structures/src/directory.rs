//! A directory for whoever holds a lock over all cores already, as a global policy's container does: no atomics, no lock of
//! its own, and numbers of any ordered type, so that ties can be told apart.

use crate::flaw::same;
use crate::{planted, Flaw};
use alloc::vec::Vec;

/// What a core's number can be: the default is that of a core that nothing may be given to.
pub trait Number: Copy + Ord + Default + Send {}

impl<T: Copy + Ord + Default + Send> Number for T {}

/// Numbers of cores, and which is the greatest; for one caller at a time.
pub trait Held<K: Number>: Send {
    /// What people call it behind a lock.
    const NAME: &'static str;

    /// All cores have the default.
    fn with_cores(cores: usize) -> Self;
    /// The core has this number now.
    fn set(&mut self, core: usize, value: K);
    /// The core's number.
    fn get(&self, core: usize) -> K;
    /// The core with the greatest number; among equal ones, any.
    fn greatest(&self) -> usize;
    /// How many cores there are.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether each core's number is `actual`, and the inside is as it must be.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn check(&self, actual: &[u64]) -> Result<(), Flaw>
    where
        K: Into<u64>;
}

/// A row of numbers that is looked through.
pub struct HeldRow<K, const BUG: u8 = { planted::NONE }>(Vec<K>);

impl<K: Number, const BUG: u8> Held<K> for HeldRow<K, BUG> {
    const NAME: &'static str = "locked row";

    fn with_cores(cores: usize) -> Self {
        HeldRow(alloc::vec![K::default(); cores])
    }
    #[inline]
    fn set(&mut self, core: usize, value: K) {
        self.0[core] = value;
    }
    #[inline]
    fn get(&self, core: usize) -> K {
        self.0[core]
    }
    #[inline]
    fn greatest(&self) -> usize {
        let (mut best, mut choice) = (K::default(), 0);
        let looked_at = if BUG == planted::LAST_LEFT_OUT { &self.0[..self.0.len() - 1] } else { &self.0[..] };
        for (core, value) in looked_at.iter().enumerate() {
            if *value > best {
                (best, choice) = (*value, core);
            }
        }
        choice
    }
    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
    fn check(&self, actual: &[u64]) -> Result<(), Flaw>
    where
        K: Into<u64>,
    {
        for (core, value) in actual.iter().enumerate() {
            same(Self::NAME, "a core's number is that of its queue", core, *value, self.0[core].into())?;
        }
        Ok(())
    }
}
