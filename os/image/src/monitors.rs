//! The monitors of a system, as the kernel and the root scheduler find them in an image.
//!
//! Each thing that some monitor watches is an event with a number ([`tactus_monitor::alphabet`]). The kernel's part says which
//! monitors an event steps and what makes it happen; the root's page which of its records is which event. Monitors that share an
//! event agree on one order: they are one group.

use crate::parts::{Parts, SCHEDULER};
use crate::ImageError;
use tactus_abi::layout::PAGE;
use tactus_abi::monitors::{action, hash, place_of, watched, words, Head, MAX_SHARES, MAX_SLOTS, MESSAGE_WORDS, NONE};
use tactus_model::System;
use tactus_monitor::{alphabet, Action, Built, Occurrence, OccurrenceKind, SubjectKind};

/// What an image has of monitors; all empty where the system has none.
#[derive(Default)]
pub(crate) struct Watched {
    /// The kernel's part.
    pub kernel: Vec<u8>,
    /// The root's page.
    pub root: Vec<u8>,
    /// Memory that the kernel needs for them (bytes).
    pub kernel_bytes: u64,
}

/// Pages that the kernel takes for states, groups, channels and grants.
const KERNEL_PAGES: u64 = 16;

/// The channel that the kernel keeps in place of a buffer: those of which monitors watch the messages, in the order of the file.
pub(crate) fn channels(system: &System) -> Vec<usize> {
    let events = alphabet(&system.monitors);
    let watched = |name: &String| {
        let kinds = [OccurrenceKind::Send, OccurrenceKind::Receive];
        events.iter().any(|it| kinds.contains(&it.kind) && it.of.as_ref() == Some(name))
    };
    (0..system.platform.buffers.len()).filter(|n| watched(&system.platform.buffers[*n].name)).collect()
}

/// Lays them out.
pub(crate) fn lay_out(system: &System, parts: &Parts) -> Result<Watched, ImageError> {
    if system.monitors.is_empty() {
        return Ok(Watched::default());
    }
    let events = alphabet(&system.monitors);
    let number = |kind: OccurrenceKind, of: &str| {
        let is = |it: &&Occurrence| it.kind == kind && it.of.as_deref().unwrap_or_default() == of;
        events.iter().position(is).map_or(NONE, |event| event as u32)
    };
    let (groups, group_of) = groups(system, &events);
    let (mut rows, mut shares) = (Rows::default(), 0);
    for (event, occurrence) in events.iter().enumerate() {
        let first = rows.steps.len() / words::STEP;
        for (monitor, it) in system.monitors.iter().enumerate() {
            for (column, _) in it.events.iter().enumerate().filter(|(_, (_, what))| what == *occurrence) {
                rows.steps.extend([monitor as u32, column as u32]);
            }
        }
        let count = rows.steps.len() / words::STEP - first;
        let group = system.monitors.iter().position(|it| it.events.iter().any(|(_, what)| what == *occurrence));
        let share = match occurrence.kind.subject() {
            SubjectKind::Channel | SubjectKind::Component => {
                shares = (shares + 1).min(MAX_SHARES);
                shares
            }
            _ => 0,
        };
        rows.events.extend([first as u32, count as u32, group_of[group.unwrap_or(0)] | share << 16]);
        rows.cause(system, parts, event as u32, occurrence)?;
    }
    let mut tables = Vec::new();
    for (number, (monitor, group)) in system.monitors.iter().zip(&group_of).enumerate() {
        let built: Built = monitor.build().map_err(|error| ImageError::Monitor {
            monitor: monitor.name.clone(),
            line: monitor.line,
            why: error.to_string(),
        })?;
        let component = |name: &String| {
            parts.components.iter().position(|part| part.name == *name).map_or(NONE, |number| number as u32)
        };
        let (what, whom, core) = match &monitor.action {
            Action::Note => (action::NOTE, NONE, NONE),
            Action::Stop(name) | Action::Restart(name) => (action::STOP, component(name), NONE),
            Action::Run(name) => {
                let task = system.tasks.iter().position(|task| task.name == *name).unwrap_or_default();
                rows.of_root.extend([watched::HANDLER, task as u32, number as u32]);
                let core = system.tasks.get(task).and_then(|task| task.core).map_or(NONE, |core| core.0.into());
                (action::RUN, (system.cores + task) as u32, core)
            }
            Action::End => (action::END, NONE, NONE),
        };
        rows.clocked |= matches!(built, Built::Timed(_));
        rows.monitors.extend(built.store(monitor.reset, &mut tables).0.into_iter().chain([*group, what, whom, core]));
    }
    let channels = channels(system);
    for buffer in &channels {
        let it = &system.platform.buffers[*buffer];
        let end = |n: usize| it.between.get(n).map_or(NONE, |place| parts.numbers[*place] as u32);
        let slots = ((it.bytes / (MESSAGE_WORDS * 8) as u64) as u32).min(MAX_SLOTS);
        let [sent, taken] = [OccurrenceKind::Send, OccurrenceKind::Receive].map(|kind| number(kind, &it.name));
        rows.channels.extend([end(0), end(1), slots, sent, taken]);
    }
    let signals = spread(&rows.signals);
    let slots: u64 = rows.channels.chunks(words::CHANNEL).map(|row| u64::from(row[2])).sum();
    let head = Head {
        events: events.len() as u32,
        steps: (rows.steps.len() / words::STEP) as u32,
        groups: groups.len() as u32,
        monitors: system.monitors.len() as u32,
        signals: (signals.len() / words::SIGNAL) as u32,
        channels: channels.len() as u32,
        grants: (rows.grants.len() / words::GRANT) as u32,
        faults: (rows.faults.len() / words::FAULT) as u32,
        restart: number(OccurrenceKind::Restart, ""),
        bytes: tables.len() as u32,
    };
    let all = head.words().into_iter().chain(rows.events).chain(rows.steps).chain(groups).chain(rows.monitors);
    let all = all.chain(signals).chain(rows.channels).chain(rows.grants).chain(rows.faults);
    let mut kernel = bytes(all);
    kernel.extend(tables);
    let count = (rows.of_root.len() / watched::ROW) as u32;
    let root = bytes([count, rows.clocked.into()].into_iter().chain(rows.of_root));
    let room = slots * (MESSAGE_WORDS * 8) as u64 + channels.len() as u64 * PAGE;
    Ok(Watched { kernel, root, kernel_bytes: KERNEL_PAGES * PAGE + room })
}

