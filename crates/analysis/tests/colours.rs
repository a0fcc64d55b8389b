//! CAP and CAP-GS: the source's two examples, what is refused, and what holds for every set.

use proptest::prelude::*;
use tactus_analysis::partitioned::colours::{
    cap, cap_gs, groups, Class, ColouredMemory, ColouredTask, NotPartitioned, SoftCores,
};
use tactus_analysis::partitioned::{place, Fit, Order};
use tactus_cache::{Colour, ColourSet};

fn task(utilisation: u64, kilobytes: u64, colours: &[u16], class: Class) -> ColouredTask {
    ColouredTask { utilisation, memory: kilobytes << 10, colours: ColourSet::of(colours).unwrap(), class }
}

const MEMORY: ColouredMemory = ColouredMemory { colours: 16, bytes: 16 << 20 };

/// The source's table 14.
fn table_14() -> Vec<ColouredTask> {
    let hard = |utilisation, kilobytes, colours: &[u16]| task(utilisation, kilobytes, colours, Class::Hard);
    vec![
        hard(90_000, 1024, &[1, 3]),
        hard(400_000, 64, &[1, 4]),
        hard(300_000, 4, &[0, 3]),
        hard(100_000, 128, &[1, 5]),
        hard(95_000, 32, &[5]),
        hard(520_000, 16, &[6]),
        hard(540_000, 512, &[7, 8, 9]),
        hard(200_000, 256, &[7, 10]),
    ]
}

/// The source's table 15. Of T8 it says 3000/15000 and 0.1; its narrative counts 0.1.
fn table_15() -> Vec<ColouredTask> {
    use Class::{BestEffort, Hard, Soft};
    vec![
        task(200_000, 0, &[1, 4], Hard),
        task(300_000, 0, &[2, 3], Hard),
        task(100_000, 0, &[0], Hard),
        task(200_000, 0, &[6, 7], Soft),
        task(300_000, 0, &[5, 8], Soft),
        task(400_000, 0, &[7, 9], Soft),
        task(100_000, 0, &[7, 11], Soft),
        task(100_000, 0, &[8], Soft),
        task(100_000, 0, &[7, 10], Soft),
        task(0, 0, &[8, 12], BestEffort),
    ]
}

fn plain(tasks: &[ColouredTask], cores: usize, capacity: u64, fit: Fit) -> Vec<usize> {
    let sizes: Vec<u64> = tasks.iter().map(|task| task.utilisation).collect();
    let fits = |bin: &[usize]| bin.iter().map(|&i| sizes[i]).sum::<u64>() <= capacity;
    place(&sizes, &[], cores, fit, Order::Decreasing, fits).unwrap()
}

#[test]
fn cap_places_the_sources_first_example_as_the_source_does() {
    let tasks = table_14();
    assert_eq!(groups(&tasks), [vec![0, 1, 2, 3, 4], vec![5], vec![6, 7]]);
    let sum = |group: &[usize]| group.iter().map(|&i| tasks[i].utilisation).sum::<u64>();
    assert_eq!(groups(&tasks).iter().map(|group| sum(group)).collect::<Vec<_>>(), [985_000, 520_000, 740_000]);
    for fit in [Fit::Worst, Fit::First, Fit::Best, Fit::Next] {
        assert_eq!(cap(&tasks, &MEMORY, 3, 1_000_000, fit), Ok(vec![0, 0, 0, 0, 0, 2, 1, 1]), "{fit:?}");
    }
    // Without groups the sharers T6 and T7 are separated.
    assert_eq!(plain(&tasks, 3, 1_000_000, Fit::Worst), [2, 2, 2, 0, 0, 1, 0, 1]);
}

#[test]
fn cap_gs_places_the_sources_second_example_as_the_source_does() {
    let tasks = table_15();
    let whole = vec![3usize, 5, 6, 8];
    assert!(groups(&tasks).contains(&whole));
    let example = cap_gs(&tasks, &MEMORY, 3, 750_000, SoftCores::WithoutHard);
    assert_eq!(example, Ok(vec![0, 0, 0, 1, 2, 1, 1, 2, 2, 2]));
    // The algorithm as printed puts T8 where it fits best, beside the hard tasks.
    assert_eq!(cap_gs(&tasks, &MEMORY, 3, 750_000, SoftCores::Any), Ok(vec![0, 0, 0, 1, 2, 1, 1, 2, 0, 2]));
    let refused = NotPartitioned::Group { tasks: whole, utilisation: 800_000, capacity: 750_000 };
    assert_eq!(cap(&tasks, &MEMORY, 3, 750_000, Fit::Worst), Err(refused));
    assert_eq!(plain(&tasks, 3, 750_000, Fit::Best), [1, 0, 2, 1, 1, 0, 2, 2, 2, 0]);
}

