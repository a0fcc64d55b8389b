//! Traces as text: what `trace-cmd report`, the file `trace` of tracefs and `perf script` print.
//!
//! They agree in what matters: a processor in brackets, a time in seconds, the event's name and its fields,
//!
//! ```text
//!   control-812   [001] d..2.   101.204417: sched_switch: prev_comm=control prev_pid=812 prev_prio=9 prev_state=S ==> next_comm=…
//!   control   812 [001]   101.204417: sched:sched_switch: prev_comm=control prev_pid=812 …
//!   control-812   [001]   101.204417: sched_switch:  control:812 [9] S ==> swapper/1:0 [120]
//! ```

use crate::recording::{marker, EventKind, Keep, PrevState, Recording, Thread};
use std::collections::HashMap;
use std::io::{BufRead, Read};
use tactus_time::{Duration, Instant};

/// Reads a trace that is text. Bytes that are no text stand for themselves in names and matter nowhere else.
///
/// # Errors
/// Nothing in it is an event of the scheduler, or its clock goes back; the text says what is missing and what to do.
pub fn read_text(bytes: &[u8]) -> Result<Recording, String> {
    read_text_from(bytes)
}

/// Longer than any line of a trace.
const LONGEST_LINE: u64 = 64 << 10;

/// Reads a trace that is text, a line at a time.
///
/// # Errors
/// As [`read_text`], or the file cannot be read.
pub fn read_text_from(file: impl BufRead) -> Result<Recording, String> {
    read_keeping(file, Keep::All)
}

pub(crate) fn read_keeping(mut file: impl BufRead, keep: Keep) -> Result<Recording, String> {
    let mut recording = Recording { keep, ..Recording::default() };
    let mut clocks = Clocks::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut part = (&mut file).take(LONGEST_LINE);
        if part.read_until(b'\n', &mut line).map_err(|error| error.to_string())? == 0 {
            break;
        }
        if let Some(at) = read_line(&String::from_utf8_lossy(&line), clocks.newest, &mut recording) {
            clocks.check(at)?;
        }
    }
    if recording.switches() == 0 {
        let events = recording.passed_over;
        return Err(format!(
            "no sched_switch among its {events} events; record with `trace-cmd record -C mono -e sched_switch -e sched_waking`, and \
             print with `trace-cmd report`"
        ));
    }
    Ok(recording.in_order())
}

/// The time of the last event of each core, and of all.
#[derive(Default)]
struct Clocks {
    last: HashMap<u16, Instant>,
    newest: Instant,
}

impl Clocks {
    /// Refuses a clock that goes back on a core.
    fn check(&mut self, (time, cpu): (Instant, u16)) -> Result<(), String> {
        self.newest = time;
        let last = self.last.insert(cpu, time).unwrap_or(time);
        match time < last {
            true => Err(went_back(last.since(time).as_nanos(), cpu)),
            false => Ok(()),
        }
    }
}

/// Why a trace cannot be judged whose clock goes back.
pub(crate) fn went_back(nanos: u64, cpu: u16) -> String {
    format!(
        "its clock goes back by {} on core {cpu}, so that nobody knows how long anything took; record with `trace-cmd record -C mono`",
        Duration::from_nanos(nanos)
    )
}

/// Reads a line, and tells when and where its event was, if it is of those that matter. `newest` is the time of the one before.
fn read_line(line: &str, newest: Instant, recording: &mut Recording) -> Option<(Instant, u16)> {
    let text = line.trim();
    let about_file = ["#", "cpus=", "version ="].iter().any(|start| text.starts_with(start));
    if text.is_empty() || about_file {
        return None;
    }
    if let Some(cpu) = lost(text) {
        recording.push(newest, cpu, EventKind::Lost);
        return None;
    }
    let Some(Head { who, cpu, time, event, fields }) = head(text) else {
        recording.unread += 1;
        return None;
    };
    if let Some((thread, Some(group))) = who.filter(|(thread, _)| *thread != Thread::IDLE) {
        recording.groups.insert(thread, group);
    }
    let known = match event {
        "sched_switch" => switch(fields).map(|((from, from_name), state, (to, to_name))| {
            recording.name(from, from_name);
            recording.name(to, to_name);
            recording.push(time, cpu, EventKind::Switch { from, state, to });
        }),
        "sched_wakeup" | "sched_waking" | "sched_wakeup_new" => woken(fields).map(|(thread, name)| {
            recording.name(thread, name);
            recording.push(time, cpu, EventKind::Wakeup(thread));
        }),
        "print" | "tracing_mark_write" => match who.map(|(thread, _)| marker(fields, thread)) {
            Some(None) => {
                recording.passed_over += 1;
                return None;
            }
            kind => kind.flatten().map(|kind| recording.push(time, cpu, kind)),
        },
        _ => {
            recording.passed_over += 1;
            return None;
        }
    };
    if known.is_none() {
        recording.unread += 1;
        return None;
    }
    Some((time, cpu))
}

/// `CPU:2 [LOST 52 EVENTS]`, or `[EVENTS DROPPED]`: of which processor.
fn lost(text: &str) -> Option<u16> {
    let rest = text.strip_prefix("CPU:")?;
    let (cpu, rest) = rest.split_once(' ')?;
    let says = rest.contains("LOST") || rest.contains("DROPPED");
    cpu.parse().ok().filter(|_| says)
}

