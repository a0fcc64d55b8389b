//! The health table of a partition, written out: it becomes overrun rules of its tasks, the right of its component to be restarted, and
//! monitors that stop the component or end the run. Those have rules and costs of their own, which hold for tables too.

use super::names::runs_component;
use crate::draft::{At, Draft, DraftHealth, DraftMonitor, DraftPartition, Given};
use crate::problem::{Collector, Location};
use crate::{Health, HealthAction, Policy, Scheduling, MAX_NAME};
use tactus_task::Overrun;

/// What the file says of a partition's health.
pub(super) fn of(draft: &DraftPartition) -> Health {
    draft.health.as_ref().map_or_else(Health::default, of_table)
}

/// What to do about the overrun rule of a task that has one which does not fit: its own, or what the health table of its partition says.
pub(super) fn overrun_remedy(scheduling: &Scheduling, task: usize) -> String {
    let server = scheduling.places.get(task).and_then(|place| place.server);
    let partition = server.and_then(|n| Some((scheduling.partitions.list.get(n)?, scheduling.servers.get(n)?)));
    let Some((partition, server)) = partition else { return "remove its overrun rule".to_owned() };
    let rows = [("overrun", partition.health.overrun), ("deadline-missed", partition.health.deadline_missed)];
    let told = rows.iter().find(|(row, action)| match *row {
        "overrun" => *action != HealthAction::None,
        _ => *action == HealthAction::RestartProcess,
    });
    told.map_or_else(
        || "remove its overrun rule".to_owned(),
        |(row, action)| {
            let (name, word) = (&server.name, action.word());
            format!("choose another action than {row} = \"{word}\" in the health table of partition \"{name}\"")
        },
    )
}

/// Writes all health tables out.
pub(super) fn expand(draft: &mut Draft, out: &mut Collector) {
    if draft.policy.value() != Some(Policy::Partitions) {
        return;
    }
    for n in 0..draft.partitions.len() {
        let Some(health) = draft.partitions[n].health.take() else { continue };
        let table = Table { partition: n, subject: draft.partitions[n].subject.clone(), health: &health };
        table.expand(draft, out);
        draft.partitions[n].health = Some(health);
    }
}

/// A table that is being written out.
struct Table<'a> {
    partition: usize,
    subject: String,
    health: &'a DraftHealth,
}

