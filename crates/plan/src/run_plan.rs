//! From the check of a system to what its policy is set up with and what its run is held against: the step that every
//! run takes, on whatever machine and from whichever front end.

use crate::costs::CostModel;
use crate::slots::{self, PlannedLoad, SlotOffer};
use crate::{disk, resources};
use crate::{setup_with, tree_view, Admission};
use tactus_analysis::{AdmissionVerdict, ChainVerdict, Check, DiskCheck, TaskCheck};
use tactus_disk::DiskSetup;
use tactus_model::{
    policy_label, Body, Change, Channel, ChannelKind, Demand, Part, Partition, Policy, Schedulers, Scheduling, Server,
    Slot, System, SystemRevision, Task,
};
use tactus_policy::{self as policy, PolicyConfig, PolicySpec};
use tactus_task::{JobSteps, LoaderSteps, Release, SlotLoad, SlotTold, WaitLimit};
use tactus_time::{CoreId, Duration, Level, TaskId};
use tactus_trace::check::TreeView;
use tactus_trace::{
    Action, ChainView, ChangeView, Changes, LoadView, Now, PartitionView, ServiceView, SlotView, Target, TaskView, View,
};

/// A system ready to be executed, and what was promised for it.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// What the policy is made from.
    pub setup: PolicyConfig,
    /// What the trace is read against.
    pub view: View,
    /// What the check found about each disk, in file order.
    pub disks: Vec<DiskCheck>,
    /// What the disks are made from; fewer than there are if one cannot be surveyed.
    pub disk_setups: Vec<DiskSetup>,
    /// What each slot offers, in file order.
    pub slots: Vec<SlotOffer>,
    /// What the loader does in its jobs, if there is one.
    pub loader: Option<LoaderSteps>,
    /// By component, what it is told beside all else, in a form that its program knows.
    pub told: Vec<(usize, Vec<u8>)>,
    /// What the check found, each with where and its remedy, for the terminal and the report alike.
    pub findings: Vec<String>,
}

impl RunPlan {
    /// Of each update, in order: jobs of the loader from its hand-over to the end of its trial; none where it is refused.
    pub fn trials(&self) -> Vec<u64> {
        self.loader.iter().flat_map(|loader| &loader.trials).copied().collect()
    }

    /// What is promised of each update, in words: within which time the old version goes on if the new one fails, and what that costs.
    pub fn updates(&self, system: &System) -> Vec<String> {
        let loads = self.loader.iter().flat_map(|loader| &loader.loads);
        let slot = |n: usize| system.slots[n].name.as_str();
        let one = |(n, load): (usize, &SlotLoad)| {
            let SlotTold::Update(trial) = &load.told else { return None };
            let longest = trial.tasks.iter().map(|task| task.deadline).max()?;
            let (a, b) = (slot(load.slot.into()), slot(trial.other.into()));
            let job = self.loader.as_ref()?.jobs()[n];
            Some(format!(
                "{a} and {b} at {}: in job {job} of the loader or after; if it fails in its first {} jobs, the old version goes on within {longest} of the release of the job that fails, and one job of each task is lost at most; decided by job {}",
                load.at,
                trial.trial,
                job + trial.settles_after
            ))
        };
        loads.enumerate().filter_map(one).collect()
    }

    /// What jobs of the built-in workload and of the loader do beside executing.
    pub fn job_steps(&self, system: &System) -> JobSteps {
        JobSteps { loader: self.loader.clone(), ..system.job_steps() }
    }
}

