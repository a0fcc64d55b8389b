//! The rules of a system: from a draft to a [`System`], or to everything that is wrong with it.

mod change;
mod channel;
mod colours;
mod component;
mod counter;
mod disk;
mod health;
mod image;
mod impossible;
mod late;
mod linux;
mod mailbox;
mod misses;
mod monitor;
mod names;
mod occurrence;
mod partition;
mod per_server;
mod platform;
mod reclaiming;
mod release;
mod resource;
pub(crate) mod sandbox;
mod schedules;
mod server;
mod service;
mod slot;
mod slot_reach;
mod source;
mod task;
mod wait;
mod yielding;

use crate::draft::{Draft, Given};
use crate::problem::{Collector, Complaint, Location};
use crate::units::format_size;
use crate::{
    EarlyArrival, Machine, Policy, Release, Schedulers, Scheduling, System, TaskPlacement, DEFAULT_MEMORY,
    DEFAULT_SEED, DEFAULT_SHIFT, KERNEL_MEMORY, MAX_COMPONENTS, MAX_IMAGE_THREADS, MAX_MEMORY, MAX_NAME, MAX_SERVICES,
    MAX_TASKS, TASK_MEMORY,
};
use names::{check_name, is_name_char, unique};
use std::path::Path;
use tactus_time::{Duration, TaskId, MAX_CORES};
use task::Context;

/// Checks a draft and makes a system of it; nothing if something is wrong with it.
pub(crate) fn system(mut draft: Draft, source: &Path, out: &mut Collector) -> Option<System> {
    let name = name_of(&draft, source, out);
    health::expand(&mut draft, out);
    slot::expand(&mut draft, out);
    let context = Context {
        policy: draft.policy.value(),
        cores: cores(&draft, out),
        duration: duration(&draft, out),
        shift: draft.shift.value().unwrap_or(DEFAULT_SHIFT),
    };
    let homes = server::check(&draft, context.cores, out);
    if !count(&draft, out) {
        // Some rules compare each with each.
        return None;
    }
    let memory = memory(&draft, out);
    unique(draft.tasks.iter().map(|task| (&task.name, task.subject.as_str())), "task", out);
    unique(draft.servers.iter().map(|server| (&server.name, server.subject.as_str())), "server", out);
    unique(draft.resources.iter().map(|resource| (&resource.name, resource.subject.as_str())), "resource", out);
    unique(draft.partitions.iter().map(|it| (&it.name, it.subject.as_str())), "partition", out);
    unique(draft.components.iter().map(|component| (&component.name, component.subject.as_str())), "component", out);

    let mut notes = draft.notes.clone();
    let mut components = component::check(&draft, &mut notes, out);
    let tasks: Vec<_> =
        draft.tasks.iter().map(|draft| task::check(draft, &context, &homes, &components, out)).collect();
    let platform = platform::check(&draft, &mut components, out);
    let disks = disk::check(&draft, context.duration, &platform, out);
    unique(draft.monitors.iter().map(|monitor| (&monitor.name, monitor.subject.as_str())), "monitor", out);
    let monitors = monitor::check(&draft, out);
    if !out.is_empty() {
        return None;
    }
    let (mut tasks, places): (Vec<_>, Vec<_>) = tasks.into_iter().collect::<Option<Vec<_>>>()?.into_iter().unzip();
    let schedulers = draft.schedulers.value().unwrap_or_default();
    let mut scheduling = Scheduling { places, schedulers, ..homes.made };
    let parts = source::Parts { tasks: &tasks, components: &components, platform: &platform };
    release::resolve(&draft, context.policy?, (&parts, &mut scheduling), out);
    partition::finish(&draft, (&mut tasks, &components, &platform), (&mut scheduling, &mut notes), out);
    // After partitions, which are servers from here on.
    resource::resolve(&draft, context.policy?, &tasks, &mut scheduling, out);
    wait::resolve(&draft, context.policy?, &tasks, &mut scheduling, out);
    events(&draft, &mut scheduling);
    scheduling.misses = misses::of_tasks(&draft, &tasks, ("misses", |task| &task.misses), out);
    scheduling.write_backs = misses::of_tasks(&draft, &tasks, ("write-backs", |task| &task.write_backs), out);
    scheduling.hitm = yielding::of_tasks(&draft, &scheduling, out);
    if !out.is_empty() {
        return None;
    }
    let changes = change::check(&draft, context.policy?, context.duration?, &tasks, &scheduling, out);
    if !out.is_empty() {
        return None;
    }
    let (slots, loads) = slot::resolve(&draft, (&tasks, &components), &scheduling, context.duration?, out);
    let (policy, scheduling) = told(context.policy?, Scheduling { changes, ..scheduling });
    let mut system = System {
        name,
        source: source.to_path_buf(),
        cores: context.cores?,
        memory,
        duration: context.duration?,
        seed: draft.seed.value().unwrap_or(DEFAULT_SEED),
        policy,
        scheduling,
        chains: Vec::new(),
        channels: Vec::new(),
        mailboxes: Vec::new(),
        services: Vec::new(),
        machine: Machine {
            shift: context.shift,
            processor: draft.processor.value().unwrap_or_default(),
            overheads: draft.overheads.value().unwrap_or(true),
            beside: 0,
        },
        tasks,
        components,
        slots,
        loads,
        platform,
        disks,
        linux: linux::check(&draft, out),
        monitors,
        notes,
    };
    system.channels = channel::check(&draft, &system, out);
    system.services = service::check(&draft, &system, out);
    system.chains = release::chains(&draft, &system, out);
    late::check(&draft, &system, out);
    if let (Schedulers::PerServer, Given::Is(at)) = (schedulers, &draft.schedulers) {
        per_server::check(&system, at.place, out);
    }
    // What is wrong already may be why it is too much.
    if out.is_empty() {
        image::check(&system, out);
    }
    reclaiming::check(&system, out);
    misses::check(&system, out);
    yielding::check(&system, out);
    out.is_empty().then_some(system)
}

