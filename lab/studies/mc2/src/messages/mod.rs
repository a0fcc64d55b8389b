//! MC² without any lock: core 0 owns levels C and D, and the other cores send it messages (`mail`).
//!
//! Levels A and B of a core are its own, as with locks. What a core of C or D is to have, core 0 **grants**; what it had, the
//! core **reports**: when it ends, when its budget does, or when A or B take the core. Between the two the core charges by
//! itself. So a core never waits for another: at A and B it never even asks. What it costs is that a core is idle from the end
//! of a job of C until core 0 has answered.
//!
//! What a core was granted and what was granted after it may cross its reports on the way. The rules (`mail`): each time a
//! core gives up all it had, a new epoch begins and older grants are void; a task that was displaced is free for others when
//! its core has reported it, or has taken up a later grant or begun a new epoch without ever having had it.

mod mail;

use alloc::boxed::Box;
use alloc::vec::Vec;
use mail::{Grant, Held, Mail, Part, Report, Standing};
use tactus_policy::parts::mc2::{checked, CoreStatus, Job, Local, Shared, SharedWanted as Wanted};
use tactus_policy::parts::RELEASE_CORE;
use tactus_policy::parts::{Clock, Recorder};
use tactus_policy::{Decision, Event, Policy, PolicyConfig, PolicyConfigError, Running};
use tactus_record::{EventKind, Record, Sink, Stored};
use tactus_sync::facade::{AtomicU32, Ordering};
use tactus_time::{CoreId, CoreSet, Duration, Instant, Level};

/// What all cores share: nothing but their post.
pub struct Messages {
    mail: Vec<Mail>,
    /// Cores that have written to the owner.
    written: AtomicU32,
}

/// What belongs to one core.
pub struct Core {
    id: CoreId,
    clock: Clock,
    local: Local,
    status: CoreStatus,
    /// It has decided, and runs no job of A or B.
    open: bool,
    role: Role,
}

enum Role {
    Owner(Box<Owner>),
    Guest(Box<Guest>),
}

/// Core 0's part.
struct Owner {
    shared: Shared,
    next: Instant,
    guests: Vec<Known>,
    /// What was displaced on a core that may have it: place, core, and the grant that gave it.
    leaving: Vec<(usize, CoreId, Grant)>,
}

/// What the owner knows of a core.
#[derive(Clone, Copy, Default)]
struct Known {
    standing: Standing,
    grant: Grant,
}

/// Another core's part.
#[derive(Default)]
struct Guest {
    standing: Standing,
    /// At C and at D, and for how long since it was taken up.
    has: [Option<(Part, Duration)>; 2],
}

/// What C and D come to on a core.
#[derive(Default)]
struct Below {
    parts: [Option<Part>; 2],
    unfinished: Option<Job>,
    notify: CoreSet,
    timer: Option<Instant>,
}

/// What guests have recorded themselves is not recorded by the owner.
struct Rest<'a>(&'a mut dyn Sink);

impl Sink for Rest<'_> {
    fn record(&mut self, record: Record) {
        if !matches!(record.kind, EventKind::Complete | EventKind::Removed) {
            self.0.record(record);
        }
    }
    fn store(&mut self, stored: Stored) {
        if stored.kind() != EventKind::Complete as u8 && stored.kind() != EventKind::Removed as u8 {
            self.0.store(stored);
        }
    }
}

impl Messages {
    /// Makes all cores and the post between them.
    ///
    /// # Errors
    /// If the set-up is not one for MC², or breaks a rule.
    pub fn new(setup: &PolicyConfig) -> Result<(Self, Vec<Core>), PolicyConfigError> {
        let mc2 = checked(setup)?;
        let core = |n| {
            let id = CoreId(n as u8);
            let role = if id == RELEASE_CORE {
                let shared = Shared::new(setup, mc2);
                let guests = alloc::vec![Known::default(); setup.cores];
                let next = shared.next_release();
                // Each task is displaced at most once before its core is heard.
                Role::Owner(Box::new(Owner { next, shared, guests, leaving: Vec::with_capacity(setup.tasks.len()) }))
            } else {
                Role::Guest(Box::default())
            };
            let local = Local::new(setup, mc2, id, &[Level::A, Level::B]);
            Core { id, clock: Clock::default(), local, status: CoreStatus::default(), open: false, role }
        };
        let shared = Messages { mail: (0..setup.cores).map(|_| Mail::new()).collect(), written: AtomicU32::new(0) };
        Ok((shared, (0..setup.cores).map(core).collect()))
    }
}