/// What follows from a check that counted these costs. Disks are checked here.
pub fn plan(system: &System, check: &Check, costs: impl Into<CostModel>) -> RunPlan {
    let costs = costs.into();
    let entry = tactus_analysis::overhead::entry(&costs.counted);
    let disks = tactus_analysis::disks(system);
    let offers = slots::offers(system, &costs.counted);
    let allowances = check.allowances.clone();
    let ruled = |ruling: &AdmissionVerdict| Admission {
        admitted: ruling.admitted(),
        drains: ruling.drains,
        allowances: ruling.allowances.clone(),
        tables: ruling.tables.clone(),
    };
    let rulings: Vec<Admission> = check.changes.iter().map(ruled).collect();
    let mut setup = setup_with(system, check.tables.clone(), &allowances, &rulings);
    resources::allow(&mut setup, entry);
    let enforced = matches!(system.policy, Policy::Mc2 { enforce: true, .. });
    let slowed = tactus_analysis::check::with_interference(system);
    let slowed = slowed.as_ref().unwrap_or(system);
    let tasks =
        system.tasks.iter().zip(&check.tasks).zip(&allowances).enumerate().map(|(n, ((task, verdict), &allowance))| {
            let budget = (enforced && task.level != Some(Level::D)).then(|| task.budget() + allowance);
            // A job calls the scheduler when it is complete, at the beginning and end of each section and for each wait; the loader's to
            // tell of a slot.
            let scheduling = &system.scheduling;
            let calls = 1 + 2 * scheduling.sections_of(n).len() as u64 + scheduling.waits_of(n).len() as u64;
            let calls = calls + 2 * system.request_calls(n) + system.slot_calls(n) as u64;
            let own = if system.machine.overheads { entry * calls } else { Duration::ZERO };
            // By level: without the system's own work, slots of level A are as long as execution times.
            let mut work = [allowance.max(own); 4];
            if matches!(system.policy, Policy::Mc2 { .. }) && !system.machine.overheads {
                work[Level::A.index()] = Duration::ZERO;
            }
            let view =
                TaskView { assumed: assumed_through(slowed, check, n, work), ..task_view(task, verdict, work, budget) };
            // The judge looks for the changes of a task on its core.
            let core = view.core.or_else(|| {
                core_of_server(system, Part::Task(n)).filter(|_| !check.changes.is_empty() || !system.slots.is_empty())
            });
            let releases = system.scheduling.places.get(n).map_or(Release::Periodic, |place| place.release);
            TaskView { core, releases, waits: scheduling.wait_limit(n), ..view }
        });
    let per_server = system.scheduling.schedulers == Schedulers::PerServer;
    let view = View {
        name: system.name.clone(),
        policy: policy_label(&system.policy).to_string(),
        cores: system.cores,
        duration: system.duration,
        accepted: check.accepted && disks.iter().all(|disk| disk.refused.is_none()),
        tasks: tasks.collect(),
        tree: tree_view(&setup).map(|tree| named(TreeView { per_server, ..tree }, system)),
        chains: check.chains.iter().map(|chain| chain_view(system, chain)).collect(),
        services: services(system),
        changes: (!check.changes.is_empty() || !system.slots.is_empty())
            .then(|| changes(system, check, &setup, &allowances)),
        disks: disk::views(system, &disks),
        partitions: partitions(system),
        slots: Vec::new(),
        monitors: system.monitors.clone(),
        servers: servers(system),
        heaps: Vec::new(),
        refuted: None,
        uncounted: costs.leaves_out(system),
    };
    let disk_setups = disk::setups(system, &disks);
    let (loader, planned) = slots::loads(system, &offers).unzip();
    let view = View { slots: slot_views(system, loader.as_ref(), &planned.unwrap_or_default()), ..view };
    RunPlan {
        setup,
        view,
        disks,
        disk_setups,
        slots: offers,
        loader,
        told: Vec::new(),
        findings: findings(system, check),
    }
}

/// The names of the servers by their places in the tree, where events of monitors may name one.
fn servers(system: &System) -> Vec<String> {
    if system.monitors.is_empty() {
        return Vec::new();
    }
    let servers = system.scheduling.servers.iter().map(|server| server.name.clone());
    std::iter::once(String::new()).chain(servers).collect()
}

/// The services, as the judge reads them.
fn services(system: &System) -> Vec<ServiceView> {
    let one = |service: &tactus_model::Service| ServiceView {
        name: service.name.clone(),
        server: TaskId(service.server as u16),
        order: service.order,
        requests: service.requests,
        first: service.first,
        clients: service.clients.iter().map(|it| it.tasks.iter().map(|task| TaskId(*task as u16)).collect()).collect(),
        every: (0..service.clients.len()).map(|client| service.every(client, system)).collect(),
    };
    system.services.iter().map(one).collect()
}