/// The rows of signals, each where the kernel looks for it.
fn spread(rows: &[u32]) -> Vec<u32> {
    if rows.is_empty() {
        return Vec::new();
    }
    let places = (2 * rows.len() / words::SIGNAL).next_power_of_two();
    let mut all = [0, 0, NONE, NONE].repeat(places);
    for row in rows.chunks_exact(words::SIGNAL) {
        let name = u64::from(row[1]) << 32 | u64::from(row[0]);
        let first = place_of(row[2], name, places as u32) as usize;
        let free = (0..places).map(|n| (first + n) % places * words::SIGNAL).find(|at| all[at + 2] == NONE);
        if let Some(at) = free {
            all[at..at + words::SIGNAL].copy_from_slice(row);
        }
    }
    all
}

fn bytes(words: impl Iterator<Item = u32>) -> Vec<u8> {
    words.flat_map(u32::to_le_bytes).collect()
}

/// The tables as they grow.
#[derive(Default)]
struct Rows {
    events: Vec<u32>,
    steps: Vec<u32>,
    monitors: Vec<u32>,
    signals: Vec<u32>,
    channels: Vec<u32>,
    grants: Vec<u32>,
    faults: Vec<u32>,
    of_root: Vec<u32>,
    clocked: bool,
}

impl Rows {
    /// What makes an event happen.
    fn cause(&mut self, system: &System, parts: &Parts, event: u32, occurrence: &Occurrence) -> Result<(), ImageError> {
        let of = occurrence.of.as_deref().unwrap_or_default();
        let task = system.tasks.iter().position(|task| task.name == of).map(|task| task as u32);
        let server = system.scheduling.servers.iter().position(|server| server.name == of).map(|n| n as u32 + 1);
        let mut tells = |kind: u32, subject: Option<u32>| {
            self.of_root.extend(subject.into_iter().flat_map(|subject| [kind, subject, event]));
        };
        match occurrence.kind {
            OccurrenceKind::Release => tells(watched::RELEASE, task),
            OccurrenceKind::Start => tells(watched::START, task),
            OccurrenceKind::Dispatch => tells(watched::DISPATCH, task),
            OccurrenceKind::Preempt => tells(watched::PREEMPT, task),
            OccurrenceKind::Complete => tells(watched::COMPLETE, task),
            OccurrenceKind::Miss => tells(watched::MISS, task),
            OccurrenceKind::Drop => tells(watched::DROP, task),
            OccurrenceKind::Exhaust => {
                tells(watched::EXHAUST, task);
                tells(watched::SERVER_EXHAUST, server);
            }
            OccurrenceKind::Replenish => {
                tells(watched::REPLENISH, task);
                tells(watched::SERVER_REPLENISH, server);
            }
            OccurrenceKind::Mode => tells(watched::MODE, Some(NONE)),
            OccurrenceKind::Reconfigure => tells(watched::RECONFIGURE, Some(NONE)),
            OccurrenceKind::GiveUp => {
                tells(watched::GIVE_UP, parts.components.iter().position(|part| part.name == of).map(|n| n as u32));
            }
            OccurrenceKind::Fault => {
                self.faults.extend(task.into_iter().flat_map(|task| [system.cores as u32 + task, event]));
            }
            // The head and the table of channels name them.
            OccurrenceKind::Restart | OccurrenceKind::Send | OccurrenceKind::Receive => {}
            OccurrenceKind::Signal => {
                let Some((component, name)) = named(system, parts, of) else { return Ok(()) };
                let hash = hash(name);
                self.signals.extend([hash as u32, (hash >> 32) as u32, component as u32, event]);
            }
            OccurrenceKind::Call | OccurrenceKind::Return => {
                let Some((component, name)) = named(system, parts, of) else { return Ok(()) };
                let grants = &parts.components[component].grants;
                let Some(grant) = grants.iter().position(|grant| grant.name == name) else { return Ok(()) };
                let (component, grant) = (component as u32, grant as u32);
                let known = self.grants.chunks_exact(words::GRANT).position(|row| row[..2] == [component, grant]);
                let row = known.unwrap_or(self.grants.len() / words::GRANT);
                if known.is_none() {
                    self.grants.extend([component, grant, NONE, NONE]);
                }
                let place = if occurrence.kind == OccurrenceKind::Call { 2 } else { 3 };
                self.grants[row * words::GRANT + place] = event;
            }
        }
        Ok(())
    }
}

