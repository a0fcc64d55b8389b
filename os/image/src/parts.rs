//! What an image consists of before anything has a place: components, threads, and who may call whom.

use crate::program::Program;
use crate::reach::Calls;
use crate::size::{LOADER_STACK, SYSTEM_STACK, USER_STACK};
use crate::wire::Stored;
use crate::{ImageError, Request, ThreadFact};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tactus_abi::image::{Component, Grant, Header, Thread, ThreadKind};
use tactus_abi::layout::{MAX_BRANDS, MAX_COMPONENTS, MAX_GRANTS, MAX_INVOCATIONS, MAX_THREADS};
use tactus_abi::process::PROCESS;
use tactus_abi::shared::{is_complete, COMPLETE, EVENT, NAME_BYTES, RAISE, SECTION, WAIT};
use tactus_abi::slot::SLOT;
use tactus_model::{shortest_period, Body, System, Task};
use tactus_time::TaskId;

// A file that was accepted fits.
const _: () = assert!(
    tactus_model::MAX_IMAGE_COMPONENTS == MAX_COMPONENTS
        && tactus_model::MAX_IMAGE_THREADS == MAX_THREADS
        && tactus_model::MAX_BRANDS == MAX_BRANDS
        && tactus_model::MAX_GRANTS == MAX_GRANTS
        && tactus_model::MAX_GRANT_NAME == NAME_BYTES
        && tactus_model::MAX_CALL_DEPTH == MAX_INVOCATIONS
);

/// The program of the built-in root scheduler.
const BUILT_IN: usize = 0;
/// The component that is the root scheduler.
pub(crate) const SCHEDULER: usize = 0;

/// A component of the image before it has memory.
pub(crate) struct Part {
    pub name: String,
    /// Which of [`Parts::programs`] it runs.
    pub program: usize,
    /// The tasks whose jobs it runs.
    pub tasks: Vec<TaskId>,
    pub grants: Vec<Granted>,
    pub stack: u64,
    pub workload: bool,
    /// Its place among the user's components.
    pub user: Option<usize>,
    /// Its place among the children.
    pub child: Option<usize>,
}

impl Part {
    /// Whether it is a scheduler with a plan: the root or a child.
    pub fn plans(&self, number: usize) -> bool {
        number == SCHEDULER || self.child.is_some()
    }
}

pub(crate) struct Granted {
    pub name: String,
    pub target: usize,
    pub entry: u64,
}

/// Components, threads and grants.
pub(crate) struct Parts {
    /// Scheduler, workload, then the user's.
    pub programs: Vec<Program>,
    pub components: Vec<Part>,
    pub threads: Vec<ThreadFact>,
    pub calls: Calls,
    /// Numbers of the user's components, by their places.
    pub numbers: Vec<usize>,
    /// The components of the schedulers above, by child.
    pub parents: Vec<usize>,
    /// By task: the component of its scheduler, and the number of the grant by which that is told that a job is finished.
    pub ends: Vec<(usize, usize)>,
}

impl Parts {
    /// Reads the programs and finds out who may call whom.
    pub fn new(request: &Request) -> Result<Parts, ImageError> {
        let system = request.system;
        let read = |file: &[u8], component: &str, crate_path: Option<PathBuf>| {
            let failed = |error| ImageError::Program { component: component.to_string(), crate_path, error };
            Program::read(file, system.machine.processor, system.memory).map_err(failed)
        };
        let mut programs = vec![
            read(request.scheduler, "built-in scheduler", None)?,
            read(request.workload, "built-in workload", None)?,
        ];
        for (component, file) in system.components.iter().zip(request.components) {
            programs.push(match component.slot {
                Some(_) => Program::none(),
                None => read(file, &component.name, Some(component.path.clone()))?,
            });
        }
        for (component, program) in system.components.iter().zip(&programs[2..]) {
            if let Some(service) = component.provides.iter().find(|service| program.service(service).is_none()) {
                return Err(missing(
                    &component.name,
                    Some(component.path.clone()),
                    service,
                    Some(component.line),
                    program,
                ));
            }
        }
        Parts::of(request, programs)
    }

