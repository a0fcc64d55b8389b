//! The block service as its clients see it: reads and writes of a disk's extent, through a buffer that client and service share.
//!
//! The system file gives a client its extent and its buffer (`[[disk.client]]`): a page of requests, a page of answers, and the
//! data. The client puts a request ([`DiskClient::submit`]) and goes on; the service looks in its own time, and the answer is there
//! some time later ([`DiskClient::answer`]). [`DiskClient::call`] waits for it. Nobody is called: what a client puts into its buffer is
//! checked before anything follows from it, and a client that spoils its buffer is not heard any more.

use crate::channel::{ChannelError, Message, Receiver, Sender, SharedData};
use core::fmt;
use tactus_time::Instant;

/// The page of requests, that of answers, and the first of the data.
pub const PAGES: [u64; 3] = [0, 1, 2];

/// What is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A place is read into the data.
    Read,
    /// A place is written from the data.
    Write,
    /// All that was answered of this client's writes, and of others', is to be on the platter.
    Flush,
    /// The request with this tag is not wanted any more. It ends as [`Status::Cancelled`] if the drive has not got it yet.
    Cancel,
}

impl Operation {
    const ALL: [Operation; 4] = [Operation::Read, Operation::Write, Operation::Flush, Operation::Cancel];
}

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskRequest {
    /// What is wanted.
    pub operation: Operation,
    /// The client's own name for it, which comes back with the answer.
    pub tag: u64,
    /// Which place of the extent, counted from 0.
    pub place: u64,
    /// How many blocks of 512 bytes: as the system file says.
    pub blocks: u64,
    /// Where its bytes are in the data: a multiple of 8.
    pub at: u64,
}

impl DiskRequest {
    /// As words of a message.
    pub fn message(&self) -> Message {
        [self.operation as u64, self.tag, self.place, self.blocks, self.at, 0, 0, 0]
    }
    /// From words of a message; without an operation that there is, the tag.
    ///
    /// # Errors
    /// The tag.
    pub fn read([operation, tag, place, blocks, at, ..]: &Message) -> Result<DiskRequest, u64> {
        let found = usize::try_from(*operation).ok().and_then(|n| Operation::ALL.get(n));
        let operation = *found.ok_or(*tag)?;
        Ok(DiskRequest { operation, tag: *tag, place: *place, blocks: *blocks, at: *at })
    }
}

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It is done.
    Done,
    /// The drive says that it could not do it.
    Failed,
    /// The drive did another length.
    Short,
    /// The drive did not answer in time.
    Silent,
    /// The power of the drive went: what was not flushed may be lost.
    PowerLost,
    /// As its client wished.
    Cancelled,
    /// No such operation.
    Unknown,
    /// The extent has not so many places.
    Place,
    /// Requests of this client have another length.
    Length,
    /// The client may only read.
    ReadOnly,
    /// The data has no such bytes.
    Data,
    /// Its period is not over; not before [`DiskAnswer::again`].
    Early,
    /// As many are outstanding as may be.
    Outstanding,
    /// Its budget is used up; not before [`DiskAnswer::again`].
    Budget,
    /// What was to be cancelled does not wait.
    NotWaiting,
}

impl Status {
    /// All of them, in the order of their numbers.
    pub const ALL: [Status; 15] = [
        Status::Done,
        Status::Failed,
        Status::Short,
        Status::Silent,
        Status::PowerLost,
        Status::Cancelled,
        Status::Unknown,
        Status::Place,
        Status::Length,
        Status::ReadOnly,
        Status::Data,
        Status::Early,
        Status::Outstanding,
        Status::Budget,
        Status::NotWaiting,
    ];
    /// Whether it was never a request to the drive.
    pub const fn is_refusal(self) -> bool {
        self as u64 > Status::Cancelled as u64
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Done => "it is done",
            Status::Failed => "the drive could not do it; write the place anew, or read a copy",
            Status::Short => "the drive did another length than was asked for; ask again",
            Status::Silent => "the drive did not answer in time and was reset; ask again",
            Status::PowerLost => "the power of the drive went; read what is there",
            Status::Cancelled => "it was cancelled",
            Status::Unknown => "no such operation; use those of Operation",
            Status::Place => "the extent has not so many places; look at places in the file",
            Status::Length => "requests of this client have another length; use size of the file",
            Status::ReadOnly => "the client may only read; set write in the file",
            Status::Data => "the buffer has no such data; make it longer, or begin at a multiple of 8",
            Status::Early => "the client's period is not over; ask again then, or shorten the period in the file",
            Status::Outstanding => "as many requests are outstanding as may be; wait for one to end",
            Status::Budget => "the client's budget is used up; ask again then, or raise the budget in the file",
            Status::NotWaiting => "what was to be cancelled does not wait: it has ended, or the drive has it",
        })
    }
}

