//! A disk with its clients: who wants to run it says when time has come ([`Station::next`], [`Station::advance`]).
//!
//! Requests of a client come from a generator that repeats ([`Client::request`]), or, where the client is somebody's own
//! program, from outside ([`Station::ask`]). Whatever runs a station, the same requests get the same answers at the same
//! instants: the machine's component, the simulator, and the replay of what the machine was asked.

use crate::budget::Limit;
use crate::cache::Lost;
use crate::client::{Arrivals, Client};
use crate::drive::Drive;
use crate::gate::{Asked, Gate, Refusal};
use crate::request::Request;
use crate::scheduler::Full;
use crate::service::{Answer, Finished, Outcome, Service};
use alloc::vec::Vec;
use tactus_time::{Duration, Instant};

/// What happens at a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A request ended, well or not.
    Ended(Finished),
    /// The drive got a request.
    Dispatched(Request),
    /// The power of the drive went; what that ended and lost follows.
    PowerCut(Instant),
    /// The power went; this write had been answered and was in the drive's cache.
    Lost(Lost),
}

/// What a drive does wrong: for runs that are to show what becomes of it. Nothing by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Faults {
    /// One request in this number fails; 0: none.
    pub failed: u32,
    /// One in this number comes back shorter than it was asked for.
    pub short: u32,
    /// One in this number is never answered.
    pub silent: u32,
    /// Before one in this number the drive answers what nobody asked.
    pub unasked: u32,
    /// Time from one power cut to the next, on average; zero: none. Each instant is drawn from the seed.
    pub power_cuts: Duration,
}

/// The power is away for so long.
const POWERLESS: Duration = Duration::from_millis(50);
/// The longest queue of a station.
const MOST_WAITING: usize = 4_096;

/// A disk and its clients.
#[derive(Clone, Debug)]
pub struct Station {
    service: Service,
    drive: Drive,
    clients: Vec<Client>,
    rows: Vec<u32>,
    seed: u64,
    gate: Gate,
    /// Clients whose requests come from outside.
    external: Vec<bool>,
    /// When each client sends its next request, and its number.
    next: Vec<(Instant, u32)>,
    ends: Option<Instant>,
    refused: u64,
    faults: Faults,
    dispatched: u32,
    /// What becomes of the request at the drive, and whether the drive answers another one first.
    wrong: (Outcome, bool),
    unasked: u64,
    /// When the power goes next, and how often it went.
    cut: (Instant, u32),
    /// When the power comes back.
    powerless: Option<Instant>,
}

impl Station {
    /// At time zero, before any request. Each client has one row of the service's map for each of its places, in order.
    pub fn new(service: Service, drive: Drive, clients: Vec<Client>, seed: u64) -> Station {
        let mut row = 0;
        let first_row = |client: &Client| {
            row += client.places;
            row - client.places
        };
        let rows = clients.iter().map(first_row).collect();
        let first = |client: &Client| match client.arrivals {
            Arrivals::Periodic { offset, .. } => (Instant::ZERO.saturating_add(offset), 0),
            Arrivals::BestEffort { .. } => (Instant::ZERO, 0),
        };
        Station {
            next: clients.iter().map(first).collect(),
            gate: Gate::new(&clients),
            external: alloc::vec![false; clients.len()],
            service,
            drive,
            clients,
            rows,
            seed,
            ends: None,
            refused: 0,
            faults: Faults::default(),
            dispatched: 0,
            wrong: (Outcome::Done, false),
            unasked: 0,
            cut: (Instant::NEVER, 0),
            powerless: None,
        }
    }
    /// With a drive that does these things wrong.
    pub fn with_faults(mut self, faults: Faults) -> Station {
        self.faults = faults;
        self.cut.0 = self.next_cut(Instant::ZERO);
        self
    }
    /// The requests of this client come from outside.
    pub fn external(mut self, client: usize) -> Station {
        if let (Some(external), Some(next)) = (self.external.get_mut(client), self.next.get_mut(client)) {
            (*external, next.0) = (true, Instant::NEVER);
        }
        self
    }
    /// Limits a best-effort client.
    pub fn limited(mut self, client: usize, limit: Limit) -> Station {
        self.gate.limit(client as u32, limit);
        self
    }
    /// The service.
    pub fn service(&self) -> &Service {
        &self.service
    }
    /// The drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }
    /// The checks in front of the disk.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }
    /// How many requests found the queue full.
    pub fn refused(&self) -> u64 {
        self.refused
    }
    /// How often the drive answered what nobody asked.
    pub fn unasked(&self) -> u64 {
        self.unasked
    }
    /// When something happens next.
    pub fn next(&self) -> Instant {
        let arrival = self.next.iter().map(|next| next.0).min().unwrap_or(Instant::NEVER);
        let power = self.powerless.unwrap_or(self.cut.0);
        self.ends.unwrap_or(Instant::NEVER).min(arrival).min(power)
    }

