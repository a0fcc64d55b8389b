//! A scheduler component: deferrable servers over fixed priorities. The root of a system, or a child under any other.
//!
//! The first child of the system file is in server 1, the second in server 2, and so on, each with 2 ms in 10 ms until
//! somebody says otherwise by `sched_server`.
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]

#[cfg(target_os = "none")]
mod component {
    use tactus_sched::policies::Deferrable;
    use tactus_sched::rt::{Caller, Error};

    tactus_sched::scheduler! {
        policy: Deferrable = Deferrable::new(2_000_000, 10_000_000),
        quantum: 1_000_000,
        services: [sched_server],
    }

    /// `(server, budget, period)` in nanoseconds: on the caller's core, from now on.
    fn sched_server(caller: Caller, [server, budget, period, ..]: [u64; 5]) -> [u64; 2] {
        let set = SCHEDULER.with_policy(caller, |policy| policy.set_server(server, budget, period));
        tactus_sched::services::words(if set { Ok(0) } else { Err(Error::BadArgument) })
    }
}

/// On the host there is nothing to schedule: the component runs on the machine alone.
#[cfg(not(target_os = "none"))]
fn main() {}
