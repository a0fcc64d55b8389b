//! Best-effort work that gives way to a counter: each period is sampled, the work gives way exactly when more was counted than its
//! threshold, and nothing else ever does.

use super::{Rule, Violation};
use crate::view::TreeView;
use crate::{run_end, Trace};
use tactus_record::{EventKind, InputKind, Record};
use tactus_time::{CoreId, Duration, Instant, TaskId};

/// The rule of all servers whose work gives way. `tolerance`: how much later than at once a core may notice what it should.
pub(super) fn of_tree(view: &TreeView, trace: &Trace, tolerance: Duration) -> Vec<Violation> {
    let mut found = Vec::new();
    for (n, server) in view.servers.iter().enumerate() {
        let Some((threshold, period, _)) = server.supply.filter(|(.., kind)| kind.yields()) else { continue };
        for core in server.cores.iter() {
            let Some(records) = trace.cores.get(core.index()) else { continue };
            let (threshold, number) = (threshold.as_nanos(), 0);
            let mut it =
                OnCore { view, server: n, core, threshold, period, tolerance, number, call: Call::default(), found };
            records.iter().for_each(|r| it.step(r));
            it.end(run_end(trace));
            found = it.found;
        }
    }
    found
}

/// One call of the policy, as far as it is read.
#[derive(Default)]
struct Call {
    events: Option<u64>,
    gives_way: bool,
    /// Whoever is not inside and lost the core.
    preempted: Option<TaskId>,
}

/// A server on one core.
struct OnCore<'v> {
    view: &'v TreeView,
    server: usize,
    core: CoreId,
    threshold: u64,
    period: Duration,
    tolerance: Duration,
    /// How many periods were over at the last sample.
    number: u64,
    call: Call,
    found: Vec<Violation>,
}

impl OnCore<'_> {
    fn wrong(&mut self, time: Instant, task: Option<TaskId>, text: String) {
        self.found.push(Violation { rule: Rule::Yield, time, core: self.core, task, job: None, text });
    }

    fn is_inside(&self, task: TaskId) -> bool {
        self.view.above(task).any(|at| at == self.server)
    }

    fn step(&mut self, r: &Record) {
        match r.kind {
            EventKind::Enter => self.call = Call::default(),
            EventKind::Input if r.level == InputKind::Sample as u8 => {
                self.sampled(r.time);
                self.call.events = Some(r.arg);
            }
            EventKind::ServerExhausted if r.job as usize == self.server => {
                self.call.gives_way = true;
                if self.call.events.is_none_or(|events| events <= self.threshold) {
                    let told = self.call.events.map_or("no sample".to_string(), |events| format!("{events} events"));
                    let text =
                        format!("server {} gives way after {told}, its threshold is {}", self.server, self.threshold);
                    self.wrong(r.time, None, text);
                }
            }
            EventKind::Preempt => {
                let outside = r.task.filter(|task| !self.is_inside(*task));
                self.call.preempted = self.call.preempted.or(outside);
            }
            EventKind::Leave => self.left(r),
            _ => {}
        }
    }

    /// A sample was taken.
    fn sampled(&mut self, now: Instant) {
        let number = now.since(Instant::ZERO) / self.period;
        let boundary = Instant::ZERO.saturating_add(self.period * number);
        let text = if number == self.number {
            Some(format!("a second sample in period {number}"))
        } else if number > self.number + 1 || now.since(boundary) > self.tolerance {
            Some(format!("the sample due at {} is late", Instant::ZERO.saturating_add(self.period * (self.number + 1))))
        } else {
            None
        };
        self.number = number;
        if let Some(text) = text {
            self.wrong(now, None, text);
        }
    }

    /// The policy has decided.
    fn left(&mut self, r: &Record) {
        let Call { events, gives_way, preempted } = std::mem::take(&mut self.call);
        let Some(events) = events else { return };
        if events > self.threshold && !gives_way {
            let text = format!("server {} does not give way after {events} events", self.server);
            self.wrong(r.time, None, text);
        }
        // Whoever else lost the core in that call, lost it to somebody more urgent.
        let next = r.task.filter(|task| !self.is_inside(*task));
        if let Some(task) = preempted.filter(|_| next.is_none()) {
            self.wrong(r.time, Some(task), format!("gives way though it is not in server {}", self.server));
        }
    }

    /// The run is over.
    fn end(&mut self, end: Instant) {
        let due = Instant::ZERO.saturating_add(self.period * (self.number + 1));
        if due.saturating_add(self.tolerance) < end {
            self.wrong(due, None, format!("no sample at {due}"));
        }
    }
}
