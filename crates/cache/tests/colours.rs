//! Colours, frames and heaps: nothing is given twice, and nothing of a foreign colour.

use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};
use tactus_cache::machine::MACHINES;
use tactus_cache::{Colour, Colours, ColoursError, FrameError, Frames, Geometry, Heap, HeapError, HeapMode, Index};

fn i7(count: u64) -> Colours {
    Colours::new(&Geometry::of("i7-2600").unwrap(), count).unwrap()
}

/// The sets of the shared level that frames of a colour reach, among the first `frames` frames.
fn sets(geometry: &Geometry, colours: &Colours, colour: u16, frames: u64) -> BTreeSet<usize> {
    let of_a_page = geometry.page / geometry.line();
    let of_colour = (0..frames).filter(|frame| colours.of(frame * geometry.page) == Colour(colour));
    of_colour
        .flat_map(|frame| (0..of_a_page).map(move |line| frame * of_a_page + line))
        .map(|number| geometry.shared.shape.set_of(number))
        .collect()
}

#[test]
fn page_k_and_page_k_plus_128_have_one_colour() {
    let colours = i7(128);
    for page in 0..1000u64 {
        assert_eq!(colours.page_colour(page * 4096), page & 127);
        assert_eq!(colours.of(page * 4096), colours.of((page + 128) * 4096));
        assert_eq!(i7(8).of(page * 4096).0, (page % 128 % 8) as u16);
    }
    assert_eq!(i7(8).bytes_each(&Geometry::of("i7-2600").unwrap()), 1 << 20);
    assert_eq!(i7(32).bytes_each(&Geometry::of("i7-2600").unwrap()), 256 << 10);
}

#[test]
fn two_colours_never_share_a_set() {
    for (name, _) in MACHINES {
        let geometry = Geometry::of(name).unwrap();
        for count in [2, 8, 16] {
            let colours = Colours::on_hashed_index(&geometry, count).unwrap();
            let mut all = BTreeSet::new();
            for colour in 0..colours.count() {
                let sets = sets(&geometry, &colours, colour, 2048);
                assert_eq!(sets.len(), geometry.shared.shape.sets() / count as usize, "{name}");
                assert!(sets.iter().all(|set| all.insert(*set)), "{name}: colour {colour} of {count}");
            }
        }
    }
}

/// The source's index is nominal; with the slices that silicon has, 32 colours are apart and 64 are not.
#[test]
fn the_slice_hash_leaves_32_colours_of_128() {
    let mut geometry = Geometry::of("i7-2600").unwrap();
    geometry.shared.shape.index = Index::SandyBridge4;
    let apart = Colours::on_hashed_index(&geometry, 32).unwrap();
    let own = sets(&geometry, &apart, 0, 1 << 14);
    assert!((1..32).all(|colour| sets(&geometry, &apart, colour, 1 << 14).is_disjoint(&own)));
    assert_eq!(Colours::on_hashed_index(&geometry, 64), Err(ColoursError::NotApart { asked: 64, most: 32 }));
    let nominal = Colours::new(&geometry, 64).unwrap();
    let own = sets(&geometry, &nominal, 0, 1 << 14);
    assert!((1..64).any(|colour| !sets(&geometry, &nominal, colour, 1 << 14).is_disjoint(&own)));
}

#[test]
fn colours_that_cannot_be_are_refused() {
    let geometry = Geometry::of("zynq-ultrascale").unwrap();
    for (count, words) in [(0, "power of two"), (3, "power of two"), (32, "has 16 page colours"), (1 << 40, "has 16")] {
        assert!(Colours::new(&geometry, count).unwrap_err().to_string().contains(words), "{count}");
    }
}

/// Every state that taking and giving back can reach, for every size up to 16 frames and 1, 2 and 4 colours.
#[test]
fn no_frame_is_given_twice_or_as_a_foreign_colour_in_any_reachable_state() {
    let mut states = 0;
    for count in [1u64, 2, 4] {
        for many in (0..=16u64).filter(|many| many % 3 == 1 || *many > 14 || count == 4) {
            states += every_allocator_state(&i7(count), 5, many);
        }
    }
    assert!(states > 200_000, "{states}");
}

