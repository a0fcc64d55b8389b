//! The tests of one core by itself; of those that cover the same, what is exact comes first.

use super::super::covers::{one, CEILINGS, FIXED, INHERITANCE, NON_PREEMPTIVE, SPORADIC};
use super::super::declared::{responses, Answers, Declared, TermsOf, Test};
use super::super::orders::Responses;
use super::super::{bursts, offsets, orders, waits};
use super::{terms, Core};
use crate::effort::Effort;
use crate::task::Sporadic;
use crate::uniprocessor::edf_demand::Demand;
use crate::uniprocessor::preemption_delay::{self, Interrupted};
use tactus_task::{Feature, Features};

/// What holds at any phase and whatever is asked for by other means: a job may still be there when the next one comes, and each stage of a
/// system that changes is a system of its own.
const ANY: Features = SPORADIC.and(one(Feature::ArbitraryDeadline)).and(one(Feature::Reconfiguration));
const BY_NUMBER: Features = ANY.and(FIXED);
const BY_DEADLINE: Features = ANY.and(one(Feature::EarliestDeadline));
const THRESHOLDS: Features = one(Feature::PreemptionThreshold);
const WAITS: Features = one(Feature::Wait);
const BURSTS: Features = Features::of(&[Feature::Burst, Feature::Jitter]);

/// What makes the releases of a core's tasks no others than those of their offsets, and lets no job take longer.
const PHASED: Features = Features::of(&[
    Feature::Offset,
    Feature::ConstrainedDeadline,
    Feature::ArbitraryDeadline,
    Feature::Skip,
    Feature::Kill,
    Feature::Component,
    Feature::Channel,
    Feature::Monitor,
    Feature::Disk,
    Feature::Colours,
    Feature::Caches,
    Feature::MissCost,
]);

type Bounds = fn(&Core, &[Sporadic], &mut Effort) -> Answers;
type Fits = fn(&Core, &[Sporadic], &mut Effort) -> bool;

const fn test(
    name: &'static str,
    source: &'static str,
    covers: Features,
    bounds: Bounds,
    terms: TermsOf<Core>,
) -> Test<Core> {
    let declared = Declared { name, source, place: "one core", covers, exact: false };
    Test { declared, needs: without_reloads, bounds, fits: None, terms }
}

/// One whose bounds some schedule meets.
const fn exact(test: Test<Core>) -> Test<Core> {
    Test { declared: Declared { exact: true, ..test.declared }, ..test }
}

/// One beside which it takes less to tell whether all are in time.
const fn or(test: Test<Core>, fits: Fits) -> Test<Core> {
    Test { fits: Some(fits), ..test }
}

/// One that knows what each task loads again after which others.
const fn reloading(test: Test<Core>) -> Test<Core> {
    Test { needs: reloads_by_task, ..test }
}

/// One that knows when each job is released.
const fn phased(test: Test<Core>) -> Test<Core> {
    Test { needs: known_offsets, ..test }
}

