//! Random trees of servers that change while they run, beside a machine that works everything out anew in each nanosecond.

use crate::common::changes::{altered, changing_trees, ns, told};
use crate::common::{run, time_of, timeline};
use proptest::prelude::*;
use tactus_policy::{
    Action, Change, Part, PolicyConfig, PolicySpec, ReconfigurableTree, Server, Task, TaskOrder, TaskPlacement, Values,
};
use tactus_record::EventKind;
use tactus_time::{Instant, TaskId};

fn task(n: u16) -> Part {
    Part::Task(TaskId(n))
}

const END: u64 = 200;

/// A task of the slow machine.
struct Slow {
    home: usize,
    there: bool,
    ends: bool,
    next: Option<u64>,
    released: u32,
    offset: u64,
    values: Values,
    /// Number, release, deadline, and what is left.
    jobs: Vec<(u32, u64, u64, u64)>,
}

/// A server of the slow machine; the first is the root.
struct Around {
    parent: usize,
    order: TaskOrder,
    there: bool,
    values: Values,
    left: u64,
    boundary: u64,
}

struct Machine {
    tasks: Vec<Slow>,
    servers: Vec<Around>,
}

impl Machine {
    fn new(setup: &PolicyConfig, changing: &ReconfigurableTree) -> Machine {
        let there = |part| !changing.absent.contains(&part);
        let server = |(n, it): (usize, &Server)| {
            let (time, period) = it.supply.map_or((ns(0), ns(1)), |supply| (supply.budget, supply.period));
            Around {
                parent: usize::from(it.parent),
                order: it.order,
                there: n == 0 || there(Part::Server(n as u16)),
                values: Values { time, period, deadline: period, priority: it.priority },
                left: time.as_nanos(),
                boundary: period.as_nanos(),
            }
        };
        let servers = changing.tree.servers.iter().enumerate().map(server).collect();
        let task = |(n, (own, place)): (usize, (&Task, &TaskPlacement))| Slow {
            home: usize::from(place.server),
            there: there(task(n as u16)),
            ends: false,
            next: Some(own.offset.as_nanos()),
            released: 0,
            offset: own.offset.as_nanos(),
            values: Values { time: own.budget, period: own.period, deadline: own.deadline, priority: place.priority },
            jobs: Vec::new(),
        };
        let tasks = setup.tasks.iter().zip(&changing.tree.places).enumerate().map(task).collect();
        let mut machine = Machine { tasks, servers };
        for n in 0..machine.tasks.len() {
            machine.tasks[n].ends = !(machine.tasks[n].there && machine.is_there(machine.tasks[n].home));
        }
        machine
    }

    /// The server and those around it, up to the root.
    fn way(&self, server: usize) -> Vec<usize> {
        let mut way = vec![server];
        while let Some(at) = way.last().copied().filter(|at| *at != 0) {
            way.push(self.servers[at].parent);
        }
        way
    }

    fn is_there(&self, server: usize) -> bool {
        self.way(server).iter().all(|at| self.servers[*at].there)
    }

    /// What could be run in the server: its tasks, and servers with budget in which something could.
    fn content(&self, server: usize) -> Vec<(u64, bool, usize)> {
        let order = self.servers[server].order;
        let key = |values: &Values, due: u64| match order {
            TaskOrder::FixedPriority => u64::from(u32::MAX - values.priority),
            TaskOrder::RateMonotonic => values.period.as_nanos(),
            TaskOrder::DeadlineMonotonic => values.deadline.as_nanos(),
            _ => due,
        };
        let mut all = Vec::new();
        for (n, it) in self.tasks.iter().enumerate().filter(|(_, it)| it.home == server && !it.jobs.is_empty()) {
            all.push((key(&it.values, it.jobs[0].2), false, n));
        }
        for (n, it) in self.servers.iter().enumerate().skip(1).filter(|(_, it)| it.parent == server) {
            if it.left > 0 && self.is_there(n) && !self.content(n).is_empty() {
                all.push((key(&it.values, it.boundary), true, n));
            }
        }
        all.sort_unstable();
        all
    }

    fn may_take_effect(&self, change: &Change) -> bool {
        let quiet = |server: usize| self.content(server).is_empty();
        if !quiet(0) {
            return false;
        }
        match change.part {
            Part::Task(task) => {
                let it = &self.tasks[task.index()];
                it.jobs.is_empty() && (!change.drains || self.way(it.home).into_iter().all(quiet))
            }
            Part::Server(n) => {
                let n = usize::from(n);
                let busy = self.tasks.iter().any(|it| !it.jobs.is_empty() && self.way(it.home).contains(&n));
                let waits = change.drains || !matches!(change.action, Action::Alter(_));
                !(waits && busy) && (!change.drains || self.way(n).into_iter().all(quiet))
            }
        }
    }

