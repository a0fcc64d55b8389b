//! The rules for slots, and for what comes into them when.
//!
//! A slot is written out before all else is checked: it becomes a component without a program and tasks that are reserved in its server.
//! So they obey the rules that hold for all components and tasks. What slots need beyond these is here.

mod update;

use super::names::check_name;
use crate::draft::{
    At, Draft, DraftComponent, DraftExecution, DraftLoad, DraftLoadKind, DraftServer, DraftSlot, DraftTask, Given,
};
use crate::problem::{nearest, Collector, Complaint, Location};
use crate::units::format_size;
use crate::{
    Body, Component, Load, LoadKind, Migration, Overrun, Policy, Release, Scheduling, Slot, Task, TaskOrder,
    LARGEST_HEAP, LOADER_STEP, MAX_LOADS, MAX_RESTARTS, MAX_SLOTS, MAX_SLOT_MEMORY, MAX_SLOT_TASKS, PAGE,
};
use tactus_package::snapshot::{Extent, MOST_PAGES};
use tactus_task::ServerKind;
use tactus_time::Duration;

/// The pages of all slots, and of what is saved of them.
pub(super) fn pages(draft: &Draft) -> u64 {
    let saved = |slot: &&DraftSlot| {
        let name = slot.name.get().map(|at| &at.value);
        let is_save = |load: &&DraftLoad| matches!(load.what, DraftLoadKind::Save);
        draft.loads.iter().filter(is_save).any(|load| load.slot.get().map(|at| &at.value) == name)
    };
    let programs = draft.slots.iter().map(pages_of);
    let snapshots = draft.slots.iter().filter(saved).map(|slot| extent_of(slot).pages());
    programs.chain(snapshots).fold(0, u64::saturating_add)
}

/// What is saved of a program in the slot at most.
fn extent_of(slot: &DraftSlot) -> Extent {
    let tasks = slot.tasks.value().unwrap_or(0).min(MAX_SLOT_TASKS as u64);
    let heap = slot.heap.value().unwrap_or(0).min(LARGEST_HEAP);
    Extent { program: pages_of(slot), own: crate::system::own_pages(tasks, heap), tasks }
}

fn pages_of(slot: &DraftSlot) -> u64 {
    slot.memory.value().unwrap_or(0).div_ceil(PAGE)
}

/// Writes the slots out, as far as nothing is wrong with them.
pub(super) fn expand(draft: &mut Draft, out: &mut Collector) {
    let loader = loader(draft, out);
    let Some(first) = draft.slots.first() else {
        if let Some(load) = draft.loads.first() {
            out.refuse(load.place, &load.subject, "there is no slot", "describe one in a [[slot]]");
        }
        return;
    };
    if !fits_system(draft, (first.place, &first.subject), out) {
        return;
    }
    if let Some(slot) = draft.slots.get(MAX_SLOTS) {
        let limit = format!("more than {MAX_SLOTS}");
        out.out_of_range(slot.place, "", "the number of slots", draft.slots.len(), limit, "leave some out");
        return;
    }
    let Some(loader) = loader else { return };
    super::slot_reach::check(draft, out);
    let (mut components, mut tasks) = (Vec::new(), Vec::new());
    for (n, slot) in draft.slots.iter().enumerate() {
        sizes(slot, out);
        let Some((server, core)) = server(draft, n, out) else { continue };
        let Some(name) = slot.name.get() else { continue };
        components.push(component(slot, n, &loader));
        let count = slot.tasks.value().filter(|count| (1..=MAX_SLOT_TASKS as u64).contains(count)).unwrap_or(0);
        tasks.extend((0..count).map(|k| task(slot, &format!("{}.{k}", name.value), server, core)));
    }
    draft.components.extend(components);
    draft.tasks.extend(tasks);
}

/// The name of the component that fills the slots; there is one if there are slots, and one at most.
fn loader(draft: &Draft, out: &mut Collector) -> Option<At<String>> {
    let mut all = draft.components.iter().filter(|it| it.rights.loader.value() == Some(true));
    let first = all.next();
    if let (Some(first), Some(second)) = (first, all.next()) {
        let why = format!("it is a loader, as {} is", first.subject);
        out.refuse(second.place, &second.subject, why, "leave one loader");
    }
    match (first, draft.slots.first()) {
        (Some(loader), None) => {
            out.refuse(loader.place, &loader.subject, "it is a loader, and there is no slot", "remove loader");
            None
        }
        (Some(loader), Some(_)) => loader.name.get().cloned(),
        (None, Some(slot)) => {
            let remedy = "write loader = true for a component with a task, such as os/components/loader";
            out.refuse(slot.place, &slot.subject, "no component fills it", remedy);
            None
        }
        (None, None) => None,
    }
}

