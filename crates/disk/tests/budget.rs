//! Best-effort clients and their budgets: who may ask when, by hand.

use tactus_disk::{Arrivals, Asked, Budget, Client, Finished, Gate, Limit, Outcome, Refusal, Request};
use tactus_time::{Duration, Instant};

const READ: Asked = Asked { place: 0, blocks: 16, write: false };

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(n: u64) -> Instant {
    Instant::ZERO + millis(n)
}

/// A client of which 8 may be outstanding: 20 ms within 100 ms, and a request takes 9 ms at most.
fn gate() -> (Gate, Limit) {
    let arrivals = Arrivals::BestEffort { outstanding: 8 };
    let client = Client { arrivals, first: 0, extent: 1 << 21, places: 16, blocks: 16, write: false };
    let limit = Limit { budget: Budget { time: millis(20), per: millis(100) }, request: millis(9) };
    let mut gate = Gate::new(&[client]);
    gate.limit(0, limit);
    (gate, limit)
}

fn ended(request: Request, from: u64, to: u64) -> Finished {
    let (started, ended, expected) = (at(from), at(to), millis(9));
    Finished { request, started, ended, from: 0, after_pause: false, expected, outcome: Outcome::Done }
}

#[test]
fn a_request_is_charged_when_it_is_let_in_with_the_longest_that_it_may_take() {
    let (mut gate, _) = gate();
    let first = [0; 3].map(|_| gate.ask(at(0), 0, &READ).expect("27 ms of 20 and 9"));
    assert_eq!(gate.ask(at(0), 0, &READ), Err(Refusal::Outstanding(3)));
    // What waits is not paid back.
    assert_eq!(gate.ask(at(10_000), 0, &READ), Err(Refusal::Outstanding(3)));
    // The first took 2 ms instead of 9: 2 and 18 are charged, which is the budget.
    gate.ended(&ended(first[0], 9_998, 10_000));
    let Err(Refusal::Budget(again)) = gate.ask(at(10_000), 0, &READ) else { panic!("it is used up") };
    // A nanosecond is paid back in five.
    assert_eq!(again, at(10_000) + Duration::from_nanos(5));
    assert_eq!(gate.clone().ask(again - Duration::from_nanos(1), 0, &READ), Err(Refusal::Budget(again)));
    assert!(gate.ask(again, 0, &READ).is_ok());
}

#[test]
fn what_was_taken_beyond_the_budget_is_waited_for_afterwards() {
    let (mut gate, _) = gate();
    let request = gate.ask(at(0), 0, &READ).expect("nothing is used");
    // The drive took 60 ms where 9 are the longest: 40 ms and a nanosecond are to be paid back, at a fifth.
    gate.ended(&ended(request, 0, 60));
    assert_eq!(gate.ask(at(100), 0, &READ), Err(Refusal::Budget(at(260) + Duration::from_nanos(5))));
    assert_eq!(gate.ask(at(260), 0, &READ), Err(Refusal::Budget(at(260) + Duration::from_nanos(5))));
    assert!(gate.ask(at(261), 0, &READ).is_ok());
}

#[test]
fn one_that_asks_without_end_gets_its_budget_and_no_more() {
    let (mut gate, limit) = gate();
    let mut busy = Duration::ZERO;
    // It asks in each millisecond in which it waits for none, and each request takes 8 ms.
    let mut free = 0;
    for now in 0..1_000 {
        if now < free {
            continue;
        }
        if let Ok(request) = gate.ask(at(now), 0, &READ) {
            free = now + 8;
            gate.ended(&ended(request, now, free));
            busy += millis(8);
            assert!(busy <= limit.within(millis(free)), "{busy} at {now}");
        }
    }
    assert_eq!((busy, limit.within(millis(1_000))), (millis(224), millis(229)));
}