/// The slots and what is to come into them, as the judge reads them.
fn slot_views(system: &System, loader: Option<&LoaderSteps>, planned: &[PlannedLoad]) -> Vec<SlotView> {
    let jobs = loader.map(LoaderSteps::jobs).unwrap_or_default();
    let loads = loader.map_or(&[][..], |loader| &loader.loads);
    let load = |(n, (load, plan)): (usize, (&SlotLoad, &PlannedLoad))| LoadView {
        number: n,
        at: load.at,
        job: jobs[n],
        told: load.told.clone(),
        program: plan.program.clone(),
        tasks: plan.tasks.clone(),
        refused: plan.refused.clone(),
    };
    let one = |(n, slot): (usize, &Slot)| SlotView {
        name: slot.name.clone(),
        tasks: slot.tasks.clone(),
        loader: loader.map_or(TaskId(0), |loader| loader.task),
        loads: loads
            .iter()
            .zip(planned)
            .enumerate()
            .filter(|(_, (load, _))| usize::from(load.slot) == n)
            .map(load)
            .collect(),
    };
    system.slots.iter().enumerate().map(one).collect()
}

/// The partitions, as the judge reads them.
fn partitions(system: &System) -> Vec<PartitionView> {
    let Scheduling { servers, partitions, .. } = &system.scheduling;
    let one = |(n, (partition, server)): (usize, (&Partition, &Server))| PartitionView {
        name: server.name.clone(),
        criticality: partition.criticality.map_or_else(String::new, |level| level.to_string()),
        frame: partitions.frame,
        windows: partition.windows.clone(),
        switches: partitions.switches.clone(),
        background: server.background,
        tasks: (0..system.tasks.len())
            .filter(|task| system.partition_of(*task) == Some(n))
            .map(|task| TaskId(task as u16))
            .collect(),
    };
    partitions.list.iter().zip(servers).enumerate().map(one).collect()
}

/// What a check found, each as `file:line: what; remedy`.
pub fn findings(system: &System, check: &Check) -> Vec<String> {
    let file = system.source.display();
    let told = |finding: &tactus_analysis::Finding| match finding.line {
        0 => format!("{file}: {}; {}", finding.what, finding.remedy),
        line => format!("{file}:{line}: {}; {}", finding.what, finding.remedy),
    };
    check.findings.iter().map(told).collect()
}

/// What the changes are, and what is promised after each, as the judge reads it.
fn changes(system: &System, check: &Check, setup: &PolicyConfig, allowances: &[Duration]) -> Changes {
    let enforced = matches!(system.policy, Policy::Mc2 { enforce: true, .. });
    let held = |n: usize| enforced && system.tasks[n].level != Some(Level::D);
    // Where there are levels, the trace tells whether a job has taken more than was assumed.
    let promise = |(task, verdict): (&Task, &TaskCheck)| {
        if task.level.is_some() {
            verdict.bound()
        } else {
            verdict.promise()
        }
    };
    let one = |(n, (task, verdict)): (usize, (&Task, &TaskCheck))| Now {
        there: !system.begins_absent(Part::Task(n)),
        period: task.period,
        deadline: task.deadline,
        promise: promise((task, verdict)),
        budget: held(n).then(|| task.budget() + allowances[n]),
        execution: None,
    };
    let start = system.tasks.iter().zip(&check.tasks).enumerate().map(one).collect();
    let requests: &[policy::Change] = match &setup.kind {
        PolicySpec::ReconfigurableTree(all) => &all.changes,
        PolicySpec::ReconfigurableMixed(all) => &all.changes,
        PolicySpec::ReconfigurableMc2(all) => &all.changes,
        _ => &[],
    };
    let budgets = |change: usize| match &setup.kind {
        PolicySpec::ReconfigurableMc2(all) => &all.effects[change].budgets[..],
        _ => &[],
    };
    let view = |(n, ((request, change), ruling)): (usize, ((&policy::Change, &Change), &AdmissionVerdict))| {
        let (own, server) = match change.part {
            Part::Task(n) => (system.tasks[n].core, system.scheduling.places.get(n).and_then(|place| place.server)),
            Part::Server(n) => (None, Some(n)),
        };
        let first = server.and_then(|n| system.scheduling.servers[n].cores.iter().next());
        ChangeView {
            what: ruling.change.clone(),
            core: own.or(first).unwrap_or(CoreId(0)),
            at: ruling.at,
            refused: ruling.refused.clone(),
            target: match request.part {
                policy::Part::Task(task) => Target::Task(task),
                policy::Part::Server(server) => Target::Server(usize::from(server)),
            },
            action: match request.action {
                policy::Action::Add => Action::Begins,
                policy::Action::Remove => Action::Ends,
                policy::Action::Alter(named) => Action::Alters { period: named.period, deadline: named.deadline },
            },
            budgets: budgets(n).iter().copied().filter(|(task, _)| held(task.index())).collect(),
            promises: system.tasks.iter().zip(&ruling.tasks).map(promise).collect(),
        }
    };
    let list = requests.iter().zip(&system.scheduling.changes).zip(&check.changes).enumerate().map(view).collect();
    Changes { start, list, together: matches!(system.policy, Policy::Mc2 { .. }) }
}