impl Policy for Messages {
    type Core = Core;

    fn handle<S: Sink>(&self, core: &mut Core, now: Instant, event: Event, records: &mut S) -> Decision {
        self.decide(core, now, event, records)
    }
}

impl Messages {
    fn decide(&self, core: &mut Core, now: Instant, event: Event, records: &mut dyn Sink) -> Decision {
        let last = core.clock.last();
        let (now, elapsed) = core.clock.advance(now);
        let me = core.id;
        let mut records = Recorder { sink: records, core: me, now };
        let ran = core.status.job();
        let table = core.local.look_up(now);
        let late = core.local.late(&table, ran, last, now);
        let elapsed = elapsed.saturating_sub(late);
        for ghost in core.status.ghosts.iter_mut().flatten() {
            ghost.left = ghost.left.saturating_sub(elapsed);
        }
        let mut below = Below::default();
        // The owner accounts for its own part of C and D first, as with a lock.
        if let Role::Owner(owner) = &mut core.role {
            below.unfinished = owner.settle(me, &core.status, ran, elapsed, event, &mut records);
        }
        let mut unfinished = None;
        if let Some(job) = ran.filter(Job::is_local) {
            unfinished = core.local.leave(job, elapsed, event, &mut records).then_some(job);
        }
        for ghost in core.status.ghosts[..2].iter().flatten() {
            core.local.drain(ghost, elapsed);
        }
        records.sink.stage();
        let deaf = core.local.level_a_goes_on(&table, unfinished);
        core.local.release_due(deaf, &mut records);
        core.local.charge_late(&table, late);
        records.sink.stage();
        if let Role::Owner(owner) = &mut core.role {
            owner.release(me, &mut below.notify, &mut records);
        }
        records.sink.stage();
        let local = core.local.choose(&table, now);
        let open = local.run.is_none();
        match &mut core.role {
            Role::Owner(owner) => self.own(owner, me, open, &mut below, &mut records),
            Role::Guest(guest) => self.visit(guest, me, (ran, open, event), elapsed, &mut below, &mut records),
        }
        core.open = open;

        let [c, d] = below.parts;
        let ghost = c.filter(|part| part.ghost);
        let job = c.filter(|part| !part.ghost).or(d);
        let run =
            local.run.map(|job| (job, core.local.charged(job.place()))).or(job.map(|part| (part.job, part.charged)));
        let ghosts = [local.ghosts[0], local.ghosts[1], ghost.map(|part| part.as_ghost())];
        core.status.switch(ghosts, unfinished.or(below.unfinished), run.map(|run| run.0), &mut records);
        for other in below.notify.iter() {
            records.core(EventKind::Notify, u64::from(other.0));
        }
        let end =
            c.filter(|part| part.ghost || part.enforce).map_or(Instant::NEVER, |part| now.saturating_add(part.left));
        let timer = local.timer.min(end).min(below.timer.unwrap_or(Instant::NEVER));
        let run = run.map(|(job, charged)| Running { task: job.name.0, job: job.number, charged, arrived: None });
        Decision { run, timer, notify: below.notify, ticket: 0 }
    }

