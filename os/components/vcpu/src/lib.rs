//! Virtual CPUs (West, Li and Missimer, OSPERT 2012; Danish, Li and West, RTAS 2011): threads are bound to VCPUs, and VCPUs
//! have the core by rates.
//!
//! A **main VCPU** is a sporadic server: a budget in each period, for ordinary threads. An **I/O VCPU** is a
//! priority-inheriting bandwidth-preserving server with a share of the core. Upcalls of brands are bound to it, each on behalf of the main
//! VCPU whose request the brand serves; it has that one's rank and period while it works for it, before what that one does itself, and of
//! several it works for the most urgent.
//! A VCPU without budget waits, its upcalls' urgency "disabled", so that the kernel begins none of them: however fast interrupts come,
//! they get the share and no more. Behind all that have budget, VCPUs with a background go on, and then threads that are bound to none.
//!
//! A VCPU is made only if all fit the bound of its authors: Σ C/T + Σ (2 − U)·U ≤ n·(2^(1/n) − 1), n main VCPUs.
//!
//! What a thread uses becomes known when the core changes hands. What the thread that was chosen last has had since is charged
//! before, so that a budget that ends or a thread that waits is accounted for in that instant; the kernel's own count comes
//! later and adds what was more.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod admission;

pub use admission::{bound, Load};
use tactus_policy::{Budget, ServerKind, Supply};
use tactus_sched::policies::FixedPriority;
use tactus_sched::rt::abi::layout::MAX_THREADS;
use tactus_sched::{Choice, Cycles, Parameters, Policy, Thread, Urgency, View};
use tactus_time::{Duration, Instant};

/// Main VCPUs are 1 to 15; 0 stands for none.
pub const MAIN: usize = 15;
/// I/O VCPUs are 16 to 18.
pub const INPUT_OUTPUT: usize = 3;
/// The number of the first I/O VCPU.
const FIRST: usize = MAIN + 1;
const ALL: usize = FIRST + INPUT_OUTPUT;
/// Threads that are bound to no VCPU come after all that are.
const UNBOUND: Urgency = Urgency(0x7fff);

/// A VCPU on one core.
struct Vcpu {
    /// Of an I/O VCPU: its share, in millionths of the core.
    share: Option<u32>,
    budget: Budget,
    background: bool,
    /// The period by which it ranks; of an I/O VCPU, that of the VCPU for which it works.
    period: Duration,
    /// Told as used, but not charged yet; charged, but not told yet.
    used: Cycles,
    ahead: Duration,
    /// It has work, as far as its budget knows.
    awake: bool,
    /// Its threads' urgencies are "disabled".
    out: bool,
}

#[derive(Clone, Copy)]
struct Place {
    /// The queue of [`FixedPriority`] that it waits in.
    queue: u8,
    there: bool,
    ready: bool,
}

/// Who has the core since the last decision.
#[derive(Clone, Copy)]
struct Running {
    vcpu: usize,
    since: Instant,
    background: bool,
}

/// The policy of one core.
pub struct Vcpus {
    /// Queue `v` has the threads of main VCPU `v`, queue 0 those of none; each pair of an I/O VCPU and whom it works for has one of its own.
    queues: FixedPriority,
    vcpus: [Option<Vcpu>; ALL],
    places: [Place; MAX_THREADS],
    running: Option<Running>,
    /// Ranks have changed: all urgencies have to be written.
    ranks_changed: bool,
}

/// The queue of what an I/O VCPU does for a main one.
fn queue_for(vcpu: usize, requester: usize) -> usize {
    FIRST * (vcpu - FIRST + 1) + requester
}

/// The VCPU of a queue, and for whom it works there.
fn of_queue(queue: usize) -> (usize, Option<usize>) {
    match queue.checked_sub(FIRST) {
        None => (queue, None),
        Some(rest) => (FIRST + rest / FIRST, Some(rest % FIRST)),
    }
}

