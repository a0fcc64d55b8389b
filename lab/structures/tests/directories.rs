//! Directories, one caller at a time: each finds what looking at all cores finds; and with threads: when they have come
//! to rest, each is as it must be.
#![cfg(not(any(loom, shuttle)))]

use proptest::prelude::*;
use tactus_compared_structures::directory::{
    judge, Cpudl, Cpupri, CpupriLinux, Delegation, Directory, FastHeap, FlatCombining, LockedHeap, LockedRow, Mark,
    Marks, Overload, Scan, SkipList, Tournament, CLOSED, IDLE,
};
use tactus_compared_structures::{planted, Cores};
use tactus_sync::Order;

/// By core, its new number; then what is looked for.
type Change = (usize, u64, u64, u64);

fn follow<D: Directory>(cores: usize, changes: &[Change]) -> Result<(), String> {
    let directory = D::init(cores);
    let mut order = Order::unlocked();
    let mut actual = vec![CLOSED; cores];
    for (n, (core, value, than, allowed)) in changes.iter().enumerate() {
        let core = core % cores;
        let less = *value < actual[core];
        actual[core] = *value;
        if less {
            directory.preempt(0, &mut order, core, *value);
        } else {
            directory.finish(core, &mut order, core, *value);
        }
        directory.serve(0, &mut order);
        let allowed = Cores(*allowed).and(Cores::below(cores));
        let found = directory.find(core, &mut order, *than, allowed);
        judge::<D>(&actual, *than, allowed, found).map_err(|flaw| format!("change {n}: {flaw}"))?;
        directory.check(&mut order, &actual).map_err(|flaw| format!("change {n}: {flaw}"))?;
    }
    Ok(())
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let value = || prop_oneof![Just(CLOSED), Just(IDLE), 0..120_u64, any::<u64>()];
    let allowed = prop_oneof![Just(u64::MAX), any::<u64>(), (0..64).prop_map(|n| 1_u64 << n)];
    proptest::collection::vec((0..64_usize, value(), value(), allowed), 1..150)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_directory_finds_the_greatest_number(cores in 1..=64_usize, changes in changes()) {
        prop_assert_eq!(follow::<Scan>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<Cpupri>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<CpupriLinux>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<LockedRow>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<LockedHeap>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<Cpudl>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<FastHeap>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<SkipList>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<FlatCombining>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<Delegation>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<Tournament>(cores, &changes), Ok(()));
        prop_assert_eq!(follow::<Marks>(cores, &changes), Ok(()));
    }
}

#[test]
fn bugs_that_one_core_can_show_are_found_without_a_second() {
    let changes: Vec<Change> = (0..400_u64)
        .map(|n| ((n * 7 % 12) as usize, n * 7_919 % 97 + 1, n * 31 % 97, if n % 3 == 0 { 0xAAA } else { u64::MAX }))
        .collect();
    std::panic::set_hook(Box::new(|_| {}));
    let found = |one: fn(usize, &[Change]) -> Result<(), String>| {
        let changes = changes.clone();
        match std::panic::catch_unwind(move || one(12, &changes)) {
            Ok(result) => result.err(),
            Err(_) => Some("a crash".to_string()),
        }
    };
    let all = [
        ("locked row", found(follow::<LockedRow<{ planted::LAST_LEFT_OUT }>>)),
        ("locked heap", found(follow::<LockedHeap<{ planted::STALE_INDEX }>>)),
        ("scan", found(follow::<Scan<{ planted::LAST_LEFT_OUT }>>)),
        ("cpudl", found(follow::<Cpudl<{ planted::STALE_INDEX }>>)),
        ("fast heap", found(follow::<FastHeap<{ planted::STALE_INDEX }>>)),
        ("skip list", found(follow::<SkipList<{ planted::HALF_UNLINKED }>>)),
        ("flat combining", found(follow::<FlatCombining<{ planted::STALE_INDEX }>>)),
        ("delegation", found(follow::<Delegation<{ planted::STALE_INDEX }>>)),
        ("marks", found(follow::<Marks<{ planted::STALE_INDEX }>>)),
    ];
    let _ = std::panic::take_hook();
    for (name, words) in all {
        println!("{name}: {words:?}");
        assert!(words.is_some(), "{name}");
    }
}

#[test]
fn an_entry_of_level_c_goes_through_the_four_marks() {
    let mut order = Order::unlocked();
    let marks = <Marks>::init(2);
    assert_eq!(marks.mark(1), Mark::Removed);
    marks.finish(1, &mut order, 1, 70);
    assert_eq!(marks.mark(1), Mark::Activate);
    assert_eq!(marks.find(0, &mut order, 5, Cores::ALL), Some(1));
    assert_eq!(marks.mark(1), Mark::Active);
    marks.preempt(1, &mut order, 1, CLOSED);
    assert_eq!(marks.mark(1), Mark::Remove);
    assert_eq!(marks.find(0, &mut order, 5, Cores::ALL), None);
    assert_eq!(marks.mark(1), Mark::Removed);
}

#[test]
fn the_overload_set_holds_exactly_the_cores_with_waiting_tasks() {
    let overload = Overload::default();
    overload.set(3, true);
    overload.set(3, true);
    overload.set(9, true);
    overload.set(3, false);
    assert_eq!(overload.cores(), Cores::only(9));
    assert_eq!(overload.check(Cores::only(9)), Ok(()));
    assert!(overload.check(Cores::only(3)).is_err());
}

/// Four threads, each with four cores of its own, change numbers for a while and look meanwhile.
fn with_threads<D: Directory>() {
    let directory = D::init(16);
    let mut actual = vec![CLOSED; 16];
    std::thread::scope(|scope| {
        for (thread, own) in actual.chunks_mut(4).enumerate() {
            let directory = &directory;
            scope.spawn(move || {
                let mut order = Order::unlocked();
                let me = 4 * thread;
                for n in 0..1_500_u64 {
                    let which = (n * 7 % 4) as usize;
                    own[which] = (n + thread as u64 * 13) * 7_919 % 101;
                    directory.preempt(me, &mut order, me + which, own[which]);
                    directory.serve(me, &mut order);
                    if let Some(core) = directory.find(me, &mut order, 5, Cores::below(16).without(me)) {
                        assert!(core < 16 && core != me);
                    }
                }
            });
        }
    });
    let mut order = Order::unlocked();
    directory.check(&mut order, &actual).unwrap();
    for than in [0, 10, 50, 90, 100] {
        let found = directory.find(0, &mut order, than, Cores::ALL);
        judge::<D>(&actual, than, Cores::below(16), found).unwrap();
    }
}

#[test]
fn after_parallel_changes_every_directory_is_as_it_must_be() {
    with_threads::<Scan>();
    with_threads::<Cpupri>();
    with_threads::<CpupriLinux>();
    with_threads::<Cpudl>();
    with_threads::<FastHeap>();
    with_threads::<SkipList>();
    with_threads::<FlatCombining>();
    with_threads::<Delegation>();
    with_threads::<Tournament>();
    with_threads::<Marks>();
}