impl Table<'_> {
    fn expand(&self, draft: &mut Draft, out: &mut Collector) {
        let health = of_table(self.health);
        let tasks: Vec<usize> = (0..draft.tasks.len()).filter(|task| self.has(draft, *task)).collect();
        let names: Vec<String> =
            tasks.iter().filter_map(|n| draft.tasks[*n].name.get()).map(|at| at.value.clone()).collect();
        let rows = [&self.health.fault, &self.health.deadline_missed, &self.health.overrun];
        let asks = |what: HealthAction| rows.iter().find_map(|row| row.get().filter(|at| at.value == what));
        self.mixes(health, asks(HealthAction::Restart).is_some(), out);
        let stops = self.health.deadline_missed.get().into_iter().chain(self.health.overrun.get());
        let stops = stops.filter(|at| at.value == HealthAction::Idle).chain(asks(HealthAction::Restart));
        let component =
            stops.map(|at| at.place).next().and_then(|place| self.only_component(draft, &tasks, place, out));
        if let (Some(component), Some(at)) = (component, asks(HealthAction::Restart)) {
            self.restarts(draft, component, at.place, out);
        }
        self.overruns(draft, &tasks, health, out);
        let component = component.and_then(|n| draft.components[n].name.get()).map(|at| at.value.clone());
        for (row, given, event) in [
            ("fault", &self.health.fault, "fault"),
            ("deadline-missed", &self.health.deadline_missed, "miss"),
            ("overrun", &self.health.overrun, "exhaust"),
        ] {
            let Some(at) = given.get() else { continue };
            let action = match (at.value, &component) {
                (HealthAction::EndModule, _) => "end".to_owned(),
                (HealthAction::Idle, Some(component)) if row != "fault" && asks(HealthAction::Restart).is_none() => {
                    format!("stop {component}")
                }
                (HealthAction::Restart, Some(component)) if row != "fault" => format!("restart {component}"),
                _ => continue,
            };
            self.watch(draft, row, names.iter().map(|task| format!("{event} {task}")), action, at.place);
        }
        if let (Some(component), Some(at)) = (component, self.health.exhausted.get()) {
            if at.value == HealthAction::EndModule {
                self.watch(draft, "exhausted", [format!("give-up {component}")].into_iter(), "end".into(), at.place);
            }
        }
    }

    /// Whether the task is of the partition: it says so, or its component is the partition's.
    fn has(&self, draft: &Draft, task: usize) -> bool {
        let (task, partition) = (&draft.tasks[task], &draft.partitions[self.partition]);
        match (&task.placing.partition, partition.name.get()) {
            (Given::Is(at), Some(name)) => at.value == name.value,
            _ => task.component.get().is_some_and(|at| partition.components.iter().any(|own| own.value == at.value)),
        }
    }

    /// Actions that do not go together.
    fn mixes(&self, health: Health, restarts: bool, out: &mut Collector) {
        let mut refuse = |place: Location, why: &str, remedy: &str| out.refuse(place, &self.subject, why, remedy);
        let table = self.health;
        for given in [&table.deadline_missed, &table.overrun] {
            let Some(at) = given.get() else { continue };
            if restarts && at.value == HealthAction::Idle {
                let why = "health: it would begin anew when it is stopped, and is to stay stopped";
                refuse(at.place, why, "choose \"idle\" or \"restart\" for all of its errors");
            }
            if at.value == HealthAction::Restart
                && !matches!(health.fault, HealthAction::Restart | HealthAction::EndModule)
            {
                let why = "health: it is to begin anew after this error, and to stay stopped after a fault";
                refuse(at.place, why, "write fault = \"restart\" or fault = \"end-module\" too");
            }
        }
        if let Some(at) = table.overrun.get().filter(|at| at.value != HealthAction::None) {
            if health.deadline_missed == HealthAction::RestartProcess {
                let why = "health: a process that ends at its deadline is not held to its execution time too";
                refuse(at.place, why, "choose overrun = \"note\", or another action for deadline-missed");
            }
        }
        let needless =
            [table.exhausted.get().map(|at| at.place), table.warm.get().map(|at| at.place), table.limit.place];
        if let Some(place) = needless.into_iter().flatten().next().filter(|_| !restarts) {
            let why = "health: it says how the partition begins anew, which it never does";
            refuse(place, why, "write fault = \"restart\", or remove exhausted, start and restarts");
        }
    }

    /// The component that all of its tasks run, where they run one.
    fn only_component(&self, draft: &Draft, tasks: &[usize], place: Location, out: &mut Collector) -> Option<usize> {
        let is = |n: &usize| {
            let name = draft.components[*n].name.get().map(|at| at.value.as_str());
            name.is_some_and(|name| tasks.iter().all(|task| runs_component(&draft.tasks[*task], name)))
        };
        let found = (0..draft.components.len()).find(is).filter(|_| !tasks.is_empty());
        if found.is_none() {
            let why = "health: its tasks do not all run one [[component]], which could be stopped or begin anew";
            out.refuse(
                place,
                &self.subject,
                why,
                "let them, or choose \"note\", \"end-module\" or an action on processes",
            );
        }
        found
    }

    /// Its component is restarted by the root scheduler.
    fn restarts(&self, draft: &mut Draft, component: usize, place: Location, out: &mut Collector) {
        let drafted = &mut draft.components[component];
        if let Given::Is(at) = &drafted.rights.restarted_by {
            let why =
                format!("its restarts are told by the health table of {} too (line {})", self.subject, place.line);
            out.refuse(at.place, &drafted.subject, why, "remove restarted-by and restarts here");
            return;
        }
        drafted.rights.restarted_by = Given::is("root".into(), place);
        drafted.rights.restarts = self.health.limit.clone();
        drafted.rights.restarts_wait = self.health.exhausted.value() == Some(HealthAction::Wait);
    }

    /// What becomes of jobs that take too long.
    fn overruns(&self, draft: &mut Draft, tasks: &[usize], health: Health, out: &mut Collector) {
        let rule = match (health.deadline_missed, health.overrun) {
            (_, action) if action != HealthAction::None => Overrun::Stop,
            (HealthAction::RestartProcess, _) => Overrun::Kill,
            _ => return,
        };
        for task in tasks {
            let task = &mut draft.tasks[*task];
            if let Given::Is(at) = &task.placing.overrun {
                let line = self.health.place.line;
                let why = format!("its overrun rule is told by the health table of {} too (line {line})", self.subject);
                out.refuse(at.place, &task.subject, why, "remove it here");
            } else {
                task.placing.overrun = Given::is(rule, self.health.place);
            }
        }
    }

    /// A monitor that acts on each of these events.
    fn watch(
        &self,
        draft: &mut Draft,
        row: &str,
        events: impl Iterator<Item = String>,
        action: String,
        place: Location,
    ) {
        let at = |value: String| At { value, place };
        let events: Vec<_> = events.enumerate().map(|(n, what)| (at(format!("e{n}")), at(what))).collect();
        let any: Vec<&str> = events.iter().map(|(name, _)| name.value.as_str()).collect();
        if any.is_empty() {
            return;
        }
        let name = draft.partitions[self.partition].name.get().map_or("", |at| at.value.as_str());
        // Names of monitors are no longer than those of partitions.
        let whole = format!("{name}-{row}");
        let whole = match whole.len() <= MAX_NAME {
            true => whole,
            false => {
                let number = self.partition.to_string();
                let kept = name.get(..MAX_NAME - row.len() - number.len() - 1).unwrap_or_default();
                format!("{kept}{number}-{row}")
            }
        };
        let given = |value: String| Given::is(value, place);
        draft.monitors.push(DraftMonitor {
            place,
            subject: format!("{}: health: {row}", self.subject),
            name: given(whole),
            property: given(format!("always not ({})", any.join(" or "))),
            model: Given::Absent,
            events,
            automata: Vec::new(),
            encoding: Given::Absent,
            minimise: Given::Absent,
            reset: Given::is(true, place),
            table_limit: Given::Absent,
            action: given(action),
        });
    }
}

fn of_table(health: &DraftHealth) -> Health {
    let action = |given: &Given<HealthAction>| given.value().unwrap_or_default();
    Health {
        fault: action(&health.fault),
        deadline_missed: action(&health.deadline_missed),
        overrun: action(&health.overrun),
        exhausted: action(&health.exhausted),
        warm: health.warm.value() == Some(true),
    }
}
