//! A program of 128 KiB. Each of its jobs looks at one page of it.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tactus_rt::{Console, Job};

tactus_rt::component! { job: look, services: [] }

static PAGES: [u8; 1 << 17] = [7; 1 << 17];
static NEXT: AtomicUsize = AtomicUsize::new(0);

fn look(_: &Job) {
    let page = NEXT.fetch_add(1, Relaxed);
    if page == 0 {
        let _ = writeln!(Console, "middle has {}", PAGES.len());
    }
    let place = core::hint::black_box(page * 4096 % PAGES.len());
    assert!(PAGES[place] == 7);
}
