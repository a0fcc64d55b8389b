//! Calls a fragile service and restarts it when it has died.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tactus_rt::restart::{restart, RestartError};
use tactus_rt::{calls, cards, grant, Error, Job};

tactus_rt::component! { job: ask, services: [] }

static CALLS: AtomicU64 = AtomicU64::new(0);
/// The service was restarted as often as it may for now.
static LIMIT: AtomicBool = AtomicBool::new(false);

fn ask(_: &Job) {
    let Some(fragile) = cards::component("fragile") else { panic!("no card") };
    if LIMIT.load(Ordering::Relaxed) {
        assert_eq!(grant("ask").call([0; 5]), Err(Error::ComponentStopped));
        return begin_anew(fragile);
    }
    let call = CALLS.fetch_add(1, Ordering::Relaxed) % 3;
    let answer = grant("ask").call([0; 5]);
    if call < 2 {
        // It counts from 0 in each life.
        assert_eq!(answer, Ok([call, 0]));
        assert_eq!(calls::restart(fragile.into(), 0), Err(Error::NotStopped));
        return;
    }
    assert_eq!(answer, Err(Error::Faulted));
    assert_eq!(grant("ask").call([0; 5]), Err(Error::ComponentStopped));
    // No step can be left out.
    assert_eq!(calls::restart(fragile.into(), 5), Err(Error::BadArgument));
    begin_anew(fragile);
}

/// As often as the system file says, whoever calls and however often.
fn begin_anew(fragile: u16) {
    let result = restart(fragile);
    LIMIT.store(result.is_err(), Ordering::Relaxed);
    if let Err(error) = result {
        assert_eq!(error, RestartError::Limit);
        assert!((0..500).all(|_| calls::restart(fragile.into(), 0) == Err(Error::Exhausted)));
    }
}
