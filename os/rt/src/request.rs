//! Services by messages: a client asks and is answered, one request after another (`[[service]]` of the system file).
//!
//! ```ignore
//! static STORAGE: ServiceClient = ServiceClient::new("storage");              // in a client's job:
//! if let Some(length) = STORAGE.answer(job, &mut bytes)? { use_it(&bytes[..length]); }
//! STORAGE.ask(job, &request)?;
//!
//! static STORAGE: ServiceServer = ServiceServer::new("storage");              // in the server's job:
//! while let Some((asked, length)) = STORAGE.next(job, &mut bytes) { asked.answer(job, &serve(&bytes[..length]))?; }
//! ```
//!
//! Requests and answers go through [ports](crate::port): nobody waits for anybody, and neither side trusts the other one. The scheduler
//! is told of each, so that a run is held to what the check promised.

use crate::port::{PortError, QueuingDestination, QueuingSource};
use crate::{cards, clock, Job};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tactus_abi::port::{PortCard, ServicePort, DESTINATION, SOURCE};
use tactus_abi::shared::name_text;
use tactus_record::{RequestChoice, RequestEvent, RequestOrder, RequestRules};

/// By what no request is known.
const NOTHING: u64 = 0;

/// What a client keeps from one request to the next.
#[derive(Debug, Default)]
pub struct ClientState {
    /// What its outstanding request is known by; 0 if there is none.
    asked: AtomicU64,
    /// From which release on (ns) that counts as lost, or its answer is seen where answers are shaped.
    until: AtomicU64,
}

/// A client of a service: the tasks of a component that have one request outstanding together. The task that asks takes the answer.
#[derive(Debug)]
pub struct ServiceClient {
    name: &'static str,
    state: ClientState,
}

