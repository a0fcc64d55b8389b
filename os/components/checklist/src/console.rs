//! What the statements tell.

use core::fmt::{self, Write};
use tactus_rt::calls;

/// The machine's console.
pub struct Console;

impl Write for Console {
    fn write_str(&mut self, words: &str) -> fmt::Result {
        calls::text(words);
        Ok(())
    }
}

/// Writes a line.
#[macro_export]
macro_rules! tell {
    ($($words:tt)*) => {{
        use core::fmt::Write;
        let _ = writeln!($crate::console::Console, $($words)*);
    }};
}