/// Sets what jobs signal and await. The reader of such files has seen to it that they can.
fn events(draft: &Draft, scheduling: &mut Scheduling) {
    if draft.events.is_empty() {
        return;
    }
    scheduling.events.clone_from(&draft.events);
    scheduling.places.resize(draft.tasks.len(), TaskPlacement::default());
    for (n, task) in draft.tasks.iter().enumerate() {
        let (program, itself) = task.placing.program.clone().unwrap_or_default();
        scheduling.programs.push(program);
        if itself {
            scheduling.places[n].release = Release::After(TaskId(n as u16), EarlyArrival::Delay);
        }
    }
}

/// The policy is told in full where it is more than its kind; otherwise nothing is left to tell beside it.
fn told(policy: Policy, mut scheduling: Scheduling) -> (Policy, Scheduling) {
    if scheduling.changes.is_empty() && scheduling.places.iter().all(|place| *place == TaskPlacement::default()) {
        scheduling.places.clear();
    }
    let ordered = !matches!(policy, Policy::Mixed(_) | Policy::Partitions) && !scheduling.is_plain();
    match server::of_policy(&policy).filter(|_| ordered) {
        Some((spread, order)) => (Policy::Ordered { spread, order }, scheduling),
        None => (policy, scheduling),
    }
}

fn name_of(draft: &Draft, source: &Path, out: &mut Collector) -> String {
    match &draft.name {
        Given::Is(at) => {
            check_name(&at.value, at.place, "[system]", "name", out);
            at.value.clone()
        }
        // Whatever the file is called, the folder of its results has a plain name.
        _ => {
            let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            plain_name(&stem)
        }
    }
}

