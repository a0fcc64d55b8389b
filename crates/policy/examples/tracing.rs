//! What records cost: 5 to 125 tasks on four cores under global and under partitioned EDF, each run decided twice with the same events, with
//! records in a ring and with none, for `lab/studies/tracing.sh`, which counts the instructions of both.

use tactus_policy::{Policy, PolicyConfig, PolicySpec, Scheduler, Task};
use tactus_record::{NoSink, Record, Sink, RECORD_BYTES};
use tactus_slow_machine::{ms, run, Entry};
use tactus_time::{CoreId, Duration, Instant, Level};

const CORES: usize = 4;

/// A ring of records, as the kernel's schedulers have.
struct Ring {
    records: Vec<[u8; RECORD_BYTES]>,
    written: usize,
}

impl Sink for Ring {
    fn record(&mut self, record: Record) {
        let room = self.records.len();
        self.records[self.written % room] = record.to_bytes();
        self.written += 1;
    }
}

/// Tasks of 0.001 to 0.1 of a core every 3 to 33 ms, shortened alike where they are more than 0.6 of all cores.
fn setup(n: u64, partitioned: bool) -> PolicyConfig {
    let mut seed = n;
    let mut draw = |from: u64, to: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + (seed >> 33) % (to - from + 1)
    };
    let drawn: Vec<(u64, u64)> = (0..n).map(|_| (draw(3, 33), draw(1, 100))).collect();
    let load: u64 = drawn.iter().map(|(_, thousandths)| thousandths).sum();
    let most = 600 * CORES as u64;
    let task = |(id, (period, thousandths)): (usize, &(u64, u64))| {
        let budget = Duration::from_nanos(period * thousandths * 1_000 * most.min(load) / load);
        let core = partitioned.then_some(CoreId((id % CORES) as u8));
        Task { level: Level::A, core, offset: Duration::ZERO, period: ms(*period), deadline: ms(*period), budget }
    };
    let kind = if partitioned { PolicySpec::PartitionedEdf } else { PolicySpec::GlobalEdf };
    PolicyConfig { cores: CORES, kind, tasks: drawn.iter().enumerate().map(task).collect() }
}

/// Decides all of it again; what was decided, so that nothing is left out.
fn again<S: Sink>(setup: &PolicyConfig, entries: &[Entry], records: &mut S) -> usize {
    let (scheduler, mut cores) = Scheduler::new(setup).expect("the set-up is good");
    let decide = |entry: &Entry| scheduler.handle(&mut cores[entry.core], entry.now, entry.event, records);
    entries.iter().map(decide).filter(|decision| decision.run.is_some()).count()
}

#[inline(never)]
fn with_records(setup: &PolicyConfig, entries: &[Entry], ring: &mut Ring) -> usize {
    again(setup, entries, ring)
}

#[inline(never)]
fn without_records(setup: &PolicyConfig, entries: &[Entry]) -> usize {
    again(setup, entries, &mut NoSink)
}

fn main() {
    let mut words = std::env::args().skip(1);
    let partitioned = words.next().is_some_and(|word| word == "partitioned");
    let n = words.next().and_then(|word| word.parse().ok()).unwrap_or(5);
    let setup = setup(n, partitioned);
    let demand = |task: tactus_time::TaskId, _| setup.tasks[task.index()].budget;
    let entries = run(&setup, &demand, Instant::ZERO + ms(300));
    let mut ring = Ring { records: vec![[0; RECORD_BYTES]; 4096], written: 0 };
    let decided = with_records(&setup, &entries, &mut ring);
    assert_eq!(decided, without_records(&setup, &entries));
    println!("{} {}", entries.len(), ring.written);
}