    /// The same with the shortest programs that there can be, whatever the request has.
    pub fn shortest(request: &Request) -> Result<Parts, ImageError> {
        let own = || [COMPLETE, RAISE].into_iter().chain(ROOT_SERVICES);
        let mut programs = vec![Program::shortest(own()), Program::shortest(std::iter::empty())];
        for component in &request.system.components {
            let provided = component.provides.iter().map(String::as_str);
            // One may be the root scheduler.
            programs.push(match component.slot {
                Some(_) => Program::none(),
                None => Program::shortest(provided.chain(own())),
            });
        }
        Parts::of(request, programs)
    }

    fn of(request: &Request, programs: Vec<Program>) -> Result<Parts, ImageError> {
        let system = request.system;
        // The root scheduler's program, and its name as a component.
        let root = system.platform.root;
        let (root_program, root_name) =
            root.map_or((BUILT_IN, "scheduler"), |place| (2 + place, system.components[place].name.as_str()));
        let complete = programs[root_program].service(COMPLETE).ok_or_else(|| {
            let whose = root.map_or("built-in scheduler", |_| root_name);
            let crate_path = root.map(|place| system.components[place].path.clone());
            missing(whose, crate_path, COMPLETE, None, &programs[root_program])
        })?;

        let part = |name: &str, program: usize, stack: u64, user: Option<usize>| {
            let complete = Granted { name: COMPLETE.to_string(), target: SCHEDULER, entry: complete };
            let grants = if program == root_program { Vec::new() } else { vec![complete] };
            let (name, workload) = (name.to_string(), program == 1);
            Part { name, program, tasks: Vec::new(), grants, stack, workload, user, child: None }
        };
        let root_stack = if root.is_some() { USER_STACK } else { SYSTEM_STACK };
        let mut components = vec![part(root_name, root_program, root_stack, root)];
        let first_child = components.len();
        for (place, child) in request.children.iter().enumerate() {
            components.push(Part { child: Some(place), ..part(&child.name, root_program, SYSTEM_STACK, None) });
        }
        let first_workload = components.len();
        for task in system.tasks.iter().filter(|task| task.body == Body::Workload) {
            components.push(part(&task.name, 1, SYSTEM_STACK, None));
        }
        let first_user = components.len();
        let mut numbers = Vec::new();
        for (place, component) in system.components.iter().enumerate() {
            if root == Some(place) {
                numbers.push(SCHEDULER);
                continue;
            }
            numbers.push(components.len());
            let stack = if component.rights.loader { LOADER_STACK } else { USER_STACK };
            components.push(part(&component.name, 2 + place, stack, Some(place)));
        }
        most("components", components.len(), MAX_COMPONENTS)?;
        let least = shortest_period(system.machine.shift);
        if let Some(Task { name, period, line, .. }) = system.tasks.iter().find(|task| task.period < least) {
            return Err(ImageError::ShortPeriod { task: name.clone(), period: *period, least, line: *line });
        }

        let mut threads = Vec::new();
        let mut thread = |component: usize, kind, number: usize, place: usize| {
            threads.push(ThreadFact { component: component as u32, kind, number: number as u32, place: place as u32 });
        };
        (0..system.cores).for_each(|core| thread(SCHEDULER, ThreadKind::Upcall, core, 0));
        let mut workload = first_workload..first_user;
        let mut ends = Vec::new();
        let mut others: Vec<Vec<usize>> = vec![Vec::new(); components.len()];
        for (index, task) in system.tasks.iter().enumerate() {
            let component = match task.body {
                Body::Component(place) => numbers[place],
                Body::Workload => workload.next().expect("one component was made for each such task"),
            };
            let task = TaskId(index as u16);
            // Who schedules its jobs is told when they are finished.
            let child = request.children.iter().position(|child| child.tasks.contains(&task));
            let scheduler = child.map_or(SCHEDULER, |child| first_child + child);
            let part = &mut components[component];
            match part.grants.first_mut() {
                // The root scheduler itself.
                None => {}
                Some(first) if part.tasks.is_empty() => first.target = scheduler,
                Some(first) if first.target == scheduler || others[component].contains(&scheduler) => {}
                Some(_) => others[component].push(scheduler),
            }
            part.tasks.push(task);
            ends.push((scheduler, component));
            let of_slot = system.slots.iter().find(|slot| slot.tasks.contains(&index));
            let place = of_slot.map_or(0, |slot| index - slot.tasks.start + 1);
            thread(component, ThreadKind::Task, index, place);
        }
        for child in first_child..first_workload {
            (0..system.cores).for_each(|core| thread(child, ThreadKind::Upcall, core, 0));
        }
        for (place, component) in system.components.iter().enumerate() {
            if component.rights.scheduler.is_some() {
                (0..system.cores).for_each(|core| thread(numbers[place], ThreadKind::Upcall, core, 0));
            }
        }
        for (place, component) in system.components.iter().enumerate() {
            (0..component.rights.threads).for_each(|spare| thread(numbers[place], ThreadKind::Spare, spare, 0));
        }
        most("threads", threads.len(), MAX_THREADS)?;
        most("brands", system.components.iter().map(|it| it.rights.brands).sum(), MAX_BRANDS)?;

        for (place, component) in system.components.iter().enumerate() {
            let others = &others[numbers[place]];
            let raises = system.scheduling.places.iter().any(|task| task.raised_by == Some(place));
            let granted = grants(system, component, &numbers, &programs, others.len() + usize::from(raises))?;
            let ends = others.iter().enumerate();
            let ends = ends.map(|(n, target)| Granted { name: further(n), target: *target, entry: complete });
            let raise = raises.then(|| raise_of(&programs[root_program], root_name)).transpose()?;
            let raise = raise.map(|entry| Granted { name: RAISE.to_string(), target: SCHEDULER, entry });
            components[numbers[place]].grants.extend(granted.into_iter().chain(ends).chain(raise));
        }
        let scheduling = &system.scheduling;
        let uses = |service: &str, task: &TaskId| match service {
            SECTION => !scheduling.sections_of(task.index()).is_empty(),
            EVENT => {
                let program = scheduling.programs.get(task.index());
                program.is_some_and(|program| !program.order.is_empty()) || system.request_calls(task.index()) > 0
            }
            PROCESS => system.may_be_process(task.index()),
            SLOT => system.loader().is_some_and(|(_, own)| own == task.index()),
            _ => scheduling.wait_limit(task.index()).most > 0,
        };
        for service in ROOT_SERVICES {
            for part in components.iter_mut().filter(|part| part.tasks.iter().any(|task| uses(service, task))) {
                let entry = programs[root_program].service(service);
                let entry = entry.ok_or_else(|| missing(root_name, None, service, None, &programs[root_program]))?;
                if part.grants.len() == MAX_GRANTS {
                    let line = part.user.map_or(0, |place| system.components[place].line);
                    let (component, grants) = (part.name.clone(), part.grants.len());
                    return Err(ImageError::TooManyGrants { component, line, grants, ends: 1 });
                }
                part.grants.push(Granted { name: service.to_string(), target: SCHEDULER, entry });
            }
        }
        for (scheduler, end) in &mut ends {
            let by = |grant: &Granted| grant.target == *scheduler && grant.entry == complete;
            *end = components[*end].grants.iter().position(by).unwrap_or(0);
        }
        let targets = |part: &Part| part.grants.iter().map(|grant| grant.target).collect();
        let calls = Calls(components.iter().map(targets).collect());
        let parents = request
            .children
            .iter()
            .map(|child| child.parent.map_or(SCHEDULER, |parent| first_child + parent))
            .collect();
        let parts = Parts { programs, components, threads, calls, numbers, parents, ends };
        let names = |chain: Vec<usize>| chain.into_iter().map(|c| parts.components[c].name.clone()).collect();
        if let Some(circle) = parts.calls.circle() {
            let line = parts.components[circle[0]].user.map_or(0, |place| system.components[place].line);
            return Err(ImageError::Circle { names: names(circle), line });
        }
        let chain = parts.calls.longest_chain();
        if chain.len() > MAX_INVOCATIONS {
            return Err(ImageError::TooDeep { names: names(chain) });
        }
        Ok(parts)
    }