/// Whether there can be slots in such a system at all.
fn fits_system(draft: &Draft, (place, subject): (Location, &str), out: &mut Collector) -> bool {
    let mut refuse = |why: &str, remedy: &str| {
        out.refuse(place, subject, why, remedy);
        false
    };
    let ordered = |policy: Policy| {
        super::server::of_policy(&policy).is_some() && !matches!(policy, Policy::Mixed(_) | Policy::Partitions)
    };
    if draft.policy.value().is_some_and(|policy| !ordered(policy)) {
        return refuse(
            "a slot lies in a server, and this policy has none",
            "choose a kind such as \"partitioned-edf\", with a [[server]] for each slot",
        );
    }
    if draft.schedulers.value() == Some(crate::Schedulers::PerServer) {
        return refuse("schedulers are \"per-server\", and one hands programs over", "choose schedulers = \"single\"");
    }
    if let Given::Is(_) = draft.platform.root {
        return refuse("the system has a root scheduler of its own, which knows no slots", "remove root");
    }
    if let Some(change) = draft.changes.first() {
        let why = format!("{} alters the system beside it, and admission looks at one system", change.subject);
        return refuse(&why, "remove the changes, or the slots");
    }
    if let Some(resource) = draft.resources.first() {
        let why = format!("{} keeps cores from others, and servers know no resources", resource.subject);
        return refuse(&why, "remove the resources, or the slots");
    }
    true
}

/// What a slot says of itself.
fn sizes(slot: &DraftSlot, out: &mut Collector) {
    let subject = slot.subject.as_str();
    if let Some(at) = slot.tasks.get().filter(|at| !(1..=MAX_SLOT_TASKS as u64).contains(&at.value)) {
        let limit = format!("not between 1 and {MAX_SLOT_TASKS}");
        out.out_of_range(at.place, subject, "tasks", at.value, limit, "choose a number between them");
    }
    for (key, given, least, most) in
        [("memory", &slot.memory, PAGE, MAX_SLOT_MEMORY), ("heap", &slot.heap, 0, LARGEST_HEAP)]
    {
        let Some(at) = given.get() else { continue };
        let mut complain = |limit: String, remedy: &str| {
            out.out_of_range(at.place, subject, key, format_size(at.value), limit, remedy);
        };
        if at.value % PAGE != 0 || at.value < least {
            complain("no whole number of pages of 4 KiB, or none".into(), "round it up");
        } else if at.value > most {
            complain(format!("more than {}", format_size(most)), "lower it");
        }
    }
    if let Some(at) = slot.class.get() {
        check_name(&at.value, at.place, subject, "class", out);
    }
}

/// The server of a slot, if it may have one inside, and its core.
fn server<'d>(draft: &'d Draft, n: usize, out: &mut Collector) -> Option<(&'d DraftServer, u64)> {
    let slot = &draft.slots[n];
    let (subject, at) = (slot.subject.as_str(), slot.server.get()?);
    let named = |server: &&DraftServer| server.name.get().is_some_and(|name| name.value == at.value);
    let Some(server) = draft.servers.iter().find(named) else {
        let names = draft.servers.iter().filter_map(|server| server.name.get()).map(|name| name.value.as_str());
        let complaint = Complaint::UnknownName {
            what: "server",
            nearest: nearest(&at.value, names),
            name: at.value.chars().take(40).collect(),
            remedy: "describe it in a [[server]]".into(),
        };
        out.add(at.place, subject, complaint);
        return None;
    };
    let is_it = |given: &Given<String>| given.get().is_some_and(|name| name.value == at.value);
    let mut refuse = |why: String, remedy: &str| {
        out.refuse(at.place, subject, why, remedy);
        None
    };
    let Some(core) = core_of(draft, server) else {
        return refuse(format!("{} is on several cores", server.subject), "write cores = [0] for it, say");
    };
    if let Some(task) = draft.tasks.iter().find(|task| is_it(&task.placing.server)) {
        return refuse(format!("{} is in {} too", task.subject, server.subject), "give the slot a server for itself");
    }
    if let Some(inner) = draft.servers.iter().find(|inner| is_it(&inner.parent)) {
        return refuse(format!("{} is in {} too", inner.subject, server.subject), "give the slot a server for itself");
    }
    if let Some(other) = draft.slots[..n].iter().find(|other| is_it(&other.server)) {
        return refuse(format!("{} is in {} too", other.subject, server.subject), "give each slot its own server");
    }
    let kind = server.kind.value()?;
    if !kind.has_sure_supply() {
        let why = format!("{} has no sure supply, so nothing could be admitted into it", server.subject);
        let sure = ServerKind::ALL.into_iter().filter(|kind| kind.has_sure_supply());
        let sure: Vec<String> = sure.map(|kind| format!("{:?}", kind.key())).collect();
        return refuse(why, &format!("choose kind = {}", sure.join(" or ")));
    }
    let order = server.order.get()?.value;
    let known = [TaskOrder::EarliestDeadline, TaskOrder::FixedPriority];
    if order.0 != Migration::Partitioned || !known.contains(&order.1) {
        let why = format!("{} orders in a way for which admission has no test", server.subject);
        return refuse(why, "choose policy = \"partitioned-edf\" or \"partitioned-fp\" there");
    }
    if server.budget.get().is_none() || server.period.get().is_none() {
        return match server.budget.is_absent() && server.period.is_absent() {
            true => refuse(format!("{} does not say budget and period", server.subject), "write both there"),
            false => None,
        };
    }
    Some((server, core))
}