fn every_allocator_state(colours: &Colours, first: u64, many: u64) -> usize {
    let start = Frames::new(*colours, first * 4096 - 1..(first + many) * 4096 + 4095);
    // The oracle: a set of frames that are out, as one word.
    let mut seen = HashSet::from([0u32]);
    let mut open = vec![(start, 0u32)];
    while let Some((frames, out)) = open.pop() {
        for colour in 0..colours.count() {
            let mut next = frames.clone();
            let left = (0..many).filter(|at| (first + at) % u64::from(colours.count()) == u64::from(colour));
            let left = left.filter(|at| out >> at & 1 == 0).count() as u64;
            assert_eq!(frames.free(Colour(colour)), left);
            match next.take(Colour(colour)) {
                Ok(address) => {
                    let at = address / 4096 - first;
                    assert!(at < many && out >> at & 1 == 0, "frame {at} is given twice");
                    assert_eq!(address / 4096 % u64::from(colours.count()), u64::from(colour));
                    if seen.insert(out | 1 << at) {
                        open.push((next, out | 1 << at));
                    }
                }
                Err(error) => {
                    assert_eq!((error, left), (FrameError::Exhausted(Colour(colour)), 0));
                }
            }
        }
        for at in 0..many {
            let mut next = frames.clone();
            let address = (first + at) * 4096;
            if out >> at & 1 == 1 {
                assert_eq!(next.take_at(address), Err(FrameError::Given(address)));
                next.give_back(address).unwrap();
                if seen.insert(out & !(1 << at)) {
                    open.push((next, out & !(1 << at)));
                }
            } else {
                assert_eq!(next.give_back(address), Err(FrameError::Free(address)));
            }
        }
    }
    seen.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn random_use_of_large_memories_gives_no_frame_twice(
        power in 0u32..8,
        first in 0u64..200,
        many in 1u64..3000,
        steps in prop::collection::vec((any::<u16>(), any::<bool>()), 1..600),
    ) {
        let colours = i7(1 << power);
        let mut frames = Frames::new(colours, first * 4096..(first + many) * 4096);
        let mut out: Vec<u64> = Vec::new();
        for (number, take) in steps {
            if take {
                let colour = Colour(number % colours.count());
                match frames.take(colour) {
                    Ok(address) => {
                        prop_assert!(!out.contains(&address));
                        prop_assert!((first..first + many).contains(&(address / 4096)));
                        prop_assert_eq!(colours.of(address), colour);
                        out.push(address);
                    }
                    Err(error) => prop_assert_eq!((error, frames.free(colour)), (FrameError::Exhausted(colour), 0)),
                }
            } else if !out.is_empty() {
                let address = out.swap_remove(usize::from(number) % out.len());
                prop_assert_eq!(frames.give_back(address), Ok(()));
                prop_assert_eq!(frames.give_back(address), Err(FrameError::Free(address)));
            }
        }
        let free: u64 = (0..colours.count()).map(|colour| frames.free(Colour(colour))).sum();
        prop_assert_eq!(free + out.len() as u64, many);
    }

    #[test]
    fn blocks_of_a_heap_never_overlap_and_stay_in_their_colour(
        count in 1u16..9,
        steps in prop::collection::vec((0u32..300, 0u16..9, any::<bool>()), 1..200),
    ) {
        let mut arena = vec![0; 16 << 10];
        let mut heap = Heap::new(&mut arena, count, HeapMode::Application).unwrap();
        let size = ((16u32 << 10) / u32::from(count)) & !7;
        let mut blocks: Vec<(u32, u32, Colour)> = Vec::new();
        for (bytes, colour, take) in steps {
            if take {
                match heap.allocate(bytes, 0, Colour(colour)) {
                    Ok(address) => {
                        prop_assert!(address % 8 == 0 && address / size == u32::from(colour));
                        prop_assert!((address + bytes - 1).max(address) / size == u32::from(colour));
                        for (other, long, _) in &blocks {
                            prop_assert!(address + bytes + 8 <= *other || other + long + 8 <= address);
                        }
                        blocks.push((address, bytes, Colour(colour)));
                    }
                    Err(HeapError::NoSuchColour { .. }) => prop_assert!(colour >= count),
                    Err(error) => prop_assert_eq!(error, HeapError::Full { colour: Colour(colour), bytes }),
                }
            } else if !blocks.is_empty() {
                let (address, _, colour) = blocks.swap_remove(bytes as usize % blocks.len());
                prop_assert_eq!(heap.give_back(address), Ok(colour));
                prop_assert_eq!(heap.give_back(address), Err(HeapError::NoBlock(address)));
            }
        }
        for (address, _, colour) in blocks {
            prop_assert_eq!(heap.give_back(address), Ok(colour));
        }
        prop_assert!((0..count).all(|colour| heap.free(Colour(colour)) == size));
    }
}

