//! What A and B want of their core, and how a decision is put together.

use super::cpu::Link;
use super::{Core, Fine, Round};
use tactus_policy::parts::mc2::{Ghost, Job};
use tactus_policy::parts::mc2::{Local, LocalWanted as Wanted};
use tactus_policy::parts::Recorder;
use tactus_policy::{Decision, Event, Running};
use tactus_record::EventKind;
use tactus_time::{Duration, Instant, Level};

impl Fine {
    /// Accounts for A and B on this core and chooses among them. Gives what they want; the time that the core was anybody
    /// else's; and what was displaced at C and D.
    #[allow(clippy::type_complexity)]
    pub(super) fn choose_local(
        &self,
        core: &mut Core,
        (last, mut elapsed): (Instant, Duration),
        event: Event,
        round: &mut Round,
        unfinished: &mut Option<Job>,
        records: &mut Recorder,
    ) -> (Option<Chosen>, Duration, [Option<u16>; 2]) {
        let (me, now) = (round.me, round.now);
        let ran = core.status.job();
        let mut displaced = [None; 2];
        let mut chosen: Option<Chosen> = None;
        for level in [0, 1] {
            let is_here = |name: Level| name.index() == level;
            let job = ran.filter(|job| is_here(job.name.1));
            let had = job.is_some() || core.status.ghosts[level].is_some();
            let decided = chosen.as_ref().is_some_and(|chosen| chosen.run.is_some());
            if !core.has[level] || decided && !had {
                continue;
            }
            let mut inside = self.local[level][me.index()].enter(&mut core.order);
            let ghost = &mut core.status.ghosts[level];
            let mut seen = inside.look(|local| {
                let table = local.look_up(now);
                let late = local.late(&table, ran, last, now);
                elapsed = elapsed.saturating_sub(late);
                if let Some(job) = job {
                    *unfinished = local.leave(job, elapsed, event, records).then_some(job);
                }
                if let Some(ghost) = ghost {
                    ghost.left = ghost.left.saturating_sub(elapsed);
                    local.drain(ghost, elapsed);
                }
                if !late.is_zero() {
                    // Its job may be due and not noticed.
                    local.release_due(false, records);
                    local.charge_late(&table, late);
                }
                let wanted = local.choose_and_wait(&table, now, false);
                (wanted, first_of(local, level, &wanted))
            });
            if decided {
                continue;
            }
            let (wanted, link) = seen.known();
            let off = self.cores[me.index()].with(seen.order(), |cpu| {
                cpu.linked[level] = link;
                if link.is_none_or(|link| link.ghost) {
                    return [None; 2];
                }
                if level == 0 {
                    cpu.linked[1] = None;
                }
                self.mark(me);
                cpu.displace()
            });
            displaced = [0, 1].map(|which| displaced[which].or(off[which]));
            chosen.get_or_insert_with(Chosen::default).add(level, &wanted, link.filter(|link| !link.ghost));
        }
        (chosen, elapsed, displaced)
    }

    /// Writes the records and puts the decision together.
    pub(super) fn conclude(
        &self,
        core: &mut Core,
        local: Option<Chosen>,
        [c, d]: [Option<Link>; 2],
        unfinished: Option<Job>,
        round: &Round,
        records: &mut Recorder,
    ) -> Decision {
        let now = round.now;
        let local = local.unwrap_or_default();
        let ghost = c.filter(|link| link.ghost);
        let run = local.run.or(c.filter(|link| !link.ghost)).or(d);
        let ghosts = [local.ghosts[0], local.ghosts[1], ghost.map(|link| link.as_ghost())];
        core.status.switch(ghosts, unfinished, run.map(|link| link.job), records);
        for other in round.notify.iter() {
            records.core(EventKind::Notify, u64::from(other.0));
        }
        let end = |link: Link| if link.ghost || link.enforce { now.saturating_add(link.left) } else { Instant::NEVER };
        let shared = c.map_or(Instant::NEVER, end);
        let timer = local.timer.min(shared).min(core.timers.next());
        let run = run.map(|link| Running {
            task: link.job.name.0,
            job: link.job.number,
            charged: link.charged,
            arrived: None,
        });
        Decision { run, timer, notify: round.notify, ticket: 0 }
    }
}

/// What is first at A or B: a job, or a ghost.
pub(super) fn first_of(local: &Local, level: usize, wanted: &Wanted) -> Option<Link> {
    let place = wanted.run.map(|job| job.place()).or(wanted.ghosts[level].map(|ghost| ghost.place()));
    place.map(|place| Link::of(local.task(place), place))
}

/// What A and B want of a core.
pub(super) struct Chosen {
    pub(super) run: Option<Link>,
    pub(super) ghosts: [Option<Ghost>; 2],
    pub(super) timer: Instant,
}

impl Default for Chosen {
    fn default() -> Self {
        Chosen { run: None, ghosts: [None; 2], timer: Instant::NEVER }
    }
}

impl Chosen {
    pub(super) fn add(&mut self, level: usize, wanted: &Wanted, link: Option<Link>) {
        self.run = self.run.or(link);
        self.ghosts[level] = wanted.ghosts[level];
        self.timer = self.timer.min(wanted.timer);
    }
}