/// The tree with what only the file says: the names of servers, which come after the root in its order, and what jobs ask memory for.
fn named(mut tree: TreeView, system: &System) -> TreeView {
    for (server, of_file) in tree.servers.iter_mut().skip(1).zip(&system.scheduling.servers) {
        server.name.clone_from(&of_file.name);
    }
    if (0..system.tasks.len()).any(|n| system.scheduling.regulated_by(n).is_some()) {
        let misses = |n| system.scheduling.regulated_by(n).and_then(|_| system.scheduling.misses_of(n));
        tree.misses = (0..system.tasks.len()).map(misses).collect();
        let write_backs = |n| system.scheduling.regulated_by(n).and_then(|_| system.scheduling.write_backs_of(n));
        tree.write_backs = (0..system.tasks.len()).map(write_backs).collect();
    }
    tree
}

/// The one core of the server that a task is in.
fn core_of_server(system: &System, part: Part) -> Option<CoreId> {
    let Part::Task(n) = part else { return None };
    let server = system.scheduling.places.get(n)?.server?;
    let mut cores = system.scheduling.servers[server].cores.iter();
    cores.next().filter(|_| cores.next().is_none())
}

fn chain_view(system: &System, verdict: &ChainVerdict) -> ChainView {
    let by_message = |n: &&usize| system.scheduling.places.get(**n).is_some_and(|place| place.message.is_some());
    ChainView {
        name: verdict.name.clone(),
        tasks: verdict.tasks.iter().map(|n| TaskId(*n as u16)).collect(),
        told: verdict.told.clone(),
        samples: samples(system, verdict),
        client: verdict.client,
        // The first one's come from outside.
        by_message: verdict.tasks.iter().skip(1).filter(by_message).map(|n| TaskId(*n as u16)).collect(),
        deadline: verdict.deadline,
        bound: verdict.promise,
    }
}

/// The sampling channels by which a task of the chain tells the next one; none where another kind of channel does too.
fn samples(system: &System, verdict: &ChainVerdict) -> Vec<(TaskId, u8)> {
    let mut found = Vec::new();
    for (pair, _) in verdict.tasks.windows(2).zip(&verdict.told).filter(|(_, told)| **told && verdict.client.is_none())
    {
        let leads = |(n, it): &(usize, &Channel)| {
            let to = it.destinations.iter().any(|port| port.task == pair[1]);
            it.source.task == pair[0] && to && verdict.channel.is_none_or(|own| own == *n)
        };
        let all: Vec<_> = system.channels.iter().enumerate().filter(leads).collect();
        if all.iter().all(|(_, it)| matches!(it.kind, ChannelKind::Sampling { .. })) {
            found.extend(all.iter().map(|(n, _)| (TaskId(pair[0] as u16), *n as u8)));
        }
    }
    found
}

