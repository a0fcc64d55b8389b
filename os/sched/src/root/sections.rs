//! What jobs hold in critical sections: read from the pages on which their components say it, and told to the policy before each
//! of its decisions. Entering and leaving a section calls nobody, unless a job waits for its end or the resource may be another job's.

use crate::root::state::CoreState;
use alloc::vec::Vec;
use tactus_policy::{Input, Policy, PolicyConfig, PolicySpec, ResourceSet, Sections};
use tactus_record::{EntryReason, EventKind, InputKind, Sink, Stored, Subject};
use tactus_rt::abi::shared::MAX_SECTIONS;
use tactus_rt::clock;
use tactus_rt::scheduler::{
    held_sections, holds_nothing, publish_awaited, publish_locked, release_sections, RingWriter,
};
use tactus_rt::time::{CoreId, Instant, TaskId};

/// What the policy was told that a task's job holds, and since when: readings of the time-stamp counter.
#[derive(Clone, Copy, Default)]
pub struct Reported {
    uses: bool,
    held: Sections,
    since: [u64; Sections::DEEPEST],
    /// How often the job has asked for one that may be another's.
    asked: u32,
}

/// By task; empty if no task has critical sections.
pub fn none_reported(setup: &PolicyConfig) -> Vec<Reported> {
    let PolicySpec::Resources(all) = &setup.kind else { return Vec::new() };
    let mut told = alloc::vec![Reported::default(); setup.tasks.len()];
    for user in all.resources.iter().flat_map(|resource| &resource.users) {
        if let Some(task) = told.get_mut(user.task.index()) {
            task.uses = true;
        }
    }
    if told.iter().any(|task| task.uses) {
        told
    } else {
        Vec::new()
    }
}

/// Tells the policy what the running job has entered and left since it was told last.
#[cold]
#[inline(never)]
pub fn tell<P: Policy>(
    (policy, own): (&P, &mut P::Core),
    (told, running): (&mut [Reported], Subject),
    (mut writer, core): (RingWriter, CoreId),
    (reason, now): (EntryReason, Instant),
) -> RingWriter {
    let Some((task, told)) = running.task().and_then(|task| Some((task, told.get_mut(task.index())?))) else {
        return writer;
    };
    if !told.uses || reason == EntryReason::Start {
        return writer;
    }
    if matches!(reason, EntryReason::Complete | EntryReason::Fault) {
        // Its sections end with it.
        release_sections(task);
        (told.held, told.asked) = (Sections::NONE, 0);
        return writer;
    }
    let (held, since) = held_sections(task);
    let held = Sections::from_bits(held);
    let pairs = told.held.iter().zip(told.since).zip(held.iter().zip(since));
    let same = pairs.take_while(|(told, now)| told == now).count();
    let mut input = |held: Sections, since: Instant| {
        let subject = Subject::new(task, InputKind::Section as u8);
        let input = Stored::about(subject, now, core, EventKind::Input, held.bits(), since.as_nanos());
        writer.store(input);
        policy.input(own, Input::Section { held, since });
    };
    if told.held.depth() > same {
        input(held.outermost(same), now);
    }
    for (depth, since) in since.iter().enumerate().take(held.depth()).skip(same) {
        input(held.outermost(depth + 1), clock::instant(*since).min(now));
    }
    (told.held, told.since) = (held, since);
    writer
}

/// Whether the policy is to hear that the running job wants a resource: only where some may be another's, where the job says otherwise
/// than was told (else it has its answer, or would not run), and once for each section that a task may have.
pub fn may_ask(told: &mut [Reported], running: Subject, locked: &ResourceSet) -> bool {
    let told = running.task().and_then(|task| Some((task, told.get_mut(task.index())?)));
    let Some((task, told)) = told.filter(|(_, told)| told.uses && locked != ResourceSet::NONE) else {
        return false;
    };
    let news = Sections::from_bits(held_sections(task).0) != told.held;
    told.asked += u32::from(news);
    news && told.asked <= MAX_SECTIONS as u32
}

/// Publishes to the running job whether the end of a section is awaited, and which sections may be another's.
#[cold]
#[inline(never)]
pub fn publish<P: Policy>((policy, core): (&P, &P::Core), state: &CoreState, task: TaskId) {
    if state.sections.get(task.index()).is_some_and(|told| told.uses) {
        publish_to((policy, core), task);
    }
}

/// The same where it is known that the task's jobs have critical sections.
#[inline(always)]
pub fn publish_to<P: Policy>((policy, core): (&P, &P::Core), task: TaskId) {
    publish_awaited(task, policy.awaits_unlock(core));
    publish_locked(task, policy.locked(core).words());
}

/// Whether the task's job says that it has left everything, and the policy was told that it holds something.
#[inline(always)]
pub fn has_left_all(told: &[Reported], task: TaskId) -> bool {
    let told = told.get(task.index()).filter(|told| told.held != Sections::NONE);
    told.is_some() && holds_nothing(task)
}

/// The policy was told that the task's job holds nothing.
#[inline(always)]
pub fn note_left(told: &mut [Reported], task: TaskId) {
    if let Some(told) = told.get_mut(task.index()) {
        told.held = Sections::NONE;
    }
}