/// Statement 21: where the pages of the arena are frames of the heap's colour, no block touches a set of another colour.
#[test]
fn every_byte_of_a_block_lies_in_a_frame_of_its_colour() {
    let geometry = Geometry::of("i7-2600").unwrap();
    for count in [2u16, 8, 64] {
        let colours = i7(count.into());
        let (pages, page) = (4u32, 4096u32);
        let mut frames = Frames::new(colours, 0..8 << 20);
        let of_heap = |number: u32| Colour((number / pages) as u16);
        let frame: Vec<u64> =
            (0..u32::from(count) * pages).map(|number| frames.take(of_heap(number)).unwrap()).collect();
        let physical = |address: u32| frame[(address / page) as usize] + u64::from(address % page);
        let mut arena = vec![0; frame.len() * page as usize];
        let mut heap = Heap::new(&mut arena, count, HeapMode::Application).unwrap();
        let mut owner = vec![None; geometry.shared.shape.sets()];
        for number in 0..40 * u32::from(count) {
            let (bytes, colour) = (1 + number * 37 % 600, Colour((number % u32::from(count)) as u16));
            // Every third block is given back, so that later ones lie in gaps, too.
            let Ok(block) = heap.allocate(bytes, 0, colour) else { continue };
            for address in block - 8..block + bytes {
                assert_eq!(colours.of(physical(address)), colour, "block of {bytes} bytes at {block:#x}");
                let set = geometry.shared.shape.set_of(physical(address) / geometry.line());
                assert_eq!(*owner[set].get_or_insert(colour), colour, "set {set}");
            }
            if number % 3 == 0 {
                assert_eq!(heap.give_back(block), Ok(colour));
            }
        }
        // Up to the end of each heap.
        for colour in (0..count).map(Colour) {
            while let Ok(block) = heap.allocate(1, 0, colour) {
                assert_eq!(colours.of(physical(block)), colour, "the block at {block:#x}");
            }
        }
        let touched: BTreeSet<_> = owner.iter().flatten().map(|colour| colour.0).collect();
        assert_eq!(touched.len(), usize::from(count));
    }
}

/// Statement 22: eight bytes more, back to the right heap, thread modulo colours where the system chooses.
#[test]
fn a_coloured_block_costs_eight_bytes() {
    let mut arena = vec![0; 4096];
    let mut heap = Heap::new(&mut arena, 4, HeapMode::Application).unwrap();
    let block = heap.allocate(200, 7, Colour(2)).unwrap();
    assert_eq!(heap.free(Colour(2)), 1024 - 208);
    assert_eq!(heap.give_back(block), Ok(Colour(2)));
    assert_eq!(heap.free(Colour(2)), 1024);
    assert_eq!(heap.allocate(8, 0, Colour(4)), Err(HeapError::NoSuchColour { asked: Colour(4), count: 4 }));
    for colours in [1, 2, 4, 8] {
        let mut heap = Heap::new(&mut arena, colours, HeapMode::System).unwrap();
        let each = heap.free(Colour(0));
        for thread in 0..20 {
            let index = Colour((thread % usize::from(colours)) as u16);
            let block = heap.allocate(200, thread, Colour(2)).unwrap();
            assert_eq!(heap.free(index), each - 208, "thread {thread} of {colours} colours");
            assert_eq!(heap.give_back(block), Ok(index));
            assert_eq!(heap.free(index), each);
        }
    }
}