/// The one core of a server; nothing if it has several, or none.
fn core_of(draft: &Draft, server: &DraftServer) -> Option<u64> {
    let mut at = server;
    // No deeper than there are servers.
    for _ in 0..=draft.servers.len() {
        if let Some(cores) = at.cores.get() {
            return if let [core] = &cores.value[..] { Some(core.value) } else { None };
        }
        let Some(parent) = at.parent.get() else { break };
        let named = |it: &&DraftServer| it.name.get().is_some_and(|name| name.value == parent.value);
        at = draft.servers.iter().find(named)?;
    }
    (draft.cores.value() == Some(1)).then_some(0)
}

/// The component that a program in the slot is.
fn component(slot: &DraftSlot, n: usize, loader: &At<String>) -> DraftComponent {
    let place = slot.place;
    let mut rights = crate::draft::DraftRights {
        heap: slot.heap.clone(),
        restarted_by: Given::is(loader.value.clone(), place),
        ..Default::default()
    };
    // It begins again with each program, however often that is.
    rights.restarts.most = Given::is(u64::from(MAX_RESTARTS), place);
    rights.restarts.per = Given::is(Duration::from_nanos(1), place);
    DraftComponent {
        place,
        subject: slot.subject.clone(),
        name: slot.name.clone(),
        path: Given::Absent,
        provides: Vec::new(),
        uses: slot.uses.clone(),
        colours: Vec::new(),
        rights,
        slot: Some(n),
    }
}

/// A task that is reserved. What it has until a program comes stands for all that may come: the whole budget, as often as that does.
fn task(slot: &DraftSlot, name: &str, server: &DraftServer, core: u64) -> DraftTask {
    let place = slot.place;
    let mut task = DraftTask {
        place,
        subject: format!("{}: task {name:?}", slot.subject),
        name: Given::is(name.to_string(), place),
        core: Given::is(core, place),
        period: server.period.clone(),
        execution: server.budget.clone().map(DraftExecution::Plain),
        component: slot.name.clone(),
        ..Default::default()
    };
    task.placing.server = slot.server.clone();
    if server.order.get().is_some_and(|order| order.value.1.has_priorities()) {
        task.placing.priority = Given::is(0, place);
    }
    task
}

/// The slots, and what comes and goes, once tasks and servers are known.
pub(super) fn resolve(
    draft: &Draft,
    (tasks, components): (&[Task], &[Component]),
    scheduling: &Scheduling,
    duration: Duration,
    out: &mut Collector,
) -> (Vec<Slot>, Vec<Load>) {
    let slots: Vec<Slot> =
        draft.slots.iter().enumerate().filter_map(|(n, it)| slot(n, it, tasks, components, scheduling)).collect();
    if slots.len() < draft.slots.len() || slots.is_empty() {
        return (Vec::new(), Vec::new());
    }
    if let Some(load) = draft.loads.get(MAX_LOADS) {
        let (count, limit) = (draft.loads.len(), format!("more than {MAX_LOADS}"));
        out.out_of_range(load.place, "", "the number of loads and unloads", count, limit, "leave some out");
        return (slots, Vec::new());
    }
    for (slot, it) in slots.iter().zip(&draft.slots) {
        the_loader(it, slot, (draft, tasks, components), scheduling, out);
    }
    let mut loads: Vec<Load> = draft.loads.iter().filter_map(|it| load(it, draft, duration, out)).collect();
    loads.sort_by_key(|load| (load.at, load.line));
    snapshots(&loads, draft, out);
    update::order(&loads, draft, out);
    (slots, loads)
}

