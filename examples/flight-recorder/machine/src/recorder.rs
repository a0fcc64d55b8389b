//! The flight recorder on the machine: its log is on a disk that the block service gives it, and the power of that disk goes at
//! instants that nobody knows. Each time the log is opened anew from what is on the platter, and everything that was acknowledged is
//! looked for. If anything is missing, the component gives up, and the verdict says so.
//!
//! The log waits for the disk as asynchronous code does; each job goes on with it as far as answers have come.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::boxed::Box;
use alloc::vec;
use core::fmt::Write;
use core::future::{poll_fn, Future};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use tactus_flight_recorder::{Page, PagesError, Recorder, RecorderError, Store, StoreError, LONGEST, SLOT};
use tactus_rt::disk::{DiskAnswer, DiskClient, DiskRequest, Operation, Status};
use tactus_rt::{now, Job, Screen};
use tactus_sync::{Lock, Order, Rank};

tactus_rt::component! { job: go_on, services: [] }

/// Pages of the log: the extent has two places for each.
const PAGES: usize = 4;

static DISK: DiskClient = DiskClient::new();

/// The component has one task, so that nobody ever waits for its state.
struct Only;

impl Rank for Only {
    const NUMBER: u32 = 1;
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

static WORK: Lock<Option<Work>, Only> = Lock::new(None);

fn go_on(_: &Job) {
    let mut order = Order::unlocked();
    let mut work = WORK.lock(&mut order);
    match &mut *work {
        Some(work) => assert!(work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending()),
        None => {
            if DISK.open("recorder").is_ok() {
                *work = Some(Box::pin(record()));
            }
        }
    }
}

/// Slots are places of the client's extent; all bytes go through the beginning of its buffer.
struct OnDisk {
    tag: u64,
}

impl OnDisk {
    /// Puts a request, again if it was too soon, and waits for its answer.
    async fn ask(&mut self, operation: Operation, slot: u32) -> Result<(), StoreError> {
        let blocks = if operation == Operation::Flush { 0 } else { (SLOT / 512) as u64 };
        loop {
            self.tag += 1;
            let request = DiskRequest { operation, tag: self.tag, place: slot.into(), blocks, at: 0 };
            DISK.submit(&request).map_err(|_| StoreError::Refused)?;
            let answer = poll_fn(|_| answered(self.tag)).await;
            match answer.status {
                Status::Done => return Ok(()),
                Status::PowerLost => return Err(StoreError::PowerLost),
                Status::Early => poll_fn(|_| if now() < answer.again { Poll::Pending } else { Poll::Ready(()) }).await,
                status if status.is_refusal() => panic!("{status}"),
                // A drive that fails now may do it the next time.
                _ => {}
            }
        }
    }
}

fn answered(tag: u64) -> Poll<DiskAnswer> {
    match DISK.answer() {
        Ok(Some(answer)) if answer.tag == tag => Poll::Ready(answer),
        Ok(_) => Poll::Pending,
        Err(error) => panic!("the buffer is spoilt: {error:?}"),
    }
}

impl Store for OnDisk {
    async fn read(&mut self, slot: u32, bytes: &mut [u8; SLOT]) -> Result<(), StoreError> {
        self.ask(Operation::Read, slot).await?;
        assert!(DISK.data().load(0, bytes), "the buffer holds a slot");
        Ok(())
    }
    async fn write(&mut self, slot: u32, bytes: &[u8; SLOT]) -> Result<(), StoreError> {
        assert!(DISK.data().store(0, bytes), "the buffer holds a slot");
        self.ask(Operation::Write, slot).await
    }
    async fn flush(&mut self) -> Result<(), StoreError> {
        self.ask(Operation::Flush, 0).await
    }
}

/// The entry with this number: the number, and bytes that follow from it.
fn entry(number: u32, bytes: &mut [u8; LONGEST]) -> &[u8] {
    let length = 8 + (number.wrapping_mul(2_654_435_761) >> 16) as usize % (LONGEST - 8);
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    (4..length).for_each(|n| bytes[n] = (number as usize * 31 + n) as u8);
    &bytes[..length]
}

/// What must be there whatever happens: the last entry that was acknowledged.
#[derive(Default)]
struct Book {
    acknowledged: Option<u32>,
    next: u32,
    cuts: u32,
    mended: u64,
}

async fn record() {
    let (pages, slot) = (vec![Page::UNREAD; PAGES].leak(), vec![0; SLOT].leak());
    let slot: &mut [u8; SLOT] = slot.try_into().expect("a slot");
    let (mut disk, mut book) = (OnDisk { tag: 0 }, Book::default());
    loop {
        let mut log = Recorder::open(disk, pages, slot);
        match life(&mut log, &mut book).await {
            RecorderError::Disk(PagesError::Store(StoreError::PowerLost)) => book.cuts += 1,
            other => panic!("{other}"),
        }
        book.mended += log.damage().slots;
        disk = log.close();
        let acknowledged = book.acknowledged.map_or(0, |last| last + 1);
        let _ = writeln!(
            Screen,
            "recorder: power cut {}: {acknowledged} entries acknowledged, {} slots mended",
            book.cuts, book.mended
        );
    }
}

/// From the opening of the log until the power goes.
async fn life(log: &mut Recorder<'_, OnDisk>, book: &mut Book) -> RecorderError {
    if let Err(error) = look(log, book).await {
        return error;
    }
    let mut bytes = [0; LONGEST];
    loop {
        if let Err(error) = log.append(entry(book.next, &mut bytes)).await {
            return error;
        }
        book.acknowledged = Some(book.next);
        book.next += 1;
    }
}

/// Reads the whole log: each entry is whole, each number follows the one before, and none that was acknowledged is missing.
async fn look(log: &mut Recorder<'_, OnDisk>, book: &mut Book) -> Result<(), RecorderError> {
    let (mut last, mut expected) = (None::<u32>, [0; LONGEST]);
    log.entries(|bytes| {
        let number = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        assert!(bytes == entry(number, &mut expected), "entry {number} is not what was written");
        assert!(last.is_none_or(|last| number == last + 1), "an entry before {number} is lost");
        last = Some(number);
    })
    .await?;
    match (book.acknowledged, last) {
        (Some(acknowledged), Some(last)) => {
            assert!(
                last == acknowledged || last == acknowledged + 1,
                "{acknowledged} was acknowledged, {last} is the last"
            );
        }
        (Some(acknowledged), None) => panic!("{acknowledged} was acknowledged, and the log is empty"),
        (None, _) => {}
    }
    // An entry that was under way may be there.
    book.next = last.map_or(0, |last| last + 1);
    Ok(())
}
