//! The trace for Perfetto (`trace.pftrace`): a protobuf of `TrackEvent` packets.
//!
//! The encoding is our own. It needs a dozen fields of Perfetto's schema; a protobuf library would bring a code
//! generator, or hand-written message types as long as this file. A test reads the result through that schema.

use crate::jobs::jobs;
use crate::{run_end, schedule, SegmentKind, Trace, View};
use tactus_record::EventKind;
use tactus_time::{Instant, TaskId};

/// The bytes of `trace.pftrace`.
///
/// One track per core: a slice for each stretch of a job (`name #job`) and of the scheduler (`scheduler`). One per
/// task: a slice for each stretch on a core (`core 0`), instants `release`, `deadline` and `missed`, and below it a
/// track of ghosts where it has any. One counter: the jobs that are released and not finished. Times are those of the
/// run, in nanoseconds. Changes of the system are instants on the track of their core.
pub fn perfetto(view: &View, trace: &Trace) -> Vec<u8> {
    let segments = schedule(trace);
    let mut out = Vec::new();
    let mut packet = |message: Message| Message::default().message(PACKET, message).append_to(&mut out);

    packet(Message::default().number(SEQUENCE, 1).number(SEQUENCE_FLAGS, STATE_CLEARED).message(
        TRACK_DESCRIPTOR,
        Message::default().number(TRACK_UUID, SYSTEM).text(TRACK_NAME, &view.name).number(CHILD_ORDERING, EXPLICIT),
    ));
    let mut track = |uuid: u64, parent: u64, rank: u64, name: &str, counter: bool| {
        let mut track = Message::default().number(TRACK_UUID, uuid).text(TRACK_NAME, name).number(PARENT_UUID, parent);
        if counter {
            track = track.message(COUNTER, Message::default());
        }
        track = track.number(CHILD_ORDERING, EXPLICIT).number(SIBLING_RANK, rank);
        packet(Message::default().number(SEQUENCE, 1).message(TRACK_DESCRIPTOR, track));
    };
    track(READY, SYSTEM, 0, "jobs released and not finished", true);
    for core in 0..trace.cores.len() as u64 {
        track(CORES + core, SYSTEM, 1 + core, &format!("core {core}"), false);
    }
    for (i, task) in view.tasks.iter().enumerate() {
        let i = i as u64;
        let name = task.level.map_or(task.name.clone(), |l| format!("{} ({l})", task.name));
        track(TASKS + i, SYSTEM, 100 + i, &name, false);
        if segments.iter().any(|s| s.kind == SegmentKind::Ghost && s.task == Some(TaskId(i as u16))) {
            track(GHOSTS + i, TASKS + i, 0, "ghost", false);
        }
    }

    for (time, event) in events(view, trace, &segments) {
        let (kind, track) = match &event {
            Event::End(track) => (SLICE_END, *track),
            Event::Begin(track, _) => (SLICE_BEGIN, *track),
            Event::Instant(track, _) => (INSTANT, *track),
            Event::Ready(_) => (COUNTER_VALUE, READY),
        };
        let message = Message::default().number(EVENT_TYPE, kind).number(EVENT_TRACK, track);
        let message = match &event {
            Event::Begin(_, name) => message.text(EVENT_NAME, name),
            Event::Instant(_, name) => message.text(EVENT_NAME, name),
            Event::Ready(count) => message.number(EVENT_COUNT, *count),
            Event::End(_) => message,
        };
        packet(Message::default().number(TIMESTAMP, time.as_nanos()).number(SEQUENCE, 1).message(TRACK_EVENT, message));
    }
    out
}

/// In this order at one instant, so that slices of a track never overlap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(u64),
    Ready(u64),
    Instant(u64, &'static str),
    Begin(u64, String),
}

