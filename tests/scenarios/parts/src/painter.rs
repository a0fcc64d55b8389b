//! Manages memory itself: every operation, and every way to be refused.
#![no_std]
#![no_main]

use tactus_rt::abi::call::MemoryOperation::{Count, MapReadable, MapWritable, Release, Take, Unmap};
use tactus_rt::abi::layout::{PAGE, WINDOW};
use tactus_rt::calls::memory_control as control;
use tactus_rt::{info, Error, Job};

tactus_rt::component! { job: paint, services: [] }

/// Colours of the machine, and frames of each.
const COLOURS: u64 = 4;
const EACH: u64 = 4;

fn word(page: u64) -> *mut u64 {
    (WINDOW + page * PAGE) as *mut u64
}

fn paint(_: &Job) {
    let own = u64::from(info().component);
    let mut frames = [[0; EACH as usize]; COLOURS as usize];
    for (colour, frames) in frames.iter_mut().enumerate() {
        let colour = colour as u64;
        for (taken, frame) in frames.iter_mut().enumerate() {
            assert_eq!(control(Count, 0, 0, colour), Ok([EACH, EACH - taken as u64]));
            *frame = control(Take, 0, 0, colour).unwrap_or([99, 0])[0];
        }
        assert_eq!(control(Take, 0, 0, colour), Err(Error::Exhausted));
        assert_eq!(control(Count, 0, 0, colour), Ok([EACH, 0]));
        // Frames of one colour are so many apart, those of different colours are not.
        assert!(frames.iter().all(|frame| frame % COLOURS == frames[0] % COLOURS && *frame < COLOURS * EACH));
    }
    for (place, of) in frames.iter().enumerate() {
        assert!(frames[..place].iter().all(|other| other[0] % COLOURS != of[0] % COLOURS));
    }
    assert_eq!(control(Take, 0, 0, COLOURS), Err(Error::BadArgument));
    assert_eq!(control(Count, 0, 0, COLOURS), Err(Error::BadArgument));

    let [one, other] = [frames[0][0], frames[1][0]];
    assert_eq!(control(MapWritable, own, 3, one), Ok([0, 0]));
    assert_eq!(control(MapReadable, own, 4, one), Ok([0, 0]));
    // SAFETY: mapped above: the first to be written, both to be read.
    unsafe {
        assert_eq!(word(4).read_volatile(), 0);
        word(3).write_volatile(42);
        assert_eq!(word(4).read_volatile(), 42);
    }
    assert_eq!(control(MapWritable, own, 3, other), Err(Error::InUse));
    assert_eq!(control(MapWritable, own, 512, other), Err(Error::BadPage));
    assert_eq!(control(MapWritable, own, 5, COLOURS * EACH), Err(Error::BadPage));
    assert_eq!(control(MapWritable, 0, 5, other), Err(Error::BadComponent));
    assert_eq!(control(MapWritable, 9999, 5, other), Err(Error::BadComponent));
    assert_eq!(control(Release, 0, 0, one), Err(Error::InUse));
    assert_eq!(control(Unmap, own, 3, 0), Ok([one, 0]));
    assert_eq!(control(Unmap, own, 3, 0), Err(Error::BadPage));
    assert_eq!(control(Release, 0, 0, one), Err(Error::InUse));
    assert_eq!(control(Unmap, own, 4, 0), Ok([one, 0]));
    for frame in frames.iter().flatten() {
        // Another core may not have forgotten the old mapping yet.
        while control(Release, 0, 0, *frame) == Err(Error::InUse) {
            core::hint::spin_loop();
        }
    }
    assert_eq!(control(Release, 0, 0, one), Err(Error::BadPage));
    assert_eq!(control(MapWritable, own, 3, one), Err(Error::BadPage));
    // What was written is gone with the frame.
    let again = control(Take, 0, 0, 0).unwrap_or([99, 0])[0];
    assert_eq!(control(MapReadable, own, 3, again), Ok([0, 0]));
    // SAFETY: mapped above.
    assert_eq!(unsafe { word(3).read_volatile() }, 0);
    assert_eq!(control(Unmap, own, 3, 0), Ok([again, 0]));
    while control(Release, 0, 0, again) == Err(Error::InUse) {
        core::hint::spin_loop();
    }
}
