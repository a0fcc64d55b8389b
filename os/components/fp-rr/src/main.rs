//! A scheduler component: fixed priorities, round robin among equals. The root of a system, or a child under any other.
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]

#[cfg(target_os = "none")]
use tactus_sched::policies::FixedPriority;

#[cfg(target_os = "none")]
tactus_sched::scheduler! { policy: FixedPriority = FixedPriority::new(), quantum: 1_000_000 }

/// On the host there is nothing to schedule: the component runs on the machine alone.
#[cfg(not(target_os = "none"))]
fn main() {}
