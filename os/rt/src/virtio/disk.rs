//! A virtio disk with one request at a time, whose answers are announced by its interrupt, or taken by a reset.
//!
//! An emulated disk answers in the host's time: whoever looks whether an answer is there sees another instant in each run.
//! So nobody looks. [`VirtioDisk::begin`] hands a request over; [`VirtioDisk::end`] resets the device, which waits for
//! what is under way, and then the answer lies in memory. Called at instants that a model says, both give runs that repeat.
//!
//! Where a task is released by the device's interrupt, its jobs call [`disk_interrupted`], and `end` takes an answer that was
//! announced as it lies there. One that was not is waited for by a reset, as without interrupts.

use super::configuration::{card, Configuration};
use super::memory::{self, Memory};
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tactus_abi::shared::DeviceCard;
use virtio_drivers::device::blk::{BlkReq, BlkResp, VirtIOBlk};
use virtio_drivers::transport::pci::bus::{DeviceFunction, PciRoot};
use virtio_drivers::transport::pci::PciTransport;

/// The longest request (bytes).
pub const MOST_BYTES: usize = 128 << 10;
/// Where request and answer lie behind the data.
const HEAD: usize = MOST_BYTES;
const ANSWER: usize = HEAD + 16;
const BUFFERS: usize = HEAD + 4096;

/// Why a request was not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DiskError {
    /// The component drives no virtio disk, or with too little memory.
    NoDevice,
    /// The device refuses to be set up, or to take a request.
    Refused,
    /// A request is under way, or none is.
    Order,
    /// No whole sectors, too many, or beyond the end.
    Range,
    /// The device says that it could not, with this status; 3 is no answer.
    Failed(u8),
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let DiskError::Failed(status) = self {
            return write!(f, "the disk could not do the request (status {status})");
        }
        f.write_str(match self {
            DiskError::NoDevice => {
                "no virtio disk; give the component a [[device]] of kind virtio-blk with dma = \"256 KiB\""
            }
            DiskError::Refused => "the disk refuses to be set up; look at the emulator's devices",
            DiskError::Order => "one request at a time: begin, then end",
            DiskError::Range => "not whole sectors within the disk, or more than 128 KiB",
            DiskError::Failed(_) => "the disk could not do the request",
        })
    }
}

/// What is handed to the device.
pub enum Transfer<'a> {
    /// It reads.
    Read,
    /// It writes what this puts into the buffer.
    Write(&'a mut dyn FnMut(&mut [u8])),
}

/// Address of the register that tells why the device interrupts; 0 before there is a disk.
static STATUS: AtomicU64 = AtomicU64::new(0);
/// The device has announced an answer since the last request was handed over.
static ANNOUNCED: AtomicBool = AtomicBool::new(false);

/// The device has interrupted: lets its line down, and notes that an answer is there, for [`VirtioDisk::end`]. For the jobs of the task
/// that the interrupt releases, at any time; whether the device had anything to say.
pub fn disk_interrupted() -> bool {
    let status = STATUS.load(Ordering::Acquire);
    // SAFETY: a register of the component's one device, which the image maps for the component's whole life; reading it touches no memory.
    let announced = status != 0 && unsafe { (status as *const u8).read_volatile() } & 1 != 0;
    if announced {
        ANNOUNCED.store(true, Ordering::Release);
    }
    announced
}

/// The line on which the component's one device interrupts; nothing if it drives none.
pub fn disk_line() -> Option<u8> {
    card().map(|card| Configuration::new(card).line())
}

/// A request that the device has.
#[derive(Clone, Copy)]
struct UnderWay {
    token: u16,
    bytes: usize,
    write: bool,
}

/// See above.
pub struct VirtioDisk {
    card: &'static DeviceCard,
    /// Since the last reset.
    driver: Option<VirtIOBlk<Memory, PciTransport>>,
    under_way: Option<UnderWay>,
    /// Answers that were announced by the interrupt, and those that a reset waited for.
    answers: [u64; 2],
}

impl VirtioDisk {
    /// The component's one device. Once.
    ///
    /// # Errors
    /// Where there is none, or too little memory for it.
    pub fn new() -> Result<VirtioDisk, DiskError> {
        let card = card().ok_or(DiskError::NoDevice)?;
        if card.dma_bytes < BUFFERS as u64 + (64 << 10) {
            return Err(DiskError::NoDevice);
        }
        memory::begin(card, BUFFERS);
        let status = Configuration::new(card).interrupt_status().map_or(0, |offset| card.address + offset);
        STATUS.store(status, Ordering::Release);
        Ok(VirtioDisk { card, driver: None, under_way: None, answers: [0; 2] })
    }

    /// How many answers were announced by the interrupt, and for how many a reset waited.
    pub fn answers(&self) -> [u64; 2] {
        self.answers
    }