/// What is saved has been loaded before, what is restored has been saved, and it is not too much.
fn snapshots(loads: &[Load], draft: &Draft, out: &mut Collector) {
    for (n, load) in loads.iter().enumerate() {
        let slot = &draft.slots[load.slot];
        let Some(own) = draft.loads.iter().find(|it| it.place.line == load.line) else { continue };
        let before = |what: fn(&LoadKind) -> bool| loads[..n].iter().any(|it| it.slot == load.slot && what(&it.what));
        let mut refuse = |why: String, remedy: &str| out.refuse(own.place, &own.subject, why, remedy);
        match load.what {
            LoadKind::Save if !before(|it| matches!(it, LoadKind::Load { .. } | LoadKind::Restore { .. })) => {
                refuse(
                    format!("nothing is loaded into {} before", slot.subject),
                    "write a [[load]] with an earlier at",
                );
            }
            LoadKind::Restore { from } => {
                let saved = |it: &Load| it.slot == from && it.what == LoadKind::Save;
                if !loads[..n].iter().any(saved) {
                    let of = &draft.slots[from].subject;
                    refuse(format!("nothing is saved of {of} before"), "write a [[save]] with an earlier at");
                } else if let Some(what) = unlike(&draft.slots[from], slot) {
                    let of = &draft.slots[from].subject;
                    let why =
                        format!("{of} and {} differ in {what}, by which what was saved has its place", slot.subject);
                    refuse(why, "write the same in both");
                }
            }
            LoadKind::Save if extent_of(slot).pages() > MOST_PAGES as u64 => {
                let pages = extent_of(slot).pages();
                let why = format!("{} has {pages} pages to save, and {MOST_PAGES} is the most", slot.subject);
                refuse(why, "lower memory, heap or tasks of the slot");
            }
            _ => {}
        }
    }
}

/// In what the slots differ so that what was saved of one cannot go on in the other: a thread's stack and the numbers of services are in
/// its registers. All else is looked at in the run, as of a load.
fn unlike(a: &DraftSlot, b: &DraftSlot) -> Option<&'static str> {
    let heap = |slot: &DraftSlot| slot.heap.value().unwrap_or(0);
    let uses = |slot: &DraftSlot| slot.uses.iter().map(|it| it.value.name.clone()).collect::<Vec<_>>();
    let differ =
        [(heap(a) != heap(b), "heap"), (a.tasks.value() != b.tasks.value(), "tasks"), (uses(a) != uses(b), "uses")];
    differ.into_iter().find_map(|(differs, what)| differs.then_some(what))
}

fn slot(
    n: usize,
    draft: &DraftSlot,
    tasks: &[Task],
    components: &[Component],
    scheduling: &Scheduling,
) -> Option<Slot> {
    let component = components.iter().position(|it| it.slot == Some(n))?;
    let reserved = |task: &Task| task.body == Body::Component(component);
    let first = tasks.iter().position(reserved)?;
    let name = draft.name.get()?.value.clone();
    Some(Slot {
        component,
        server: scheduling.places.get(first)?.server?,
        tasks: first..first + tasks.iter().filter(|task| reserved(task)).count(),
        pages: pages_of(draft),
        heap: draft.heap.value().unwrap_or(0),
        class: draft.class.get().map_or_else(|| name.clone(), |at| at.value.clone()),
        keys: draft.keys.iter().map(|at| at.value).collect(),
        older: draft.older.value().unwrap_or(false),
        line: draft.place.line,
        name,
    })
}

