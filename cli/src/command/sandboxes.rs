//! `tactus run` of a file with sandboxes: builds each, boots all of them on one machine, judges each by its own promises, and tells of
//! the whole.

use super::run::{built, Booted, Shown};
use crate::arguments::Run;
use crate::promise::{can_run, promised};
use crate::{mailboxes, subject};
use serde_json::json;
use tactus_machine::boot::{assemble, compile_kernel, compile_monitor, machine, Assembled};
use tactus_machine::emulator::Emulator;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::restart::{RestartBound, Restarted};
use tactus_machine::results::Results;
use tactus_machine::sandboxes::{boot, end, features, Fate, Part, PartRan};
use tactus_machine::{costs, later, place};
use tactus_model::Sandboxes;
use tactus_plan::RunPlan;
use tactus_report::{sandboxes_page, SandboxRow};
use tactus_terminal::lines::{self, brief};
use tactus_terminal::progress::{self, waiting};
use tactus_time::Duration;
use tactus_trace::MailboxSide;

/// Checks, builds, boots, judges and writes the results of all.
pub fn run(arguments: &Run, whole: &Sandboxes) -> Result<Outcome, Failure> {
    if arguments.caches || arguments.in_sandbox {
        let option =
            if arguments.caches { "--caches: caches are not modelled" } else { "--in-sandbox: it is meant for a file" };
        let rest = if arguments.caches { "where there are sandboxes" } else { "without sandboxes" };
        return Err(Failure::Input(format!("{}: {option} {rest}: leave it out", whole.source.display())));
    }
    for part in &whole.parts {
        subject::only_on_the_first_processor(&part.system, "there are no sandboxes")?;
    }
    subject::announce_sandboxes(whole);
    let mut plans = Vec::new();
    for part in &whole.parts {
        subject::announce(&part.system);
        let plan = promised(&part.system, &costs::read(&arguments.costs, &part.system)?);
        if !can_run(&plan) {
            return Ok(Outcome::Broken);
        }
        plans.push(plan);
    }
    let mailboxes = mailboxes::promised(whole, &plans.iter().map(|plan| &plan.view).collect::<Vec<_>>());
    let network = arguments.building.network();
    let emulator = match whole.open {
        true => Emulator::find(Default::default()).map_err(machine)?,
        false => waiting("prepare", "an emulator that holds interrupts back", |tell| later::find(network, tell))?,
    };
    let features = features(whole);
    let own_kernel = match features[..] {
        [] => None,
        _ => Some(waiting("build", "the sandboxes' kernel", |tell| compile_kernel(&features, tell, network))?),
    };
    let mut programs: Vec<(Assembled, u64)> = Vec::new();
    for (part, plan) in whole.parts.iter().zip(&plans) {
        let mut assembled =
            waiting("build", "kernel and components", |tell| assemble(&part.system, plan, network, tell))?;
        if let Some(kernel) = &own_kernel {
            assembled.kernel.clone_from(kernel);
        }
        let bytes = built(&assembled.kernel, &assembled.image)?;
        programs.push((assembled, bytes));
    }
    let monitor = waiting("build", "the sandboxes' monitor", |tell| compile_monitor(tell, network))?;
    let folder = arguments.out.clone().unwrap_or_else(|| place::results(&whole.name));
    let results = Results::make(&folder)?;
    let own = whole.parts.iter().map(|part| Results::make(&folder.join(&part.system.name)));
    let own = own.collect::<Result<Vec<_>, _>>()?;
    let duration = whole.parts.iter().map(|part| part.system.duration).max().unwrap_or(whole.duration);
    let mut shown = Shown { bar: progress::Run::new("run", duration), console: !arguments.no_console };
    let each = whole.parts.iter().zip(&programs).zip(&own);
    let parts: Vec<Part<'_>> = each
        .zip(&plans)
        .map(|(((it, (Assembled { kernel, image, .. }, _)), results), plan)| Part {
            system: &it.system,
            plan,
            restarts: it.restarts,
            kernel,
            image,
            results,
        })
        .collect();
    let ran = boot(whole, &parts, &results, (&monitor, &emulator), &mut shown);
    shown.bar.end();

    let (mut held, mut told, mut rows, mut sides) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (((part, PartRan { fate, ran, last_life, first_job, restart }), plan), (built, kernel_bytes)) in
        parts.iter().zip(ran?).zip(plans.iter().cloned()).zip(&programs)
    {
        let (system, name) = (part.system, part.system.name.as_str());
        lines::put(&format!("{}\n", lines::bold(name)));
        let booted = Booted {
            arguments,
            system,
            built,
            kernel_bytes: *kernel_bytes,
            results: part.results,
            emulator: &emulator,
            caches: false,
        };
        let why = ran.as_ref().err().cloned();
        let is_last_of_several = last_life.is_some();
        let trace = last_life.or_else(|| Some(ran.as_ref().ok()?.trace.clone()));
        let side = trace.filter(|_| !mailboxes.is_empty()).zip(fate.began);
        sides.push(side.map(|(trace, began)| (trace, began, system.duration, is_last_of_several)));
        let outcome = match ran {
            Ok(ran) => booted.conclude(plan, ran)?,
            Err(why) => not_judged(&plan, &why),
        };
        lines::line("exits", fate.exits_in_words());
        let restarted = restarted(&fate, first_job, restart, end(duration));
        if let Some((words, _)) = &restarted {
            lines::line("restart", words);
        }
        let mut one = summary(name, &fate, outcome == Outcome::Held, first_job.map(|at| at.as_nanos()));
        one["restart_bound_ns"] = json!(restart.map(|bound| bound.from_notice().as_nanos()));
        one["restarted_in_time"] = json!(restarted.and_then(|it| it.1));
        told.push(one);
        held.push((name, outcome == Outcome::Held));
        let exits = fate.exits_in_words();
        rows.push(SandboxRow { name: name.into(), held: outcome == Outcome::Held, not_judged: why, exits });
    }
    let sides: Vec<_> = sides
        .iter()
        .map(|it| {
            let (trace, began, duration, restarted) = it.as_ref()?;
            Some(MailboxSide { trace, began: *began, duration: *duration, restarted: *restarted })
        })
        .collect();
    let (joined, mail, told_of) = mailboxes::ran(whole, &mailboxes, &sides);
    let kept = joined && held.iter().all(|it| it.1);
    let inter_core = if whole.open { "open" } else { "held" };
    let mut all = json!({ "name": whole.name, "held": kept, "inter_core": inter_core, "sandboxes": told });
    if !mail.is_empty() {
        all["mailboxes"] = json!(mail);
    }
    results.put("sandboxes.json", format!("{all:#}\n").as_bytes())?;
    let page = sandboxes_page(&whole.name, &rows, &told_of, subject::inter_core(whole));
    results.put("report.html", page.as_bytes())?;
    lines::line("report", results.file("report.html").display());
    lines::line("whole", subject::sandboxes_held(whole, &held, joined));
    Ok(Outcome::held_if(kept))
}

