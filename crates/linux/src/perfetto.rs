//! Perfetto's traces with events of ftrace: a file of packets, of which bundles with the events of one processor matter
//! (`protos/perfetto/trace` of Perfetto: `TracePacket`, `FtraceEventBundle`, `ProcessTree`).
//!
//! Perfetto reads one processor's events after another's, so that the events of a file are in the order of time on each processor only.

use crate::order::InOrder;
use crate::protobuf::{fields, varint, Damaged, Value};
use crate::recording::{marker, EventKind, Keep, Recording, Thread};
use crate::text::of_bits;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{BufRead, Read};
use tactus_time::Instant;

/// Reads a Perfetto trace.
///
/// # Errors
/// It is damaged, or has no events of the scheduler; the text says what to do.
pub fn read_perfetto(bytes: &[u8]) -> Result<Recording, String> {
    read_keeping(bytes, Keep::All)
}

/// Whether a file that begins like this is one: the tag of a packet, and something that is no text.
pub(crate) fn is_perfetto(start: &[u8]) -> bool {
    let text = |byte: &u8| byte.is_ascii_graphic() || b" \t\r\n".contains(byte);
    start.first() == Some(&PACKET_TAG) && !start.iter().all(text)
}

/// Field 1, `packet`, with a length.
const PACKET_TAG: u8 = 0x0a;
/// More than Perfetto puts into a packet.
const LONGEST_PACKET: u64 = 256 << 20;

pub(crate) fn read_keeping(mut file: impl BufRead, keep: Keep) -> Result<Recording, String> {
    let mut reader =
        Reader { recording: Recording { keep, ..Recording::default() }, order: InOrder::default(), on: HashMap::new() };
    let mut packet = Vec::new();
    let (mut at, mut packets) = (0u64, 0u64);
    let damaged = |at: u64| format!("it is damaged: the packet at {at} is cut, or none");
    while let Some((length, head)) = packet_length(&mut file).map_err(|error| match error {
        None => damaged(at),
        Some(error) => error.to_string(),
    })? {
        packet.clear();
        if length > LONGEST_PACKET {
            return Err(damaged(at));
        }
        (&mut file).take(length).read_to_end(&mut packet).map_err(|error| error.to_string())?;
        if packet.len() as u64 != length {
            return Err(damaged(at));
        }
        reader.packet(&packet, true).map_err(|why| why.unwrap_or_else(|| damaged(at)))?;
        (at, packets) = (at + head + length, packets + 1);
    }
    let Reader { mut recording, order, .. } = reader;
    order.finish(&mut recording);
    if recording.switches() == 0 {
        return Err(format!(
            "no sched_switch in its {packets} packets; record with the data source linux.ftrace, and sched/sched_switch and \
             sched/sched_waking among its ftrace_events"
        ));
    }
    Ok(recording)
}

/// The length of the next packet, and how many bytes stand before it; nothing at the end of the file.
fn packet_length(file: &mut impl BufRead) -> Result<Option<(u64, u64)>, Option<std::io::Error>> {
    let mut byte = [0];
    if file.read(&mut byte).map_err(Some)? == 0 {
        return Ok(None);
    }
    if byte[0] != PACKET_TAG {
        return Err(None);
    }
    let mut bytes = Vec::new();
    loop {
        if bytes.len() == 10 || file.read(&mut byte).map_err(Some)? == 0 {
            return Err(None);
        }
        bytes.push(byte[0]);
        if byte[0] & 0x80 == 0 {
            let length = varint(&mut bytes.as_slice()).map_err(|_| None)?;
            return Ok(Some((length, 1 + bytes.len() as u64)));
        }
    }
}

struct Reader {
    recording: Recording,
    order: InOrder,
    /// Who has each processor, as far as the events tell.
    on: HashMap<u16, Thread>,
}

/// What an event of a bundle is, before it is known who had the processor.
enum What {
    Switch { from: Option<Thread>, bits: u64, to: Thread },
    Woken(Thread),
    Marker(EventKind),
}

/// A packet is damaged; or why the trace cannot be read at all.
type Wrong = Option<String>;

fn cut(_: Damaged) -> Wrong {
    None
}

