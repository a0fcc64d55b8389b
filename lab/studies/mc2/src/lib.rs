//! MC² with other ways to share levels C and D than one lock: with the locks of its source, and with messages. The study of its
//! overheads compares them (`docs/lab/study-mc2.md`); no key of a system file leads here.
//!
//! They schedule what a set-up for MC² asks, as the policy `mc2` does, and are made of its parts
//! ([`tactus_policy::parts::mc2`]). Their decisions have no single order, so they carry no tickets and are not replayed.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod fine;
mod messages;

pub use fine::{Fine, Machinery};
pub use messages::Messages;

use alloc::vec::Vec;
use core::fmt;
use tactus_policy::programs::{MixedCriticalityOnMulticore, Program};
use tactus_policy::{Decision, Event, Named, Policy, PolicyConfig, PolicyConfigError};
use tactus_record::Sink;
use tactus_time::Instant;

/// Why a variant cannot be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariantError {
    /// The set-up is not one for MC², or breaks a rule of it.
    Config(PolicyConfigError),
    /// Merged timers or redistribution of work without an interrupt master.
    NoInterruptMaster,
}

impl From<PolicyConfigError> for VariantError {
    fn from(error: PolicyConfigError) -> VariantError {
        VariantError::Config(error)
    }
}

impl fmt::Display for VariantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VariantError::Config(error) => error.fmt(f),
            VariantError::NoInterruptMaster => {
                write!(f, "merged timers and redistribution of work need the interrupt master: turn it on, or them off")
            }
        }
    }
}

impl core::error::Error for VariantError {}

/// They read the same plan as the policy `mc2`.
const PLAN: &str = MixedCriticalityOnMulticore::NAME;

impl Named for Messages {
    const NAME: &'static str = PLAN;
}

impl Program for Messages {
    fn make(config: &PolicyConfig) -> Result<(Messages, Vec<Self::Core>), PolicyConfigError> {
        Messages::new(config)
    }
}

/// Fine locks with what is on as numbers of the type: 1 for the interrupt master with merged timers, 1 for redistribution of work.
pub struct With<const MASTER: u8, const REDISTRIBUTION: u8>(Fine);

/// The source's "Basic".
pub type Basic = With<0, 0>;
/// The source's "IM+TM".
pub type Merged = With<1, 0>;
/// The source's "All".
pub type All = With<1, 1>;

impl<const MASTER: u8, const REDISTRIBUTION: u8> Policy for With<MASTER, REDISTRIBUTION> {
    type Core = <Fine as Policy>::Core;

    fn handle<S: Sink>(&self, core: &mut Self::Core, now: Instant, event: Event, records: &mut S) -> Decision {
        self.0.handle(core, now, event, records)
    }
}

impl<const MASTER: u8, const REDISTRIBUTION: u8> Named for With<MASTER, REDISTRIBUTION> {
    const NAME: &'static str = PLAN;
}

impl<const MASTER: u8, const REDISTRIBUTION: u8> Program for With<MASTER, REDISTRIBUTION> {
    fn make(config: &PolicyConfig) -> Result<(Self, Vec<Self::Core>), PolicyConfigError> {
        const {
            assert!(MASTER != 0 || REDISTRIBUTION == 0, "work is redistributed by the interrupt master");
        }
        let machinery = Machinery {
            interrupt_master: MASTER != 0,
            timer_merging: MASTER != 0,
            work_redistribution: REDISTRIBUTION != 0,
        };
        match Fine::new(config, machinery) {
            Ok((fine, cores)) => Ok((With(fine), cores)),
            Err(VariantError::Config(error)) => Err(error),
            Err(VariantError::NoInterruptMaster) => unreachable!("as asserted above"),
        }
    }
}