/// `camera.ready`: the number of the component, and the name behind the dot.
fn named<'a>(system: &System, parts: &Parts, text: &'a str) -> Option<(usize, &'a str)> {
    let (component, name) = text.rsplit_once('.')?;
    let place = system.components.iter().position(|it| it.name == component)?;
    Some((parts.numbers[place], name)).filter(|(number, _)| *number != SCHEDULER)
}

/// The only core of each group, or [`NONE`]; and the group of each monitor.
fn groups(system: &System, events: &[&Occurrence]) -> (Vec<u32>, Vec<u32>) {
    let watches =
        |monitor: usize, event: &Occurrence| system.monitors[monitor].events.iter().any(|(_, it)| it == event);
    let mut group_of: Vec<u32> = vec![NONE; system.monitors.len()];
    let mut cores = Vec::new();
    for first in 0..system.monitors.len() {
        if group_of[first] != NONE {
            continue;
        }
        // All that are connected by events.
        let group = cores.len() as u32;
        group_of[first] = group;
        let mut all: Vec<usize> = vec![first];
        let mut at = 0;
        while at < all.len() {
            let mine: Vec<&Occurrence> = events.iter().copied().filter(|event| watches(all[at], event)).collect();
            for (other, its_group) in group_of.iter_mut().enumerate() {
                if *its_group == NONE && mine.iter().any(|event| watches(other, event)) {
                    *its_group = group;
                    all.push(other);
                }
            }
            at += 1;
        }
        let mut on = all.iter().flat_map(|monitor| &system.monitors[*monitor].events).map(|(_, it)| core(system, it));
        let one = on.next().unwrap_or(NONE);
        cores.push(if on.all(|core| core == one) { one } else { NONE });
    }
    (cores, group_of)
}

/// The only core on which something happens, or [`NONE`].
fn core(system: &System, occurrence: &Occurrence) -> u32 {
    if system.cores == 1 {
        return 0;
    }
    let task = system.tasks.iter().find(|task| Some(&task.name) == occurrence.of.as_ref());
    let servers = system.scheduling.servers.iter().any(|server| Some(&server.name) == occurrence.of.as_ref());
    // Where the system changes or a policy spans cores, another one may notice what becomes of a task.
    let still = system.scheduling.changes.is_empty() && !servers && !occurrence.kind.is_of_components();
    let bound = task.and_then(|task| task.core).filter(|_| still && partitioned(system));
    bound.map_or(NONE, |core| core.0.into())
}

/// Whether each core decides alone.
fn partitioned(system: &System) -> bool {
    matches!(system.policy, tactus_model::Policy::PartitionedRm | tactus_model::Policy::PartitionedEdf)
        && system
            .scheduling
            .places
            .iter()
            .all(|place| place.release.predecessor().is_none() && place.raised_by.is_none())
}