fn events(view: &View, trace: &Trace, segments: &[crate::Segment]) -> Vec<(Instant, Event)> {
    let mut out = Vec::new();
    for s in segments {
        let task = s.task.filter(|t| t.index() < view.tasks.len());
        let core = CORES + u64::from(s.core.0);
        let mut slice = |track, name| {
            out.push((s.start, Event::Begin(track, name)));
            out.push((s.end, Event::End(track)));
        };
        match (s.kind, task) {
            (SegmentKind::Run, Some(t)) => {
                slice(core, format!("{} #{}", view.tasks[t.index()].name, s.job));
                slice(TASKS + u64::from(t.0), format!("core {}", s.core));
            }
            (SegmentKind::Ghost, Some(t)) => slice(GHOSTS + u64::from(t.0), format!("#{} on core {}", s.job, s.core)),
            (SegmentKind::Scheduler, _) => slice(core, "scheduler".into()),
            _ => {}
        }
    }
    for r in trace.cores.iter().flatten() {
        let name = match r.kind {
            EventKind::ChangeRequested => "change requested",
            EventKind::ChangeApplied => "change applied",
            EventKind::ChangeRefused => "change refused",
            EventKind::DeadlineMissed => {
                let track = r.task.filter(|task| task.index() < view.tasks.len()).map(|task| TASKS + u64::from(task.0));
                out.extend(track.map(|track| (r.time, Event::Instant(track, "process missed"))));
                continue;
            }
            _ => continue,
        };
        out.push((r.time, Event::Instant(CORES + u64::from(r.core.0), name)));
    }
    let end = run_end(trace);
    let mut changes = Vec::new();
    for job in jobs(trace).iter().filter(|j| j.task.index() < view.tasks.len()) {
        let track = TASKS + u64::from(job.task.0);
        let deadline = job.release.saturating_add(view.tasks[job.task.index()].deadline);
        out.push((job.release, Event::Instant(track, "release")));
        if deadline <= end {
            let kept = job.completed.or(job.removed).is_some_and(|t| t <= deadline);
            out.push((deadline, Event::Instant(track, if kept { "deadline" } else { "missed" })));
        }
        changes.push((job.noticed, 1));
        changes.extend(job.ended().map(|t| (t, -1)));
    }
    changes.sort_unstable();
    let mut ready = 0_i64;
    for (i, (time, change)) in changes.iter().enumerate() {
        ready += change;
        // One value for one instant.
        if changes.get(i + 1).is_none_or(|next| next.0 != *time) {
            out.push((*time, Event::Ready(ready.max(0) as u64)));
        }
    }
    out.sort();
    out
}

// Tracks. Their numbers are ours to choose.
const SYSTEM: u64 = 1;
const READY: u64 = 2;
const CORES: u64 = 0x1_0000;
const TASKS: u64 = 0x2_0000;
const GHOSTS: u64 = 0x4_0000;

// Field numbers and values of perfetto_trace.proto.
const PACKET: u32 = 1; // Trace
const TIMESTAMP: u32 = 8; // TracePacket
const SEQUENCE: u32 = 10;
const TRACK_EVENT: u32 = 11;
const SEQUENCE_FLAGS: u32 = 13;
const STATE_CLEARED: u64 = 1;
const TRACK_DESCRIPTOR: u32 = 60;
const TRACK_UUID: u32 = 1; // TrackDescriptor
const TRACK_NAME: u32 = 2;
const PARENT_UUID: u32 = 5;
const COUNTER: u32 = 8;
const CHILD_ORDERING: u32 = 11;
const EXPLICIT: u64 = 3;
const SIBLING_RANK: u32 = 12;
const EVENT_TYPE: u32 = 9; // TrackEvent
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER_VALUE: u64 = 4;
const EVENT_TRACK: u32 = 11;
const EVENT_NAME: u32 = 23;
const EVENT_COUNT: u32 = 30;

/// A protobuf message while it is written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }
    fn number(mut self, field: u32, n: u64) -> Message {
        self.varint(u64::from(field) << 3);
        self.varint(n);
        self
    }
    fn bytes(mut self, field: u32, bytes: &[u8]) -> Message {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }
    fn text(self, field: u32, text: &str) -> Message {
        self.bytes(field, text.as_bytes())
    }
    fn message(self, field: u32, message: Message) -> Message {
        self.bytes(field, &message.0)
    }
    fn append_to(self, out: &mut Vec<u8>) {
        out.extend(self.0);
    }
}
