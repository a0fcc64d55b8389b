//! The root scheduler of the interrupt study: fixed priorities, round robin among equals, deferrable servers, all from the
//! scheduler library. What is the study's own is one service: it tells the run's parameters, which the host wrote as the
//! plan, gives brands their upcalls where the set-up wants them, and ends the run.
#![no_std]
#![no_main]

use tactus_packets::service::{self, priority};
use tactus_packets::{Parameters as Run, STREAMS};
use tactus_sched::rt::scheduler::plan;
use tactus_sched::rt::{calls, info, Caller, Error};
use tactus_sched::thread_schedulers::Deferrable;
use tactus_sched::{services, Parameters};

tactus_sched::scheduler! {
    // Budgets come with the plan; nobody is in a server that it does not set.
    policy: Deferrable = Deferrable::new(1, 1),
    quantum: QUANTUM,
    services: [study],
}

/// A quantum of the source.
const QUANTUM: u64 = 10_000_000;
/// The run came to its end.
const END: u8 = 0x10;

/// A word of the plan.
fn word(place: u64) -> Option<u64> {
    let there = place < Run::WORDS as u64 && info().plan_bytes == 8 * Run::WORDS as u64;
    let bytes = plan().chunks_exact(8).nth(place as usize).filter(|_| there)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

fn run() -> Option<Run> {
    let mut words = [0; Run::WORDS];
    for (place, stored) in words.iter_mut().enumerate() {
        *stored = word(place as u64)?;
    }
    Run::from_words(words).filter(|run| run.quantum == QUANTUM)
}

/// See [`service`].
fn study(caller: Caller, [what, first, second, ..]: [u64; 5]) -> [u64; 2] {
    match what {
        service::PARAMETER => services::words(word(first).ok_or(Error::BadArgument)),
        service::SUPPLY => services::words(supply(caller, first, second)),
        service::END => calls::finish(END),
        _ => services::words(Err(Error::BadArgument)),
    }
}

/// Gives the brand its upcall.
fn supply(caller: Caller, brand: u64, stream: u64) -> services::Answer {
    let run = run().ok_or(Error::BadArgument)?;
    if stream == service::DEVICE {
        return SCHEDULER.add_upcall(caller, brand, Parameters::priority_of(priority::DEVICE));
    }
    let place = usize::try_from(stream).ok().filter(|place| *place < STREAMS).ok_or(Error::BadArgument)?;
    let mut parameters = Parameters::priority_of(priority::UPCALL[place]);
    if run.setup.served() {
        // Server 0 is none.
        let server = stream + 1;
        if !SCHEDULER.with_policy(caller, |policy| policy.set_server(server, run.budgets[place], run.period)) {
            return Err(Error::BadArgument);
        }
        parameters = parameters.in_server(server as u8);
    }
    SCHEDULER.add_upcall(caller, brand, parameters)
}
