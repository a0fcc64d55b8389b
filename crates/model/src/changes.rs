//! Changes of the running system: what is asked for and when, and what the system is after some of them.
//!
//! A task or server whose first change adds it stands in the file but begins **absent**: room is kept for it, and nothing
//! of it runs. What is inside an absent server is absent with it. Whether a change is done is decided by admission, before
//! it; [`SystemRevision`] is the system between two changes, as admission looks at it.

use crate::system::{Action, Change, Part, Values};
use crate::{Scheduling, System, Task};
use tactus_time::{CoreId, CoreSet, Duration, Level};

impl System {
    /// Whether the part is absent at the start: the first change of it adds it, or it is a task of a slot.
    pub fn begins_absent(&self, part: Part) -> bool {
        let first = self.scheduling.changes.iter().find(|change| change.part == part);
        let reserved = matches!(part, Part::Task(n) if self.slot_of(n).is_some());
        reserved || first.is_some_and(|change| change.action == Action::Add)
    }

    /// The cores that the part is on.
    pub fn cores_of(&self, part: Part) -> CoreSet {
        let server = |n: usize| self.scheduling.servers[n].cores;
        match part {
            Part::Server(n) => server(n),
            Part::Task(n) => match self.tasks[n].core {
                Some(core) => CoreSet::from_bits(1 << core.0),
                None => {
                    let home = self.scheduling.places.get(n).and_then(|place| place.server);
                    home.map_or(CoreSet::first(self.cores), server)
                }
            },
        }
    }

    /// The name of a task or server.
    pub fn name_of(&self, part: Part) -> &str {
        match part {
            Part::Task(n) => &self.tasks[n].name,
            Part::Server(n) => &self.scheduling.servers[n].name,
        }
    }

    /// The change in words: `add task radar`, `server video: budget 3 ms`.
    pub fn describe(&self, change: &Change) -> String {
        let (kind, time) = match change.part {
            Part::Task(_) => ("task", "execution"),
            Part::Server(_) => ("server", "budget"),
        };
        let name = self.name_of(change.part);
        let values = match change.action {
            Action::Add => return format!("add {kind} {name}"),
            Action::Remove => return format!("remove {kind} {name}"),
            Action::Alter(values) => values,
        };
        let length = |what: &str, length: Option<Duration>| length.map(|length| format!("{what} {length}"));
        let levels = Level::ALL.map(|level| length(&format!("{time} at {level}"), values.levels[level.index()]));
        let told = [
            length(time, values.time),
            length("period", values.period),
            length("deadline", values.deadline),
            values.priority.map(|priority| format!("priority {priority}")),
        ];
        let told = levels.into_iter().chain(told).flatten();
        format!("{kind} {name}: {}", told.collect::<Vec<_>>().join(", "))
    }
}

/// What servers are promised of a core beyond what is there.
struct Overpromised {
    core: CoreId,
    sum: f64,
    limit: f64,
    /// The server around them; nothing for the root.
    of: Option<String>,
    excess: f64,
}

impl std::fmt::Display for Overpromised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "what servers are promised of core {} would be {:.4}, more than ", self.core, self.sum)?;
        match &self.of {
            None => f.write_str("the whole core"),
            Some(server) => write!(f, "the {:.4} of server `{server}`", self.limit),
        }
    }
}

/// The system between two changes.
#[derive(Clone, Debug)]
pub struct SystemRevision {
    /// Everything with its values as they are now, the absent included.
    pub system: System,
    tasks: Vec<bool>,
    servers: Vec<bool>,
}

impl SystemRevision {
    /// The system at its start.
    pub fn first(system: &System) -> SystemRevision {
        let there = |part| !system.begins_absent(part);
        SystemRevision {
            system: system.clone(),
            tasks: (0..system.tasks.len()).map(|n| there(Part::Task(n))).collect(),
            servers: (0..system.scheduling.servers.len()).map(|n| there(Part::Server(n))).collect(),
        }
    }

    /// Whether the part is there, and what it is inside of.
    pub fn has(&self, part: Part) -> bool {
        let scheduling = &self.system.scheduling;
        let (own, mut around) = match part {
            Part::Task(n) => (self.tasks[n], scheduling.places.get(n).and_then(|place| place.server)),
            Part::Server(n) => (self.servers[n], scheduling.servers[n].parent),
        };
        let mut there = own;
        while let Some(server) = around {
            there &= self.servers[server];
            around = scheduling.servers[server].parent;
        }
        there
    }

    /// The system after the change.
    ///
    /// # Errors
    /// Why it makes no sense now, in words.
    pub fn after(&self, change: &Change) -> Result<SystemRevision, String> {
        let mut next = self.clone();
        let own = match change.part {
            Part::Task(n) => &mut next.tasks[n],
            Part::Server(n) => &mut next.servers[n],
        };
        match change.action {
            Action::Add if *own => return Err("it is there already".into()),
            Action::Remove | Action::Alter(_) if !*own => return Err("it is not there".into()),
            Action::Add => *own = true,
            Action::Remove => *own = false,
            Action::Alter(values) => next.alter(change.part, values)?,
        }
        if change.action == Action::Add && !next.has(change.part) {
            return Err("the server that it is in is not there".into());
        }
        let before = self.overpromised().map_or(0.0, |before| before.excess);
        match next.overpromised() {
            Some(after) if after.excess > before => Err(after.to_string()),
            _ => Ok(next),
        }
    }

