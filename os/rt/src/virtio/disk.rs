//! A virtio disk with one request at a time, whose answers are taken by a reset.
//!
//! An emulated disk answers in the host's time: whoever looks whether an answer is there sees another instant in each run.
//! So nobody looks. [`VirtioDisk::begin`] hands a request over; [`VirtioDisk::end`] resets the device, which waits for
//! what is under way, and then the answer lies in memory. Called at instants that a model says, both give runs that repeat.

use super::configuration::{card, Configuration};
use super::memory::{self, Memory};
use core::fmt;
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

/// See above.
pub struct VirtioDisk {
    card: &'static DeviceCard,
    /// While a request is under way.
    driver: Option<VirtIOBlk<Memory, PciTransport>>,
    bytes: usize,
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
        Ok(VirtioDisk { card, driver: None, bytes: 0 })
    }

    /// Hands a request of this number of bytes over.
    ///
    /// # Errors
    /// Where one is under way, or the device does not take it.
    pub fn begin(&mut self, block: u64, bytes: usize, transfer: Transfer<'_>) -> Result<(), DiskError> {
        if self.driver.is_some() {
            return Err(DiskError::Order);
        }
        if bytes == 0 || bytes % 512 != 0 || bytes > MOST_BYTES {
            return Err(DiskError::Range);
        }
        // SAFETY: there is no driver, and the last one reset the device when it was dropped.
        unsafe { memory::rewind() };
        let mut root = PciRoot::new(Configuration::new(self.card));
        let place = DeviceFunction { bus: 0, device: 0, function: 0 };
        let transport = PciTransport::new::<Memory, _>(&mut root, place).map_err(|_| DiskError::Refused)?;
        let mut driver = VirtIOBlk::new(transport).map_err(|_| DiskError::Refused)?;
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
        let taken = match transfer {
            // SAFETY: nobody uses the three before `end` has reset the device.
            Transfer::Read => unsafe { driver.read_blocks_nb(block, head, data, answer) },
            Transfer::Write(fill) => {
                fill(data);
                // SAFETY: as above.
                unsafe { driver.write_blocks_nb(block, head, data, answer) }
            }
        };
        taken.map_err(|_| DiskError::Refused)?;
        (self.driver, self.bytes) = (Some(driver), bytes);
        Ok(())
    }

    /// Waits for the request by a reset of the device, and hands what was read or written to `look`.
    ///
    /// # Errors
    /// Where none is under way, or the device says that it failed.
    pub fn end<R>(&mut self, look: impl FnOnce(&[u8]) -> R) -> Result<R, DiskError> {
        // Dropping the transport resets the device and waits until it says so.
        drop(self.driver.take().ok_or(DiskError::Order)?);
        let (data, _, answer) = parts(self.bytes).ok_or(DiskError::NoDevice)?;
        // SAFETY: `begin` wrote it, and the device, which is through, at most its one byte, of which every value is an answer.
        let status = unsafe { answer.cast::<u8>().read_volatile() };
        if status == 0 {
            Ok(look(data))
        } else {
            Err(DiskError::Failed(status))
        }
    }
}

/// Data, request and answer in the memory that the device sees.
fn parts(bytes: usize) -> Option<(&'static mut [u8], *mut BlkReq, *mut BlkResp)> {
    let (data, rest) = memory::buffer(0, BUFFERS)?.split_at_mut(HEAD);
    let (head, answer) = rest.split_at_mut(ANSWER - HEAD);
    Some((data.get_mut(..bytes)?, head.as_mut_ptr().cast(), answer.as_mut_ptr().cast()))
}
