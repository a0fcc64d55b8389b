//! `tactus check`: what can be promised, without running anything.

use super::network;
use crate::arguments::{Check as Arguments, Subject};
use crate::assignment::{self, How};
use crate::colouring;
use crate::mailboxes;
use crate::subject;
use crate::{disks, promise};
use tactus_analysis::check::QUICK;
use tactus_analysis::effort::Effort;
use tactus_analysis::CacheDelay;
use tactus_machine::boot::fits;
use tactus_machine::costs;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::restart::{RestartBound, Sizes};
use tactus_model::{Costs, Sandboxes, System};
use tactus_plan::RunPlan;
use tactus_terminal::lines;

/// What the search for growth may spend where it was asked for: no system of a file's size needs more.
const PATIENT: Effort = Effort::terms(1 << 40);

/// Checks the system and shows every bound.
pub fn check(arguments: &Arguments) -> Result<Outcome, Failure> {
    let subject = match (&arguments.assign, &arguments.choose_colours) {
        (None, None) => arguments.subject.clone(),
        (None, Some(out)) => {
            colouring::write(&arguments.subject.file, out)?;
            Subject { file: out.clone(), ..arguments.subject.clone() }
        }
        (Some(out), _) => {
            let Arguments { fit, order, anew, .. } = *arguments;
            assignment::write(&arguments.subject.file, out, &How { fit, order, anew, costs: &arguments.costs })?;
            Subject { file: out.clone(), ..arguments.subject.clone() }
        }
    };
    if let Some(network) = network::read(&subject)? {
        return network::check(arguments, network);
    }
    subject::for_each(
        &subject,
        |system, whole| {
            let restarts =
                |whole: &Sandboxes| whole.parts.iter().any(|part| part.system.name == system.name && part.restarts > 0);
            checked(arguments, system, whole.is_some_and(restarts)).map(|(outcome, plan)| (outcome, plan.view))
        },
        |whole, views| mailboxes::accepted(whole, &views.iter().collect::<Vec<_>>()),
    )
}

/// Checks one system.
pub(super) fn one(arguments: &Arguments, system: &System) -> Result<Outcome, Failure> {
    checked(arguments, system, false).map(|(outcome, _)| outcome)
}

/// Checks one system, whose kernel is started again if it dies where `restarts`.
fn checked(arguments: &Arguments, system: &System, restarts: bool) -> Result<(Outcome, RunPlan), Failure> {
    let costs = costs::read(&arguments.costs, system)?;
    subject::announce(system);
    let cache = arguments.cache_delay.unwrap_or_default();
    if cache == CacheDelay::Geometry && system.platform.caches.is_none() {
        return Err(Failure::Input(format!(
            "{}: --cache-delay geometry: the file names no caches: add a line like geometry = \"i7-2600\" under [machine]",
            system.source.display()
        )));
    }
    let check = tactus_analysis::check_with_cache(system, &costs, cache);
    let effort = if arguments.growth { PATIENT } else { QUICK };
    let growth = tactus_analysis::sensitivity_with_cache(system, &costs, cache, effort);
    let free = system.machine.overheads.then(|| tactus_analysis::check(system, &Costs::default()));
    lines::line("check", promise::table(&check, free.as_ref(), &growth));
    promise::chains(&check);
    promise::caches(system, &check, cache);
    promise::windows(system);
    promise::monitors(system, &costs);
    promise::untested(&check);
    if let Some(free) = &free {
        promise::overheads(&check, free, &costs, cache);
    }
    promise::line(system, &check);
    let plan = tactus_plan::plan(system, &check, &costs);
    plan.updates(system).iter().for_each(|update| lines::line("update", update));
    match fits(system, &plan) {
        Ok(memory) if restarts => promise::restart(RestartBound::of(system, &plan, Sizes::most(memory))),
        Ok(_) => {}
        Err(unfit) => lines::line("machine", format!("it can be simulated, and cannot be booted: {unfit}")),
    }
    promise::growth(system, &check, &growth, arguments.growth);
    let disks = tactus_analysis::disks(system);
    if !disks.is_empty() {
        lines::line("disks", disks::table(&disks));
        disks::lines(system, &disks);
    }
    Ok((Outcome::held_if(check.accepted && disks.iter().all(|disk| disk.refused.is_none())), plan))
}
