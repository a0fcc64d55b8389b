//! A client of the block service that goes on while its requests are served: in one job it asks for a place, in a later one it finds the
//! answer. Nobody else may write to its extent, so that every byte is zero; else it gives up. Every third request it cancels.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::disk::{DiskClient, DiskRequest, Operation, Status};
use tactus_rt::{now, Job};

tactus_rt::component! { job: watch, services: [] }

static DISK: DiskClient = DiskClient::new();
/// Number of the request that is under way, from 1 on; 0 if none is.
static UNDER_WAY: AtomicU64 = AtomicU64::new(0);
static NEXT: AtomicU64 = AtomicU64::new(1);
/// Not before this.
static AGAIN: AtomicU64 = AtomicU64::new(0);

/// Places of the extent, and blocks of a request.
const PLACES: u64 = 8;
const BLOCKS: u64 = 8;
/// Tags of cancellations.
const CANCELS: u64 = 1 << 32;

fn watch(_: &Job) {
    if DISK.data().bytes() == 0 && DISK.open("watcher").is_err() {
        return;
    }
    while let Some(answer) = DISK.answer().expect("the buffer is as it was") {
        if answer.tag >= CANCELS {
            assert!([Status::Done, Status::NotWaiting].contains(&answer.status), "{}", answer.status);
            continue;
        }
        UNDER_WAY.store(0, Relaxed);
        match answer.status {
            Status::Done => look(answer.tag),
            Status::Cancelled => assert!(answer.tag % 3 == 0, "nobody cancelled it"),
            Status::Early => AGAIN.store(answer.again.as_nanos(), Relaxed),
            status => panic!("{status}"),
        }
    }
    if UNDER_WAY.load(Relaxed) > 0 || now().as_nanos() < AGAIN.load(Relaxed) {
        return;
    }
    let tag = NEXT.fetch_add(1, Relaxed);
    let request = DiskRequest { operation: Operation::Read, tag, place: tag % PLACES, blocks: BLOCKS, at: 0 };
    UNDER_WAY.store(tag, Relaxed);
    DISK.submit(&request).expect("the service takes what is there");
    if tag % 3 == 0 {
        let cancel = DiskRequest { operation: Operation::Cancel, tag: CANCELS + tag, place: tag, ..request };
        DISK.submit(&cancel).expect("the service takes what is there");
    }
}

fn look(tag: u64) {
    let mut word = [1; 8];
    for at in (0..BLOCKS * 512).step_by(8) {
        assert!(DISK.data().load(at, &mut word) && word == [0; 8], "somebody wrote to place {}", tag % PLACES);
    }
}
