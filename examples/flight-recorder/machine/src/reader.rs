//! A client of the block service that waits for its answers: each job reads a place and goes on when it has it. Nobody writes to its
//! extent, so that every byte is zero, whatever became of the disk's power meanwhile; else it gives up.
#![no_std]
#![no_main]

use tactus_rt::disk::{DiskClient, DiskRequest, Operation, Status};
use tactus_rt::time::Duration;
use tactus_rt::Job;

tactus_rt::component! { job: read, services: [] }

static DISK: DiskClient = DiskClient::new();

/// Places of the extent, and blocks of a request.
const PLACES: u64 = 8;
const BLOCKS: u64 = 8;
/// As the task's wait in the system file: longer than a request takes, and the service needs to notice it and its end.
const WAIT: Duration = Duration::from_millis(170);

fn read(job: &Job) {
    if DISK.data().bytes() == 0 && DISK.open("reader").is_err() {
        return;
    }
    let number = job.number();
    let request =
        DiskRequest { operation: Operation::Read, tag: number, place: number % PLACES, blocks: BLOCKS, at: 0 };
    let answer = DISK.call(&request, || {
        job.wait(WAIT);
    });
    match answer {
        Ok(answer) if answer.status == Status::PowerLost => return,
        Ok(answer) => assert!(answer.status == Status::Done, "{}", answer.status),
        Err(error) => panic!("the buffer is spoilt: {error:?}"),
    }
    let mut word = [1; 8];
    for at in (0..BLOCKS * 512).step_by(8) {
        assert!(DISK.data().load(at, &mut word) && word == [0; 8], "somebody wrote to place {}", number % PLACES);
    }
}