impl Vcpus {
    /// A core without threads and VCPUs.
    pub const fn new() -> Vcpus {
        Vcpus {
            queues: FixedPriority::new(),
            vcpus: [const { None }; ALL],
            places: [Place { queue: 0, there: false, ready: false }; MAX_THREADS],
            running: None,
            ranks_changed: false,
        }
    }

    /// What all VCPUs take, as admission counts.
    pub fn load(&self) -> Load {
        self.vcpus.iter().flatten().fold(Load::default(), |load, vcpu| match vcpu.share {
            Some(share) => load.with_share(share),
            None => load.with_rate(vcpu.budget.full(), vcpu.period),
        })
    }

    /// Makes a main VCPU with this budget in each period. Its number; nothing if there is no room, it makes no sense, or it does
    /// not fit beside the others.
    pub fn create(&mut self, budget: Duration, period: Duration, background: bool, now: Instant) -> Option<usize> {
        if budget.is_zero() || budget > period || !self.load().with_rate(budget, period).fits() {
            return None;
        }
        self.place(1..FIRST, Vcpu::new(None, budget, period, background, now))
    }

    /// Makes an I/O VCPU with this share of the core in millionths. Its number; nothing as above.
    pub fn create_io(&mut self, share: u32, background: bool, now: Instant) -> Option<usize> {
        if share == 0 || share > 1_000_000 || !self.load().with_share(share).fits() {
            return None;
        }
        // Until it works for somebody, a period like any other.
        let period = Duration::from_millis(1);
        self.place(FIRST..ALL, Vcpu::new(Some(share), part(share, period), period, background, now))
    }

    fn place(&mut self, range: core::ops::Range<usize>, vcpu: Vcpu) -> Option<usize> {
        let free = range.into_iter().find(|place| self.vcpus[*place].is_none())?;
        self.vcpus[free] = Some(vcpu);
        self.ranks_changed = true;
        Some(free)
    }

    /// Binds a thread to a main VCPU, or to none (0). Whether there is such a VCPU, and the thread is here.
    pub fn bind(&mut self, thread: Thread, vcpu: usize) -> bool {
        let known = vcpu == 0 || vcpu < FIRST && self.vcpus[vcpu].is_some();
        let place = self.places[thread.index()];
        if !known || !place.there {
            return false;
        }
        if place.ready {
            self.queues.thread_block(thread);
        }
        self.enqueue(thread, vcpu);
        if place.ready {
            self.queues.thread_wakeup(thread);
        }
        self.ranks_changed = true;
        true
    }

    /// Whether there are this I/O VCPU and this main one.
    pub fn has_pair(&self, vcpu: usize, requester: usize) -> bool {
        let there = |place: usize| self.vcpus.get(place).is_some_and(Option::is_some);
        vcpu >= FIRST && (1..FIRST).contains(&requester) && there(vcpu) && there(requester)
    }

    fn enqueue(&mut self, thread: Thread, queue: usize) {
        self.places[thread.index()].queue = queue as u8;
        self.queues.thread_new(thread, Parameters::priority_of(queue as u16));
    }

    /// The queue of the thread that the VCPU would run: of an I/O VCPU, on behalf of its most urgent requester.
    fn queue_of(&self, vcpu: usize) -> Option<usize> {
        if vcpu < FIRST {
            return self.queues.first_of(vcpu).map(|_| vcpu);
        }
        let period = |main: usize| self.vcpus[main].as_ref().map_or(Duration::MAX, |main| main.period);
        let queues = (0..FIRST).map(|main| (period(main), queue_for(vcpu, main)));
        queues.filter(|(_, queue)| self.queues.first_of(*queue).is_some()).min().map(|(_, queue)| queue)
    }