/// Of a kernel that did not run once and to its end nothing is judged: what was promised did not come.
fn not_judged(plan: &RunPlan, why: &str) -> Outcome {
    let promised = (0..plan.view.tasks.len()).filter(|task| plan.view.weakest_promise(*task).is_some()).count();
    let tasks = lines::count(promised, "task");
    lines::line("verdict", lines::bad(format!("what {tasks} were promised is not judged: {why}")));
    Outcome::Broken
}

/// Of a kernel that was started again: how its last restart was, in words, and whether it was in time, if that can be said.
fn restarted(
    fate: &Fate,
    first: Option<Duration>,
    bound: Option<RestartBound>,
    end: Duration,
) -> Option<(String, Option<bool>)> {
    let death = fate.death.as_ref().filter(|_| fate.restarts > 0)?;
    let all = format!("{} in all", fate.restarts);
    if fate.dead {
        return Some((format!("{all}, and it died after the last"), None));
    }
    let Some(bound) = bound else { return Some((format!("{all}; no bound"), None)) };
    let promised = format!("promised within {}", brief(bound.from_notice()));
    let came = |took| format!("{all}; the first job came {} after the last death, {promised}", brief(took));
    Some(match bound.judge(death.at, first, end) {
        Restarted::InTime(took) => (came(took), Some(true)),
        Restarted::Late(took) => (lines::bad(format!("{}: too late", came(took))), Some(false)),
        Restarted::Never => (lines::bad(format!("{all}; no job came after the last death, {promised}")), Some(false)),
        Restarted::Open => (format!("{all}; no job came before the end of the machine, {promised}"), None),
    })
}

/// What is kept of a sandbox, for scripts.
fn summary(name: &str, fate: &Fate, held: bool, first_job: Option<u64>) -> serde_json::Value {
    let exits: serde_json::Map<_, _> =
        fate.exits.iter().map(|(cause, count)| (cause.replace(' ', "_"), json!(count))).collect();
    let death = fate.death.as_ref().map(
        |it| json!({ "why": it.why, "at_ns": it.at.as_nanos(), "entered_ns": it.entered.map(|at| at.as_nanos()) }),
    );
    json!({
        "name": name,
        "held": held,
        "code": fate.code,
        "dead": fate.dead,
        "restarts": fate.restarts,
        "death": death,
        "exits": exits,
        "began_ns": fate.began.map(|at| at.as_nanos()),
        "first_job_ns": first_job,
    })
}
