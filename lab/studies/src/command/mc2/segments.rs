//! What a run's decisions cost, told apart by what they did: the releases of each level, and choosing for each level.
//!
//! A decision is cut at its stages ([`EventKind::Stage`]). A piece in which jobs of one level were released is that level's release
//! overhead; the other pieces of a decision that gave the core to somebody else are the scheduling overhead of the level that got
//! it. Stages and ends are looks at the clock on the same core, so that the difference is a number of instructions as long as
//! no other core of the emulated machine had its turn in between. Where another core wrote a record meanwhile, or more time went
//! by than any decision can take, it had one: the piece is left out, and counted.

use tactus_record::EventKind;
use tactus_time::{Instant, Level};
use tactus_trace::Trace;

/// No piece of a decision takes so many instructions by itself.
const TOO_MUCH: u64 = 30_000;

/// Counts of instructions of one kind of work.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// How many pieces.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The largest.
    pub worst: u64,
}

impl Costs {
    fn add(&mut self, instructions: u64) {
        self.count += 1;
        self.sum += instructions;
        self.worst = self.worst.max(instructions);
    }

    /// Their mean.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }
}

/// What a run's decisions cost.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// By level.
    pub release: [Costs; 4],
    /// By level of the job that got the core.
    pub schedule: [Costs; 4],
    /// Pieces that were left out.
    pub left_out: u64,
    /// Decisions.
    pub decisions: u64,
    /// Timer entries on cores other than core 0 in which something was released.
    pub releases_elsewhere: u64,
    /// Events between cores.
    pub notified: u64,
    /// Dispatches.
    pub dispatched: u64,
}

impl Segments {
    /// Those of a run whose instructions take `1 << shift` ns.
    pub fn of(trace: &Trace, shift: u8) -> Segments {
        let mut found = Segments::default();
        for (core, records) in trace.cores.iter().enumerate() {
            let others: Vec<&[tactus_record::Record]> =
                trace.cores.iter().enumerate().filter(|(n, _)| *n != core).map(|(_, records)| &records[..]).collect();
            let alone = |from: Instant, to: Instant| {
                others.iter().all(|records| {
                    let next = records.partition_point(|record| record.time < from);
                    records.get(next).is_none_or(|record| record.time > to)
                })
            };
            let mut since = Instant::ZERO;
            let mut released = [false; 4];
            let mut rest = Some(0_u64);
            let mut dispatched: Option<Level> = None;
            let mut any = false;
            for record in records {
                match record.kind {
                    EventKind::Enter => {
                        (since, released, rest, dispatched, any) = (record.time, [false; 4], Some(0), None, false);
                        found.decisions += 1;
                    }
                    EventKind::Release => {
                        released[usize::from(record.level).min(3)] = true;
                        any = true;
                    }
                    EventKind::Notify => found.notified += 1,
                    EventKind::Dispatch => {
                        dispatched = record.criticality();
                        found.dispatched += 1;
                    }
                    EventKind::Stage | EventKind::Leave => {
                        let instructions = record.time.since(since).as_nanos() >> shift;
                        let good = instructions < TOO_MUCH && alone(since, record.time);
                        let levels = released.iter().filter(|level| **level).count();
                        match (good, levels) {
                            (false, _) => {
                                found.left_out += 1;
                                if levels == 0 {
                                    rest = None;
                                }
                            }
                            (true, 0) => rest = rest.map(|rest| rest + instructions),
                            (true, 1) => {
                                let level = released.iter().position(|level| *level).unwrap_or(0);
                                found.release[level].add(instructions);
                            }
                            // Releases of several levels that cannot be told apart.
                            (true, _) => found.left_out += 1,
                        }
                        since = record.time;
                        released = [false; 4];
                        if record.kind == EventKind::Leave {
                            if let (Some(rest), Some(level)) = (rest, dispatched) {
                                found.schedule[level.index()].add(rest);
                            }
                            found.releases_elsewhere += u64::from(any && core != 0);
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }
}
