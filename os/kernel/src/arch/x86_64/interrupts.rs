//! Interrupts by their numbers, and those that cores send each other.

pub use super::apic::{end_of_interrupt as end, id as own_address, mail, notify, stop};
use super::registers::EXCEPTIONS;
pub use super::registers::{
    VECTOR_LINES as LINES, VECTOR_MAIL as MAIL, VECTOR_NOTIFY as NOTIFY, VECTOR_SPURIOUS as SPURIOUS,
    VECTOR_STOP as STOP, VECTOR_TIMER as TIMER,
};

/// By what a core is named to the controller of interrupts.
pub type Address = u8;

/// The processor's exceptions come before all interrupts, and of these no others arrive than have an entry.
#[inline(always)]
pub fn is_interrupt(number: u64) -> bool {
    number >= EXCEPTIONS
}