impl Reader {
    fn packet(&mut self, packet: &[u8], outer: bool) -> Result<(), Wrong> {
        for field in fields(packet) {
            match field.map_err(cut)? {
                (1, Value::Bytes(bundle)) => self.bundle(bundle)?,
                (2, Value::Bytes(tree)) => self.process_tree(tree).map_err(cut)?,
                (50, Value::Bytes(packed)) if outer => self.compressed(packed)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Packets by zlib, one behind another.
    fn compressed(&mut self, packed: &[u8]) -> Result<(), Wrong> {
        let mut bytes = Vec::new();
        let unpacked = flate2::read::ZlibDecoder::new(packed).take(LONGEST_PACKET).read_to_end(&mut bytes);
        unpacked.map_err(|error| Some(format!("it is damaged: compressed packets cannot be unpacked ({error})")))?;
        for field in fields(&bytes) {
            match field.map_err(cut)? {
                (1, Value::Bytes(packet)) => self.packet(packet, false)?,
                _ => return Err(None),
            }
        }
        Ok(())
    }

    /// Names of threads, and whose they are.
    fn process_tree(&mut self, tree: &[u8]) -> Result<(), Damaged> {
        for field in fields(tree) {
            let (2, Value::Bytes(thread)) = field? else { continue };
            let (mut number, mut group, mut name) = (None, None, None);
            for field in fields(thread) {
                match field? {
                    (1, value) => number = value.thread().map(Thread),
                    (2, value) => name = value.bytes().map(String::from_utf8_lossy),
                    (3, value) => group = value.thread().map(Thread),
                    _ => {}
                }
            }
            let Some(number) = number else { continue };
            if let Some(name) = name {
                self.recording.name(number, &name);
            }
            if let Some(group) = group {
                self.recording.groups.insert(number, group);
            }
        }
        Ok(())
    }

    /// The events of a processor.
    fn bundle(&mut self, bundle: &[u8]) -> Result<(), Wrong> {
        let (mut cpu, mut lost, mut events) = (0, false, Vec::new());
        for field in fields(bundle) {
            match field.map_err(cut)? {
                (1, value) => cpu = value.number().and_then(|cpu| u16::try_from(cpu).ok()).ok_or(None)?,
                (2, Value::Bytes(event)) => self.event(event, &mut events).map_err(cut)?,
                (3, Value::Number(number)) => lost = number != 0,
                (4, Value::Bytes(compact)) => self.compact(compact, &mut events).map_err(cut)?,
                // By the clock of each core.
                (5, Value::Number(3)) => {
                    let note = "its clock, local, is each core's own, and what happens on two cores may stand in the wrong order";
                    if self.recording.notes.iter().all(|it| it != note) {
                        self.recording.notes.push(note.into());
                    }
                }
                _ => {}
            }
        }
        events.sort_by_key(|(time, _)| *time);
        let Reader { recording, order, on } = self;
        let mut put = |time: u64, kind| order.push(Instant::from_nanos(time), cpu, kind, recording).map_err(Some);
        if lost {
            // Before its first event.
            on.remove(&cpu);
            if let Some((time, _)) = events.first() {
                put(*time, EventKind::Lost)?;
            }
        }
        for (time, what) in events {
            let kind = match what {
                What::Switch { from, bits, to } => {
                    // A compact one does not say who had the processor.
                    let before = on.insert(cpu, to);
                    EventKind::Switch { from: from.or(before).unwrap_or(Thread::IDLE), state: of_bits(bits), to }
                }
                What::Woken(thread) => EventKind::Wakeup(thread),
                What::Marker(kind) => kind,
            };
            put(time, kind)?;
        }
        Ok(())
    }

    fn event(&mut self, event: &[u8], events: &mut Vec<(u64, What)>) -> Result<(), Damaged> {
        let (mut time, mut who, mut what) = (0, None, None);
        for field in fields(event) {
            match field? {
                (1, Value::Number(nanos)) => time = nanos,
                (2, value) => who = value.thread().map(Thread),
                (kind @ (3 | 4 | 17 | 20 | 114 | 236), Value::Bytes(content)) => what = Some((kind, content)),
                _ => {}
            }
        }
        let Some((kind, content)) = what else {
            self.recording.passed_over += 1;
            return Ok(());
        };
        let mut numbers = [None; 8];
        let mut texts: [Option<Cow<'_, str>>; 8] = Default::default();
        for field in fields(content) {
            match field? {
                (n @ 0..=7, Value::Number(number)) => numbers[n as usize] = Some(number),
                (n @ 0..=7, Value::Bytes(text)) => texts[n as usize] = Some(String::from_utf8_lossy(text)),
                _ => {}
            }
        }
        // Numbers that are zero may be left out.
        let thread = |n: usize| u32::try_from(numbers[n].unwrap_or(0)).ok().map(Thread);
        let named = |reader: &mut Reader, thread: Thread, n: usize| {
            if let Some(name) = &texts[n] {
                reader.recording.name(thread, name);
            }
        };
        let what = match kind {
            3 => {
                let text = texts[2].as_ref();
                who.zip(text).and_then(|(thread, text)| marker(text, thread)).map(What::Marker)
            }
            4 => match (thread(2), thread(6)) {
                (Some(from), Some(to)) => {
                    named(self, from, 1);
                    named(self, to, 5);
                    Some(What::Switch { from: Some(from), bits: numbers[4].unwrap_or(0), to })
                }
                _ => None,
            },
            236 => {
                thread(1).into_iter().for_each(|it| named(self, it, 3));
                None
            }
            _ => thread(2).map(|it| {
                named(self, it, 1);
                What::Woken(it)
            }),
        };
        match what {
            Some(what) => events.push((time, what)),
            None => self.recording.passed_over += 1,
        }
        Ok(())
    }

    /// Switches and wake-ups in columns. Each time is by how much it is later than the one before.
    fn compact(&mut self, compact: &[u8], events: &mut Vec<(u64, What)>) -> Result<(), Damaged> {
        let mut columns: [Vec<u64>; 13] = Default::default();
        let mut names = Vec::new();
        for field in fields(compact) {
            match field? {
                (5, value) => names.push(value.bytes().map(String::from_utf8_lossy).ok_or(Damaged)?),
                (n @ 1..=12, value) => value.append_to(&mut columns[n as usize])?,
                _ => {}
            }
        }
        let number = |column: usize, n: usize| columns[column].get(n).copied().ok_or(Damaged);
        let mut time = 0u64;
        for (n, later) in columns[1].iter().enumerate() {
            time = time.wrapping_add(*later);
            let Ok(to) = u32::try_from(number(3, n)?) else { continue };
            if let Some(name) = names.get(number(6, n)? as usize) {
                self.recording.name(Thread(to), name);
            }
            events.push((time, What::Switch { from: None, bits: number(2, n)?, to: Thread(to) }));
        }
        let mut time = 0u64;
        for (n, later) in columns[7].iter().enumerate() {
            time = time.wrapping_add(*later);
            let Ok(woken) = u32::try_from(number(8, n)?) else { continue };
            if let Some(name) = names.get(number(11, n)? as usize) {
                self.recording.name(Thread(woken), name);
            }
            events.push((time, What::Woken(Thread(woken))));
        }
        Ok(())
    }
}