    /// The core on which servers are promised most beyond what there is for them: a whole core, or the share of the server around. What
    /// is inside a server that is not there has to fit it all the same.
    fn overpromised(&self) -> Option<Overpromised> {
        let servers = &self.system.scheduling.servers;
        let there = |n: &usize| self.servers[*n];
        let share = |n: usize| servers[n].budget.as_nanos() as f64 / servers[n].period.as_nanos() as f64;
        let around = std::iter::once(None).chain((0..servers.len()).filter(there).map(Some));
        let on = |(around, core): (Option<usize>, CoreId)| {
            let inside = |n: &usize| servers[*n].parent == around && servers[*n].cores.contains(core) && there(n);
            let sum: f64 = (0..servers.len()).filter(inside).map(share).sum();
            let limit = around.map_or(1.0, share);
            let of = around.map(|n| servers[n].name.clone());
            (sum > limit + 1e-9).then_some(Overpromised { core, sum, limit, of, excess: sum - limit })
        };
        let cores = (0..self.system.cores).map(|core| CoreId(core as u8));
        let all = around.flat_map(|around| cores.clone().map(move |core| (around, core)));
        all.filter_map(on).max_by(|a, b| a.excess.total_cmp(&b.excess))
    }

    fn alter(&mut self, part: Part, values: Values) -> Result<(), String> {
        let longer = |a: (&str, Duration), b: (&str, Duration)| match a.1 > b.1 {
            true => Err(format!("its {} of {} would be longer than its {} of {}", a.0, a.1, b.0, b.1)),
            false => Ok(()),
        };
        match part {
            Part::Task(n) => {
                let task = &mut self.system.tasks[n];
                let implicit = task.deadline == task.period;
                task.period = values.period.unwrap_or(task.period);
                task.deadline = values.deadline.unwrap_or(if implicit { task.period } else { task.deadline });
                takes(task, &values)?;
                let time = task.execution[task.level.unwrap_or_default().index()].unwrap_or_default();
                longer(("deadline", task.deadline), ("period", task.period))?;
                longer(("execution", time), ("deadline", task.deadline))?;
                let deadline = task.deadline;
                let Some(place) = self.system.scheduling.places.get_mut(n) else { return Ok(()) };
                place.priority = values.priority.unwrap_or(place.priority);
                if let Some(own) = place.virtual_deadline {
                    longer(("virtual deadline", own), ("deadline", deadline))?;
                }
            }
            Part::Server(n) => {
                let server = &mut self.system.scheduling.servers[n];
                server.period = values.period.unwrap_or(server.period);
                server.budget = values.time.unwrap_or(server.budget);
                server.priority = values.priority.unwrap_or(server.priority);
                longer(("budget", server.budget), ("period", server.period))?;
            }
        }
        Ok(())
    }

    /// What is there now, as a system of its own without changes, and which task of the whole each of its tasks is.
    pub fn present(&self) -> (System, Vec<usize>) {
        let tasks: Vec<usize> = (0..self.tasks.len()).filter(|&n| self.has(Part::Task(n))).collect();
        let servers: Vec<usize> = (0..self.servers.len()).filter(|&n| self.has(Part::Server(n))).collect();
        let renumbered = |old: usize| servers.iter().position(|&n| n == old);
        let mut system = self.system.clone();
        system.tasks = tasks.iter().map(|&n| self.system.tasks[n].clone()).collect();
        if let Some(assigned) = &mut system.platform.colour_assignment {
            assigned.tasks = tasks.iter().map(|&n| assigned.tasks[n]).collect();
        }
        let whole = &self.system.scheduling;
        let server = |&n: &usize| {
            let mut server = whole.servers[n].clone();
            server.parent = server.parent.and_then(renumbered);
            server
        };
        let place = |&n: &usize| {
            let mut place = whole.places.get(n).copied().unwrap_or_default();
            place.server = place.server.and_then(renumbered);
            place
        };
        system.scheduling = Scheduling {
            servers: servers.iter().map(server).collect(),
            places: tasks.iter().map(place).collect(),
            changes: Vec::new(),
            ..whole.clone()
        };
        (system, tasks)
    }
}

/// The task's jobs are assumed to take what the values say. At a more critical level they never take less.
fn takes(task: &mut Task, values: &Values) -> Result<(), String> {
    if let Some(time) = values.time {
        match task.level {
            None => task.execution = [Some(time); 4],
            Some(_) => task.execution.iter_mut().flatten().for_each(|own| *own = time),
        }
    }
    for (own, then) in task.execution.iter_mut().zip(values.levels) {
        *own = then.or(*own);
    }
    let known: Vec<(Level, Duration)> =
        Level::ALL.into_iter().filter_map(|level| Some((level, task.execution[level.index()]?))).collect();
    match known.windows(2).find(|pair| pair[1].1 > pair[0].1) {
        Some(pair) => {
            let ((above, less), (below, more)) = (pair[0], pair[1]);
            Err(format!("its execution of {more} at level {below} would be longer than the {less} at level {above}"))
        }
        None => Ok(()),
    }
}
