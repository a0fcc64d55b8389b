//! Deferrable servers over fixed priorities (Lehoczky, Sha and Strosnider 1987; the server of Parmer and West 2013).
//!
//! A server has a budget in each period and keeps it while it has nothing to do. Threads are chosen by fixed priorities, as
//! in [`FixedPriority`]; those of a server whose budget is used up leave the queues until the next period, and their urgency
//! is "disabled", so that the kernel runs none of their upcalls unasked. The budgets are those of `tactus_policy`.
//!
//! What a thread uses becomes known when the core changes hands. Until then the policy counts from its own last choice, so
//! that a server is stopped in time; what it used beyond is debt, paid by the next period.

use super::FixedPriority;
use crate::{Choice, Cycles, Parameters, Thread, ThreadScheduler, Urgency, View};
use tactus_policy::{Budget, ServerKind, Supply};
use tactus_rt::abi::layout::MAX_THREADS;
use tactus_rt::time::{Duration, Instant};

/// Servers 1 to 8; 0 stands for none: its threads have all the time that is left.
pub const SERVERS: usize = 8;

/// One server on one core.
struct Server {
    supply: Option<Supply>,
    budget: Option<Budget>,
    /// Used, but not charged to the budget yet.
    used: Cycles,
    /// Its threads are out of the queues.
    out: bool,
}

/// What the policy knows of a thread beside its place in the queues.
#[derive(Clone, Copy)]
struct Place {
    server: u8,
    ready: bool,
    urgency: Urgency,
}

/// The policy of one core.
pub struct Deferrable {
    inner: FixedPriority,
    servers: [Server; SERVERS],
    places: [Place; MAX_THREADS],
    default: [u64; 2],
    /// The server whose thread was chosen last, and since when nothing that it used was told.
    running: Option<(usize, Instant)>,
}

impl Deferrable {
    /// A core without threads. A server that nobody sets has this budget in this period (ns, both greater than zero).
    pub const fn new(budget: u64, period: u64) -> Deferrable {
        Deferrable {
            inner: FixedPriority::new(),
            servers: [const { Server { supply: None, budget: None, used: Cycles(0), out: false } }; SERVERS],
            places: [Place { server: 0, ready: false, urgency: Urgency::DISABLED }; MAX_THREADS],
            default: [budget, period],
            running: None,
        }
    }

    /// Gives a server this budget in each period (ns) from now on; whether it makes sense: a server from 1 to
    /// [`SERVERS`], and a budget above zero and no longer than the period.
    pub fn set_server(&mut self, server: u64, budget: u64, period: u64) -> bool {
        let place = usize::try_from(server).ok().and_then(|server| server.checked_sub(1));
        let Some(it) = place.and_then(|place| self.servers.get_mut(place)) else { return false };
        if budget == 0 || budget > period {
            return false;
        }
        let (budget, period) = (Duration::from_nanos(budget), Duration::from_nanos(period));
        it.supply = Some(Supply { kind: ServerKind::Deferrable, budget, period, write_backs: None });
        // Made anew at the next look.
        it.budget = None;
        true
    }

    /// The place of the thread's server.
    #[inline(always)]
    fn server_of(&self, thread: Thread) -> Option<usize> {
        usize::from(self.places[thread.index()].server).checked_sub(1)
    }

    /// Charges, replenishes, and takes servers in or out. When the next one that is out comes back.
    fn look(&mut self, view: &View<'_>, now: Instant) -> Instant {
        let mut next = Instant::NEVER;
        for place in 0..SERVERS {
            let Some(supply) = &self.servers[place].supply else { continue };
            let budget = self.servers[place].budget.get_or_insert_with(|| {
                // A budget begins at time zero; what has passed since is made good by one look.
                let mut budget = Budget::new(supply);
                budget.refresh(now);
                budget
            });
            let used = core::mem::take(&mut self.servers[place].used);
            budget.charge(now, Duration::from_nanos(view.clock().nanos(used)));
            budget.refresh(now);
            let out = !budget.eligible(now);
            if out {
                next = next.min(budget.next(now));
            }
            if used > Cycles(0) && self.running.is_some_and(|(running, _)| running == place) {
                self.running = Some((place, now));
            }
            if out != self.servers[place].out {
                self.servers[place].out = out;
                self.turn(place, out, view);
            }
        }
        next
    }

    /// Takes the server's threads out of the queues, or back in.
    #[inline(never)]
    fn turn(&mut self, server: usize, out: bool, view: &View<'_>) {
        for thread in (0..MAX_THREADS as u16).map(Thread) {
            let place = self.places[thread.index()];
            if usize::from(place.server) != server + 1 {
                continue;
            }
            view.set_urgency(thread, if out { Urgency::DISABLED } else { place.urgency });
            match (place.ready, out) {
                (true, true) => self.inner.thread_block(thread),
                (true, false) => self.inner.thread_wakeup(thread),
                (false, _) => {}
            }
        }
    }

    fn is_out(&self, thread: Thread) -> bool {
        self.server_of(thread).is_some_and(|server| self.servers[server].out)
    }
}

impl ThreadScheduler for Deferrable {
    fn thread_new(&mut self, thread: Thread, parameters: Parameters) -> Urgency {
        let urgency = self.inner.thread_new(thread, parameters);
        let server = parameters.server().min(SERVERS as u8);
        self.places[thread.index()] = Place { server, ready: false, urgency };
        if let Some(server) = self.server_of(thread) {
            if self.servers[server].supply.is_none() {
                let [budget, period] = self.default;
                self.set_server(server as u64 + 1, budget, period);
            }
        }
        if self.is_out(thread) {
            Urgency::DISABLED
        } else {
            urgency
        }
    }

    fn thread_remove(&mut self, thread: Thread) {
        self.inner.thread_remove(thread);
        self.places[thread.index()].server = 0;
    }

    #[inline(always)]
    fn time_elapsed(&mut self, thread: Thread, used: Cycles) {
        self.inner.time_elapsed(thread, used);
        if let Some(server) = self.server_of(thread) {
            let server = &mut self.servers[server];
            server.used = server.used.after(used);
        }
    }

    fn timer_tick(&mut self, ticks: u64) {
        self.inner.timer_tick(ticks);
    }

    fn schedule(&mut self, view: &View<'_>) -> Choice {
        let stamp = view.clock().now();
        let now = Instant::from_nanos(view.clock().nanos(stamp));
        let mut until = self.look(view, now);
        let thread = self.inner.first();
        let server = thread.and_then(|thread| self.server_of(thread));
        let since = match (server, self.running) {
            (Some(server), Some((running, since))) if running == server => since,
            _ => now,
        };
        self.running = server.map(|server| (server, since));
        if let Some(budget) = server.and_then(|server| self.servers[server].budget.as_ref()) {
            let left = budget.left(now).saturating_sub(now.since(since));
            until = until.min(now.saturating_add(left)).min(budget.next(now));
        }
        let until = match until {
            Instant::NEVER => Cycles::NEVER,
            until => stamp.after(view.clock().cycles(until.since(now).as_nanos())),
        };
        Choice { thread, until }
    }

    fn thread_block(&mut self, thread: Thread) {
        self.places[thread.index()].ready = false;
        if !self.is_out(thread) {
            self.inner.thread_block(thread);
        }
    }

    fn thread_wakeup(&mut self, thread: Thread) {
        self.places[thread.index()].ready = true;
        if !self.is_out(thread) {
            self.inner.thread_wakeup(thread);
        }
    }
}
