//! LITMUS^RT's `sched_trace`: records of 24 bytes, a file for each processor (`include/litmus/sched_trace.h` of LITMUS^RT).
//!
//! Its records name jobs, so that a thread that is late is judged as well as one that says where its jobs begin.

use crate::recording::{EventKind, Keep, PrevState, Recording, Thread};
use std::collections::HashMap;
use tactus_time::Instant;
use tactus_trace::LITMUS_RECORD_BYTES;

const NAME: u8 = 1;
const RELEASE: u8 = 3;
const SWITCH_TO: u8 = 5;
const SWITCH_AWAY: u8 = 6;
const COMPLETION: u8 = 7;
const BLOCK: u8 = 8;
const RESUME: u8 = 9;
/// The last kind that there is: the release of all.
const LAST: u8 = 11;

/// Whether bytes that begin like this are records: the first is of a known kind, and its processor and process are small numbers.
pub(crate) fn is_sched_trace(start: &[u8]) -> bool {
    let Some(&[kind, cpu, ..]) = start.get(..8) else { return false };
    (1..=LAST).contains(&kind) && kind != b'\t' && kind != b'\n' && cpu < 128
}

/// One record.
struct Record {
    time: u64,
    /// What comes first of what happens at one instant.
    rank: u8,
    kind: u8,
    cpu: u16,
    thread: Thread,
    job: u32,
}

/// Reads the records of one processor, or of several, one file behind another.
///
/// # Errors
/// There is no whole number of records, or none in which a processor is given to a process.
pub fn read_sched_trace(bytes: &[u8]) -> Result<Recording, String> {
    read_keeping(bytes, Keep::All)
}

pub(crate) fn read_keeping(bytes: &[u8], keep: Keep) -> Result<Recording, String> {
    let (chunks, rest) = (bytes.chunks_exact(LITMUS_RECORD_BYTES), bytes.len() % LITMUS_RECORD_BYTES);
    if rest != 0 {
        return Err(format!(
            "it is cut: {rest} bytes are left after the last record of {LITMUS_RECORD_BYTES}; copy the file again"
        ));
    }
    // All is in memory already, and markers may be found late.
    let keep = if let Keep::Nothing = keep { keep } else { Keep::All };
    let mut recording = Recording { keep, ..Recording::default() };
    let mut records: Vec<Record> = chunks.filter_map(|chunk| record(chunk, &mut recording)).collect();
    records.sort_by_key(|record| (record.time, record.rank));
    let mut threads: HashMap<Thread, Known> = HashMap::new();
    let mut on: HashMap<u16, Thread> = HashMap::new();
    for Record { time, kind, cpu, thread, job, .. } in records {
        let time = Instant::from_nanos(time);
        let known = threads.entry(thread).or_default();
        match kind {
            RELEASE | RESUME => recording.push(time, cpu, EventKind::Wakeup(thread)),
            COMPLETION => {
                known.goes_on(job, &mut recording);
                known.complete = Some(job);
                // If it keeps the processor, its next job begins here.
                known.done = Some((time, cpu, thread));
            }
            BLOCK => known.blocked = true,
            SWITCH_TO => {
                let from = on.insert(cpu, thread).unwrap_or(Thread::IDLE);
                (known.blocked, known.done) = (false, None);
                recording.push(time, cpu, EventKind::Switch { from, state: PrevState::Runnable, to: thread });
                if known.begun.is_none_or(|begun| begun < job) {
                    known.begun = Some(job);
                    recording.push(time, cpu, EventKind::Begin(thread));
                }
            }
            SWITCH_AWAY => {
                known.goes_on(job, &mut recording);
                let state = match (known.complete, known.blocked) {
                    (Some(complete), _) if complete >= job => PrevState::Asleep,
                    (_, true) => PrevState::Blocked,
                    _ => PrevState::Runnable,
                };
                on.insert(cpu, Thread::IDLE);
                recording.push(time, cpu, EventKind::Switch { from: thread, state, to: Thread::IDLE });
            }
            _ => recording.passed_over += 1,
        }
    }
    if recording.switches() == 0 {
        return Err("no record gives a processor to a process; record with `st-trace-schedule`, and give the folder of its st-*.bin".into());
    }
    Ok(recording.in_order())
}

/// What is known of a thread.
#[derive(Default)]
struct Known {
    begun: Option<u32>,
    complete: Option<u32>,
    /// When and where its job was complete, as long as it may have kept the processor.
    done: Option<(Instant, u16, Thread)>,
    blocked: bool,
}

impl Known {
    /// The thread is in this job. If it never lost the processor since the end of the one before, that was where this one began.
    fn goes_on(&mut self, job: u32, recording: &mut Recording) {
        if let Some((since, cpu, thread)) = self.done.take().filter(|_| self.begun.is_some_and(|begun| begun < job)) {
            self.begun = Some(job);
            recording.push(since, cpu, EventKind::Begin(thread));
        }
    }
}

/// A record that happens at some time; names are taken at once.
fn record(bytes: &[u8], recording: &mut Recording) -> Option<Record> {
    let word = |from: usize, length: usize| {
        bytes.get(from..from + length).into_iter().flatten().rev().fold(0u64, |all, byte| all << 8 | u64::from(*byte))
    };
    let (kind, cpu, thread, job) = (*bytes.first()?, word(1, 1) as u16, Thread(word(2, 2) as u32), word(4, 4) as u32);
    let rank = match kind {
        NAME => {
            let name = &bytes[8..];
            let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            recording.name(thread, &String::from_utf8_lossy(&name[..length]));
            return None;
        }
        COMPLETION => 0,
        BLOCK => 1,
        SWITCH_AWAY => 2,
        RELEASE | RESUME => 3,
        SWITCH_TO => 4,
        0 | 12.. => {
            recording.unread += 1;
            return None;
        }
        _ => {
            recording.passed_over += 1;
            return None;
        }
    };
    Some(Record { time: word(8, 8), rank, kind, cpu, thread, job })
}