    /// How urgent threads of the queue are for the kernel: by the rank of its VCPU, or of whom that works for.
    fn urgency(&self, queue: usize) -> Urgency {
        let (vcpu, requester) = of_queue(queue);
        if vcpu == 0 {
            return UNBOUND;
        }
        if self.vcpus[vcpu].as_ref().is_none_or(|vcpu| vcpu.out) {
            return Urgency::DISABLED;
        }
        let main = requester.unwrap_or(vcpu);
        let Some(of) = self.vcpus[main].as_ref().filter(|_| main != 0) else { return UNBOUND };
        let key = (of.period, main);
        let before = (1..FIRST).filter(|other| self.vcpus[*other].as_ref().is_some_and(|it| (it.period, *other) < key));
        let rank = 2 * before.count() as u16 + 1;
        Urgency(if requester.is_some() { rank } else { rank + 1 })
    }

    /// Charges what was used up to now, and lets each budget know whether there is work.
    fn account(&mut self, now: Instant, nanos: &dyn Fn(Cycles) -> u64) {
        for place in 1..ALL {
            let queue = self.queue_of(place);
            let requester = queue.and_then(|queue| of_queue(queue).1);
            let period = requester.and_then(|main| self.vcpus[main].as_ref()).map(|main| main.period);
            let Some(vcpu) = &mut self.vcpus[place] else { continue };
            let told = Duration::from_nanos(nanos(core::mem::take(&mut vcpu.used)));
            let known = told.min(vcpu.ahead);
            vcpu.ahead = vcpu.ahead.saturating_sub(known);
            let mut ran = told.saturating_sub(known);
            let running = self.running.as_mut().filter(|running| running.vcpu == place);
            let background = running.as_ref().is_some_and(|running| running.background);
            if let Some(running) = running {
                if ran.is_zero() {
                    // Nobody else has had the core since, or the kernel would have told.
                    ran = now.since(running.since);
                    vcpu.ahead = vcpu.ahead.checked_add(ran).unwrap_or(Duration::MAX);
                }
                running.since = now;
            }
            if !background {
                vcpu.budget.charge(now, ran);
            }
            match (vcpu.awake, queue.is_some()) {
                (true, false) => vcpu.budget.block(now),
                (false, true) => vcpu.budget.wake(now),
                _ => {}
            }
            vcpu.awake = queue.is_some();
            if let (Some(share), Some(period)) = (vcpu.share, period.filter(|period| *period != vcpu.period)) {
                vcpu.period = period;
                vcpu.budget.inherit(part(share, period), period);
            }
            vcpu.budget.refresh(now, vcpu.awake);
        }
    }

    /// Writes the urgencies that have changed.
    fn tell(&mut self, now: Instant, write: &mut dyn FnMut(Thread, Urgency)) {
        let mut changed = [core::mem::take(&mut self.ranks_changed); ALL];
        for (vcpu, changed) in self.vcpus.iter_mut().zip(&mut changed) {
            let Some(vcpu) = vcpu else { continue };
            let out = !vcpu.budget.eligible(now);
            *changed |= core::mem::replace(&mut vcpu.out, out) != out;
        }
        if !changed.contains(&true) {
            return;
        }
        for thread in (0..MAX_THREADS as u16).map(Thread) {
            let Place { queue, there, .. } = self.places[thread.index()];
            if there && changed[of_queue(queue.into()).0] {
                write(thread, self.urgency(queue.into()));
            }
        }
    }

    /// Who runs from now on, and until when at the latest.
    fn decide(
        &mut self,
        now: Instant,
        nanos: &dyn Fn(Cycles) -> u64,
        write: &mut dyn FnMut(Thread, Urgency),
    ) -> (Option<Thread>, Instant) {
        self.account(now, nanos);
        self.tell(now, write);
        let mut until = Instant::NEVER;
        // Budget or none, period, I/O or not, number, queue: the least goes first.
        let mut best: Option<(bool, Duration, bool, usize, usize)> = None;
        for place in 1..ALL {
            let queue = self.queue_of(place);
            let Some(vcpu) = &self.vcpus[place] else { continue };
            if vcpu.out {
                until = until.min(vcpu.budget.next(now));
            } else if vcpu.share.is_some() {
                // The kernel may begin its upcalls unasked.
                until = until.min(now.saturating_add(vcpu.budget.left(now)));
            }
            let Some(queue) = queue.filter(|_| !vcpu.out || vcpu.background) else { continue };
            let key = (vcpu.out, vcpu.period, vcpu.share.is_none(), place, queue);
            best = Some(best.map_or(key, |best| best.min(key)));
        }
        self.running = best.map(|(background, _, _, vcpu, _)| Running { vcpu, since: now, background });
        let Some((background, _, _, vcpu, queue)) = best else { return (self.queues.first_of(0), until) };
        if let Some(vcpu) = self.vcpus[vcpu].as_ref().filter(|_| !background) {
            until = until.min(now.saturating_add(vcpu.budget.left(now)));
        }
        (self.queues.first_of(queue), until)
    }
}