fn task_view(task: &Task, verdict: &TaskCheck, work: [Duration; 4], budget: Option<Duration>) -> TaskView {
    let promise = verdict.bound();
    TaskView {
        name: task.name.clone(),
        level: task.level,
        core: task.core,
        releases: Release::Periodic,
        waits: WaitLimit::default(),
        offset: task.offset,
        period: task.period,
        deadline: task.deadline,
        promise,
        assumed: assumed(task, work),
        budget,
        minimum: task.minimum,
    }
}

/// The least that the analysis of each level assumes of the task at any time, for levels at which a job may then take longer.
fn assumed_through(system: &System, check: &Check, n: usize, work: [Duration; 4]) -> [Option<Duration>; 4] {
    let mut least = assumed(&system.tasks[n], work);
    if system.tasks[n].level.is_none() {
        return least;
    }
    let mut stage = SystemRevision::first(system);
    for (change, ruling) in system.scheduling.changes.iter().zip(&check.changes) {
        let Some(next) = stage.after(change).ok().filter(|_| ruling.admitted()) else { continue };
        stage = next;
        for (least, then) in least.iter_mut().zip(assumed(&stage.system.tasks[n], work)) {
            *least = [*least, then].into_iter().flatten().min();
        }
    }
    least
}

/// What the analysis of each level assumed of the task, for levels at which a job may really take longer. A built-in
/// workload whose longest job is within what was assumed leaves every promise binding, whatever it is charged.
fn assumed(task: &Task, work: [Duration; 4]) -> [Option<Duration>; 4] {
    let most = match task.body {
        Body::Workload => longest(&task.demand),
        // What a component of the user's really takes nobody knows before it has run.
        Body::Component(_) => Duration::MAX,
    };
    let mut with_work = work.into_iter();
    task.execution.map(|time| {
        let work = with_work.next().unwrap_or_default();
        time.filter(|time| most > *time).and_then(|time| time.checked_add(work))
    })
}

fn longest(demand: &Demand) -> Duration {
    match demand {
        Demand::Fixed(length) => *length,
        Demand::Uniform { max, .. } => *max,
        Demand::Beta { usual, scale, .. } => *usual.max(scale),
        Demand::List(lengths) => lengths.iter().copied().max().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tactus_model::Costs;
    use tactus_trace::Bound;

    fn system(actual: &str) -> System {
        let text = format!(
            "[system]\ncores = 1\nduration = '100 ms'\n[policy]\nkind = 'mc2'\n[[task]]\nname = 'a'\nlevel = 'A'\ncore = 0\n\
             period = '10 ms'\nexecution = {{ A = '4 ms', B = '3 ms', C = '2 ms' }}\nactual = '{actual}'\n"
        );
        System::parse_toml(&text, std::path::Path::new("a.toml")).expect("a good file")
    }

    #[test]
    fn only_levels_that_a_job_may_exceed_make_promises_conditional() {
        let tell = |actual| assumed(&system(actual).tasks[0], [Duration::from_micros(5); 4]);
        assert_eq!(tell("2 ms"), [None; 4]);
        let at = |micros| Some(Duration::from_micros(micros));
        // The file gives no time for level D, which is then that of level C.
        assert_eq!(tell("3 ms"), [None, None, at(2_005), at(2_005)]);
        assert_eq!(tell("4 ms"), [None, at(3_005), at(2_005), at(2_005)]);
    }

    #[test]
    fn the_bounds_of_the_check_are_what_a_run_is_held_against() {
        let system = system("2 ms");
        let promised = plan(&system, &tactus_analysis::check(&system, &Costs::default()), &Costs::default());
        assert!(promised.view.accepted);
        assert_eq!(promised.view.tasks[0].promise, Some(Bound::Response(Duration::from_millis(4))));
        assert_eq!(promised.view.tasks[0].budget, Some(Duration::from_millis(4)));
        assert_eq!(promised.setup.tasks.len(), 1);
    }
}
