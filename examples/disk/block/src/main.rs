//! The disk of `examples/disk.toml` on the machine. Clients and seed are those of the file; the run is compared with the
//! simulation of the file, so that a difference shows.
#![no_std]
#![no_main]

extern crate alloc;

mod medium;

use core::fmt::Write;
use medium::Bytes;
use tactus_block::{Disk, Settings};
use tactus_disk::parameters::source_10k;
use tactus_disk::{Arrivals, Client, Form, Policy};
use tactus_rt::time::Duration;
use tactus_rt::{now, Job, Screen};
use tactus_sync::{Lock, Order, Rank};

tactus_rt::component! { job: work, services: [] }

/// The component has one task, so that nobody ever waits for its state.
struct Only;

impl Rank for Only {
    const NUMBER: u32 = 1;
}

struct State {
    disk: Disk,
    /// Nothing where the file gives the component no device: then the disk is time alone.
    bytes: Option<Bytes>,
}

static STATE: Lock<Option<State>, Only> = Lock::new(None);

/// Things done in one job at most: a job is 4 ms apart from the next, and the drive needs longer for a request.
const MOST: u32 = 8;
/// Blocks of 512 bytes in a GiB.
const GIB: u64 = 1 << 21;

fn work(_: &Job) {
    let mut order = Order::unlocked();
    let mut state = STATE.lock(&mut order);
    let Some(State { disk, bytes }) = &mut *state else {
        *state = begin();
        return;
    };
    let mut put = |line: &str| {
        let _ = Screen.write_str(line);
    };
    match bytes {
        Some(bytes) => {
            bytes.prepare();
            disk.work(now(), MOST, bytes, &mut put);
        }
        None => disk.work(now(), MOST, &mut (), &mut put),
    }
}

fn begin() -> Option<State> {
    let settings = settings()?;
    let bytes = Bytes::new(&settings.clients);
    Some(State { disk: Disk::new(settings).ok()?, bytes })
}

fn settings() -> Option<Settings> {
    let periodic = |offset, period, deadline| {
        let [offset, period, deadline] = [offset, period, deadline].map(Duration::from_millis);
        Arrivals::Periodic { offset, period, deadline }
    };
    let client = |arrivals, gib: u64, kib: u32, write| Client {
        arrivals,
        first: gib * GIB,
        extent: GIB,
        places: 32,
        blocks: kib * 2,
        write,
    };
    let clients = alloc::vec![
        client(periodic(0, 80, 70), 0, 8, true),
        client(periodic(3, 110, 90), 3, 8, false),
        client(periodic(5, 130, 130), 5, 8, false),
        client(Arrivals::BestEffort { outstanding: 4 }, 6, 32, false),
    ];
    let drive = source_10k().ok()?;
    let (queue, map) = (Policy::GMatrix(4), Form::Directed);
    Some(Settings { actual: drive.clone(), drive, queue, map, clients, seed: 1, number: 0 })
}
