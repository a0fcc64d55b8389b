//! The system's own work, as far as records show it.

use crate::{Distribution, Entries, Overheads, Trace};
use tactus_record::{EntryReason, EventKind};
use tactus_time::{Duration, Instant};

/// One more than the largest number of a reason of entry.
const REASONS: usize = EntryReason::NUMBERS;

/// All occurrences on one core, before they are summed up.
#[derive(Clone, Default)]
pub(crate) struct Samples {
    /// By the number of the reason; some numbers mean nothing.
    entries: [Vec<Duration>; REASONS],
    lateness: Vec<Duration>,
    release: Vec<Duration>,
    inter_core: Vec<Duration>,
    switches: u64,
}

impl Samples {
    pub(crate) fn join(&mut self, other: &Samples) {
        for (mine, theirs) in self.entries.iter_mut().zip(&other.entries) {
            mine.extend(theirs);
        }
        self.lateness.extend(&other.lateness);
        self.release.extend(&other.release);
        self.inter_core.extend(&other.inter_core);
        self.switches += other.switches;
    }

    pub(crate) fn sum_up(mut self) -> Overheads {
        let mut all = self.entries.concat();
        // Those about slots are rare, and in the sum alone.
        let [start, timer, complete, notify, fault, arrival, _, _, unlock, wait, lock, signal, _] =
            self.entries.each_mut().map(|e| Distribution::of(e));
        Overheads {
            entries: Entries { start, timer, complete, notify, fault, arrival, unlock, wait, lock, signal },
            timer_lateness: Distribution::of(&mut self.lateness),
            release: Distribution::of(&mut self.release),
            schedule: Distribution::of(&mut all),
            inter_core: Distribution::of(&mut self.inter_core),
            switches: self.switches,
        }
    }
}

/// What each core did for the system.
pub(crate) fn samples(trace: &Trace) -> Vec<Samples> {
    let mut out = vec![Samples::default(); trace.cores.len()];
    // When the decisions ended that sent an event to each core: an event is under way from there.
    let mut sent: Vec<Vec<Instant>> = vec![Vec::new(); trace.cores.len()];
    for (records, samples) in trace.cores.iter().zip(&mut out) {
        let mut entered = None;
        let mut receivers: Vec<usize> = Vec::new();
        let mut had = None;
        for r in records {
            match r.kind {
                EventKind::Enter => {
                    let reason = EntryReason::from_u8(r.level);
                    if reason == Some(EntryReason::Timer) && r.arg != u64::MAX {
                        samples.lateness.push(r.time.since(Instant::from_nanos(r.arg)));
                    }
                    // Of a call whose end is not recorded nothing is known to have been sent.
                    receivers.clear();
                    entered = reason.map(|reason| (reason, r.time));
                }
                EventKind::Leave => {
                    if let Some((reason, since)) = entered.take() {
                        samples.entries[reason as usize].push(r.time.since(since));
                    }
                    let has = r.task.map(|t| (t, r.job));
                    samples.switches += u64::from(has != had);
                    had = has;
                    for receiver in receivers.drain(..) {
                        if let Some(list) = sent.get_mut(receiver) {
                            list.push(r.time);
                        }
                    }
                }
                EventKind::Notify => receivers.push(usize::try_from(r.arg).unwrap_or(usize::MAX)),
                EventKind::Release => samples.release.push(r.time.since(Instant::from_nanos(r.arg))),
                _ => {}
            }
        }
    }
    for ((records, samples), mut sent) in trace.cores.iter().zip(&mut out).zip(sent) {
        sent.sort_unstable();
        let mut under_way = sent.into_iter().peekable();
        for enter in records.iter().filter(|r| r.kind == EventKind::Enter) {
            // Events that come before the first is handled are one: the receiver was entered for the earliest. What it is entered for
            // otherwise, its start above all, handles them as well: none of them waits for an entry of its own, which may never come.
            let mut first = None;
            while let Some(time) = under_way.next_if(|t| *t <= enter.time) {
                first.get_or_insert(time);
            }
            let notified = EntryReason::from_u8(enter.level) == Some(EntryReason::Notify);
            samples.inter_core.extend(first.filter(|_| notified).map(|t| enter.time.since(t)));
        }
    }
    out
}
