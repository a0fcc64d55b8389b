//! Slices of an emulated machine, whose cores execute one after another: there are none here, since one core alone shares its time with
//! nobody, and a machine with more cores executes them at the same time.

/// The slices of one core: none. In its block.
#[repr(C)]
pub struct State;

impl State {
    /// None.
    pub const NEW: State = State;
}

/// No cores take turns.
#[inline(always)]
pub fn are_there() -> bool {
    false
}

/// Nobody asks for turns: the image of a system of one core has none, and one of more cores is not booted with counted instructions.
pub fn set_up(_turn: u64, _sharing: usize, _clock: u64, _may_be_long: bool) {}

/// Another core was interrupted, and looks by itself.
pub fn let_look() {}

/// Another core is about to be interrupted.
pub fn calls(_core: usize) {}

/// The core was interrupted by another one.
pub fn looks(_core: usize) {}

/// Until when nothing on the core has to be noticed.
pub fn note(_core: usize, _until: u64) {}

/// Starts the timer for the instant.
pub fn start_timer(_: &mut State, instant: u64, _running: Option<bool>) {
    super::timer::start_until(instant);
}

/// No slice ends.
pub fn end(_: &mut State, _away: u64) {}
