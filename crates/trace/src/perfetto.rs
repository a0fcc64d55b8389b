//! The trace for Perfetto (`trace.pftrace`): a protobuf of `TrackEvent` packets.
//!
//! The encoding is our own. It needs a dozen fields of Perfetto's schema; a protobuf library would bring a code
//! generator, or hand-written message types as long as this file. A test reads the result through that schema.

use crate::jobs::jobs;
use crate::{run_end, schedule, SegmentKind, Trace, View};
use std::fmt::Write as _;
use tactus_record::EventKind;
use tactus_time::{CoreId, Instant, TaskId};

/// The bytes of `trace.pftrace`.
///
/// One track per core: a slice for each stretch of a job (`name #job`) and of the scheduler (`scheduler`). One per
/// task: a slice for each stretch on a core (`core 0`), instants `release`, `deadline` and `missed`, and below it a
/// track of ghosts where it has any. One counter: the jobs that are released and not finished. Times are those of the
/// run, in nanoseconds. Changes of the system are instants on the track of their core.
pub fn perfetto(view: &View, trace: &Trace) -> Vec<u8> {
    let segments = schedule(trace);
    let mut out = Vec::new();
    let mut packet = |message: &Message| Message::append(&mut out, PACKET, &message.0);

    let (mut outer, mut inner) = (Message::default(), Message::default());
    inner.number(TRACK_UUID, SYSTEM).text(TRACK_NAME, &view.name).number(CHILD_ORDERING, EXPLICIT);
    outer.number(SEQUENCE, 1).number(SEQUENCE_FLAGS, STATE_CLEARED).message(TRACK_DESCRIPTOR, &inner);
    packet(&outer);
    let mut track = |uuid: u64, parent: u64, rank: u64, name: &str, counter: bool| {
        inner.anew().number(TRACK_UUID, uuid).text(TRACK_NAME, name).number(PARENT_UUID, parent);
        if counter {
            inner.message(COUNTER, &Message::default());
        }
        inner.number(CHILD_ORDERING, EXPLICIT).number(SIBLING_RANK, rank);
        packet(outer.anew().number(SEQUENCE, 1).message(TRACK_DESCRIPTOR, &inner));
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

    let mut name = String::new();
    for (time, event) in events(view, trace, &segments) {
        let (kind, track) = match event {
            Event::End(track) => (SLICE_END, track),
            Event::Begin(track, _) => (SLICE_BEGIN, track),
            Event::Instant(track, _) => (INSTANT, track),
            Event::Ready(_) => (COUNTER_VALUE, READY),
        };
        inner.anew().number(EVENT_TYPE, kind).number(EVENT_TRACK, track);
        match event {
            Event::Begin(_, slice) => {
                name.clear();
                slice.write(view, &mut name);
                inner.text(EVENT_NAME, &name);
            }
            Event::Instant(_, name) => _ = inner.text(EVENT_NAME, name),
            Event::Ready(count) => _ = inner.number(EVENT_COUNT, count),
            Event::End(_) => {}
        }
        outer.anew().number(TIMESTAMP, time.as_nanos()).number(SEQUENCE, 1).message(TRACK_EVENT, &inner);
        packet(&outer);
    }
    out
}

/// In this order at one instant, so that slices of a track never overlap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(u64),
    Ready(u64),
    Instant(u64, &'static str),
    Begin(u64, Slice),
}

/// What a slice is of. Very many are sorted: their names are made when they are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Slice {
    Job(TaskId, u32),
    On(CoreId),
    Ghost(u32, CoreId),
    Scheduler,
}

impl Slice {
    fn write(self, view: &View, out: &mut String) {
        let written = match self {
            Slice::Job(task, job) => write!(out, "{} #{job}", view.tasks[task.index()].name),
            Slice::On(core) => write!(out, "core {core}"),
            Slice::Ghost(job, core) => write!(out, "#{job} on core {core}"),
            Slice::Scheduler => write!(out, "scheduler"),
        };
        debug_assert!(written.is_ok(), "a string takes what is written");
    }
}

fn events(view: &View, trace: &Trace, segments: &[crate::Segment]) -> Vec<(Instant, Event)> {
    let mut out = Vec::new();
    for s in segments {
        let task = s.task.filter(|t| t.index() < view.tasks.len());
        let core = CORES + u64::from(s.core.0);
        let mut slice = |track, of| {
            out.push((s.start, Event::Begin(track, of)));
            out.push((s.end, Event::End(track)));
        };
        match (s.kind, task) {
            (SegmentKind::Run, Some(t)) => {
                slice(core, Slice::Job(t, s.job));
                slice(TASKS + u64::from(t.0), Slice::On(s.core));
            }
            (SegmentKind::Ghost, Some(t)) => slice(GHOSTS + u64::from(t.0), Slice::Ghost(s.job, s.core)),
            (SegmentKind::Scheduler, _) => slice(core, Slice::Scheduler),
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
    out.sort_unstable();
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
    /// The same one, empty: its memory is used again.
    fn anew(&mut self) -> &mut Message {
        self.0.clear();
        self
    }
    fn varint(out: &mut Vec<u8>, mut n: u64) {
        while n >= 0x80 {
            out.push(n as u8 | 0x80);
            n >>= 7;
        }
        out.push(n as u8);
    }
    fn append(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
        Message::varint(out, u64::from(field) << 3 | 2);
        Message::varint(out, bytes.len() as u64);
        out.extend(bytes);
    }
    fn number(&mut self, field: u32, n: u64) -> &mut Message {
        Message::varint(&mut self.0, u64::from(field) << 3);
        Message::varint(&mut self.0, n);
        self
    }
    fn text(&mut self, field: u32, text: &str) -> &mut Message {
        Message::append(&mut self.0, field, text.as_bytes());
        self
    }
    fn message(&mut self, field: u32, message: &Message) -> &mut Message {
        Message::append(&mut self.0, field, &message.0);
        self
    }
}
