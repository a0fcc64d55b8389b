//! The rules of sandboxes: each becomes a system of its own, by the rules of any system.

use super::mailbox;
use super::names::{check_name, unique};
use crate::draft::{Draft, DraftSandbox, Given};
use crate::problem::{Collector, Location};
use crate::sandbox::{Sandbox, Sandboxes, MOST_SANDBOXES, SANDBOX_MEMORY};
use crate::units::format_size;
use std::path::Path;

/// Checks a draft with sandboxes and makes systems of it; nothing if something is wrong with it.
pub(crate) fn sandboxes(mut draft: Draft, source: &Path, out: &mut Collector) -> Option<Sandboxes> {
    let name = super::name_of(&draft, source, out);
    let given = std::mem::take(&mut draft.sandboxes);
    count(&draft, &given, out);
    unique(given.iter().map(|it| (&it.content.name, it.subject.as_str())), "sandbox", out);
    // The others', and the one that lets the time pass on the emulated machine.
    let beside = given.len();
    let duration = super::duration(&draft, out)?;
    let count = given.len();
    let mut parts: Vec<_> = given.into_iter().filter_map(|it| part(&draft, it, beside, source, out)).collect();
    let open = !draft.open.is_absent();
    // What is wrong with a sandbox may be why an end is not found.
    let mailboxes = match parts.len() == count {
        true => mailbox::check(&draft.mailboxes, &mut parts, out),
        false => Vec::new(),
    };
    let whole = Sandboxes { name, source: source.to_path_buf(), duration, open, parts, mailboxes };
    out.is_empty().then_some(whole)
}

/// There may be as many as the machine has serial ports; their cores are the machine's.
fn count(draft: &Draft, given: &[DraftSandbox], out: &mut Collector) {
    if let Some(more) = given.get(MOST_SANDBOXES) {
        let limit = format!("more than {MOST_SANDBOXES}");
        out.out_of_range(more.place, "", "the number of sandboxes", given.len(), limit, "leave some out");
    }
    if let Some(cores) = draft.cores.get().filter(|cores| cores.value != given.len() as u64) {
        let limit = format!("not the {} of the sandboxes together", given.len());
        out.out_of_range(cores.place, "[system]", "cores", cores.value, limit, "leave it out: each sandbox has one");
    }
}

fn part(whole: &Draft, sandbox: DraftSandbox, beside: usize, source: &Path, out: &mut Collector) -> Option<Sandbox> {
    let DraftSandbox { place, subject, restarts, mut content } = sandbox;
    if let Given::Is(name) = &content.name {
        check_name(&name.value, name.place, &subject, "name", out);
    }
    if let Some(cores) = content.cores.get().filter(|cores| cores.value != 1) {
        let remedy = "leave it out, or divide its tasks among several sandboxes";
        out.out_of_range(cores.place, &subject, "cores", cores.value, "not one, which each sandbox has", remedy);
    }
    if let Some(memory) = content.memory.get().filter(|memory| memory.value % SANDBOX_MEMORY != 0) {
        let limit = format!("not a whole number of {}", format_size(SANDBOX_MEMORY));
        out.out_of_range(memory.place, &subject, "memory", format_size(memory.value), limit, "round it up");
    }
    if let Some(restarts) = restarts.get().filter(|restarts| restarts.value > MOST_RESTARTS) {
        let limit = format!("more than {MOST_RESTARTS}");
        out.out_of_range(restarts.place, &subject, "restarts", restarts.value, limit, "lower it");
    }
    content.cores = Given::is(1, place);
    content.duration = whole.duration.clone();
    content.seed = whole.seed.clone();
    content.shift = whole.shift.clone();
    content.processor = whole.processor.clone();
    content.overheads = whole.overheads.clone();
    content.platform.accepts_meltdown = whole.platform.accepts_meltdown.clone();
    content.platform.branch_barriers = whole.platform.branch_barriers.clone();
    let mut system = super::system(content, source, out)?;
    system.machine.beside = beside;
    refuse(&system, place, &subject, out);
    Some(Sandbox { system, restarts: restarts.value().unwrap_or(0) as u32 })
}

/// More would hide that a kernel does nothing but die.
const MOST_RESTARTS: u64 = 1_000;

/// What the rules of any system allow, and a sandbox has not.
fn refuse(system: &crate::System, place: Location, subject: &str, out: &mut Collector) {
    let scheduling = &system.scheduling;
    if let Some(n) = scheduling.places.iter().position(|it| it.interrupt.is_some()) {
        let why = format!(
            "task {:?} is released by a device's interrupt, and a sandbox has no devices",
            system.tasks[n].name
        );
        out.refuse(place, subject, why, "release it in another way, or use a file without sandboxes");
    }
    if let Some(component) = system.components.iter().find(|it| !it.rights.lines.is_empty()) {
        let why = format!("component {:?} has interrupt lines, and a sandbox has no devices", component.name);
        out.refuse(place, subject, why, "take them away, or use a file without sandboxes");
    }
    if scheduling.servers.iter().any(|it| it.kind.reads_counters()) {
        let why = "a server counts misses, which a sandbox's processor does not show";
        out.refuse(place, subject, why, "give it another kind, or use a file without sandboxes");
    }
}
