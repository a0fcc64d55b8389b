//! What policies use beside the plainest thing that does the same. Structures beside each other, and the bugs that are planted in them:
//! `lab/structures/tests`.

use proptest::prelude::*;
use tactus_structures::directory::{Held, HeldRow};
use tactus_structures::queue::{BinaryHeap, Entry, FirstHeap, ReadyQueue};

const TASKS: usize = 20;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// By task: in with this urgency, or out; then the first is taken in one of four.
    #[test]
    fn the_heap_with_an_index_does_what_a_sorted_list_does(
        steps in proptest::collection::vec((0..TASKS as u32, proptest::option::of(0..9_u64), 0..4_u8), 1..200)
    ) {
        let (mut heap, mut list) = (<BinaryHeap>::with_room(TASKS), Vec::new());
        for (task, urgency, take) in steps {
            list.retain(|entry: &Entry| entry.task != task);
            match urgency {
                Some(urgency) => {
                    list.push(Entry { urgency, task });
                    heap.insert(Entry { urgency, task });
                }
                None => drop(heap.remove(task)),
            }
            list.sort();
            prop_assert_eq!(heap.peek(), list.first().copied());
            if take == 0 {
                prop_assert_eq!(heap.pop(), (!list.is_empty()).then(|| list.remove(0)));
            }
            prop_assert_eq!((heap.len(), heap.check()), (list.len(), Ok(())));
        }
    }

    #[test]
    fn the_heap_of_which_only_the_first_is_taken_does_what_a_sorted_list_does(
        steps in proptest::collection::vec((0..50_u32, 0..4_u8), 1..100)
    ) {
        let (mut heap, mut list) = (FirstHeap::<u32>::with_capacity(100), Vec::new());
        for (key, what) in steps {
            match what {
                0 => prop_assert_eq!(heap.pop(), (!list.is_empty()).then(|| list.remove(0))),
                1 if !list.is_empty() => {
                    list[0] = key;
                    heap.replace_first(key);
                }
                _ => {
                    list.push(key);
                    heap.push(key);
                }
            }
            list.sort_unstable();
            prop_assert_eq!(heap.peek(), list.first().copied());
            prop_assert_eq!(heap.entries().len(), list.len());
        }
    }

    #[test]
    fn the_row_knows_the_greatest(changes in proptest::collection::vec((0..8_usize, 0..30_u64), 1..50)) {
        let (mut row, mut numbers) = (<HeldRow<u64>>::with_cores(8), [0; 8]);
        for (core, number) in changes {
            numbers[core] = number;
            row.set(core, number);
            prop_assert_eq!(row.check(&numbers), Ok(()));
            prop_assert_eq!(Some(&row.get(row.greatest())), numbers.iter().max());
        }
    }
}
