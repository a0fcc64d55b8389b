//! Requests of disks against what was promised of them.

use crate::common::{at, units, view, Builder};
use tactus_disk::Outcome;
use tactus_time::{Duration, Instant};
use tactus_trace::{
    judge, DiskClientView, DiskTrace, DiskView, Served, Summary, Trace, Verdict, View, What, Withdrawn,
};

/// One client with a request every 10 units, promised within 6 of its deadline of 8, and one that is promised nothing.
fn disk() -> View {
    let client = |name: &str, periodic, bound, places| DiskClientView {
        name: name.into(),
        periodic,
        bound,
        places,
        sporadic: false,
        limit: None,
    };
    let periodic = Some([units(0), units(10), units(8)]);
    let clients = vec![client("log", periodic, Some(units(6)), 4), client("copy", None, None, 4)];
    View {
        disks: vec![DiskView { name: "d".into(), clients, tolerated: Default::default() }],
        ..view(1, 30, Vec::new())
    }
}

/// A request of the first client that came at `arrived`.
fn served(number: u32, arrived: u64, dispatched: u64, ended: u64, expected: u64) -> Served {
    Served {
        client: 0,
        number,
        from: 5,
        row: 2,
        after_pause: false,
        arrived: at(arrived),
        dispatched: at(dispatched),
        ended: at(ended),
        expected: units(expected),
        outcome: Some(Outcome::Done),
    }
}

fn judged(view: &View, served: Vec<Served>) -> Summary {
    with_cuts(view, served, Vec::new())
}

fn with_cuts(view: &View, served: Vec<Served>, power_cuts: Vec<Instant>) -> Summary {
    let trace = Builder::new(1).end(30);
    judge(view, &Trace { disks: vec![DiskTrace { served, power_cuts }], ..trace })
}

#[test]
fn requests_within_their_bounds_hold_even_where_no_task_is_promised_anything() {
    let summary =
        judged(&disk(), (0..3).map(|n| served(n, n as u64 * 10, n as u64 * 10, n as u64 * 10 + 6, 6)).collect());
    assert_eq!(summary.verdict, Verdict::Held);
    let client = &summary.disks[0].clients[0];
    assert_eq!((client.requests, client.missed, client.worst_over_bound), (3, 0, Some(1.0)));
    assert_eq!(summary.disks[0].busy, units(18));
}

#[test]
fn a_request_over_its_bound_breaks_the_promise_while_the_drive_keeps_to_its_map() {
    let late = served(1, 10, 14, 17, 3);
    let summary = judged(&disk(), vec![served(0, 0, 0, 3, 3), late, served(2, 20, 20, 23, 3)]);
    let Verdict::Broken(broken) = &summary.verdict else { panic!("{:?}", summary.verdict) };
    assert_eq!(
        (broken.what, broken.time, broken.limit, broken.actual),
        (What::Request, at(16), Some(units(6)), Some(units(7)))
    );
    let words = "disk d: client log, request 1: ";
    assert!(broken.cause.text.starts_with(words), "{}", broken.cause.text);
    assert!(
        summary.headline().starts_with("broken: a request to a disk took longer than its bound"),
        "{}",
        summary.headline()
    );
}

#[test]
fn what_is_missed_after_the_drive_took_longer_than_its_cell_is_the_drives_doing_and_its_cells_are_named() {
    // Dispatched at 10, expected until 12: the promise that would have been broken at 16 did not bind any more.
    let slow = served(1, 10, 10, 17, 2);
    let summary = judged(&disk(), vec![served(0, 0, 0, 2, 2), slow, served(2, 20, 20, 22, 2)]);
    assert_eq!(summary.verdict, Verdict::Void);
    let drive = summary.disks[0].slow.as_ref().expect("it was slow");
    assert_eq!((drive.from, drive.requests, summary.disks[0].clients[0].void), (at(12), 1, 1));
    assert_eq!((drive.cells[0].from.as_deref(), drive.cells[0].to.as_str()), (Some("copy 1"), "log 2"));
    assert!(summary.headline().contains("by disk d, from "), "{}", summary.headline());
    // Nothing missed: it held, and is told all the same.
    let summary = judged(&disk(), vec![served(0, 0, 0, 2, 2), served(1, 10, 10, 13, 2), served(2, 20, 20, 22, 2)]);
    assert_eq!(summary.verdict, Verdict::Held);
    assert!(summary.headline().contains("promises did not bind from "), "{}", summary.headline());
}

#[test]
fn what_is_missed_after_a_power_cut_is_void_also_where_the_drive_had_nothing_to_do() {
    let requests = || vec![served(0, 0, 0, 3, 3), served(1, 10, 15, 18, 3), served(2, 20, 20, 23, 3)];
    let summary = with_cuts(&disk(), requests(), vec![at(5), at(25)]);
    assert_eq!((&summary.verdict, summary.disks[0].clients[0].void), (&Verdict::Void, 1));
    assert!(summary.headline().contains("from 5 ms on, when the power of its drive went"), "{}", summary.headline());
    // A cut later than the instant at which the promise was broken excuses nothing.
    assert!(matches!(with_cuts(&disk(), requests(), vec![at(17)]).verdict, Verdict::Broken(it) if it.time == at(16)));
    assert!(matches!(with_cuts(&disk(), requests(), vec![at(16)]).verdict, Verdict::Void));
}