    /// The first thread of this kind in a component, and how many there are.
    pub fn threads_of(&self, component: usize, kind: ThreadKind) -> (u32, u32) {
        let of = |it: &&(usize, &ThreadFact)| it.1.component as usize == component && it.1.kind == kind;
        let all: Vec<_> = self.threads.iter().enumerate().collect();
        let mut found = all.iter().filter(of);
        found.next().map_or((0, 0), |(first, _)| (*first as u32, 1 + found.count() as u32))
    }

    /// The component of the scheduler above a child.
    pub fn parent_of(&self, child: usize) -> usize {
        self.parents[child]
    }

    /// Length of the arrays that this describes, and of the head.
    pub fn array_bytes(&self) -> u64 {
        let grants: usize = self.components.iter().map(|part| part.grants.len()).sum();
        let components = self.components.len() * Component::BYTES;
        (Header::BYTES + components + grants * Grant::BYTES + self.threads.len() * Thread::BYTES) as u64
    }
}

/// What the root scheduler provides for components whose tasks use it.
const ROOT_SERVICES: [&str; 5] = [SECTION, WAIT, EVENT, PROCESS, SLOT];

/// The entry by which a component raises an arrival.
fn raise_of(root: &Program, name: &str) -> Result<u64, ImageError> {
    root.service(RAISE).ok_or_else(|| missing(name, None, RAISE, None, root))
}