impl Vcpu {
    fn new(share: Option<u32>, budget: Duration, period: Duration, background: bool, now: Instant) -> Vcpu {
        let kind = if share.is_some() { ServerKind::PriorityInheriting } else { ServerKind::Sporadic };
        let mut budget = Budget::new(&Supply { kind, budget, period });
        budget.refresh(now, false);
        Vcpu { share, budget, background, period, used: Cycles(0), ahead: Duration::ZERO, awake: false, out: false }
    }
}

/// So many millionths of a length, at least a nanosecond.
fn part(share: u32, of: Duration) -> Duration {
    let part = u128::from(of.as_nanos()) * u128::from(share) / 1_000_000;
    Duration::from_nanos(u64::try_from(part).unwrap_or(u64::MAX).max(1))
}

impl Default for Vcpus {
    fn default() -> Self {
        Self::new()
    }
}

impl Policy for Vcpus {
    /// The server of the parameters is the VCPU; of an I/O VCPU's thread the priority is whom it works for.
    fn thread_new(&mut self, thread: Thread, parameters: Parameters) -> Urgency {
        let vcpu = usize::from(parameters.server());
        let queue = match self.vcpus.get(vcpu).is_some_and(Option::is_some) {
            false => 0,
            true if vcpu < FIRST => vcpu,
            true => queue_for(vcpu, usize::from(parameters.priority()).min(MAIN)),
        };
        self.places[thread.index()] = Place { queue: 0, there: true, ready: false };
        self.enqueue(thread, queue);
        self.urgency(queue)
    }

    fn thread_remove(&mut self, thread: Thread) {
        self.queues.thread_remove(thread);
        self.places[thread.index()].there = false;
    }

    fn time_elapsed(&mut self, thread: Thread, used: Cycles) {
        let (vcpu, _) = of_queue(self.places[thread.index()].queue.into());
        if let Some(vcpu) = &mut self.vcpus[vcpu] {
            vcpu.used = vcpu.used.after(used);
        }
    }

    /// Threads of one queue take turns.
    fn timer_tick(&mut self, _: u64) {
        let queue = self.running.map_or(Some(0), |running| self.queue_of(running.vcpu));
        if let Some(queue) = queue {
            self.queues.rotate(queue);
        }
    }

    fn schedule(&mut self, view: &View<'_>) -> Choice {
        let stamp = view.clock().now();
        let now = Instant::from_nanos(view.clock().nanos(stamp));
        let nanos = |cycles| view.clock().nanos(cycles);
        let (thread, until) = self.decide(now, &nanos, &mut |thread, urgency| view.set_urgency(thread, urgency));
        let until = match until {
            Instant::NEVER => Cycles::NEVER,
            until => stamp.after(view.clock().cycles(until.since(now).as_nanos())),
        };
        Choice { thread, until }
    }

    fn thread_block(&mut self, thread: Thread) {
        self.places[thread.index()].ready = false;
        self.queues.thread_block(thread);
    }

    fn thread_wakeup(&mut self, thread: Thread) {
        self.places[thread.index()].ready = true;
        self.queues.thread_wakeup(thread);
    }
}

#[cfg(test)]
mod tests;