    /// By how much what is promised of each server's share, or of the core, is more than that, in parts of 2⁻³² rounded as shares
    /// are. Of what is not there, nothing.
    fn excess(&self) -> Vec<u128> {
        let share = |values: &Values| (u128::from(values.time.as_nanos()) << 32) / u128::from(values.period.as_nanos());
        let one = |server: usize| {
            let inside = self.servers.iter().skip(1).filter(|it| it.parent == server && it.there);
            let mut sum: u128 = inside.map(|it| share(&it.values)).sum();
            if server == 0 {
                sum +=
                    self.tasks.iter().filter(|it| it.home == 0 && it.there).map(|it| share(&it.values)).sum::<u128>();
            }
            let own = &self.servers[server];
            match (server, own.there) {
                (0, _) => sum.saturating_sub(1 << 32),
                (_, true) => sum.saturating_sub(share(&own.values)),
                (_, false) => 0,
            }
        };
        (0..self.servers.len()).map(one).collect()
    }

    /// What is so after the change, whether it may be or not. What is altered is looked at as if it were there.
    fn with(&mut self, change: &Change) {
        let (there, values) = match change.part {
            Part::Task(task) => {
                let it = &mut self.tasks[task.index()];
                (&mut it.there, &mut it.values)
            }
            Part::Server(n) => {
                let it = &mut self.servers[usize::from(n)];
                (&mut it.there, &mut it.values)
            }
        };
        match change.action {
            Action::Add => *there = true,
            Action::Remove => *there = false,
            Action::Alter(mut named) => {
                // A server's deadline is its period.
                named.deadline = named.deadline.filter(|_| matches!(change.part, Part::Task(_)));
                *values = altered(*values, named);
            }
        }
    }

    fn begin(&mut self, task: usize, now: u64) {
        if self.tasks[task].there && self.is_there(self.tasks[task].home) {
            let it = &mut self.tasks[task];
            (it.ends, it.next) = (false, Some(now + it.offset));
        }
    }

    fn begin_anew(&mut self, server: usize, now: u64) {
        let it = &mut self.servers[server];
        (it.left, it.boundary) = (it.values.time.as_nanos(), now + it.values.period.as_nanos());
    }

    /// What is to be removed releases nothing more.
    fn ends(&mut self, change: &Change) {
        if !change.admitted || change.action != Action::Remove {
            return;
        }
        for n in 0..self.tasks.len() {
            let inside =
                matches!(change.part, Part::Server(s) if self.way(self.tasks[n].home).contains(&usize::from(s)));
            self.tasks[n].ends |= change.part == task(n as u16) || inside;
        }
    }

    fn take_effect(&mut self, change: &Change, now: u64) {
        self.with(change);
        let inside = |machine: &Machine, server: usize| match change.part {
            Part::Server(n) => machine.way(server).contains(&usize::from(n)),
            Part::Task(_) => false,
        };
        let concerned =
            |machine: &Machine, n: usize| change.part == task(n as u16) || inside(machine, machine.tasks[n].home);
        match change.action {
            Action::Add => {
                for server in 1..self.servers.len() {
                    if inside(self, server) {
                        self.begin_anew(server, now);
                    }
                }
                for n in 0..self.tasks.len() {
                    if concerned(self, n) {
                        self.begin(n, now);
                    }
                }
            }
            Action::Remove => {
                for n in 0..self.tasks.len() {
                    self.tasks[n].ends |= concerned(self, n);
                }
            }
            Action::Alter(_) => {
                if let Part::Server(n) = change.part {
                    self.begin_anew(usize::from(n), now);
                }
            }
        }
    }
}

/// The job that runs in each nanosecond.
type Line = Vec<Option<(TaskId, u32)>>;