/// The component's ports of the service, of this direction, and what they are of it.
fn ports(name: &str, direction: u32) -> impl Iterator<Item = (&'static PortCard, ServicePort)> + '_ {
    let own = cards::ports().iter().filter(move |card| card.direction == direction && card.service != 0);
    let own = own.filter_map(|card| Some((card, ServicePort::of(card.service)?)));
    own.filter(move |(card, _)| name_text(&card.name).split(['?', '!']).next() == Some(name))
}

impl ServiceClient {
    /// A client of the service of this name.
    pub const fn new(name: &'static str) -> ServiceClient {
        ServiceClient { name, state: ClientState::new() }
    }

    /// Asks.
    ///
    /// # Errors
    /// [`PortError::Full`] as long as a request is outstanding and its time is not over; [`PortError::NoSuchPort`], [`PortError::TooLong`].
    pub fn ask(&self, job: &Job, request: &[u8]) -> Result<(), PortError> {
        self.state.ask(self.name, job, request)
    }

    /// Takes the answer: its length; nothing if there is none yet, or none was asked for. Where answers are shaped it is seen by the first
    /// job that is released when its time is over, and by none before.
    ///
    /// # Errors
    /// [`PortError::NoSuchPort`], [`PortError::TooLong`] if it is longer than the memory given; [`PortError::Unsettled`].
    pub fn answer(&self, job: &Job, answer: &mut [u8]) -> Result<Option<usize>, PortError> {
        self.state.answer(self.name, job, answer)
    }
}

/// A service by one interface, wherever it is served: by this component itself, or by another one that the system file names.
///
/// A component whose tasks are no clients of the service in the file has the function called, and no message is sent. One whose tasks are
/// asks by messages. The component's code is the same.
#[derive(Debug)]
pub struct ServiceStub {
    client: ServiceClient,
    serve: fn(&[u8], &mut [u8]) -> usize,
}

impl ServiceStub {
    /// The service of this name. `serve` gets a request and where the answer goes, and gives the answer's length.
    pub const fn new(name: &'static str, serve: fn(&[u8], &mut [u8]) -> usize) -> ServiceStub {
        ServiceStub { client: ServiceClient::new(name), serve }
    }

    /// Whether this component serves itself.
    pub fn is_local(&self) -> bool {
        // The channel of a client's requests.
        !ports(self.client.name, SOURCE).any(|(card, _)| name_text(&card.name).contains('?'))
    }

    /// Takes an answer, and asks if no request is outstanding. The answer's length; nothing if it has not come yet. Where another component
    /// serves, it answers what an earlier job asked; a component that serves itself answers this request.
    ///
    /// # Errors
    /// As [`ServiceClient::ask`] and [`ServiceClient::answer`], but that an outstanding request is none.
    pub fn call(&self, job: &Job, request: &[u8], answer: &mut [u8]) -> Result<Option<usize>, PortError> {
        if self.is_local() {
            return Ok(Some((self.serve)(request, answer)));
        }
        let answered = self.client.answer(job, answer)?;
        match self.client.ask(job, request) {
            Ok(()) | Err(PortError::Full) => Ok(answered),
            Err(error) => Err(error),
        }
    }
}

impl ClientState {
    /// Before the first request.
    pub const fn new() -> ClientState {
        ClientState { asked: AtomicU64::new(0), until: AtomicU64::new(0) }
    }

    /// As [`ServiceClient::ask`], of the service of this name.
    ///
    /// # Errors
    /// As there.
    pub fn ask(&self, name: &str, job: &Job, request: &[u8]) -> Result<(), PortError> {
        let (source, of) = ports(name, SOURCE).next().ok_or(PortError::NoSuchPort)?;
        let (answers, _) = ports(name, DESTINATION).next().ok_or(PortError::NoSuchPort)?;
        let (before, release) = (self.asked.load(Ordering::Relaxed), job.release().as_nanos());
        if before != 0 && release < self.until.load(Ordering::Relaxed) {
            return Err(PortError::Full);
        }
        // No two requests of a client are made in one nanosecond.
        let own = clock::now().as_nanos() | 1;
        self.asked.compare_exchange(before, own, Ordering::Acquire, Ordering::Relaxed).map_err(|_| PortError::Full)?;
        // An answer that came too late.
        QueuingDestination::of(answers).clear();
        if let Err(error) = QueuingSource::of(source).send_with(own, request) {
            self.asked.store(before, Ordering::Release);
            return Err(error);
        }
        self.until.store(release.saturating_add(answers.refresh), Ordering::Relaxed);
        job.signal(RequestEvent::Request(of.client.into()).event(), false);
        Ok(())
    }

    /// As [`ServiceClient::answer`], of the service of this name.
    ///
    /// # Errors
    /// As there.
    pub fn answer(&self, name: &str, job: &Job, answer: &mut [u8]) -> Result<Option<usize>, PortError> {
        let asked = self.asked.load(Ordering::Relaxed);
        let (port, of) = ports(name, DESTINATION).next().ok_or(PortError::NoSuchPort)?;
        let early = of.shaped && job.release().as_nanos() < self.until.load(Ordering::Relaxed);
        if asked == 0 || early {
            return Ok(None);
        }
        match QueuingDestination::of(port).receive_with(answer)? {
            Some((own, length)) if own == asked => {
                self.asked.store(0, Ordering::Release);
                Ok(Some(length))
            }
            // One to a request that counted as lost.
            _ => Ok(None),
        }
    }
}

/// What a server keeps from one request to the next.
#[derive(Debug, Default)]
pub struct ServerState {
    choice: RequestChoice,
    /// The job that serves, and one.
    job: AtomicU64,
    /// How many requests it has seen to.
    served: AtomicU32,
}

/// The server of a service.
#[derive(Debug)]
pub struct ServiceServer {
    name: &'static str,
    state: ServerState,
}

impl ServiceServer {
    /// The server of the service of this name.
    pub const fn new(name: &'static str) -> ServiceServer {
        ServiceServer { name, state: ServerState::new() }
    }

    /// The next request that this job is to serve, and its length; nothing if there is none, or it has served as many as it may. Each is to
    /// be answered before the next one.
    pub fn next(&self, job: &Job, request: &mut [u8]) -> Option<(Asked, usize)> {
        self.state.next(self.name, job, request)
    }
}

impl ServerState {
    /// Before the first request.
    pub const fn new() -> ServerState {
        ServerState { choice: RequestChoice::new(), job: AtomicU64::new(0), served: AtomicU32::new(0) }
    }

    /// As [`ServiceServer::next`], of the service of this name.
    pub fn next(&self, name: &str, job: &Job, request: &mut [u8]) -> Option<(Asked, usize)> {
        let (_, first) = ports(name, DESTINATION).next()?;
        let order = RequestOrder::from_u8(first.order)?;
        let rules = RequestRules { order, clients: first.clients.into(), requests: first.requests.into() };
        if self.job.swap(job.number() + 1, Ordering::Relaxed) != job.number() + 1 {
            self.served.store(0, Ordering::Relaxed);
        }
        loop {
            let served = self.served.load(Ordering::Relaxed);
            if served >= rules.requests {
                return None;
            }
            self.served.store(served + 1, Ordering::Relaxed);
            let mut waiting = 0_u32;
            let mut every = [1_u8; tactus_record::MAX_CLIENTS];
            for (card, of) in ports(name, DESTINATION) {
                let Some(every) = every.get_mut(usize::from(of.place)) else { continue };
                *every = of.every;
                waiting |= u32::from(QueuingDestination::of(card).waiting() > 0) << of.place;
            }
            let every = |client: usize| every[client].into();
            let Some(client) = self.choice.next(&rules, (job.number(), served), waiting, every) else {
                if !order.skips() {
                    self.served.store(rules.requests, Ordering::Relaxed);
                }
                continue;
            };
            let own = |(_, of): &(&PortCard, ServicePort)| usize::from(of.place) == client;
            let (asks, of) = ports(name, DESTINATION).find(own)?;
            let (answers, _) = ports(name, SOURCE).find(own)?;
            let asked = |id| Asked { answers, of, id };
            match QueuingDestination::of(asks).receive_with(request) {
                Ok(Some((id, length))) => return Some((asked(id), length)),
                // What makes no request is answered by nothing, and forgotten: its client may have signalled it.
                Err(PortError::Unsettled) => _ = asked(NOTHING).answer(job, &[]),
                _ => {}
            }
        }
    }
}

/// A request that is being served.
#[derive(Debug)]
#[must_use = "its client waits for the answer"]
pub struct Asked {
    answers: &'static PortCard,
    of: ServicePort,
    id: u64,
}

impl Asked {
    /// The client's place in the file's list of clients.
    pub fn client(&self) -> usize {
        self.of.place.into()
    }

    /// Answers.
    ///
    /// # Errors
    /// [`PortError::TooLong`], and nothing is sent; [`PortError::Full`] if the client has left an older answer where it was.
    pub fn answer(self, job: &Job, answer: &[u8]) -> Result<(), PortError> {
        let sent = QueuingSource::of(self.answers).send_with(self.id, answer);
        job.signal(RequestEvent::Answer(self.of.client.into()).event(), false);
        sent
    }
}
