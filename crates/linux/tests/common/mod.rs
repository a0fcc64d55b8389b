//! What the tests share: numbers, and a system of one core whose jobs are promised their periods.

#![allow(dead_code)]

pub mod dat;
pub mod perfetto;

use tactus_task::{Release, WaitLimit};
use tactus_time::{CoreId, Duration};
use tactus_trace::{Bound, TaskView};

/// A generator of numbers (Marsaglia's xorshift*), so that a failing case is named by its seed alone.
pub fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |limit| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

/// What the jobs are judged by.
pub struct View(pub tactus_trace::View);

impl View {
    /// Tasks by name and period (ns), each on core 0 and promised a response within its period.
    pub fn of(tasks: Vec<(String, u64)>) -> View {
        let task = |(name, period)| {
            let period = Duration::from_nanos(period);
            TaskView {
                name,
                level: None,
                core: Some(CoreId(0)),
                releases: Release::Periodic,
                waits: WaitLimit::default(),
                offset: Duration::ZERO,
                period,
                deadline: period,
                promise: Some(Bound::Response(period)),
                assumed: [None; 4],
                budget: None,
                minimum: None,
            }
        };
        View(tactus_trace::View {
            name: "linux".into(),
            policy: "fixed priorities".into(),
            cores: 1,
            duration: Duration::from_secs(1),
            accepted: true,
            tasks: tasks.into_iter().map(task).collect(),
            tree: None,
            chains: Vec::new(),
            services: Vec::new(),
            changes: None,
            slots: Vec::new(),
            disks: Vec::new(),
            partitions: Vec::new(),
            monitors: Vec::new(),
            servers: Vec::new(),
            heaps: Vec::new(),
            refuted: None,
            uncounted: false,
        })
    }
}

/// Records of a `sched_trace`, of one processor: kind, process, job and time.
pub fn records(all: &[(u8, u16, u32, u64)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, process, job, time) in all {
        out.extend([*kind, 0]);
        out.extend(process.to_le_bytes());
        out.extend(job.to_le_bytes());
        out.extend(time.to_le_bytes());
        out.extend([0; 8]);
    }
    out
}