#[test]
fn a_drive_that_had_not_answered_when_the_power_went_or_the_run_ended_was_over_its_cell_already() {
    // It has a request of whoever is promised nothing from 5 on, for 2 at most; the log's waits until its bound has passed at 16.
    let silent = |outcome, ended| {
        let it = served(0, 5, 5, ended, 2);
        Served { client: 1, from: 5, row: 5, ended: at(ended), outcome, ..it }
    };
    let lost = Served { outcome: Some(Outcome::PowerLost), ..served(1, 10, 18, 18, 0) };
    let rest = [served(0, 0, 0, 3, 3), served(2, 20, 20, 23, 3)];
    let summary = with_cuts(&disk(), [&[silent(Some(Outcome::PowerLost), 18), lost][..], &rest].concat(), vec![at(18)]);
    assert_eq!(summary.verdict, Verdict::Void);
    let slow = summary.disks[0].slow.as_ref().expect("it was slow");
    assert_eq!((slow.from, slow.why), (at(7), Withdrawn::Slower));
    let summary = judged(&disk(), vec![served(0, 0, 0, 3, 3), silent(None, 30)]);
    assert_eq!((&summary.verdict, summary.disks[0].clients[0].void), (&Verdict::Void, 2));
    assert_eq!(summary.disks[0].clients[1].requests, 0, "of a best-effort client those count that ended");
}

#[test]
fn a_best_effort_client_is_held_to_its_budget_whatever_the_drive_does() {
    // 2 within 10, and a request takes 3 at most.
    let mut view = disk();
    view.disks[0].clients[1].limit = Some([units(2), units(10), units(3)]);
    let copy = |number, dispatched, ended| Served { client: 1, ..served(number, dispatched, dispatched, ended, 3) };
    let with = |more: &[Served]| {
        let log = [served(0, 0, 0, 2, 3), served(1, 10, 10, 12, 3), served(2, 20, 20, 22, 3)];
        judged(&view, [&log[..], more].concat())
    };
    // 5 of 6 in 5, and 7 in 15 where 8 are allowed.
    assert_eq!(with(&[copy(0, 2, 5), copy(1, 5, 7), copy(2, 15, 17)]).verdict, Verdict::Held);
    // 7 in 7, where 2 and 1.4 and 3 are allowed.
    let summary = with(&[copy(0, 2, 5), copy(1, 5, 7), copy(2, 7, 9), copy(3, 9, 9)]);
    let Verdict::Broken(broken) = &summary.verdict else { panic!("{:?}", summary.verdict) };
    let limit = Duration::from_micros(6_400);
    assert_eq!(
        (broken.what, broken.time, broken.limit, broken.actual),
        (What::Rule, at(9), Some(limit), Some(units(7)))
    );
    let words =
        "disk d: its drive was busy for client copy for 7 ms within 7 ms where its budget allows 6.4 ms, at 9 ms";
    assert_eq!(broken.cause.text, words);
    let told = summary.disks[0].broken.as_ref().expect("it was");
    assert_eq!((&*told.client, told.number, told.within), ("copy", 2, Some(units(7))));
    assert_eq!(summary.disks[0].clients[1].busy, units(7));
    // That the drive was slow, or gone, is no excuse for a client; but what it takes beyond its longest is not the client's.
    let slow = Served { expected: units(1), ..copy(0, 2, 5) };
    assert!(
        matches!(with(&[slow, copy(1, 5, 7), copy(2, 7, 9)]).verdict, Verdict::Broken(it) if it.what == What::Rule)
    );
    let silent = Served { outcome: Some(Outcome::Silent), ..copy(0, 2, 9) };
    assert_eq!(with(&[silent, copy(1, 14, 16)]).disks[0].broken, None);
    // A later promise that was broken is told after it.
    let late = [served(0, 0, 9, 11, 3), served(1, 10, 12, 13, 3), served(2, 20, 20, 22, 3)];
    let both = judged(&view, [&late[..], &[copy(0, 2, 5), copy(1, 5, 7), copy(2, 7, 9)]].concat());
    assert!(matches!(both.verdict, Verdict::Broken(it) if (it.what, it.time) == (What::Request, at(6))));
}

#[test]
fn a_miss_before_the_drive_was_slow_is_not_its_doing() {
    let (late, slow) = (served(0, 0, 5, 8, 3), served(1, 10, 12, 19, 3));
    let summary = judged(&disk(), vec![late, slow, served(2, 20, 20, 22, 3)]);
    let Verdict::Broken(broken) = &summary.verdict else { panic!("{:?}", summary.verdict) };
    assert_eq!(broken.time, at(6));
}

#[test]
fn a_request_that_was_never_served_breaks_the_promise_when_its_bound_has_passed() {
    let summary = judged(&disk(), vec![served(0, 0, 0, 3, 3), served(2, 20, 20, 23, 3)]);
    let Verdict::Broken(broken) = &summary.verdict else { panic!("{:?}", summary.verdict) };
    assert_eq!((broken.time, broken.actual), (at(16), Some(units(20))));
    // The last one still has time at the end of the run.
    let view = View { duration: units(25), ..disk() };
    let summary = judged(&view, vec![served(0, 0, 0, 3, 3), served(1, 10, 10, 13, 3)]);
    assert_eq!(summary.verdict, Verdict::Held);
}

#[test]
fn a_refused_system_promises_nothing_of_its_disks_and_a_period_of_no_time_has_no_requests() {
    let refused = View { accepted: false, ..disk() };
    let summary = judged(&refused, vec![served(0, 0, 20, 29, 1)]);
    assert_eq!(summary.verdict, Verdict::Refused);
    assert_eq!(summary.disks[0].clients[0].missed, 3);
    let periodic = Some([Duration::ZERO; 3]);
    let zero = DiskClientView { name: "odd".into(), periodic, bound: None, places: 0, sporadic: false, limit: None };
    let odd = View {
        disks: vec![DiskView { name: "d".into(), clients: vec![zero], tolerated: Default::default() }],
        ..view(1, 30, Vec::new())
    };
    assert_eq!(judged(&odd, Vec::new()).disks[0].clients[0].requests, 0);
}
