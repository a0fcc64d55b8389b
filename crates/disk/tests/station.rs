//! A disk with its clients, as the simulator and the machine run it.

use tactus_disk::admission::{any_order, edf, Beside, Stream};
use tactus_disk::{
    longest, parameters, services, survey, Arrivals, CacheSettings, Client, Drive, Event, Finished, Form, Policy,
    Service, Station,
};
use tactus_time::{Duration, Instant};

const GIB: u64 = 1 << 21;

fn periodic(offset: u64, period: u64, deadline: u64, first: u64, write: bool) -> Client {
    let [offset, period, deadline] = [offset, period, deadline].map(Duration::from_millis);
    let arrivals = Arrivals::Periodic { offset, period, deadline };
    Client { arrivals, first, extent: GIB, places: 24, blocks: 16, write }
}

fn clients() -> Vec<Client> {
    let best = Arrivals::BestEffort { outstanding: 4 };
    vec![
        periodic(0, 80, 70, 0, true),
        periodic(3, 110, 90, 3 * GIB, false),
        periodic(5, 130, 130, 5 * GIB, false),
        Client { arrivals: best, first: 6 * GIB, extent: GIB, places: 24, blocks: 64, write: false },
    ]
}

/// What ended within this number of seconds, and when the promise was withdrawn.
fn served(policy: Policy, clients: &[Client], slower: bool, seconds: u64) -> (Vec<Finished>, Option<Instant>) {
    let mut all = Vec::new();
    let withdrawn = serve(policy, clients, slower, seconds, |it| all.push(it));
    (all, withdrawn)
}

fn serve(
    policy: Policy,
    clients: &[Client],
    slower: bool,
    seconds: u64,
    mut ended: impl FnMut(Finished),
) -> Option<Instant> {
    let nominal = parameters::source_10k().unwrap();
    let map = survey(&nominal, clients, Form::Directed).unwrap();
    let service = Service::new(policy, 64, map, longest(&nominal, clients));
    let real = if slower { parameters::atlas_10k().unwrap() } else { nominal };
    let mut station = Station::new(service, Drive::new(real, CacheSettings::default()), clients.to_vec(), 7);
    while station.next() < Instant::ZERO + Duration::from_secs(seconds) {
        station.advance(&mut |event| {
            if let Event::Ended(finished) = event {
                ended(finished);
            }
        });
    }
    station.service().withdrawn()
}

fn bounds(policy: Policy, clients: &[Client]) -> Vec<Duration> {
    let nominal = parameters::source_10k().unwrap();
    let map = survey(&nominal, clients, Form::Directed).unwrap();
    let (most, services) = (longest(&nominal, clients), services(&map, clients));
    let mut beside = Beside { after_pause: most - *services.iter().min().unwrap(), ..Beside::default() };
    let mut streams = Vec::new();
    for (client, service) in clients.iter().zip(services) {
        match client.arrivals {
            Arrivals::Periodic { period, deadline, .. } => streams.push(Stream { period, deadline, service }),
            Arrivals::BestEffort { .. } => beside.best_effort = beside.best_effort.max(service),
        }
    }
    if policy == Policy::Edf {
        edf(&streams, &beside).unwrap()
    } else {
        any_order(&streams, &beside).unwrap()
    }
}

#[test]
fn no_promised_request_takes_longer_than_its_bound_beside_best_effort_load() {
    for policy in [Policy::Edf, Policy::GMatrix(4)] {
        // With best-effort requests the drive never pauses, without it does all the time.
        for count in [3, 4] {
            let clients = &clients()[..count];
            let bounds = bounds(policy, clients);
            let (all, withdrawn) = served(policy, clients, false, 60);
            assert_eq!(withdrawn, None, "the drive kept to its cells");
            assert!(all.len() > 1_500);
            for it in &all {
                let bound = bounds.get(it.request.client() as usize);
                let response = it.ended.since(it.request.arrival);
                assert!(bound.is_none_or(|bound| response <= *bound), "{policy:?}: {response} of {it:?}");
            }
        }
    }
}

#[test]
fn no_promised_request_of_a_million_takes_longer_than_its_bound() {
    let mut promised = 0;
    for policy in [Policy::Edf, Policy::GMatrix(4)] {
        for count in [3, 4] {
            let clients = &clients()[..count];
            let bounds = bounds(policy, clients);
            let mut longest = vec![Duration::ZERO; bounds.len()];
            let withdrawn = serve(policy, clients, false, 10_000, |it| {
                if let Some(longest) = longest.get_mut(it.request.client() as usize) {
                    *longest = (*longest).max(it.ended.since(it.request.arrival));
                    promised += 1;
                }
            });
            assert_eq!(withdrawn, None, "the drive kept to its cells");
            assert!(longest.iter().zip(&bounds).all(|(longest, bound)| longest <= bound), "{longest:?} {bounds:?}");
        }
    }
    assert!(promised >= 1_000_000, "{promised}");
}

#[test]
fn a_drive_slower_than_its_map_is_noticed_at_the_first_request_over_its_cell() {
    let (all, withdrawn) = served(Policy::GMatrix(4), &clients(), true, 10);
    let first = all.iter().find(|it| it.is_over()).expect("its seeks take a quarter longer");
    assert_eq!(withdrawn, Some(first.ended));
    let (_, withdrawn) = served(Policy::GMatrix(4), &clients(), false, 10);
    assert_eq!(withdrawn, None);
}

#[test]
fn best_effort_requests_wait_for_all_that_have_deadlines_and_take_the_rest() {
    let (all, _) = served(Policy::GMatrix(4), &clients(), false, 20);
    let best = |it: &&Finished| it.request.deadline == Instant::NEVER;
    for it in all.iter().filter(best) {
        // Nobody with a deadline came before it was dispatched and still waited then.
        let passed = all.iter().any(|other| {
            other.request.deadline < Instant::NEVER && other.request.arrival <= it.started && other.started > it.started
        });
        assert!(!passed, "{it:?}");
    }
    let busy: u64 = all.iter().map(|it| it.ended.since(it.started).as_nanos()).sum();
    assert!(busy > 19_900_000_000, "the drive never pauses: {busy} ns");
}
