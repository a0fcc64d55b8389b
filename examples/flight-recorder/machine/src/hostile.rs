//! A client of the block service that means harm: it puts requests of random words as fast as it can, some of them nearly right,
//! spoils the counters of its buffer, says what only the disk's component tells, and looks whether any word comes back that it did
//! not write itself.
#![no_std]
#![no_main]

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_rt::channel::SharedData;
use tactus_rt::{Job, Screen};

tactus_rt::component! { job: attack, services: [] }

/// The whole buffer as memory: a page of requests, a page of answers, data.
static BUFFER: SharedData = SharedData::new();
static SEED: AtomicU64 = AtomicU64::new(1);
/// How many requests were put.
static PUT: AtomicU64 = AtomicU64::new(0);
/// How many of them the service had taken, and how many answers it had given, before the counters were spoilt.
static SEEN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
/// Answers that say that a request is done.
static DONE: AtomicU64 = AtomicU64::new(0);

const PAGE: u64 = 4096;
/// Where the counters of a channel are, and its slots.
const SENT: u64 = 0;
const TAKEN: u64 = 64;
const SLOTS: u64 = 128;
const SLOT: u64 = 64;
const MOST: u64 = (PAGE - SLOTS) / SLOT;
/// All that this component ever writes into its data.
const OWN: u64 = 0x6d69_7363_6869_6566;
/// Places and blocks of its extent.
const PLACES: u64 = 16;
const BLOCKS: u64 = 8;

fn draw() -> u64 {
    let next = SEED.load(Relaxed).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    SEED.store(next, Relaxed);
    next >> 33 ^ next << 31
}

fn word(at: u64) -> u64 {
    let mut bytes = [0; 8];
    BUFFER.load(at, &mut bytes);
    u64::from_le_bytes(bytes)
}

fn put(at: u64, word: u64) {
    BUFFER.store(at, &word.to_le_bytes());
}

fn attack(job: &Job) {
    if BUFFER.bytes() == 0 && BUFFER.open("hostile", 0).is_err() {
        return;
    }
    if job.number() % 64 == 0 {
        // After counters that cannot be, those that can: from where the service stands.
        let [taken, answered] = [0, 1].map(|n: usize| SEEN[n].load(Relaxed));
        PUT.store(taken, Relaxed);
        [SENT, TAKEN].into_iter().for_each(|at| put(at, taken));
        [PAGE + SENT, PAGE + TAKEN].into_iter().for_each(|at| put(at, answered));
    }
    // What was answered is looked at, and what came back.
    let answers = word(PAGE + SENT);
    let seen = word(PAGE + TAKEN);
    for number in seen..answers.min(seen.saturating_add(MOST)) {
        let status = word(PAGE + SLOTS + number % MOST * SLOT + 8);
        DONE.fetch_add(u64::from(status == 0), Relaxed);
    }
    for at in (2 * PAGE..BUFFER.bytes()).step_by(8) {
        let seen = word(at);
        assert!(seen == 0 || seen == OWN, "foreign bytes came back: {seen:#x}");
        put(at, OWN);
    }
    if job.number() % 64 == 63 {
        // Counters that cannot be, for one job.
        SEEN.iter().zip([TAKEN, PAGE + SENT]).for_each(|(seen, at)| seen.store(word(at), Relaxed));
        [SENT, TAKEN, PAGE + SENT, PAGE + TAKEN].into_iter().for_each(|at| put(at, draw()));
        return;
    }
    put(PAGE + TAKEN, answers);
    let mut sent = PUT.load(Relaxed);
    while sent.wrapping_sub(word(TAKEN)) < MOST {
        let right = draw() % 16 == 0;
        let mut pick = |fit: u64, near: u64| match draw() % 3 {
            _ if right => fit,
            0 => draw() % near,
            1 => u64::MAX - draw() % near,
            _ => draw(),
        };
        let request = [
            pick(draw() % 2, 6),
            draw(),
            pick(draw() % PLACES, 20),
            pick(BLOCKS, 20),
            pick(0, 1 << 14),
            draw(),
            draw(),
            draw(),
        ];
        for (n, it) in request.into_iter().enumerate() {
            put(SLOTS + sent % MOST * SLOT + 8 * n as u64, it);
        }
        sent += 1;
    }
    put(SENT, sent);
    PUT.store(sent, Relaxed);
    if job.number() % 64 == 32 {
        // It says what only the disk's component tells: a power cut, a request that took a second, and what nobody asked.
        for line in ["disk 0,,,,,,,,3,,4\n", "disk 0,0,0,0,0,1,0,0,999999999,1,0\n", "ask 0,0,0,0,8,1,0,1\n"] {
            let _ = Screen.write_str(line);
        }
    }
    if job.number() % 256 == 128 {
        let _ = writeln!(Screen, "hostile: {} requests put, {} done", word(TAKEN), DONE.load(Relaxed));
    }
}