    /// Room for all requests that wait while every deadline is kept, and as many more as to see by how much they are not.
    pub fn room(clients: &[Client]) -> usize {
        let waiting = |client: &Client| match client.arrivals {
            Arrivals::Periodic { period, deadline, .. } => deadline.as_nanos() / period.as_nanos().max(1) + 2,
            Arrivals::BestEffort { outstanding } => u64::from(outstanding),
        };
        let all: u64 = clients.iter().map(waiting).sum();
        usize::try_from(all).map_or(MOST_WAITING, |all| (4 * all).min(MOST_WAITING))
    }

    /// A request that finds the queue full is never served.
    fn send(&mut self, client: usize, now: Instant) {
        let number = self.next[client].1;
        let request = self.clients[client].request(self.seed, client as u32, self.rows[client], number, now);
        self.next[client].1 += 1;
        self.refused += u64::from(self.service.submit(request).is_err());
    }

    /// A best-effort client sends as many requests as may be outstanding and its budget has room for.
    fn fill(&mut self, client: usize, now: Instant) {
        self.next[client].0 = loop {
            match self.gate.admit(now, client as u32) {
                Ok(()) => self.send(client, now),
                Err(Refusal::Budget(again)) => break again,
                // Until one ends.
                Err(_) => break Instant::NEVER,
            }
        }
    }
    /// Whether the gate has let this client's requests in.
    fn is_counted(&self, client: usize) -> bool {
        let best_effort = |it: &Client| matches!(it.arrivals, Arrivals::BestEffort { .. });
        self.external.get(client).copied().unwrap_or(false) || self.clients.get(client).is_some_and(best_effort)
    }

    /// A client's request from outside, where everything before `now` is done ([`Station::next`] is later). It is dispatched by
    /// [`Station::start`] at the earliest.
    ///
    /// # Errors
    /// Where it is not as the file says, or there is no room.
    pub fn ask(&mut self, now: Instant, client: usize, asked: &Asked) -> Result<Request, Refusal> {
        if !self.external.get(client).copied().unwrap_or(false) {
            return Err(Refusal::NoClient);
        }
        // The queue has room for what the check admits; a client that asks later than its last deadline may find it full.
        let full = Refusal::Outstanding(self.gate.outstanding(client as u32));
        if !self.service.has_room() {
            self.refused += 1;
            return Err(full);
        }
        let request = self.gate.ask(now, client as u32, asked)?;
        self.service.submit(request).map_err(|Full| full)?;
        Ok(request)
    }
    /// Takes a request out that waits, as its client wishes; nothing if it does not wait.
    pub fn cancel(&mut self, now: Instant, client: usize, number: u32) -> Option<Finished> {
        let finished = self.service.cancel(now, Request::name(client as u32, number))?;
        self.gate.ended(&finished);
        Some(finished)
    }
    /// The drive gets its next request, if it has none.
    pub fn start(&mut self, now: Instant) -> Option<Request> {
        if self.powerless.is_some() {
            return None;
        }
        let request = self.service.dispatch(now)?;
        self.wrong = self.what_goes_wrong();
        self.dispatched = self.dispatched.wrapping_add(1);
        self.ends = match self.wrong.0 {
            Outcome::Silent => self.service.gives_up(),
            _ => Some(self.drive.serve(now, &request).end),
        };
        Some(request)
    }

    fn what_goes_wrong(&self) -> (Outcome, bool) {
        let Faults { failed, short, silent, unasked, .. } = self.faults;
        // The last of each number of requests, so that the first ones are well.
        let meets = |one_in: u32| one_in > 0 && self.dispatched % one_in == one_in - 1;
        let outcome = match (meets(silent), meets(failed), meets(short)) {
            (true, ..) => Outcome::Silent,
            (_, true, _) => Outcome::Failed,
            (.., true) => Outcome::Short,
            _ => Outcome::Done,
        };
        (outcome, meets(unasked))
    }

