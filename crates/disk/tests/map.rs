//! The map: what it holds, what it never forgets, whose it is.

use proptest::prelude::*;
use tactus_disk::{parameters, CacheSettings, Drive, DriveName, Form, Geometry, LatencyMap, LoadError, Request};
use tactus_time::{Duration, Instant};

fn read(row: u32, block: u64) -> Request {
    Request { id: 0, granule: row, block, blocks: 8, write: false, arrival: Instant::ZERO, deadline: Instant::NEVER }
}

/// Measures all pairs of `n` positions on a drive, back to back.
fn measure(geometry: &Geometry, form: Form, n: u32) -> (LatencyMap, Vec<(u32, u32, Duration)>) {
    let mut map = LatencyMap::new(form, n as usize, Duration::from_micros(1_300)).unwrap();
    let block = |row: u32| u64::from(row) * 65_537 % 17_000_000;
    let (mut drive, mut now, mut all) = (Drive::new(geometry.clone(), CacheSettings::default()), Instant::ZERO, vec![]);
    for (from, to) in (0..n).flat_map(|from| (0..n).map(move |to| (from, to))) {
        now = drive.serve(now, &read(from, block(from))).end;
        let end = drive.serve(now, &read(to, block(to))).end;
        map.learn(from, to, end.since(now));
        all.push((from, to, end.since(now)));
        now = end;
    }
    (map, all)
}

proptest! {
    #[test]
    fn a_cell_never_decreases_and_is_never_below_what_was_seen(
        seen in prop::collection::vec((0_u32..9, 0_u32..9, 1_u64..15_000), 1..200), directed: bool,
    ) {
        let form = if directed { Form::Directed } else { Form::Symmetric };
        let mut map = LatencyMap::new(form, 9, Duration::from_millis(1)).unwrap();
        let mut most = std::collections::HashMap::new();
        for (from, to, micros) in seen {
            let took = Duration::from_micros(micros);
            let before = map.code(from, to);
            map.learn(from, to, took);
            prop_assert!(map.code(from, to) >= before);
            let key = if directed || from <= to { (from, to) } else { (to, from) };
            let longest: &mut Duration = most.entry(key).or_default();
            *longest = (*longest).max(took);
        }
        for (&(from, to), &took) in &most {
            prop_assert_eq!(map.code(from, to), took.as_nanos().div_ceil(1_000_000) as u8);
            prop_assert!(map.latency(from, to) >= Some(took));
        }
        prop_assert_eq!(map.known().0, most.len() as u64);
    }
}

#[test]
fn a_cache_hit_leaves_its_cell_and_a_remapped_sector_raises_it() {
    let mut map = LatencyMap::new(Form::Directed, 2, Duration::from_micros(1_300)).unwrap();
    let settings = CacheSettings { segments: 4, ahead: 64, writes: 0 };
    let mut drive = Drive::new(parameters::atlas_10k().unwrap(), settings);
    let (first, second) = (read(0, 0), read(1, 9_000_000));
    let now = drive.serve(Instant::ZERO, &first).end;
    let end = drive.serve(now, &second).end;
    assert!(map.learn(0, 1, end.since(now)));
    let code = map.code(0, 1);
    let again = drive.serve(end, &second);
    assert!(again.from_cache && !map.learn(0, 1, again.end.since(end)));
    assert_eq!(map.code(0, 1), code);
    let mut drive = Drive::new(parameters::atlas_10k().unwrap(), CacheSettings::default());
    drive.remap(9_000_003, 17_900_000).unwrap();
    let now = drive.serve(Instant::ZERO, &first).end;
    let end = drive.serve(now, &second).end;
    assert!(map.learn(0, 1, end.since(now)) && map.code(0, 1) > code);
}

#[test]
fn a_saved_map_needs_no_learning_on_its_own_drive_and_is_refused_on_another() {
    let (atlas, cheetah) = (parameters::atlas_10k().unwrap(), parameters::cheetah_15k7().unwrap());
    let names = [DriveName::of("ATLAS10K", "A", atlas.blocks()), DriveName::of("ST3450857SS", "B", cheetah.blocks())];
    for form in [Form::Symmetric, Form::Directed] {
        let (map, times) = measure(&atlas, form, 30);
        let bytes = map.save(names[0]);
        let back = LatencyMap::load(&bytes, names[0]).unwrap();
        assert_eq!(back, map);
        assert_eq!(back.known().0, back.known().1);
        assert_eq!(back.agrees(&times), Ok(()));
        let refused = LatencyMap::load(&bytes, names[1]);
        assert_eq!(refused, Err(LoadError::AnotherDrive { saved: names[0], here: names[1] }));
        for at in [0, 7, 40, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(LatencyMap::load(&damaged, names[0]).is_err(), "byte {at}");
        }
        assert!(LatencyMap::load(&bytes[..bytes.len() - 1], names[0]).is_err());
        assert_eq!(LatencyMap::load(b"", names[0]), Err(LoadError::NotAMap));
    }
}

#[test]
fn another_drive_that_says_the_same_name_is_noticed_by_its_times() {
    let (atlas, cheetah) = (parameters::atlas_10k().unwrap(), parameters::cheetah_15k7().unwrap());
    let ((slow, slow_times), (fast, fast_times)) =
        (measure(&atlas, Form::Directed, 30), measure(&cheetah, Form::Directed, 30));
    assert_eq!(slow.agrees(&slow_times), Ok(()));
    assert!(matches!(fast.agrees(&slow_times), Err(LoadError::Slower { .. })));
    assert!(slow.agrees(&fast_times).is_err());
    let third = |&(from, to, took): &(u32, u32, Duration)| (from, to, took / 3);
    let thrice_as_fast: Vec<_> = slow_times.iter().map(third).collect();
    assert!(matches!(slow.agrees(&thrice_as_fast), Err(LoadError::Faster { .. })));
}
