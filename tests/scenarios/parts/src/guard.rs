//! Calls a fragile service and restarts it when it has died.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tactus_rt::restart::{RestartError, RestartLimit};
use tactus_rt::{calls, cards, grant, Error, Job};

tactus_rt::component! { job: ask, services: [] }

static CALLS: AtomicU64 = AtomicU64::new(0);
static KEEPER: RestartLimit = RestartLimit::new();
/// The service was restarted as often as it may.
static LIMIT: AtomicBool = AtomicBool::new(false);

fn ask(_: &Job) {
    let Some(fragile) = cards::component("fragile") else { panic!("no card") };
    if LIMIT.load(Ordering::Relaxed) {
        assert_eq!(grant("ask").call([0; 5]), Err(Error::ComponentStopped));
        assert_eq!(KEEPER.restart(fragile), Err(RestartError::Limit));
        return;
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
    match KEEPER.restart(fragile) {
        Ok(()) => assert!(KEEPER.count() <= 4),
        // As the system file says.
        Err(error) => {
            assert_eq!((error, KEEPER.count()), (RestartError::Limit, 4));
            LIMIT.store(true, Ordering::Relaxed);
        }
    }
}