/// All of them.
pub(crate) const ALL: &[Test<Core>] = &[
    exact(test(
        "response-time analysis",
        "Joseph and Pandya 1986; Lehoczky 1990; Tindell, Burns and Wellings 1994",
        BY_NUMBER,
        |core, tasks, effort| core.ask(tasks, effort, orders::fixed),
        terms::by_priority,
    )),
    phased(exact(test(
        "the schedule by its offsets (Leung and Merrill)",
        "Leung and Merrill 1980",
        PHASED.and(FIXED),
        |core, tasks, effort| by_offsets(core, tasks, vec![None; tasks.len()], effort),
        terms::none,
    ))),
    phased(exact(test(
        "the EDF schedule by its offsets (Leung and Merrill)",
        "Leung and Merrill 1980",
        PHASED.and(one(Feature::EarliestDeadline)),
        |core, tasks, effort| by_offsets(core, tasks, vec![None; tasks.len()], effort),
        terms::none,
    ))),
    phased(test(
        "the schedule by its offsets, with one blocking at a ceiling",
        "Leung and Merrill 1980; Baker 1991; Wang and Saksena 1999",
        PHASED.and(FIXED).and(THRESHOLDS).and(CEILINGS.without(one(Feature::SectionAcrossCores))),
        by_offsets_or_ceilings,
        terms::none,
    )),
    phased(test(
        "the schedule by its offsets, with inheritance",
        "Leung and Merrill 1980; Sha, Rajkumar and Lehoczky 1990",
        PHASED.and(FIXED).and(INHERITANCE),
        by_offsets_or_ceilings,
        terms::none,
    )),
    phased(test(
        "the EDF schedule by its offsets, with the stack resource policy",
        "Leung and Merrill 1980; Baker 1991; Baruah 2006",
        PHASED.and(one(Feature::EarliestDeadline)).and(CEILINGS.without(one(Feature::SectionAcrossCores))),
        by_offsets_or_sections,
        terms::none,
    )),
    phased(test(
        "the EDF schedule by its offsets, with inheritance",
        "Leung and Merrill 1980; Sha, Rajkumar and Lehoczky 1990; Baruah 2006",
        PHASED.and(one(Feature::EarliestDeadline)).and(INHERITANCE),
        by_offsets_or_sections,
        terms::none,
    )),
    test(
        "response times with preemption thresholds (Wang and Saksena)",
        "Wang and Saksena 1999; Regehr 2002; Bril, Lukkien and Verhaegh 2009",
        BY_NUMBER.and(THRESHOLDS),
        by_ceilings,
        terms::by_ceilings,
    ),
    test(
        "response-time analysis with one blocking at a ceiling (Baker)",
        "Baker 1991, theorem 6",
        BY_NUMBER.and(THRESHOLDS).and(CEILINGS.without(one(Feature::SectionAcrossCores))),
        by_ceilings,
        terms::by_ceilings,
    ),
    test(
        "response-time analysis with waiting for other cores (Gai, Lipari and Di Natale)",
        "Gai, Lipari and Di Natale 2001",
        BY_NUMBER.and(THRESHOLDS).and(CEILINGS),
        by_ceilings,
        terms::by_ceilings,
    ),
    test(
        "response-time analysis with priority inheritance (Sha, Rajkumar and Lehoczky)",
        "Sha, Rajkumar and Lehoczky 1990, theorem 6",
        BY_NUMBER.and(INHERITANCE),
        by_ceilings,
        terms::by_ceilings,
    ),
    test(
        "response-time analysis; waits count as execution, or as jitter of others (Nelissen et al.)",
        "Chen et al. 2019; Nelissen et al. 2015",
        BY_NUMBER.and(WAITS).and(CEILINGS),
        by_waits,
        terms::by_waits,
    ),
    test(
        "response-time analysis; waits count as execution, or as jitter of others, with inheritance",
        "Chen et al. 2019; Nelissen et al. 2015; Sha, Rajkumar and Lehoczky 1990",
        BY_NUMBER.and(WAITS).and(INHERITANCE),
        by_waits,
        terms::by_waits,
    ),
    test(
        "response-time analysis with arrival curves (Richter)",
        "Richter 2005",
        BY_NUMBER.and(BURSTS),
        by_curves,
        terms::by_curves,
    ),
    test(
        "response times with preemption thresholds and arrival curves (Davis et al.; Richter)",
        "Wang and Saksena 1999; Davis, Burns, Bril and Lukkien 2007; Richter 2005",
        BY_NUMBER.and(BURSTS).and(THRESHOLDS).and(CEILINGS),
        by_curves,
        terms::none,
    ),
    test(
        "response-time analysis with arrival curves; waits count as execution",
        "Richter 2005; Chen et al. 2019; Baker 1991",
        BY_NUMBER.and(BURSTS).and(WAITS).and(CEILINGS),
        by_curves,
        terms::none,
    ),
    test(
        "response-time analysis with arrival curves and inheritance; waits count as execution",
        "Richter 2005; Chen et al. 2019; Sha, Rajkumar and Lehoczky 1990",
        BY_NUMBER.and(BURSTS).and(WAITS).and(INHERITANCE),
        by_curves,
        terms::none,
    ),
    reloading(test(
        "response-time analysis with reloads by task (Altmeyer et al.)",
        "Altmeyer, Davis and Maiza 2012",
        BY_NUMBER,
        |core, tasks, effort| {
            responses(core.reloaded(|delays, work, entries| {
                preemption_delay::by_priority(tasks, delays, work.entry, entries, effort)
            }))
        },
        terms::with_reloads,
    )),
    exact(or(
        test(
            "EDF response times (Spuri)",
            "Spuri 1996",
            BY_DEADLINE.and(WAITS),
            |core, tasks, effort| core.ask(tasks, effort, orders::deadlines),
            terms::by_deadline,
        ),
        by_demand,
    )),
    or(
        test(
            "EDF demand; the deadline is the bound",
            "Baruah, Mok and Rosier 1990; Zhang and Burns 2009",
            BY_DEADLINE.and(WAITS),
            |core, tasks, effort| core.ask(tasks, effort, orders::demand),
            terms::by_demand,
        ),
        by_demand,
    ),
    or(
        test(
            "EDF with the stack resource policy (Baruah; Spuri)",
            "Baker 1991; Baruah 2006; Spuri 1996",
            BY_DEADLINE.and(CEILINGS),
            beside_sections,
            terms::beside_sections,
        ),
        demand_beside_sections,
    ),
    or(
        test(
            "EDF with priority inheritance (Baruah; Spuri)",
            "Sha, Rajkumar and Lehoczky 1990; Baruah 2006; Spuri 1996",
            BY_DEADLINE.and(INHERITANCE),
            beside_sections,
            terms::beside_sections,
        ),
        demand_beside_sections,
    ),
    or(
        test(
            "EDF with sections without preemption; waits count as execution",
            "Chen et al. 2019; Baruah 2006; Spuri 1996",
            BY_DEADLINE.and(WAITS).and(NON_PREEMPTIVE),
            beside_sections,
            terms::beside_sections,
        ),
        demand_beside_sections,
    ),
    or(
        test(
            "EDF with priority inheritance; waits count as execution",
            "Chen et al. 2019; Sha, Rajkumar and Lehoczky 1990; Baruah 2006; Spuri 1996",
            BY_DEADLINE.and(WAITS).and(INHERITANCE),
            beside_sections,
            terms::beside_sections,
        ),
        demand_beside_sections,
    ),
    test(
        "EDF demand with arrival curves; the deadline is the bound",
        "Richter 2005; Baruah, Mok and Rosier 1990",
        BY_DEADLINE.and(BURSTS),
        demand_of_curves,
        terms::none,
    ),
    test(
        "EDF demand with arrival curves and the stack resource policy; the deadline is the bound",
        "Richter 2005; Baker 1991; Baruah 2006",
        BY_DEADLINE.and(BURSTS).and(CEILINGS),
        demand_of_curves,
        terms::none,
    ),
    test(
        "EDF demand with arrival curves; waits count as execution; the deadline is the bound",
        "Richter 2005; Chen et al. 2019; Baruah 2006",
        BY_DEADLINE.and(BURSTS).and(WAITS).and(NON_PREEMPTIVE),
        demand_of_curves,
        terms::none,
    ),
    test(
        "EDF demand with arrival curves and inheritance; waits count as execution; the deadline is the bound",
        "Richter 2005; Chen et al. 2019; Sha, Rajkumar and Lehoczky 1990; Baruah 2006",
        BY_DEADLINE.and(BURSTS).and(WAITS).and(INHERITANCE),
        demand_of_curves,
        terms::none,
    ),
    reloading(or(
        test(
            "EDF response times (Spuri) with reloads by task (Lunniss et al.)",
            "Lunniss, Altmeyer, Maiza and Davis 2013; Spuri 1996",
            BY_DEADLINE,
            |core, tasks, effort| {
                responses(core.reloaded(|delays, work, entries| {
                    let all = preemption_delay::by_deadline(tasks, delays, work.entry, entries, effort);
                    all.map_or_else(|| vec![None; tasks.len()], |all| all.into_iter().map(Some).collect())
                }))
            },
            terms::deadlines_with_reloads,
        ),
        demand_with_reloads,
    )),
    reloading(or(
        test(
            "EDF demand with reloads by task (Lunniss et al.)",
            "Lunniss, Altmeyer, Maiza and Davis 2013",
            BY_DEADLINE,
            |core, tasks, effort| {
                let fits = demand_with_reloads(core, tasks, effort);
                responses(tasks.iter().map(|τ| fits.then_some(τ.deadline)).collect())
            },
            terms::none,
        ),
        demand_with_reloads,
    )),
    test(
        "FIFO (George and Minet)",
        "George and Minet 1997; Bedarkar et al. 2022",
        ANY.and(WAITS).and(one(Feature::FirstComeFirstServed)),
        |core, tasks, effort| core.ask(tasks, effort, orders::first_come),
        terms::first_come,
    ),
    test(
        "turns (Racu et al.) within the busy period",
        "Racu et al. 2007; Lehoczky 1990",
        ANY.and(one(Feature::RoundRobin)),
        |core, tasks, effort| core.ask(tasks, effort, orders::turns),
        terms::turns,
    ),
    test(
        "response-time analysis in which equal priorities interfere",
        "Joseph and Pandya 1986; Lehoczky 1990",
        ANY.and(one(Feature::FixedPriorityRoundRobin)),
        |core, tasks, effort| core.ask(tasks, effort, orders::turns_among_equals),
        terms::turns_among_equals,
    ),
    test(
        "EDF with laxities for deadlines (Spuri)",
        "Spuri 1996",
        ANY.and(one(Feature::LaxityAtRelease)),
        |core, tasks, effort| core.ask(tasks, effort, orders::laxity_at_release),
        terms::laxity_at_release,
    ),
    test(
        "priority points (Leontyev and Anderson) within the busy period",
        "Leontyev and Anderson 2010; Lehoczky 1990",
        ANY.and(one(Feature::LeastLaxity)),
        |core, tasks, effort| core.ask(tasks, effort, orders::least_laxity),
        terms::least_laxity,
    ),
];

