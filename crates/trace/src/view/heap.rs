//! What components said of their heaps when the run ended.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A component's heap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeapUse {
    /// The component's name.
    pub component: String,
    /// Its length in bytes, what it needs for itself among them.
    pub bytes: u64,
    /// Bytes in use at the end.
    pub used: u64,
    /// The most bytes in use at once; of a heap in parts by colour, the sum of what was most in each.
    pub most: u64,
    /// How often memory was taken.
    pub allocations: u64,
    /// How often there was none.
    pub refused: u64,
}

impl fmt::Display for HeapUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, used, most, allocations, refused, .. } = self;
        let size = |bytes: u64| (bytes as f64 / 1024.0 * 10.0).round() / 10.0;
        write!(f, "{} KiB, at most {} KiB in use, {} KiB at the end", bytes / 1024, size(*most), size(*used))?;
        write!(f, "; taken {allocations} times")?;
        match refused {
            0 => Ok(()),
            _ => write!(f, ", exhausted {refused} times"),
        }
    }
}