/// The name of the grant of the end of a job, of a scheduler that is not the first one.
fn further(n: usize) -> String {
    format!("{COMPLETE} {}", n + 2)
}

fn most(what: &'static str, count: usize, limit: usize) -> Result<(), ImageError> {
    if count <= limit {
        Ok(())
    } else {
        Err(ImageError::TooMany { what, count, limit })
    }
}

fn missing(
    component: &str,
    crate_path: Option<PathBuf>,
    service: &str,
    line: Option<usize>,
    program: &Program,
) -> ImageError {
    let provided = program.services.iter().map(|(name, _)| name.clone()).collect();
    ImageError::MissingService {
        component: component.to_string(),
        crate_path,
        service: service.to_string(),
        line,
        provided,
    }
}

/// What the system file grants to one of the user's components, in the file's order. `others`: how many schedulers its tasks have
/// beside the first one.
fn grants(
    system: &System,
    component: &tactus_model::Component,
    numbers: &[usize],
    programs: &[Program],
    others: usize,
) -> Result<Vec<Granted>, ImageError> {
    let (holder, line) = (component.name.clone(), component.line);
    if component.uses.len() + 1 + others > MAX_GRANTS {
        return Err(ImageError::TooManyGrants {
            component: holder,
            line,
            grants: component.uses.len(),
            ends: 1 + others,
        });
    }
    let mut names = BTreeSet::new();
    let mut granted = Vec::new();
    for grant in &component.uses {
        let name = grant.name.clone();
        if name.len() > NAME_BYTES {
            return Err(ImageError::LongGrantName { component: holder, line, name });
        }
        if is_complete(name.as_bytes())
            || name == RAISE
            || ROOT_SERVICES.contains(&name.as_str())
            || !names.insert(&grant.name)
        {
            return Err(ImageError::DuplicateGrant { component: holder, line, name });
        }
        let provider = &system.components[grant.provider];
        let program = &programs[2 + grant.provider];
        if !provider.provides.contains(&grant.service) {
            let (provider, service) = (provider.name.clone(), grant.service.clone());
            return Err(ImageError::NotProvided { component: holder, provider, service, line });
        }
        let entry = program
            .service(&grant.service)
            .ok_or_else(|| missing(&provider.name, Some(provider.path.clone()), &grant.service, Some(line), program))?;
        granted.push(Granted { name, target: numbers[grant.provider], entry });
    }
    Ok(granted)
}
