//! Snapshots: every page once, and damage is found.

use tactus_package::load::PAGES;
use tactus_package::program::PAGE;
use tactus_package::snapshot::{Extent, SaveStep, Seal, SAVED_PAGES};

#[test]
fn every_page_is_kept_once_and_every_page_of_the_program_is_taken_away_once() {
    for extent in [(1, 4, 1), (16, 8, 2), (17, 132, 32), (32, 9, 5)] {
        let extent = Extent { program: extent.0, own: extent.1, tasks: extent.2 };
        let steps: Vec<_> = (0..).map_while(|n| extent.save_step(n)).collect();
        assert_eq!((steps.len() as u64, steps[0]), (extent.save_steps(), SaveStep::Stop));
        let (mut kept, mut taken) = (0, 0);
        for step in &steps[1..] {
            let (next, from, count, most) = match step {
                SaveStep::Stop => panic!("stopped again"),
                SaveStep::Keep { from, count } => (&mut kept, *from, *count, SAVED_PAGES),
                SaveStep::Unmap { from, count } => (&mut taken, *from, *count, PAGES),
            };
            assert!(*next == from && (1..=most).contains(&count), "{extent:?}: {step:?}");
            *next += count;
        }
        assert_eq!((kept, taken), (extent.pages(), extent.program), "{extent:?}");
    }
}

#[test]
fn a_seal_finds_each_byte_that_was_changed_and_pages_that_were_exchanged_or_left_out() {
    let pages: Vec<Vec<u8>> = (0..3_u8).map(|n| (0..PAGE).map(|at| n ^ (at as u8)).collect()).collect();
    let seal = |pages: &[(u64, &[u8])]| {
        let mut seal = Seal::new();
        for (number, contents) in pages {
            seal.page(*number);
            contents.chunks(256).for_each(|piece| seal.contents(piece));
        }
        seal.digest()
    };
    let all: Vec<(u64, &[u8])> = [3, 4, 9].into_iter().zip(pages.iter().map(Vec::as_slice)).collect();
    let right = seal(&all);
    assert_ne!(right, seal(&all[..2]));
    assert_ne!(right, seal(&[all[1], all[0], all[2]]));
    assert_ne!(right, seal(&[all[0], (5, all[1].1), all[2]]));
    for at in 0..PAGE as usize {
        let mut damaged = pages[1].clone();
        damaged[at] ^= 1 << (at % 8);
        assert_ne!(right, seal(&[all[0], (4, &damaged), all[2]]), "byte {at}");
    }
}
