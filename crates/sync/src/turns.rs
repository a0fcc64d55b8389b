//! Atomics for models: loom's, with each access made known as a write of something beside it.
//!
//! Loom explores two orders of two accesses only if it remembers both, and it remembers one access of a kind for each
//! atomic: a thread that reads a value and then writes it hides the read that another thread did before, and the order
//! in which the write comes first is never looked at (loom 0.7.2; tokio-rs/loom issues 166 and 392). A write always
//! counts, so every access here first adds to a counter of its own. The counter is relaxed: it orders nothing.

use loom::sync::atomic as model;
pub use loom::sync::atomic::Ordering;

macro_rules! atomic {
    ($name:ident, $value:ty $(, $more:ident)*) => {
        /// An atomic whose accesses loom tries in every order.
        pub struct $name {
            value: model::$name,
            turn: model::AtomicU32,
        }

        #[allow(missing_docs)]
        impl $name {
            pub fn new(value: $value) -> Self {
                $name { value: model::$name::new(value), turn: model::AtomicU32::new(0) }
            }
            fn take_turn(&self) {
                self.turn.fetch_add(1, Ordering::Relaxed);
            }
            pub fn load(&self, order: Ordering) -> $value {
                self.take_turn();
                self.value.load(order)
            }
            pub fn store(&self, value: $value, order: Ordering) {
                self.take_turn();
                self.value.store(value, order);
            }
            pub fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.take_turn();
                self.value.compare_exchange(old, new, success, failure)
            }
            $(pub fn $more(&self, value: $value, order: Ordering) -> $value {
                self.take_turn();
                self.value.$more(value, order)
            })*
        }
    };
}

atomic!(AtomicBool, bool, swap, fetch_or, fetch_and);
atomic!(AtomicU32, u32, swap, fetch_add, fetch_sub, fetch_or, fetch_and);
atomic!(AtomicU64, u64, swap, fetch_add, fetch_sub, fetch_or, fetch_and);