/// What stands before an event's fields.
struct Head<'t> {
    who: Option<(Thread, Option<Thread>)>,
    cpu: u16,
    time: Instant,
    event: &'t str,
    fields: &'t str,
}

/// Names of threads hold whatever a program likes: the first bracket that is followed by a time is the processor's.
fn head(text: &str) -> Option<Head<'_>> {
    for (at, _) in text.match_indices('[') {
        let (inside, rest) = text[at + 1..].split_once(']')?;
        let Ok(cpu) = inside.trim().parse() else { continue };
        let Some((time, rest)) = timed(rest) else { continue };
        let (event, fields) = rest.split_once(": ").or_else(|| rest.strip_suffix(':').map(|event| (event, "")))?;
        // `sched:sched_switch` is perf's way to say it.
        let event = event.rsplit(':').next().unwrap_or(event).trim();
        return Some(Head { who: emitter(&text[..at]), cpu, time, event, fields: fields.trim() });
    }
    None
}

/// The time among the first words, which may have flags before it, and what follows.
fn timed(rest: &str) -> Option<(Instant, &str)> {
    let mut rest = rest.trim_start();
    for _ in 0..3 {
        let (word, after) = rest.split_once(char::is_whitespace)?;
        if let Some(time) = word.strip_suffix(':').and_then(seconds) {
            return Some((time, after.trim_start()));
        }
        rest = after.trim_start();
    }
    None
}

/// `101.204417`, with as many digits as there are.
fn seconds(text: &str) -> Option<Instant> {
    let (whole, part) = text.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 9 {
        return None;
    }
    let nanos = part.parse::<u64>().ok()?.checked_mul(10u64.pow(9 - part.len() as u32))?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos).map(Instant::from_nanos)
}

/// Who was on the processor, and of which group: `name-812`, `name-812 (810)`, `name 812` or `name 810/812`.
fn emitter(text: &str) -> Option<(Thread, Option<Thread>)> {
    let text = text.trim_end();
    let behind = text.strip_suffix(')').and_then(|text| text.rsplit_once('('));
    let text = behind.map_or(text, |(before, _)| before.trim_end());
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let thread = text[before.len()..].parse().ok().map(Thread)?;
    let group = match behind {
        Some((_, group)) => group.trim(),
        None => before
            .strip_suffix('/')
            .map_or("", |rest| &rest[rest.trim_end_matches(|c: char| c.is_ascii_digit()).len()..]),
    };
    Some((thread, group.parse().ok().map(Thread)))
}

type Named<'t> = (Thread, &'t str);

/// `prev_comm=… prev_pid=… prev_state=… ==> next_comm=… next_pid=…`, or `name:812 [9] S ==> name:0 [120]`.
fn switch(fields: &str) -> Option<(Named<'_>, PrevState, Named<'_>)> {
    if let Some(fields) = fields.strip_prefix("prev_comm=") {
        let at = fields.find(" next_comm=")?;
        let (before, after) = (&fields[..at], &fields[at + " next_comm=".len()..]);
        let (name, rest) = before.rsplit_once(" prev_pid=")?;
        let from = number(rest)?;
        let state = rest.split_once("prev_state=")?.1.split_whitespace().next()?;
        let (next, rest) = after.rsplit_once(" next_pid=")?;
        return Some(((from, name), state_of(state)?, (number(rest)?, next)));
    }
    let (before, after) = fields.split_once(" ==> ")?;
    let (from, rest) = plugged(before)?;
    let (to, _) = plugged(after)?;
    Some((from, state_of(rest.split_whitespace().next()?)?, to))
}

/// `comm=… pid=…`, or `name:812 [9] …`.
fn woken(fields: &str) -> Option<Named<'_>> {
    if let Some(fields) = fields.strip_prefix("comm=") {
        let (name, rest) = fields.split_once(" pid=")?;
        return Some((number(rest)?, name));
    }
    plugged(fields).map(|(named, _)| named)
}

/// `name:812 [9]` and what follows; the name may hold colons.
fn plugged(text: &str) -> Option<(Named<'_>, &str)> {
    let at = text.find(" [")?;
    let (name, thread) = text[..at].trim().rsplit_once(':')?;
    let after = text[at..].split_once(']')?.1;
    Some(((Thread(thread.parse().ok()?), name), after))
}

fn number(text: &str) -> Option<Thread> {
    text.split_whitespace().next()?.parse().ok().map(Thread)
}

/// The state of a thread that leaves: a letter, several of them, or the kernel's bits.
pub(crate) fn state_of(state: &str) -> Option<PrevState> {
    if let Ok(bits) = state.parse::<u64>() {
        return Some(of_bits(bits));
    }
    match state.chars().next()? {
        'R' => Some(PrevState::Runnable),
        'D' => Some(PrevState::Blocked),
        'X' | 'Z' | 'x' => Some(PrevState::Dead),
        'S' | 'T' | 't' | 'I' | 'P' | 'K' | 'W' => Some(PrevState::Asleep),
        _ => None,
    }
}

/// The state in the kernel's bits: none of the lower eight, and the thread can run.
pub(crate) fn of_bits(bits: u64) -> PrevState {
    match bits & 0xff {
        0 => PrevState::Runnable,
        low if low & 2 != 0 => PrevState::Blocked,
        low if low & (16 | 32) != 0 => PrevState::Dead,
        _ => PrevState::Asleep,
    }
}