    /// A driver of the device as it is after a reset.
    fn set_up(&self) -> Result<VirtIOBlk<Memory, PciTransport>, DiskError> {
        // SAFETY: there is no driver, and the last one reset the device when it was dropped.
        unsafe { memory::rewind() };
        let mut root = PciRoot::new(Configuration::new(self.card));
        let place = DeviceFunction { bus: 0, device: 0, function: 0 };
        let transport = PciTransport::new::<Memory, _>(&mut root, place).map_err(|_| DiskError::Refused)?;
        VirtIOBlk::new(transport).map_err(|_| DiskError::Refused)
    }

    /// Hands a request of this number of bytes over.
    ///
    /// # Errors
    /// Where one is under way, or the device does not take it.
    pub fn begin(&mut self, block: u64, bytes: usize, transfer: Transfer<'_>) -> Result<(), DiskError> {
        if self.under_way.is_some() {
            return Err(DiskError::Order);
        }
        if bytes == 0 || bytes % 512 != 0 || bytes > MOST_BYTES {
            return Err(DiskError::Range);
        }
        let mut driver = match self.driver.take() {
            Some(driver) => driver,
            None => self.set_up()?,
        };
        let end = block.checked_add((bytes / 512) as u64).filter(|end| *end <= driver.capacity());
        let block = end.and_then(|_| usize::try_from(block).ok()).ok_or(DiskError::Range)?;
        let (data, head, answer) = parts(bytes).ok_or(DiskError::NoDevice)?;
        // SAFETY: both lie in the memory behind the data, apart from each other, aligned since it begins with a page, and
        // with room for each; they are written before anybody reads them.
        let (head, answer) = unsafe {
            head.write(BlkReq::default());
            answer.write(BlkResp::default());
            (&mut *head, &mut *answer)
        };
        ANNOUNCED.store(false, Ordering::Release);
        let write = matches!(transfer, Transfer::Write(_));
        let taken = match transfer {
            // SAFETY: nobody uses the three before `end` has taken the answer, or reset the device.
            Transfer::Read => unsafe { driver.read_blocks_nb(block, head, data, answer) },
            Transfer::Write(fill) => {
                fill(data);
                // SAFETY: as above.
                unsafe { driver.write_blocks_nb(block, head, data, answer) }
            }
        };
        let token = taken.map_err(|_| DiskError::Refused)?;
        (self.driver, self.under_way) = (Some(driver), Some(UnderWay { token, bytes, write }));
        Ok(())
    }

    /// Takes the request's answer if it was announced, waits for it by a reset of the device if not, and hands what was read or
    /// written to `look`.
    ///
    /// # Errors
    /// Where none is under way, or the device says that it failed.
    pub fn end<R>(&mut self, look: impl FnOnce(&[u8]) -> R) -> Result<R, DiskError> {
        let it = self.under_way.take().ok_or(DiskError::Order)?;
        let announced = ANNOUNCED.swap(false, Ordering::Acquire) && self.taken(it);
        self.answers[usize::from(!announced)] += 1;
        if !announced {
            // Dropping the transport resets the device and waits until it says so.
            drop(self.driver.take());
        }
        let (data, _, answer) = parts(it.bytes).ok_or(DiskError::NoDevice)?;
        // SAFETY: `begin` wrote it, and the device, which is through, at most its one byte, of which every value is an answer.
        let status = unsafe { answer.cast::<u8>().read_volatile() };
        if status == 0 {
            Ok(look(data))
        } else {
            Err(DiskError::Failed(status))
        }
    }

    /// Takes the answer out of the device's ring; false if this request's is not there.
    fn taken(&mut self, it: UnderWay) -> bool {
        let (Some(driver), Some((data, head, answer))) = (&mut self.driver, parts(it.bytes)) else { return false };
        if driver.peek_used() != Some(it.token) {
            return false;
        }
        // SAFETY: those that `begin` handed over with this token, which the device has given back.
        let popped = unsafe {
            let (head, answer) = (&*head, &mut *answer);
            if it.write {
                driver.complete_write_blocks(it.token, head, data, answer)
            } else {
                driver.complete_read_blocks(it.token, head, data, answer)
            }
        };
        // A failure that the device reports is in the answer, which `end` reads.
        !matches!(popped, Err(virtio_drivers::Error::NotReady | virtio_drivers::Error::WrongToken))
    }
}

/// Data, request and answer in the memory that the device sees.
fn parts(bytes: usize) -> Option<(&'static mut [u8], *mut BlkReq, *mut BlkResp)> {
    let (data, rest) = memory::buffer(0, BUFFERS)?.split_at_mut(HEAD);
    let (head, answer) = rest.split_at_mut(ANSWER - HEAD);
    Some((data.get_mut(..bytes)?, head.as_mut_ptr().cast(), answer.as_mut_ptr().cast()))
}
