//! The partition's mode, and its life: a number that grows each time it begins anew. What was created in another life is not there.

use a653rs::bindings::OperatingMode;
use core::sync::atomic::{AtomicU32, Ordering};

/// It begins with a cold start.
static MODE: AtomicU32 = AtomicU32::new(OperatingMode::ColdStart as u32);
/// Never 0.
static LIFE: AtomicU32 = AtomicU32::new(1);

/// The mode.
pub(super) fn mode() -> OperatingMode {
    match MODE.load(Ordering::Acquire) {
        1 => OperatingMode::ColdStart,
        2 => OperatingMode::WarmStart,
        3 => OperatingMode::Normal,
        _ => OperatingMode::Idle,
    }
}

/// Whether the partition runs.
pub(super) fn is_normal() -> bool {
    mode() == OperatingMode::Normal
}

/// Sets the mode.
pub(super) fn set(mode: OperatingMode) {
    MODE.store(mode as u32, Ordering::Release);
}

/// The life that the partition is in.
pub(super) fn life() -> u32 {
    LIFE.load(Ordering::Acquire)
}

/// The partition begins anew: nothing has been created.
pub(super) fn begin_anew() {
    LIFE.fetch_add(1, Ordering::AcqRel);
}
