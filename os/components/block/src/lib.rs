//! The block service on the machine: a disk with its clients, moved on by the jobs of a component.
//!
//! A real drive answers in its own time, an emulated one in the host's, so that no run could be repeated. Here a model
//! says when each request ends. Every job does what the disk has to do up to now, each thing at its own instant, and then
//! looks what its clients want: which request goes next is decided by the code that the host runs, and each answer is handed over
//! at the instant that the model says or at the first look after it. So what a job does late is told late, not changed.
//!
//! What the disk is, and who may ask it what, is told by the image ([`tactus_disk::DiskSetup`]), from the system file.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod cached;
mod lines;
mod port;

pub use port::Port;

use alloc::vec::Vec;
use cached::WriteCache;
use port::{Client, Taken};
use tactus_disk::{Asked, DiskSetup, Event, Finished, Lost, Outcome, Request, Station};
use tactus_time::Instant;

/// The platter: what holds the disk's bytes. It has a request from the instant at which it is dispatched to that at which the model
/// says that it ends: the answer is shaped.
pub trait Medium {
    /// A read, or a write of what `fill` puts, is dispatched; no other is under way.
    fn begin(&mut self, request: &Request, fill: &mut dyn FnMut(&mut [u8]));
    /// The request that was dispatched last ends; `look` gets what was read or written.
    fn end(&mut self, request: &Request, look: &mut dyn FnMut(&[u8]));
}

/// No bytes: time alone.
impl Medium for () {
    fn begin(&mut self, _: &Request, _: &mut dyn FnMut(&mut [u8])) {}
    fn end(&mut self, _: &Request, _: &mut dyn FnMut(&[u8])) {}
}

/// How many requests of a client a job looks at.
const LOOKS: usize = 16;

/// A disk.
#[derive(Debug)]
pub struct Disk<P, M> {
    number: u32,
    station: Station,
    clients: Vec<Option<Client<P>>>,
    cache: WriteCache,
    platter: M,
    /// Bytes of the longest write, for what is read only to be written again.
    scratch: Vec<u8>,
    /// The request at the platter.
    begun: Option<Request>,
}

impl<P: Port, M: Medium> Disk<P, M> {
    /// The disk at time zero; nothing where its drive cannot be. `port` opens the buffer with this number of the system file.
    pub fn new(setup: &DiskSetup, platter: M, mut port: impl FnMut(u32) -> P) -> Option<Disk<P, M>> {
        let writers = setup.clients.iter().filter(|it| it.client.write);
        let longest = writers.map(|it| it.client.blocks).max().unwrap_or(0) as usize * 512;
        let cached = setup.write_cache as usize;
        Some(Disk {
            number: setup.number,
            station: setup.station(true)?,
            clients: setup.clients.iter().map(|it| it.buffer.map(|number| Client::new(port(number)))).collect(),
            cache: WriteCache::new(cached, longest),
            platter,
            scratch: alloc::vec![0; if cached > 0 { longest } else { 0 }],
            begun: None,
        })
    }
    /// The disk's state.
    pub fn station(&self) -> &Station {
        &self.station
    }
    /// The platter.
    pub fn platter(&mut self) -> &mut M {
        &mut self.platter
    }
    /// The buffer of a client; nothing where its requests are the disk's own.
    pub fn port(&mut self, client: usize) -> Option<&mut P> {
        self.clients.get_mut(client)?.as_mut().map(Client::port)
    }

    /// Does what is due: all that happens up to `now`, `most` things at most, and then what clients ask. Each request that ended, and
    /// each that was asked, is handed to `put` as a line.
    pub fn work(&mut self, now: Instant, most: u32, put: &mut impl FnMut(&str)) {
        for _ in 0..most {
            if self.station.next() > now {
                self.look(now, put);
                return;
            }
            self.advance(put);
        }
    }

    fn advance(&mut self, put: &mut impl FnMut(&str)) {
        let Disk { number, station, clients, cache, platter, scratch, begun } = self;
        let mut rest = Rest { clients, cache, platter, scratch, begun };
        // What is dispatched is looked at when the station may be asked again.
        let mut dispatched = None;
        let (withdrawn, cuts) = (station.service().withdrawn().is_some(), station.cuts());
        station.advance(&mut |event| match event {
            Event::Ended(finished) => {
                lines::ended(*number, &finished, put);
                rest.ended(&finished, withdrawn || finished.is_over());
            }
            Event::PowerCut(at) => lines::power_cut(*number, at, put),
            Event::Lost(lost) => rest.lost(&lost),
            Event::Dispatched(request) => dispatched = Some(request),
        });
        if station.cuts() != cuts {
            clients.iter_mut().flatten().for_each(Client::power_lost);
        }
        if let Some(request) = dispatched {
            self.dispatched(&request);
        }
    }

    fn dispatched(&mut self, request: &Request) {
        let dirty = self.station.drive().dirty();
        let reached = !self.station.is_silent();
        let Disk { clients, cache, platter, scratch, begun, .. } = self;
        let mut rest = Rest { clients, cache, platter, scratch, begun };
        if reached {
            rest.begin(request, dirty);
        }
    }

