//! Cuts a core's records into calls of the policy.

use super::report::{Disagreement, What};
use tactus_policy::{Input, Sections, SlotAction, Values};
use tactus_record::{slot_loaded_from, EntryReason, EventKind, InputKind, Record, SlotRefusal, SlotUpdate, SlotValue};
use tactus_task::EventCall;
use tactus_time::{CoreId, Duration, Instant};
use tactus_trace::Trace;

/// One call of the policy as a trace holds it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'t> {
    /// The call's place on its core, counted from 0.
    pub number: usize,
    /// Why the policy was called.
    pub reason: EntryReason,
    /// The record that opens the call.
    pub enter: &'t Record,
    /// The records in between.
    inside: &'t [Record],
    /// The record that closes it; missing only at the very end of a core's records.
    pub leave: Option<&'t Record>,
}

impl<'t> Call<'t> {
    /// Where it happened.
    pub fn core(&self) -> CoreId {
        self.enter.core
    }

    /// The facts that the policy was told before.
    pub fn inputs(&self) -> impl Iterator<Item = Input> + '_ {
        let mut told = SlotValues::default();
        self.inside.iter().filter_map(move |r| {
            if r.kind != EventKind::Input {
                return told.input(r);
            }
            let at = Instant::from_nanos(r.arg);
            match (InputKind::from_u8(r.level)?, r.task) {
                (InputKind::Absent, _) => Some(Input::Absent { since: at }),
                (InputKind::Sleep, Some(proxy)) => Some(Input::Sleep { proxy, until: at }),
                (InputKind::Arrival, Some(task)) => Some(Input::Arrival { task, at }),
                (InputKind::Section, Some(_)) => Some(Input::Section { held: Sections::from_bits(r.job), since: at }),
                (InputKind::Wait, _) => Some(Input::Wait { until: at }),
                (InputKind::Signal, _) if r.job != 0 => Some(Input::Event(EventCall::Broadcast(r.arg as u16))),
                (InputKind::Signal, _) => Some(Input::Event(EventCall::Signal(r.arg as u16))),
                (InputKind::Misses, _) => Some(Input::Misses { lines: u32::try_from(r.arg).unwrap_or(u32::MAX) }),
                (InputKind::WriteBacks, _) => {
                    Some(Input::WriteBacks { lines: u32::try_from(r.arg).unwrap_or(u32::MAX) })
                }
                (InputKind::Sample, _) => Some(Input::Sample { events: u32::try_from(r.arg).unwrap_or(u32::MAX) }),
                (InputKind::Await, _) => Some(Input::Event(EventCall::Await(r.arg as u16))),
                (InputKind::Sleep | InputKind::Arrival | InputKind::Section, None) => None,
            }
        })
    }

    /// Since when the parent scheduler had the core, if it had.
    pub fn absent(&self) -> Option<Instant> {
        self.inputs().find_map(|input| match input {
            Input::Absent { since } => Some(since),
            _ => None,
        })
    }

    /// When what arrived before this call arrived.
    pub fn arrivals(&self) -> impl Iterator<Item = Instant> + '_ {
        self.inputs().filter_map(|input| match input {
            Input::Arrival { at, .. } => Some(at),
            _ => None,
        })
    }

    /// What the policy wrote.
    pub fn written(&self) -> impl Iterator<Item = &'t Record> {
        self.inside.iter().filter(|r| r.kind.is_policy())
    }
}

/// The values of a task of a slot that were told so far.
#[derive(Default)]
struct SlotValues([u64; 4]);