/// What runs in each nanosecond, and when which changes were applied.
fn slowly(setup: &PolicyConfig, demand: &dyn Fn(TaskId, u32) -> u64) -> (Line, Vec<(u32, u64)>) {
    let PolicySpec::ReconfigurableTree(changing) = &setup.kind else { panic!("{:?}", setup.kind) };
    let mut machine = Machine::new(setup, changing);
    let mut waiting: Vec<(u32, Change)> = Vec::new();
    let (mut line, mut settled) = (Vec::new(), Vec::new());
    for now in 0..END {
        for (n, change) in changing.changes.iter().enumerate().filter(|(_, change)| change.at.as_nanos() == now) {
            waiting.push((n as u32, *change));
            machine.ends(change);
        }
        while let Some((n, change)) = waiting.first().copied() {
            if change.admitted && !machine.may_take_effect(&change) {
                break;
            }
            waiting.remove(0);
            if !change.admitted {
                continue;
            }
            let there = match change.part {
                Part::Task(task) => machine.tasks[task.index()].there,
                Part::Server(n) => machine.servers[usize::from(n)].there,
            };
            let look = |machine: &mut Machine, change: &Change| {
                let before = machine.excess();
                let (tasks, servers): (Vec<_>, Vec<_>) = (
                    machine.tasks.iter().map(|it| (it.there, it.values)).collect(),
                    machine.servers.iter().map(|it| (it.there, it.values)).collect(),
                );
                if let (Action::Alter(_), false) = (change.action, there) {
                    machine.with(&Change { action: Action::Add, ..*change });
                }
                machine.with(change);
                let after = machine.excess();
                let too_long = |n: &u16| {
                    let values = machine.servers[usize::from(*n)].values;
                    values.time > values.period
                };
                let alters = matches!(change.action, Action::Alter(_));
                let too_long = matches!(&change.part, Part::Server(n) if alters && too_long(n));
                for (it, was) in machine.tasks.iter_mut().zip(tasks) {
                    (it.there, it.values) = was;
                }
                for (it, was) in machine.servers.iter_mut().zip(servers) {
                    (it.there, it.values) = was;
                }
                too_long || before.iter().zip(&after).any(|(before, after)| after > before)
            };
            if look(&mut machine, &change) {
                continue;
            }
            settled.push((n, now));
            machine.take_effect(&change, now);
            // What began may be about to be removed.
            waiting.iter().for_each(|(_, change)| machine.ends(change));
        }
        for it in &mut machine.servers {
            while it.boundary <= now {
                it.left = it.values.time.as_nanos();
                it.boundary += it.values.period.as_nanos();
            }
        }
        for (n, it) in machine.tasks.iter_mut().enumerate() {
            if it.next == Some(now) && !it.ends {
                let deadline = now + it.values.deadline.as_nanos();
                it.jobs.push((it.released, now, deadline, demand(TaskId(n as u16), it.released)));
                it.released += 1;
                it.next = Some(now + it.values.period.as_nanos());
            }
        }
        let mut at = 0;
        let mut path = Vec::new();
        let chosen = loop {
            match machine.content(at).first() {
                Some((_, true, server)) => {
                    at = *server;
                    path.push(at);
                }
                Some((_, false, task)) => break Some(*task),
                None => break None,
            }
        };
        line.push(chosen.map(|n| (TaskId(n as u16), machine.tasks[n].jobs[0].0)));
        if let Some(n) = chosen {
            path.iter().for_each(|server| machine.servers[*server].left -= 1);
            machine.tasks[n].jobs[0].3 -= 1;
            if machine.tasks[n].jobs[0].3 == 0 {
                machine.tasks[n].jobs.remove(0);
            }
        }
    }
    (line, settled)
}

fn beside_the_slow_machine(setup: &PolicyConfig) {
    let demand = |task: TaskId, job: u32| {
        let most = setup.tasks[task.index()].budget.as_nanos();
        time_of(most, task, job)
    };
    let entries = run(setup, &|task, job| ns(demand(task, job)), Instant::from_nanos(END));
    let (expected, settled) = slowly(setup, &demand);
    let took: Vec<(u32, u64)> = told(&entries, EventKind::ChangeApplied)
        .into_iter()
        .filter(|it| it.0 < END)
        .map(|(at, n, _)| (n, at))
        .collect();
    assert_eq!(took, settled);
    let line = timeline(&entries);
    for (now, expected) in expected.into_iter().enumerate() {
        let at = line.partition_point(|(from, _)| from.as_nanos() <= now as u64);
        assert_eq!(line[at - 1].1[0], expected, "at {now}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_trees_change_as_a_machine_that_looks_at_everything_at_every_instant(setup in changing_trees(END)) {
        beside_the_slow_machine(&setup);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    #[ignore = "takes minutes: evidence, not a daily test"]
    fn a_hundred_thousand_random_trees_change_as_on_the_slow_machine(setup in changing_trees(END)) {
        beside_the_slow_machine(&setup);
    }
}
