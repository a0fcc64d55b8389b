//! The trace as LITMUS^RT `sched_trace` records, for the tools that people have for them (`st-job-stats`, `st-draw` …).
//!
//! A record is 24 bytes, little-endian: kind, core, process and job, then 16 bytes as the kind says
//! (`include/litmus/sched_trace.h` of LITMUS^RT; the completion as `feather-trace-tools` reads it, with the execution
//! time above the lowest bit). Process `n` is task `n - 1`, since process 0 is nobody there. Jobs keep their numbers.

use crate::jobs::jobs;
use crate::schedule::{schedule_with, Boundary};
use crate::{Bound, SegmentKind, Trace, TraceError, View};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, TaskId};

/// The length of one record.
pub const LITMUS_RECORD_BYTES: usize = 24;

const NAME: u8 = 1;
const PARAM: u8 = 2;
const RELEASE: u8 = 3;
const SWITCH_TO: u8 = 5;
const SWITCH_AWAY: u8 = 6;
const COMPLETION: u8 = 7;
const SYS_RELEASE: u8 = 11;

/// One byte string per core: what the core's file holds, in the order of time.
///
/// What the format cannot hold is cut: names to 15 bytes, and execution time, period and offset of a task to 32 bits
/// of nanoseconds (4.29 s). The execution time of a task is what its own level's analysis assumed, else its
/// budget, else the longest charge of its jobs. Ghosts, budgets and the scheduler's own time have no place in the
/// format.
pub fn litmus(view: &View, trace: &Trace) -> Vec<Vec<u8>> {
    let mut files: Vec<Vec<(Instant, [u8; LITMUS_RECORD_BYTES])>> = vec![Vec::new(); trace.cores.len()];
    let jobs = jobs(trace);
    if let Some(first) = files.first_mut() {
        for (i, task) in view.tasks.iter().enumerate() {
            let id = TaskId(i as u16);
            let longest = jobs.iter().filter(|j| j.task == id).map(|j| j.charged).max().unwrap_or_default();
            let assumed = task.assumed[task.level.unwrap_or_default().index()];
            let mut name = [0; 16];
            // Cut between characters, so that what is left is still text.
            let keep = (0..=15).rev().find(|n| task.name.is_char_boundary(*n)).unwrap_or(0).min(task.name.len());
            name[..keep].copy_from_slice(&task.name.as_bytes()[..keep]);
            let mut param = [0; 16];
            param[..4].copy_from_slice(&short(assumed.or(task.budget).unwrap_or(longest)));
            param[4..8].copy_from_slice(&short(task.period));
            param[8..12].copy_from_slice(&short(task.offset));
            param[12] = task.core.map_or(0, |c| c.0);
            // The class of LITMUS^RT: 0 hard, 1 soft, 2 best effort.
            param[13] = match task.promise {
                Some(Bound::Response(_)) => 0,
                Some(Bound::Tardiness(_)) => 1,
                None => 2,
            };
            first.push((Instant::ZERO, record(NAME, 0, Some(id), 0, name)));
            first.push((Instant::ZERO, record(PARAM, 0, Some(id), 0, param)));
        }
        first.push((Instant::ZERO, record(SYS_RELEASE, 0, None, 0, words(0, 0))));
    }
    let mut runs = schedule_with(trace, Boundary::Decision);
    runs.retain(|s| s.kind == SegmentKind::Run);
    runs.sort_by_key(|s| (s.start, s.core));
    let mut executed: HashMap<(Option<TaskId>, u32), Duration> = HashMap::new();
    let mut steps = Vec::new();
    for s in runs {
        let sum = executed.entry((s.task, s.job)).or_default();
        let before = sum.as_nanos().min(u64::from(u32::MAX));
        crate::extend(sum, s.end.since(s.start));
        // At one instant a core is taken away before it is given.
        steps.push((
            s.end,
            0,
            s.core,
            record(SWITCH_AWAY, s.core.0, s.task, s.job, words(s.end.as_nanos(), sum.as_nanos())),
        ));
        steps.push((s.start, 2, s.core, record(SWITCH_TO, s.core.0, s.task, s.job, words(s.start.as_nanos(), before))));
    }
    for r in trace.cores.iter().flatten() {
        let Some(task) = r.task else { continue };
        match r.kind {
            EventKind::Release => {
                let deadline = view.tasks.get(task.index()).map_or(Duration::ZERO, |t| t.deadline);
                let due = Instant::from_nanos(r.arg).saturating_add(deadline);
                let data = words(r.arg, due.as_nanos());
                // The record's time is the nominal release.
                steps.push((Instant::from_nanos(r.arg), 1, r.core, record(RELEASE, r.core.0, Some(task), r.job, data)));
            }
            EventKind::Complete => {
                // Bit 0 says that the kernel cut the job short, which never happens here.
                let data = words(r.time.as_nanos(), r.arg << 1);
                steps.push((r.time, 0, r.core, record(COMPLETION, r.core.0, Some(task), r.job, data)));
            }
            _ => {}
        }
    }
    steps.sort_by_key(|s| (s.0, s.1));
    for (time, _, core, bytes) in steps {
        if let Some(file) = files.get_mut(core.index()) {
            file.push((time, bytes));
        }
    }
    files.into_iter().map(|f| f.into_iter().flat_map(|(_, bytes)| bytes).collect()).collect()
}

/// Writes the records of each core to `st-<system>-<core>.bin` in `folder`, which is made if it is missing; returns
/// the files.
///
/// # Errors
/// If the folder cannot be made or a file cannot be written.
pub fn write_litmus(view: &View, trace: &Trace, folder: impl AsRef<Path>) -> Result<Vec<PathBuf>, TraceError> {
    let folder = folder.as_ref();
    std::fs::create_dir_all(folder).map_err(|error| TraceError::Io { path: folder.to_owned(), error })?;
    let mut paths = Vec::new();
    for (core, bytes) in litmus(view, trace).into_iter().enumerate() {
        let path = folder.join(format!("st-{}-{core}.bin", view.name));
        std::fs::write(&path, bytes).map_err(|error| TraceError::Io { path: path.clone(), error })?;
        paths.push(path);
    }
    Ok(paths)
}

fn short(length: Duration) -> [u8; 4] {
    (length.as_nanos().min(u64::from(u32::MAX)) as u32).to_le_bytes()
}

fn words(first: u64, second: u64) -> [u8; 16] {
    let mut data = [0; 16];
    data[..8].copy_from_slice(&first.to_le_bytes());
    data[8..].copy_from_slice(&second.to_le_bytes());
    data
}

fn record(kind: u8, core: u8, task: Option<TaskId>, job: u32, data: [u8; 16]) -> [u8; LITMUS_RECORD_BYTES] {
    let mut out = [0; LITMUS_RECORD_BYTES];
    out[0] = kind;
    out[1] = core;
    out[2..4].copy_from_slice(&task.map_or(0, |t| t.0.wrapping_add(1)).to_le_bytes());
    out[4..8].copy_from_slice(&job.to_le_bytes());
    out[8..].copy_from_slice(&data);
    out
}
