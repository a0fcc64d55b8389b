//! What the statements tell.

/// Writes a line.
#[macro_export]
macro_rules! tell {
    ($($words:tt)*) => {{
        use core::fmt::Write;
        let _ = writeln!(tactus_rt::Screen, $($words)*);
    }};
}