/// An answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DiskAnswer {
    /// The client's name for the request.
    pub tag: u64,
    /// What became of it.
    pub status: Status,
    /// When it came, as the service has it.
    pub arrived: Instant,
    /// When it ended.
    pub ended: Instant,
    /// When the client may ask again, where it was too soon.
    pub again: Instant,
    /// The drive has not kept to its map, so that deadlines are no longer promised.
    pub withdrawn: bool,
}

impl DiskAnswer {
    /// As words of a message.
    pub fn message(&self) -> Message {
        let [arrived, ended, again] = [self.arrived, self.ended, self.again].map(Instant::as_nanos);
        [self.tag, self.status as u64, arrived, ended, again, self.withdrawn.into(), 0, 0]
    }
    /// From words of a message; nothing where they are none.
    pub fn read([tag, status, arrived, ended, again, withdrawn, ..]: &Message) -> Option<DiskAnswer> {
        let [arrived, ended, again] = [*arrived, *ended, *again].map(Instant::from_nanos);
        let status = *Status::ALL.get(usize::try_from(*status).ok()?)?;
        Some(DiskAnswer { tag: *tag, status, arrived, ended, again, withdrawn: *withdrawn != 0 })
    }
}

/// A client. One thread at a time uses it. Needs the memory manager's service `attach` under that name.
#[derive(Default)]
pub struct DiskClient {
    requests: Sender,
    answers: Receiver,
    data: SharedData,
}

impl DiskClient {
    /// Not open yet.
    pub const fn new() -> DiskClient {
        DiskClient { requests: Sender::new(), answers: Receiver::new(), data: SharedData::new() }
    }

    /// Opens the buffer with this name.
    ///
    /// # Errors
    /// As [`Sender::open`].
    pub fn open(&self, buffer: &str) -> Result<(), ChannelError> {
        self.requests.open_page(buffer, PAGES[0])?;
        self.answers.open_page(buffer, PAGES[1])?;
        self.data.open(buffer, PAGES[2])
    }
    /// Where the bytes of requests are.
    pub fn data(&self) -> &SharedData {
        &self.data
    }
    /// Puts a request. Its bytes stay as they are until it is answered.
    ///
    /// # Errors
    /// As [`Sender::send`]; [`ChannelError::Full`] where the service has not taken the last ones yet.
    pub fn submit(&self, request: &DiskRequest) -> Result<(), ChannelError> {
        self.requests.send(&request.message()).map(|_| ())
    }
    /// The next answer, if there is one.
    ///
    /// # Errors
    /// As [`Receiver::receive`].
    pub fn answer(&self) -> Result<Option<DiskAnswer>, ChannelError> {
        Ok(self.answers.receive()?.as_ref().and_then(DiskAnswer::read))
    }
    /// Puts a request and waits for its answer: `pause` passes some time, as [`crate::Job::wait`] does. For one request at a time.
    ///
    /// # Errors
    /// As [`DiskClient::submit`] and [`DiskClient::answer`].
    pub fn call(&self, request: &DiskRequest, mut pause: impl FnMut()) -> Result<DiskAnswer, ChannelError> {
        self.submit(request)?;
        loop {
            match self.answer()? {
                Some(answer) if answer.tag == request.tag => return Ok(answer),
                Some(_) => {}
                None => pause(),
            }
        }
    }
}