/// The loader has one task, on the core of the slot, and each of its jobs does one step.
fn the_loader(
    draft: &DraftSlot,
    slot: &Slot,
    (whole, tasks, components): (&Draft, &[Task], &[Component]),
    scheduling: &Scheduling,
    out: &mut Collector,
) {
    let Some(loader) = components.iter().position(|it| it.rights.loader) else { return };
    let runs = |task: &&Task| task.body == Body::Component(loader);
    let mut own = tasks.iter().enumerate().filter(|(_, task)| runs(task));
    let (first, second) = (own.next(), own.next());
    let subject = whole.components[loader].subject.as_str();
    let place = |n: usize| whole.tasks[n].place;
    match (first, second) {
        (None, _) => {
            let remedy = "give it a [[task]] with the time of its longest step, on the core of the slots";
            out.refuse(whole.components[loader].place, subject, "it has no task, so nothing is ever loaded", remedy);
        }
        (Some(_), Some((n, _))) => {
            let why = "it is of the loader, which has a task already";
            out.refuse(place(n), &whole.tasks[n].subject, why, "leave one: loads go one after another");
        }
        (Some((n, task)), None) => {
            let its = scheduling.places.get(n).copied().unwrap_or_default();
            let core = scheduling.servers[slot.server].cores.iter().next();
            let mut refuse = |why: String, remedy: &str| out.refuse(place(n), &whole.tasks[n].subject, why, remedy);
            if task.core != core {
                let core = core.map_or(String::new(), |core| format!(" {core}"));
                refuse(
                    format!("the loader's task is not on core{core}, where {} is", draft.subject),
                    "put it there: a program is handed over on its core",
                );
            }
            if its.release != Release::Periodic || its.overrun != Overrun::Continue {
                refuse(
                    "a loader's jobs are released by time and go on when they overrun, one step each".into(),
                    "remove release, after and overrun",
                );
            }
            let step = Duration::from_nanos(LOADER_STEP << whole.shift.value().unwrap_or(1));
            if let Some(short) = task.execution[0].filter(|it| *it < step) {
                refuse(
                    format!(
                        "its execution of {short} is shorter than a loader's dearest step, {LOADER_STEP} instructions"
                    ),
                    &format!("write execution = \"{} us\" or more", step.as_nanos().div_ceil(1_000)),
                );
            }
            if !scheduling.waits_of(n).is_empty() {
                refuse("a loader's jobs do one step each, and do not wait".into(), "remove waits");
            }
        }
    }
}

fn load(load: &DraftLoad, draft: &Draft, duration: Duration, out: &mut Collector) -> Option<Load> {
    let at = load.at.get()?;
    if at.value >= duration {
        let limit = format!("not before the end of the run at {duration}");
        out.out_of_range(at.place, &load.subject, "at", at.value, limit, "ask for it earlier");
        return None;
    }
    if let DraftLoadKind::Update(package, update) = &load.what {
        let update = update::update(load, (package, update), draft, out)?;
        return Some(Load { at: at.value, line: load.place.line, ..update });
    }
    let slot = named(load.slot.get()?, load, draft, out)?;
    let what = match &load.what {
        DraftLoadKind::Unload => LoadKind::Unload,
        DraftLoadKind::Save => LoadKind::Save,
        DraftLoadKind::Restore(Given::Absent) => LoadKind::Restore { from: slot },
        DraftLoadKind::Restore(from) => LoadKind::Restore { from: named(from.get()?, load, draft, out)? },
        DraftLoadKind::Load(package) | DraftLoadKind::Update(package, _) => {
            let package = &package.get()?.value;
            LoadKind::Load { path: package.path.clone(), bytes: package.bytes.clone() }
        }
    };
    Some(Load { at: at.value, slot, what, line: load.place.line })
}

/// The slot of this name.
fn named(name: &At<String>, load: &DraftLoad, draft: &Draft, out: &mut Collector) -> Option<usize> {
    let is_it = |slot: &DraftSlot| slot.name.get().is_some_and(|it| it.value == name.value);
    let found = draft.slots.iter().position(is_it);
    if found.is_none() {
        let kept = matches!(load.what, DraftLoadKind::Save | DraftLoadKind::Restore(_));
        let is_it = |it: &&DraftComponent| kept && it.name.get().is_some_and(|it| it.value == name.value);
        if let Some(component) = draft.components.iter().find(is_it) {
            let why = format!("{} is a part of the image, and only what is in a slot is saved", component.subject);
            out.refuse(name.place, &load.subject, why, "describe a [[slot]], and load the program into it");
            return None;
        }
        let names = draft.slots.iter().filter_map(|slot| slot.name.get()).map(|it| it.value.as_str());
        let complaint = Complaint::UnknownName {
            what: "slot",
            nearest: nearest(&name.value, names),
            name: name.value.chars().take(40).collect(),
            remedy: "describe it in a [[slot]]".into(),
        };
        out.add(name.place, &load.subject, complaint);
    }
    found
}
