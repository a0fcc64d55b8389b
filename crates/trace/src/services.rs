//! Services: each request of a client and its answer, as jobs signalled them.

use crate::chains::Passage;
use crate::jobs::Job;
use crate::order::in_order;
use crate::view::{ChainView, TaskView, Trace};
use tactus_record::{Record, RequestEvent};
use tactus_time::{CoreId, Instant, TaskId};

/// A request or an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signalled {
    pub event: RequestEvent,
    pub time: Instant,
    pub core: CoreId,
    /// Whose job signalled it.
    pub task: TaskId,
}

/// All requests and answers, in the order in which they were signalled.
pub(crate) fn signalled(trace: &Trace) -> Vec<Signalled> {
    let mut all = Vec::new();
    in_order(trace, |r: &Record| {
        if let (Some(event), Some(task)) = (RequestEvent::of(r), r.task) {
            all.push(Signalled { event, time: r.time, core: r.core, task });
        }
    });
    all.sort_by_key(|it| it.time);
    all
}

/// Each request of the client: from the release of the job that asked to the answer; but those that were made long before the server's
/// first release. A client whose jobs ask more than once is owed nothing from then on.
pub(crate) fn passages<'j>(
    (chain, client): (&ChainView, u16),
    tasks: &[TaskView],
    jobs: &'j [Job],
    trace: &Trace,
) -> Vec<Passage<'j>> {
    let Some((server, askers)) = chain.tasks.split_last() else { return Vec::new() };
    let Some(view) = tasks.get(server.index()) else { return Vec::new() };
    let serves = Instant::ZERO.saturating_add(view.offset.saturating_sub(view.period));
    // The few jobs that matter, so that none is looked for among all.
    let own: Vec<Vec<&Job>> = chain.tasks.iter().map(|task| started(jobs, *task)).collect();
    let at = |place: usize, by: Instant| -> Option<&'j Job> {
        let all = own.get(place)?;
        all.get(all.partition_point(|job| job.started.is_some_and(|at| at <= by)).checked_sub(1)?).copied()
    };
    let mut found: Vec<Passage> = Vec::new();
    let mut open: Option<usize> = None;
    let mut last = None;
    for it in signalled(trace) {
        match it.event {
            RequestEvent::Request(of) if of == client => {
                // What others signal is nobody's word.
                let Some(place) = askers.iter().position(|task| *task == it.task) else { continue };
                open = None;
                let Some(asked) = at(place, it.time) else { continue };
                if last.replace((asked.task, asked.job)) == Some((asked.task, asked.job)) {
                    break;
                }
                if it.time >= serves {
                    open = Some(found.len());
                    let served = at(askers.len(), it.time);
                    let jobs = std::iter::once(asked).chain(served).collect();
                    found.push(Passage { release: asked.release, completed: None, jobs });
                }
            }
            RequestEvent::Answer(of) if of == client && it.task == *server => {
                let Some(passage) = open.take().and_then(|n| found.get_mut(n)) else { continue };
                passage.completed = Some(it.time);
                passage.jobs.truncate(1);
                passage.jobs.extend(at(askers.len(), it.time));
            }
            _ => {}
        }
    }
    found
}

fn started(jobs: &[Job], task: TaskId) -> Vec<&Job> {
    let mut own: Vec<&Job> = jobs.iter().filter(|job| job.task == task && job.started.is_some()).collect();
    own.sort_by_key(|job| job.started);
    own
}