    fn next_cut(&self, from: Instant) -> Instant {
        if self.faults.power_cuts.is_zero() {
            return Instant::NEVER;
        }
        let most = 2 * self.faults.power_cuts.as_nanos();
        from.saturating_add(Duration::from_nanos(1 + self.draw() % most))
    }
    /// A number of this power cut's own.
    fn draw(&self) -> u64 {
        let any = Client { places: u32::MAX, ..NOBODY };
        u64::from(any.place(self.seed, u32::MAX, 2 * self.cut.1)) << 31
            ^ u64::from(any.place(self.seed, u32::MAX, 2 * self.cut.1 + 1))
    }

    /// Does what happens at [`Station::next`]: a completion first, then the power, then requests in the order of the clients, then
    /// the drive gets its next request.
    pub fn advance(&mut self, tell: &mut impl FnMut(Event)) {
        let now = self.next();
        if self.ends == Some(now) {
            self.ends = None;
            self.end(now, tell);
        }
        if self.powerless == Some(now) {
            self.powerless = None;
            self.cut.0 = self.next_cut(now);
        } else if self.powerless.is_none() && self.cut.0 == now {
            self.lose(now, tell);
        }
        for client in 0..self.clients.len() {
            if self.next[client].0 > now {
                continue;
            }
            match self.clients[client].arrivals {
                Arrivals::Periodic { period, .. } => {
                    self.next[client].0 = now.saturating_add(period);
                    self.send(client, now);
                }
                Arrivals::BestEffort { .. } => self.fill(client, now),
            }
        }
        if let Some(request) = self.start(now) {
            tell(Event::Dispatched(request));
        }
    }

    /// The drive answers, or is given up.
    fn end(&mut self, now: Instant, tell: &mut impl FnMut(Event)) {
        let (outcome, unasked) = self.wrong;
        let Some(request) = self.service.under_way() else { return };
        if unasked {
            let nobodys = Answer { id: !request.id, blocks: request.blocks, failed: false };
            self.unasked += u64::from(self.service.answer(now, &nobodys).is_err());
        }
        let blocks = if outcome == Outcome::Short { request.blocks / 2 } else { request.blocks };
        let answer = Answer { id: request.id, blocks, failed: outcome == Outcome::Failed };
        let finished = match outcome {
            Outcome::Silent => self.service.give_up(now),
            _ => self.service.answer(now, &answer).ok(),
        };
        if let Some(finished) = finished {
            if request.is_flush() && finished.outcome == Outcome::Done {
                self.drive.flushed();
            }
            self.ended(&finished, now, tell);
        }
    }

    fn ended(&mut self, finished: &Finished, now: Instant, tell: &mut impl FnMut(Event)) {
        let client = finished.request.client() as usize;
        if self.is_counted(client) {
            self.gate.ended(finished);
            if !self.external[client] {
                self.fill(client, now);
            }
        }
        tell(Event::Ended(*finished));
    }

    /// The power goes: nothing that waits is served, and of the cache any part is on the platter.
    fn lose(&mut self, now: Instant, tell: &mut impl FnMut(Event)) {
        self.ends = None;
        let seed = self.draw();
        tell(Event::PowerCut(now));
        while let Some(finished) = self.service.lose(now).or_else(|| self.service.lose_waiting(now)) {
            if self.is_counted(finished.request.client() as usize) {
                self.gate.ended(&finished);
            }
            tell(Event::Ended(finished));
        }
        self.drive.power_cut_with(seed, &mut |lost| tell(Event::Lost(lost)));
        for client in 0..self.clients.len() {
            if let (Arrivals::BestEffort { .. }, false) = (self.clients[client].arrivals, self.external[client]) {
                self.next[client].0 = now.saturating_add(POWERLESS);
            }
        }
        self.cut.1 += 1;
        self.powerless = Some(now.saturating_add(POWERLESS));
    }

    /// Whether the drive will not answer what it was dispatched last, as if it had not got it.
    pub fn is_silent(&self) -> bool {
        self.wrong.0 == Outcome::Silent
    }
    /// How often the power went.
    pub fn cuts(&self) -> u32 {
        self.cut.1
    }
    /// When the power comes back; nothing where it is there.
    pub fn powerless(&self) -> Option<Instant> {
        self.powerless
    }
}

/// Whose places are numbers only.
const NOBODY: Client = Client {
    arrivals: Arrivals::BestEffort { outstanding: 1 },
    first: 0,
    extent: 0,
    places: 1,
    blocks: 1,
    write: false,
};