#[test]
fn what_cannot_be_partitioned_is_refused_with_the_rule_that_it_breaks() {
    let with = |change: fn(&mut Vec<ColouredTask>), memory: ColouredMemory, cores| {
        let mut tasks = table_14();
        change(&mut tasks);
        cap(&tasks, &memory, cores, 1_000_000, Fit::Worst).unwrap_err()
    };
    let none = |_: &mut Vec<ColouredTask>| {};
    let full = with(none, ColouredMemory { colours: 16, bytes: 9 << 20 }, 3);
    assert_eq!(full, NotPartitioned::Full { colour: Colour(1), needed: 608 << 10, bytes: (9 << 20) / 16 });
    assert_eq!(
        with(none, ColouredMemory { colours: 10, ..MEMORY }, 3),
        NotPartitioned::Colours { task: 7, colours: 10 }
    );
    assert_eq!(with(none, MEMORY, 2), NotPartitioned::NoCore(vec![5]));
    let needed = 2036 << 10;
    assert_eq!(
        with(none, ColouredMemory { colours: 16, bytes: 2 << 20 >> 1 }, 3),
        NotPartitioned::Memory { needed, bytes: 1 << 20 }
    );
    let over = with(|tasks| tasks[0].utilisation += 16_000, MEMORY, 3);
    assert!(matches!(&over, NotPartitioned::Group { utilisation: 1_001_000, .. }), "{over}");
    let empty = with(|tasks| tasks[2].colours = ColourSet::EMPTY, MEMORY, 3);
    assert_eq!(empty, NotPartitioned::Colours { task: 2, colours: 16 });
    assert_eq!(
        cap_gs(&table_14(), &MEMORY, 8, 1_000_000, SoftCores::Any),
        Err(NotPartitioned::HardShares { task: 0, with: 1 })
    );
    for error in [full, over, empty] {
        assert!(error.to_string().contains(": "), "{error}");
    }
}

fn any_set() -> impl Strategy<Value = Vec<ColouredTask>> {
    let class = prop_oneof![Just(Class::Soft), Just(Class::BestEffort)];
    let one = (10_000u64..400_000, prop::collection::vec(0u16..16, 1..3), class);
    prop::collection::vec(one, 1..25).prop_map(|all| {
        all.into_iter().map(|(utilisation, colours, class)| task(utilisation, 1, &colours, class)).collect()
    })
}

proptest! {
    #[test]
    fn tasks_that_share_are_together_and_no_core_is_overfull(tasks in any_set(), cores in 1usize..9) {
        // Another way to the groups: reachability by repeated squaring of the sharing matrix.
        let many = tasks.len();
        let meets = |a: &ColouredTask| tasks.iter().map(|b| a.colours.meets(b.colours)).collect::<Vec<bool>>();
        let mut reach: Vec<Vec<bool>> = tasks.iter().map(meets).collect();
        for through in 0..many {
            let further = reach[through].clone();
            for row in reach.iter_mut().filter(|row| row[through]) {
                row.iter_mut().zip(&further).for_each(|(here, there)| *here |= there);
            }
        }
        for group in groups(&tasks) {
            for (b, reached) in reach[group[0]].iter().enumerate() {
                prop_assert_eq!(group.contains(&b), *reached);
            }
        }
        let load = |placed: &[usize], core: usize| -> u64 {
            let here = (0..many).filter(|&i| placed[i] == core && tasks[i].class != Class::BestEffort);
            here.map(|i| tasks[i].utilisation).sum()
        };
        if let Ok(placed) = cap(&tasks, &MEMORY, cores, 1_000_000, Fit::Worst) {
            prop_assert!((0..cores).all(|core| load(&placed, core) <= 1_000_000));
            for (a, row) in reach.iter().enumerate() {
                for (b, reached) in row.iter().enumerate() {
                    prop_assert!(!reached || placed[a] == placed[b]);
                }
            }
        }
        if let Ok(placed) = cap_gs(&tasks, &MEMORY, cores, 690_000, SoftCores::Any) {
            prop_assert!((0..cores).all(|core| load(&placed, core) <= 690_000));
        }
    }
}