    /// What clients ask, in their order; then the drive gets a request if it has none.
    fn look(&mut self, now: Instant, put: &mut impl FnMut(&str)) {
        for n in 0..self.clients.len() {
            for _ in 0..LOOKS {
                let Some(client) = &mut self.clients[n] else { break };
                match client.take(now) {
                    None => break,
                    Some(Taken::Nothing) => {}
                    // Where each write goes to the platter, nothing is left to be flushed.
                    Some(Taken::Ask(wanted)) if wanted.blocks == 0 && !self.station.service().has_write_cache() => {
                        client.flushed(now, wanted.request.tag);
                    }
                    Some(Taken::Ask(wanted)) => {
                        let asked = Asked { place: wanted.place, blocks: wanted.blocks, write: wanted.write };
                        match self.station.ask(now, n, &asked) {
                            Ok(request) => {
                                client.let_in(&wanted, &request);
                                lines::asked(self.number, &request, wanted.place.into(), put);
                            }
                            Err(why) => client.refused(now, wanted.request.tag, &why),
                        }
                    }
                    Some(Taken::Cancel { number, tag }) => {
                        let finished = self.station.cancel(now, n, number);
                        client.cancelled(now, tag, finished.is_some());
                        if let Some(finished) = finished {
                            client.ended(&finished, false);
                            lines::cancelled(self.number, &finished, put);
                            lines::ended(self.number, &finished, put);
                        }
                    }
                }
            }
        }
        if let Some(request) = self.station.start(now) {
            self.dispatched(&request);
        }
    }
}

/// The disk but for its station.
struct Rest<'a, P, M> {
    clients: &'a mut Vec<Option<Client<P>>>,
    cache: &'a mut WriteCache,
    platter: &'a mut M,
    scratch: &'a mut Vec<u8>,
    begun: &'a mut Option<Request>,
}

impl<P: Port, M: Medium> Rest<'_, P, M> {
    fn client<'c>(clients: &'c mut [Option<Client<P>>], request: &Request) -> Option<&'c mut Client<P>> {
        clients.get_mut(request.client() as usize)?.as_mut()
    }

    /// The drive has got a request, after which `dirty` writes are in its cache.
    fn begin(&mut self, request: &Request, dirty: usize) {
        if request.is_flush() || !request.write && self.cache.find(request).is_some() {
            return;
        }
        let cached = request.write && dirty > 0;
        if cached {
            // Where the cache was full, its oldest goes to the platter.
            while self.cache.len() + 1 > dirty {
                self.destage();
            }
        }
        let clients = &mut *self.clients;
        let mut fill = |bytes: &mut [u8]| match Self::client(clients, request) {
            Some(client) if request.write => client.load(request, bytes),
            _ => {}
        };
        if cached {
            self.cache.push(request, fill);
        } else {
            self.platter.begin(request, &mut fill);
            *self.begun = Some(*request);
        }
    }

    /// The oldest of the cache goes to the platter.
    fn destage(&mut self) {
        if let Some((request, kept)) = self.cache.pop() {
            self.platter.begin(&request, &mut |bytes| bytes.copy_from_slice(kept));
            self.platter.end(&request, &mut |_| ());
        }
    }

    fn ended(&mut self, it: &Finished, withdrawn: bool) {
        let request = &it.request;
        let clients = &mut *self.clients;
        let mut hand = |bytes: &[u8]| match Self::client(clients, request) {
            Some(client) if !request.write && it.outcome == Outcome::Done => client.store(request, bytes),
            _ => {}
        };
        if self.begun.is_some_and(|begun| begun.id == request.id) {
            *self.begun = None;
            self.platter.end(request, &mut hand);
        } else if let (false, Some(bytes)) = (request.write, self.cache.find(request)) {
            hand(bytes);
        }
        if request.is_flush() && it.outcome == Outcome::Done {
            while self.cache.len() > 0 {
                self.destage();
            }
        }
        if let Some(client) = Self::client(self.clients, request) {
            client.ended(it, withdrawn);
        }
    }

    /// The power has gone: what is on the platter of a write that was in the cache, the oldest first.
    fn lost(&mut self, lost: &Lost) {
        let (Lost::Nothing(request) | Lost::All(request) | Lost::Torn(request, _)) = lost;
        let whole = match lost {
            Lost::Nothing(_) => request.blocks as usize * 512,
            Lost::All(_) => 0,
            // The sector that is torn is new in its first half.
            Lost::Torn(_, sectors) => *sectors as usize * 512 + 256,
        };
        // Old bytes stay behind the new ones.
        let scratch = &mut self.scratch[..request.blocks as usize * 512];
        self.platter.begin(&Request { write: false, ..*request }, &mut |_| ());
        self.platter.end(&Request { write: false, ..*request }, &mut |bytes| scratch.copy_from_slice(bytes));
        if let Some((kept, bytes)) = self.cache.pop() {
            debug_assert_eq!(kept.id, request.id);
            scratch[..whole].copy_from_slice(&bytes[..whole]);
        }
        self.platter.begin(request, &mut |bytes| bytes.copy_from_slice(scratch));
        self.platter.end(request, &mut |_| ());
    }
}