/// Tests that know what each task loads again are closer than those that count the longest reload in each entry.
fn without_reloads(core: &Core, _: usize) -> Option<String> {
    core.delays.is_some().then(|| "what each task loads again is known".into())
}

fn reloads_by_task(core: &Core, _: usize) -> Option<String> {
    core.delays.is_none().then(|| "it is not known what each task loads again".into())
}

fn by_ceilings(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> Answers {
    let work = core.work();
    let one = |i: usize| core.by_priority(tasks, i, &work, effort);
    responses((0..tasks.len()).map(one).collect())
}

fn known_offsets(core: &Core, n: usize) -> Option<String> {
    without_reloads(core, n).or_else(|| core.offsets.as_ref().err().cloned())
}

/// What the schedule shows, or else what another test says that holds as well.
fn by_offsets(core: &Core, tasks: &[Sporadic], other: Responses, effort: &mut Effort) -> Answers {
    let (work, known) = (core.work(), core.offsets.as_ref().ok());
    let own = known.and_then(|known| known.responses(tasks, &work, core.ceilings.as_ref(), effort));
    responses(offsets::least(own, other))
}

fn by_offsets_or_ceilings(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> Answers {
    let work = core.work();
    let other = (0..tasks.len()).map(|i| core.by_priority(tasks, i, &work, effort)).collect();
    by_offsets(core, tasks, other, effort)
}

fn by_offsets_or_sections(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> Answers {
    let work = core.work();
    let other = match &core.ceilings {
        Some(ceilings) => ceilings.by_deadline(tasks, work.entry, &work, *effort),
        None => vec![None; tasks.len()],
    };
    by_offsets(core, tasks, other, effort)
}

fn by_curves(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> Answers {
    let ceilings = core.ceilings.as_ref();
    responses(bursts::by_priority((tasks, &core.distances), ceilings, &core.work(), effort))
}

fn demand_of_curves(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> Answers {
    let ceilings = core.ceilings.as_ref();
    responses(bursts::by_deadline((tasks, &core.distances), ceilings, &core.work(), effort))
}

fn by_waits(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> Answers {
    let work = core.work();
    let mut one = |tasks: &[Sporadic], i: usize| core.by_priority(tasks, i, &work, effort);
    responses(waits::by_priorities(tasks, &core.waits, &mut one))
}

fn by_demand(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> bool {
    let work = core.work();
    orders::fits(core.queue(tasks, &work), effort)
}

fn beside_sections(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> Answers {
    let work = core.work();
    match &core.ceilings {
        Some(ceilings) => responses(ceilings.by_deadline(tasks, work.entry, &work, *effort)),
        None => core.ask(tasks, effort, orders::deadlines),
    }
}

fn demand_beside_sections(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> bool {
    let work = core.work();
    match &core.ceilings {
        Some(ceilings) => ceilings.by_demand(tasks, work.entry, &work, effort) == Demand::Fits,
        None => orders::fits(core.queue(tasks, &work), effort),
    }
}

fn demand_with_reloads(core: &Core, tasks: &[Sporadic], effort: &mut Effort) -> bool {
    let (work, Some(delays)) = (core.work(), &core.delays) else { return false };
    let interrupted = Interrupted { withheld: &work, entries: &|window| work.entries(window) };
    preemption_delay::demand(tasks, delays, work.entry, interrupted, effort) == Demand::Fits
}
