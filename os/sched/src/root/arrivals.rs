//! What has arrived on a core and the policy was not told yet: raised by jobs, or by devices that interrupted.

use crate::root::state::{CoreState, System};
use tactus_policy::{Input, Policy, MAX_ARRIVALS};
use tactus_record::{CallRefusal, EventKind, InputKind, Sink, Stored, Subject};
use tactus_rt::abi::layout::LINES;
use tactus_rt::abi::monitors::MAX_MONITORS;
use tactus_rt::abi::shared::TaskCard;
use tactus_rt::clock;
use tactus_rt::scheduler::{OwnRegion, RingWriter};
use tactus_rt::time::{CoreId, Instant, TaskId};

/// A line is silent until the policy was told, a job raises one arrival at a time, and of each monitor one violation counts.
const ROOM: usize = LINES + 1 + MAX_MONITORS as usize;

/// The task whose jobs each line releases.
pub type LineTasks = [Option<TaskId>; LINES];

/// Arrivals, in the order in which they were noticed.
pub struct Arrivals {
    waiting: [(TaskId, Instant); ROOM],
    len: usize,
}

impl Arrivals {
    /// Nothing.
    pub const NONE: Arrivals = Arrivals { waiting: [(TaskId(0), Instant::ZERO); ROOM], len: 0 };

    /// Something arrived for the task.
    pub fn push(&mut self, task: TaskId, at: Instant) {
        if let Some(place) = self.waiting.get_mut(self.len) {
            *place = (task, at);
            self.len += 1;
        }
    }

    /// Whether nothing waits.
    pub fn are_none(&self) -> bool {
        self.len == 0
    }

    /// Whether more waits than the policy takes at once.
    pub fn are_more_than_one_call(&self) -> bool {
        self.len > MAX_ARRIVALS
    }
}

/// The tasks whose jobs lines release.
pub fn line_tasks(cards: &[TaskCard]) -> LineTasks {
    let mut tasks = [None; LINES];
    for (task, card) in cards.iter().enumerate() {
        if let Some(place) = usize::try_from(card.line).ok().and_then(|line| tasks.get_mut(line)) {
            *place = Some(TaskId(task as u16));
        }
    }
    tasks
}

/// The run begins on the core that has the lines: the first job of each task that a line releases comes at once, and sets its device
/// up. Whether there is one.
#[cold]
pub fn begin(system: &System, arrivals: &mut Arrivals) -> bool {
    system.lines.iter().flatten().for_each(|task| arrivals.push(*task, Instant::ZERO));
    arrivals.len > 0
}

/// Devices have interrupted.
#[cold]
pub fn take_lines(state: &mut CoreState, region: OwnRegion) {
    let lines = region.take_lines();
    push_lines(state, region, lines);
}

/// These have.
#[cold]
pub fn push_lines(state: &mut CoreState, region: OwnRegion, mut lines: u64) {
    while lines != 0 {
        let line = lines.trailing_zeros() as usize;
        lines &= lines - 1;
        if let Some(task) = state.system.lines.get(line).copied().flatten().filter(|task| takes(state, *task)) {
            state.arrivals.push(task, clock::instant(region.line_time(line)));
        }
    }
}

/// Whether one more arrival of the task is taken; else its jobs let the device interrupt too often.
#[inline(always)]
pub fn takes(state: &mut CoreState, task: TaskId) -> bool {
    let taken = state.quotas.of(task).is_some_and(|it| it.takes_arrival(clock::now));
    if !taken {
        state.quotas.refuse((&mut state.ring, state.core), (task, 0), CallRefusal::TooOften);
    }
    taken
}

/// Tells the policy what arrived, as much as it takes at once.
#[cold]
#[inline(never)]
pub fn tell<P: Policy>(
    (policy, own): (&P, &mut P::Core),
    arrivals: &mut Arrivals,
    (mut writer, core): (RingWriter, CoreId),
    now: Instant,
) -> RingWriter {
    let told = arrivals.len.min(MAX_ARRIVALS);
    for (task, at) in &arrivals.waiting[..told] {
        let at = (*at).min(now);
        let subject = Subject::new(*task, InputKind::Arrival as u8);
        writer.store(Stored::about(subject, now, core, EventKind::Input, 0, at.as_nanos()));
        policy.input(own, Input::Arrival { task: *task, at });
    }
    arrivals.waiting.copy_within(told.., 0);
    arrivals.len -= told;
    writer
}
