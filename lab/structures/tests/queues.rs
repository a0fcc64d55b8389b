//! Ready queues against a sorted list, and the bugs that are planted in them.
#![cfg(not(any(loom, shuttle)))]

use proptest::prelude::*;
use tactus_compared_structures::planted;
use tactus_compared_structures::queue::{
    BinaryHeap, Bitmap, Calendar, Entry, PairingHeap, PlainHeap, ReadyQueue, RedBlackTree,
};

const TASKS: usize = 40;

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(u64, u32),
    Remove(u32),
    Pop,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few different urgencies, many, and some that are years of a calendar apart.
    let urgency =
        prop_oneof![0..6_u64, 0..4_000_u64, (0..90_u64).prop_map(|n| n << 20), any::<u64>().prop_map(|n| n / 2)];
    let task = 0..TASKS as u32;
    let step = prop_oneof![
        4 => (urgency, task.clone()).prop_map(|(urgency, task)| Step::Insert(urgency, task)),
        2 => task.prop_map(Step::Remove),
        1 => Just(Step::Pop),
    ];
    proptest::collection::vec(step, 1..300)
}

/// Does the steps to the queue and to a list; says where they part, or what the checker finds.
fn follow<Q: ReadyQueue>(steps: &[Step]) -> Result<(), String> {
    let mut queue = Q::with_room(TASKS);
    // In the order of arrival.
    let mut list: Vec<Entry> = Vec::new();
    let most_urgent = |list: &Vec<Entry>| list.iter().map(|entry| entry.urgency).min();
    for (n, step) in steps.iter().enumerate() {
        match *step {
            Step::Insert(urgency, task) => {
                let entry = Entry { urgency: urgency.min(Q::LEVELS - 1), task };
                list.retain(|other| other.task != task);
                list.push(entry);
                queue.insert(entry);
            }
            Step::Remove(task) => {
                let expected = list.iter().find(|entry| entry.task == task).copied();
                list.retain(|entry| entry.task != task);
                if queue.remove(task) != expected {
                    return Err(format!("step {n}: removed something else than {expected:?}"));
                }
            }
            Step::Pop => {
                let popped = queue.pop();
                if popped.map(|entry| entry.urgency) != most_urgent(&list) {
                    return Err(format!("step {n}: {popped:?} is not the most urgent"));
                }
                list.retain(|entry| Some(*entry) != popped);
            }
        }
        queue.check().map_err(|flaw| format!("step {n}: {flaw}"))?;
        if queue.peek().map(|entry| entry.urgency) != most_urgent(&list) || queue.len() != list.len() {
            return Err(format!("step {n}: {:?} is not the most urgent, or the length is wrong", queue.peek()));
        }
        let mut held = Vec::new();
        queue.each(&mut |entry| held.push(entry));
        held.sort();
        let mut expected = list.clone();
        expected.sort();
        if held != expected {
            return Err(format!("step {n}: the queue holds {held:?}, not {expected:?}"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_queue_does_what_a_sorted_list_does(steps in steps()) {
        prop_assert_eq!(follow::<BinaryHeap>(&steps), Ok(()));
        prop_assert_eq!(follow::<PlainHeap>(&steps), Ok(()));
        prop_assert_eq!(follow::<PairingHeap>(&steps), Ok(()));
        prop_assert_eq!(follow::<RedBlackTree>(&steps), Ok(()));
        prop_assert_eq!(follow::<Bitmap>(&steps), Ok(()));
        prop_assert_eq!(follow::<Calendar>(&steps), Ok(()));
    }
}

#[test]
fn equally_urgent_tasks_leave_by_number_or_in_a_bitmap_by_arrival() {
    fn order<Q: ReadyQueue>() -> Vec<u32> {
        let mut queue = Q::with_room(8);
        [5, 1, 7, 3].into_iter().for_each(|task| queue.insert(Entry { urgency: 9, task }));
        std::iter::from_fn(|| queue.pop()).map(|entry| entry.task).collect()
    }
    assert_eq!(order::<BinaryHeap>(), [1, 3, 5, 7]);
    assert_eq!(order::<PlainHeap>(), [1, 3, 5, 7]);
    assert_eq!(order::<PairingHeap>(), [1, 3, 5, 7]);
    assert_eq!(order::<RedBlackTree>(), [1, 3, 5, 7]);
    assert_eq!(order::<Calendar>(), [1, 3, 5, 7]);
    assert_eq!(order::<Bitmap>(), [5, 1, 7, 3]);
}

/// How many steps of a fixed sequence it takes until the bug shows, by the checker, a wrong answer or a crash.
fn steps_until_found<Q: ReadyQueue>() -> Option<usize> {
    let mut draw = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = || {
        draw ^= draw << 13;
        draw ^= draw >> 7;
        draw ^= draw << 17;
        draw >> 20
    };
    let steps: Vec<Step> = (0..2_000)
        .map(|_| match next() % 3 {
            0 => Step::Remove((next() % TASKS as u64) as u32),
            _ => Step::Insert(next() % 4_000, (next() % TASKS as u64) as u32),
        })
        .collect();
    let survives = |n: usize| {
        let steps = steps[..n].to_vec();
        std::panic::catch_unwind(move || follow::<Q>(&steps)).is_ok_and(|result| result.is_ok())
    };
    if survives(steps.len()) {
        return None;
    }
    let (mut good, mut bad) = (0, steps.len());
    while bad - good > 1 {
        let middle = (good + bad) / 2;
        if survives(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(bad)
}

#[test]
fn a_bug_planted_in_each_queue_is_found() {
    // Crashes are expected here, and their words would only disturb.
    std::panic::set_hook(Box::new(|_| {}));
    let found = [
        ("binary heap", steps_until_found::<BinaryHeap<{ planted::STALE_INDEX }>>()),
        ("plain heap", steps_until_found::<PlainHeap<{ planted::NOT_SUNK }>>()),
        ("pairing heap", steps_until_found::<PairingHeap<{ planted::LOST_CHILDREN }>>()),
        ("red-black tree", steps_until_found::<RedBlackTree<{ planted::UNMENDED_COLOURS }>>()),
        ("bitmap", steps_until_found::<Bitmap<{ planted::STALE_BIT }>>()),
        ("calendar", steps_until_found::<Calendar<{ planted::STALE_FIRST }>>()),
        ("none", steps_until_found::<BinaryHeap>()),
    ];
    let _ = std::panic::take_hook();
    for (name, steps) in found {
        println!("{name}: {steps:?}");
        assert_eq!(steps.is_some(), name != "none", "{name}");
    }
}
