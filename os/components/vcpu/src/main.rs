//! A scheduler component: virtual CPUs. The root of a system.
//!
//! | service | words | gives |
//! |---|---|---|
//! | `vcpu_create` | budget and period in nanoseconds, 1 for a background | the number of a main VCPU |
//! | `vcpu_create_io` | share in millionths of the core, 1 for a background | the number of an I/O VCPU |
//! | `vcpu_bind` | main VCPU, or 0 | |
//! | `vcpu_upcall` | brand, I/O VCPU, the main one for which it works | the upcall thread |
//!
//! All are of the caller's core; the thread that is bound is the caller's. What does not fit is refused (`Exhausted`).
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]

#[cfg(target_os = "none")]
mod component {
    use tactus_sched::rt::{now, Caller, Error};
    use tactus_sched::services::{words, Answer};
    use tactus_sched::{Parameters, Thread};
    use tactus_time::Duration;
    use tactus_vcpu::Vcpus;

    tactus_sched::scheduler! {
        policy: Vcpus = Vcpus::new(),
        quantum: 1_000_000,
        services: [vcpu_create, vcpu_create_io, vcpu_bind, vcpu_upcall],
    }

    fn number(made: Option<usize>) -> [u64; 2] {
        words(made.map(|vcpu| vcpu as u64).ok_or(Error::Exhausted))
    }

    fn vcpu_create(caller: Caller, [budget, period, background, ..]: [u64; 5]) -> [u64; 2] {
        let [budget, period] = [budget, period].map(Duration::from_nanos);
        number(SCHEDULER.with_policy(caller, |vcpus| vcpus.create(budget, period, background != 0, now())))
    }

    fn vcpu_create_io(caller: Caller, [share, background, ..]: [u64; 5]) -> [u64; 2] {
        let share = u32::try_from(share).unwrap_or(u32::MAX);
        number(SCHEDULER.with_policy(caller, |vcpus| vcpus.create_io(share, background != 0, now())))
    }

    fn vcpu_bind(caller: Caller, [vcpu, ..]: [u64; 5]) -> [u64; 2] {
        let thread = Thread(caller.thread());
        let bound = usize::try_from(vcpu).is_ok_and(|vcpu| SCHEDULER.with_policy(caller, |it| it.bind(thread, vcpu)));
        words(if bound { Ok(0) } else { Err(Error::BadArgument) })
    }

    fn vcpu_upcall(caller: Caller, [brand, vcpu, requester, ..]: [u64; 5]) -> [u64; 2] {
        words(upcall_in(caller, brand, vcpu, requester))
    }

    fn upcall_in(caller: Caller, brand: u64, vcpu: u64, requester: u64) -> Answer {
        let number = |of: u64| u8::try_from(of).map_err(|_| Error::BadArgument);
        let (vcpu, requester) = (number(vcpu)?, number(requester)?);
        if !SCHEDULER.with_policy(caller, |it| it.has_pair(vcpu.into(), requester.into())) {
            return Err(Error::BadArgument);
        }
        SCHEDULER.add_upcall(caller, brand, Parameters::priority_of(requester.into()).in_server(vcpu))
    }
}

/// On the host there is nothing to schedule: the component runs on the machine alone.
#[cfg(not(target_os = "none"))]
fn main() {}
