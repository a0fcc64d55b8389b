//! What a client may ask: each request is held against the extent and the rate that the system file gave it.
//!
//! Nothing that a client passes in is believed. A request that passes is one that the check has counted on: at a place of the
//! client's own, of its length, no sooner after the one before than its period.

use crate::budget::{Account, Exhausted, Limit};
use crate::client::{Arrivals, Client};
use crate::request::Request;
use crate::service::Finished;
use alloc::vec::Vec;
use core::fmt;
use tactus_time::Instant;

/// A request as a client puts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Which place of its extent, counted from 0.
    pub place: u32,
    /// How many blocks.
    pub blocks: u32,
    /// Whether it writes. A write of no blocks is a flush.
    pub write: bool,
}

/// Why a request is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No client of this disk.
    NoClient,
    /// A place beyond its extent, which has this number of them.
    Place(u32),
    /// Another length than the check counted on, which is this.
    Length(u32),
    /// A write where it was given reads only.
    Direction,
    /// Sooner than its period allows: not before this instant.
    Early(Instant),
    /// As many are outstanding as it may have, or as its budget has room for.
    Outstanding(u32),
    /// The drive has been busy for it as long as it may; not before this instant.
    Budget(Instant),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoClient => write!(f, "the disk has no such client; name it in a [[disk.client]]"),
            Refusal::Place(places) => write!(f, "the extent has {places} places, counted from 0; ask for one of them"),
            Refusal::Length(blocks) => write!(f, "requests of this client have {blocks} blocks; write its size"),
            Refusal::Direction => write!(f, "the client was given reads only; set write in the file"),
            Refusal::Early(at) => write!(f, "its period is not over; ask again at {at}, or shorten the period"),
            Refusal::Outstanding(most) => write!(f, "{most} requests are outstanding; wait for one to end"),
            Refusal::Budget(at) => write!(f, "its budget is used up; ask again at {at}, or raise the budget"),
        }
    }
}

/// Where a client stands.
#[derive(Clone, Copy, Debug)]
struct State {
    client: Client,
    /// First row of the map.
    rows: u32,
    /// Number of its next request.
    number: u32,
    /// When its next request may come.
    next: Instant,
    outstanding: u32,
    /// Of a best-effort client with a budget.
    account: Option<Account>,
}

/// The checks in front of a disk.
#[derive(Clone, Debug)]
pub struct Gate {
    clients: Vec<State>,
    refused: u64,
}

impl Gate {
    /// Clients in the order of the file.
    pub fn new(clients: &[Client]) -> Gate {
        let mut rows = 0;
        let state = |client: &Client| {
            rows += client.places;
            let first = rows - client.places;
            State { client: *client, rows: first, number: 0, next: Instant::ZERO, outstanding: 0, account: None }
        };
        Gate { clients: clients.iter().map(state).collect(), refused: 0 }
    }
    /// Limits how long the drive is busy for a best-effort client.
    pub fn limit(&mut self, client: u32, limit: Limit) {
        if let Some(state) = self.clients.get_mut(client as usize) {
            state.account = Some(Account::new(limit));
        }
    }
    /// How many requests of a client are outstanding.
    pub fn outstanding(&self, client: u32) -> u32 {
        self.clients.get(client as usize).map_or(0, |state| state.outstanding)
    }
    /// How many requests were refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Lets a request in, or says why not. A refused one changes nothing.
    ///
    /// # Errors
    /// Where it is not as the file says.
    pub fn ask(&mut self, now: Instant, client: u32, asked: &Asked) -> Result<Request, Refusal> {
        let told = self.look(now, client, asked);
        self.refused += u64::from(told.is_err());
        told
    }

    fn look(&mut self, now: Instant, client: u32, asked: &Asked) -> Result<Request, Refusal> {
        let state = self.clients.get_mut(client as usize).ok_or(Refusal::NoClient)?;
        let own = state.client;
        if asked.place >= own.places {
            return Err(Refusal::Place(own.places));
        }
        let flush = asked.write && asked.blocks == 0;
        if asked.blocks != own.blocks && !flush {
            return Err(Refusal::Length(own.blocks));
        }
        if asked.write && !own.write {
            return Err(Refusal::Direction);
        }
        let deadline = match own.arrivals {
            Arrivals::Periodic { period, deadline, .. } => {
                if now < state.next {
                    return Err(Refusal::Early(state.next));
                }
                state.next = now.saturating_add(period);
                now.saturating_add(deadline)
            }
            Arrivals::BestEffort { .. } => {
                state.admit(now)?;
                Instant::NEVER
            }
        };
        let id = Request::name(client, state.number);
        state.number = state.number.wrapping_add(1);
        state.outstanding += 1;
        let (granule, block) = (state.rows + asked.place, own.block(asked.place));
        Ok(Request { id, granule, block, blocks: asked.blocks, write: asked.write, arrival: now, deadline })
    }

    /// Lets in a request of a best-effort client that the disk makes itself, or says why not.
    pub(crate) fn admit(&mut self, now: Instant, client: u32) -> Result<(), Refusal> {
        let state = self.clients.get_mut(client as usize).ok_or(Refusal::NoClient)?;
        state.admit(now)?;
        state.outstanding += 1;
        Ok(())
    }

    /// A request ended, however.
    pub fn ended(&mut self, it: &Finished) {
        if let Some(state) = self.clients.get_mut(it.request.client() as usize) {
            state.outstanding = state.outstanding.saturating_sub(1);
            if let Some(account) = &mut state.account {
                account.ended(it.ended, it.ended.since(it.started));
            }
        }
    }
}

impl State {
    /// Whether a best-effort client may have one more request.
    fn admit(&self, now: Instant) -> Result<(), Refusal> {
        match self.client.arrivals {
            Arrivals::BestEffort { outstanding } if self.outstanding >= outstanding => {
                Err(Refusal::Outstanding(outstanding))
            }
            _ => self.account.map_or(Ok(()), |account| account.admit(now, self.outstanding)).map_err(|why| match why {
                Exhausted::Until(again) => Refusal::Budget(again),
                Exhausted::Outstanding => Refusal::Outstanding(self.outstanding),
            }),
        }
    }
}