    /// Core 0: reads what was written to it, links what waits, and grants what has changed.
    fn own(&self, owner: &mut Owner, me: CoreId, open: bool, below: &mut Below, records: &mut Recorder) {
        let mut concerned = core::mem::take(&mut below.notify);
        if self.written.load(Ordering::Relaxed) != 0 {
            let written = CoreSet::from_bits(self.written.swap(0, Ordering::AcqRel) as u8);
            let mut rest = Rest(&mut *records.sink);
            let mut quiet = Recorder { sink: &mut rest as &mut dyn Sink, core: records.core, now: records.now };
            for guest in written.iter() {
                owner.read(guest, &self.mail[guest.index()], &mut quiet);
                concerned.insert(guest);
            }
        }
        let shared = &mut owner.shared;
        shared.set_open(me, open);
        shared.link(me, &mut concerned);
        // What is linked here, if anything.
        let _: Wanted = shared.take_up(me, records.now);
        below.parts = owner.parts(me);
        concerned.remove(me);
        for guest in concerned.iter() {
            owner.note_leaving(guest);
            if owner.grant(guest, records.now) {
                self.mail[guest.index()].grant(&owner.guests[guest.index()].grant);
                below.notify.insert(guest);
            }
        }
        owner.next = owner.shared.next_release();
        below.timer = Some(owner.next);
    }

    /// Any other core: reports what is over, and takes up what it was granted.
    fn visit(
        &self,
        guest: &mut Guest,
        me: CoreId,
        (ran, open, event): (Option<Job>, bool, Event),
        elapsed: Duration,
        below: &mut Below,
        records: &mut Recorder,
    ) {
        let mail = &self.mail[me.index()];
        for (part, had) in guest.has.iter_mut().flatten() {
            part.pass(elapsed);
            *had += elapsed;
        }
        let job = ran.filter(|job| !job.is_local());
        let ended = job.is_some() && matches!(event, Event::Complete | Event::Remove);
        if let Some(job) = job {
            if ended {
                let charged = guest.charged(&job);
                let (kind, arg) = if event == Event::Complete {
                    (EventKind::Complete, charged.as_nanos())
                } else {
                    (EventKind::Removed, 0)
                };
                records.job(kind, job.name, job.number, arg);
            } else {
                below.unfinished = Some(job);
            }
        }
        let over = guest.has[0].is_some_and(|(part, _)| (part.ghost || part.enforce) && part.left.is_zero());
        let mut tell = false;
        let gives_up = guest.has.iter().any(Option::is_some) && (ended || over || !open);
        if gives_up {
            let parts = guest.has.map(|has| has.map(|(part, had)| Held { job: part.job, ghost: part.ghost, had }));
            let event = if ended { event } else { Event::Timer };
            let sent = mail.report(&Report { parts, event });
            debug_assert!(sent, "each report answers a grant");
            guest.has = [None; 2];
        }
        if gives_up || open != guest.standing.open {
            // What was granted before is void.
            guest.standing.epoch = (guest.standing.epoch + 1) & mail::EPOCHS;
            guest.standing.open = open;
            tell = true;
        }
        if open {
            if let Some(grant) = mail.granted().filter(|grant| grant.epoch == guest.standing.epoch) {
                tell |= guest.take_up(&grant, mail);
            }
        }
        if tell {
            mail.stand(guest.standing);
            self.written.fetch_or(1 << me.0, Ordering::AcqRel);
            below.notify.insert(RELEASE_CORE);
        }
        below.parts = guest.has.map(|has| has.map(|(part, _)| part));
    }
}

impl Guest {
    fn charged(&self, job: &Job) -> Duration {
        let of = |(part, _): &(Part, Duration)| (part.job == *job && !part.ghost).then_some(part.charged);
        self.has.iter().flatten().find_map(of).unwrap_or(Duration::ZERO)
    }

    /// Takes up a grant, and reports what it replaces. Whether the owner has to know.
    fn take_up(&mut self, grant: &Grant, mail: &Mail) -> bool {
        let same = |part: &Part, other: &Part| part.job == other.job && part.ghost == other.ghost;
        let mut back = [None; 2];
        for (n, has) in self.has.iter_mut().enumerate() {
            match (*has, grant.parts[n]) {
                (Some((part, _)), Some(new)) if same(&part, &new) => {}
                (had, new) => {
                    back[n] = had.map(|(part, had)| Held { job: part.job, ghost: part.ghost, had });
                    *has = new.map(|part| (part, Duration::ZERO));
                }
            }
        }
        let returned = back.iter().any(Option::is_some);
        if returned {
            let sent = mail.report(&Report { parts: back, event: Event::Timer });
            debug_assert!(sent, "each report answers a grant");
        }
        let passed_over = grant.number.wrapping_sub(self.standing.taken) > 1;
        self.standing.taken = grant.number;
        returned || passed_over
    }
}