impl SlotValues {
    /// What the policy is told by a record about slots, if it is one: by the last one of a task, all of its values.
    fn input(&mut self, r: &Record) -> Option<Input> {
        let slot = |action| Some(Input::Slot { slot: r.job as u16, load: r.arg as u16, action });
        match (r.kind, r.task) {
            (EventKind::SlotTask, Some(task)) => {
                let value = SlotValue::from_u8(r.level)?;
                self.0[value as usize] = r.arg;
                let [time, period, deadline, priority] = self.0;
                let priority = u32::try_from(priority).unwrap_or(u32::MAX);
                let [time, period, deadline] = [time, period, deadline].map(Duration::from_nanos);
                let values = Values { time, period, deadline, priority };
                (value == SlotValue::Priority).then_some(Input::SlotTask { task, values })
            }
            (EventKind::SlotLoaded, _) => {
                let from = slot_loaded_from(r.job as u16, r.level);
                slot(from.map_or(SlotAction::Load, |from| SlotAction::Restore { from }))
            }
            (EventKind::SlotUnloaded, _) => slot(if r.level == 0 { SlotAction::Unload } else { SlotAction::Save }),
            (EventKind::SlotUpdate, _) => {
                let SlotUpdate { load, from, trial } = SlotUpdate::of(r.arg);
                let action = if r.level == 0 { SlotAction::Update { from, trial } } else { SlotAction::Settle };
                Some(Input::Slot { slot: r.job as u16, load, action })
            }
            (EventKind::SlotRefused, _) => slot(SlotAction::Refuse(SlotRefusal::from_u8(r.level)?)),
            _ => None,
        }
    }
}

/// The calls of each core, in their order. `all`: each core has to have any.
pub fn of_trace(trace: &Trace, all: bool) -> Result<Vec<Vec<Call<'_>>>, Disagreement> {
    let cores = trace.cores.iter().enumerate();
    cores.map(|(core, records)| of_core(CoreId(core as u8), records, all || !records.is_empty())).collect()
}

/// When the core's run ended, if the trace says so.
pub fn end_of(trace: &Trace, core: CoreId) -> Option<Instant> {
    trace.cores[core.index()].iter().rev().find(|r| r.kind == EventKind::End).map(|r| r.time)
}

fn of_core(core: CoreId, records: &[Record], some: bool) -> Result<Vec<Call<'_>>, Disagreement> {
    let mut calls: Vec<Call> = Vec::new();
    let mut open = None;
    let mut before = Instant::ZERO;
    for (at, record) in records.iter().enumerate() {
        let wrong = |what| Err(Disagreement::at_record(core, record, what));
        if record.core != core {
            return wrong(What::Shape("a record of another core in this core's ring"));
        }
        match record.kind {
            EventKind::Enter => {
                if open.is_some() {
                    return wrong(What::Shape("the scheduler is entered while it is still inside"));
                }
                if record.time < before {
                    return wrong(What::Shape("time went back on this core"));
                }
                if EntryReason::from_u8(record.level).is_none() {
                    return wrong(What::Shape("no such reason for entering the scheduler"));
                }
                open = Some(at);
            }
            EventKind::Leave => {
                let Some(start) = open.take() else {
                    return wrong(What::Shape("the scheduler is left without having been entered"));
                };
                let enter = &records[start];
                if record.time < enter.time {
                    return wrong(What::Shape("time went back on this core"));
                }
                before = record.time;
                calls.extend(call(calls.len(), &records[start..at], Some(record)));
            }
            kind if kind.is_policy() => match open {
                None => return wrong(What::Shape("the policy wrote outside of a call")),
                Some(start) if records[start].time != record.time => {
                    return wrong(What::Shape("the policy's record does not carry the time of its call"));
                }
                Some(_) => {}
            },
            _ => {}
        }
    }
    if let Some(start) = open {
        calls.extend(call(calls.len(), &records[start..], None));
    }
    match calls.iter().position(|c| (c.number == 0) != (c.reason == EntryReason::Start)) {
        Some(n) => Err(Disagreement::in_call(&calls[n], What::Shape("a core starts once, and first"))),
        None if some && calls.is_empty() => Err(Disagreement::at_start(core, What::Shape("the core never started"))),
        None => Ok(calls),
    }
}

/// The call that opens with the first of `records`.
fn call<'t>(number: usize, records: &'t [Record], leave: Option<&'t Record>) -> Option<Call<'t>> {
    let (enter, inside) = records.split_first()?;
    Some(Call { number, reason: EntryReason::from_u8(enter.level)?, enter, inside, leave })
}