/// The file's name where it is a plain one. Else what is plain in it with a number made of all of it, so that files of
/// distinct names have distinct folders of results.
fn plain_name(stem: &str) -> String {
    let plain: String = stem.chars().map(|c| if is_name_char(c) { c } else { '-' }).collect();
    let plain = plain.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    if plain == stem && (1..=MAX_NAME).contains(&stem.len()) {
        return plain.into();
    }
    // FNV-1a, which is the same everywhere and for ever.
    let number = stem.bytes().fold(0x811c_9dc5_u32, |n, byte| (n ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let number = format!("-{number:08x}");
    let kept = plain.get(..plain.len().min(MAX_NAME - number.len())).unwrap_or_default();
    let kept = kept.trim_end_matches('-');
    format!("{}{number}", if kept.is_empty() { "system" } else { kept })
}

fn cores(draft: &Draft, out: &mut Collector) -> Option<usize> {
    let at = draft.cores.get()?;
    match usize::try_from(at.value) {
        Ok(cores) if (1..=MAX_CORES).contains(&cores) => Some(cores),
        _ => {
            let limit = format!("not between 1 and {MAX_CORES}");
            out.out_of_range(at.place, "[system]", "cores", at.value, limit, "choose a number from 1 to 8");
            None
        }
    }
}

fn duration(draft: &Draft, out: &mut Collector) -> Option<Duration> {
    let at = draft.duration.get()?;
    if at.value.is_zero() {
        out.out_of_range(at.place, "[system]", "duration", at.value, "no time at all", "write how long it is to run");
        return None;
    }
    Some(at.value)
}

/// Whether there are not too many of anything.
fn count(draft: &Draft, out: &mut Collector) -> bool {
    // A root scheduler of the user's own may have other things to run than tasks.
    if draft.no_tasks && draft.platform.root.is_absent() {
        let complaint = Complaint::MissingKey { key: "task", example: "[[task]], once for each task".into() };
        out.add(draft.place, "", complaint);
    }
    let mut few = true;
    let mut check = |subject: &str, what: &str, n: usize, most: usize, place: Option<Location>| {
        if let Some(place) = place {
            let limit = format!("more than {most}");
            out.out_of_range(place, subject, format!("the number of {what}"), n, limit, "leave some out");
            few = false;
        }
    };
    check("", "tasks", draft.tasks.len(), MAX_TASKS, draft.tasks.get(MAX_TASKS).map(|t| t.place));
    let place = draft.components.get(MAX_COMPONENTS).map(|c| c.place);
    check("", "components", draft.components.len(), MAX_COMPONENTS, place);
    for component in &draft.components {
        let (provides, uses) = (&component.provides, &component.uses);
        let place = provides.get(MAX_SERVICES).map(|at| at.place);
        check(&component.subject, "services that it provides", provides.len(), MAX_SERVICES, place);
        let place = uses.get(MAX_SERVICES).map(|at| at.place);
        check(&component.subject, "services that it uses", uses.len(), MAX_SERVICES, place);
    }
    few
}

/// The machine's memory must be whole MiB and hold the kernel and every task.
fn memory(draft: &Draft, out: &mut Collector) -> u64 {
    let kept = KERNEL_MEMORY.saturating_add(draft.platform.pool.value().unwrap_or(0));
    let needed = draft
        .tasks
        .iter()
        .fold(kept, |sum, task| sum.saturating_add(TASK_MEMORY).saturating_add(task.memory.value().unwrap_or(0)));
    let (memory, place) = match &draft.memory {
        Given::Is(at) => (at.value, at.place),
        _ => (DEFAULT_MEMORY, draft.place),
    };
    let mut complain = |limit: String, remedy: String| {
        out.out_of_range(place, "[system]", "memory", format_size(memory), limit, remedy);
    };
    // More tasks are only simulated, where nobody needs memory.
    let needed = if draft.tasks.len() > MAX_IMAGE_THREADS { 0 } else { needed };
    let whole = needed.div_ceil(1 << 20).saturating_mul(1 << 20);
    if memory > MAX_MEMORY {
        complain(format!("more than {}", format_size(MAX_MEMORY)), "lower it".into());
    } else if memory % (1 << 20) != 0 {
        complain("not a whole number of MiB".into(), "round it up".into());
    } else if memory < needed && whole > MAX_MEMORY {
        let limit = format!("less than the {} that kernel and tasks need", format_size(whole));
        complain(limit, "lower the memory of the tasks".into());
    } else if memory < needed {
        let limit = format!("less than kernel and tasks need ({} each beside its own)", format_size(TASK_MEMORY));
        complain(limit, format!("raise it to {}", format_size(whole)));
    }
    memory
}