impl Owner {
    /// Accounts for what core 0 itself had of C and D. What could go on.
    fn settle(
        &mut self,
        me: CoreId,
        status: &CoreStatus,
        ran: Option<Job>,
        elapsed: Duration,
        event: Event,
        records: &mut Recorder,
    ) -> Option<Job> {
        let job = ran.filter(|job| !job.is_local());
        let unfinished = job.filter(|job| self.shared.leave(me, *job, elapsed, event, records));
        if let Some(ghost) = &status.ghosts[2] {
            self.shared.drain(me, ghost, elapsed);
        }
        unfinished
    }

    fn release(&mut self, me: CoreId, concerned: &mut CoreSet, records: &mut Recorder) {
        if self.next <= records.now {
            self.shared.release_due(me, concerned, records);
        }
    }

    /// What a guest has written.
    fn read(&mut self, guest: CoreId, mail: &Mail, records: &mut Recorder) {
        // First the standing: what it is based on has been reported.
        let standing = mail.standing();
        while let Some(report) = mail.reported() {
            for held in report.parts.iter().flatten() {
                if held.ghost {
                    self.shared.drain(guest, &held.as_ghost(), held.had);
                } else {
                    self.shared.leave(guest, held.job, held.had, report.event, records);
                }
            }
        }
        let known = &mut self.guests[guest.index()];
        if standing.epoch != known.standing.epoch {
            self.shared.nothing_current(guest);
        }
        known.standing = standing;
        let shared = &mut self.shared;
        self.leaving.retain(|(place, core, grant)| {
            if *core != guest {
                return true;
            }
            let waits = shared.leaving(*place, guest);
            // Numbers are compared by distance, since they wrap around.
            let later = standing.taken.wrapping_sub(grant.number) as i32 > 0;
            if waits && (later || standing.epoch != grant.epoch) {
                shared.free(*place);
                return false;
            }
            waits
        });
        shared.set_open(guest, standing.open);
    }

    /// Remembers what was displaced on a guest that may have it.
    fn note_leaving(&mut self, guest: CoreId) {
        let grant = self.guests[guest.index()].grant;
        for part in grant.parts.iter().flatten() {
            let place = part.job.place();
            if self.shared.leaving(place, guest) && !self.leaving.iter().any(|(known, ..)| *known == place) {
                self.leaving.push((place, guest, grant));
            }
        }
    }

    /// What is linked to a core, as parts.
    fn parts(&self, core: CoreId) -> [Option<Part>; 2] {
        let part = |place: usize| Part::of(self.shared.task(place), place);
        let mut parts = self.shared.current(core).map(|place| place.map(part));
        if parts[0].is_some_and(|part| !part.ghost) {
            parts[1] = None;
        }
        parts
    }

    /// Makes the guest's grant anew. Whether it has to be told.
    fn grant(&mut self, guest: CoreId, now: Instant) -> bool {
        let standing = self.guests[guest.index()].standing;
        if !standing.open {
            return false;
        }
        let _: Wanted = self.shared.take_up(guest, now);
        let parts = self.parts(guest);
        let last = &mut self.guests[guest.index()].grant;
        let what = |parts: &[Option<Part>; 2]| parts.map(|part| part.map(|part| (part.job, part.ghost)));
        if last.epoch == standing.epoch && what(&last.parts) == what(&parts) {
            return false;
        }
        // Nothing where there was nothing is no news.
        let silent = last.epoch != standing.epoch && parts.iter().all(Option::is_none);
        *last = Grant { number: last.number.wrapping_add(1), epoch: standing.epoch, parts };
        !silent
    }
}
