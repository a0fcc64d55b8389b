//! What the log is written on: slots of a disk. On the host that is the drive's model with its bytes, on the machine the block service.

use core::fmt;
use tactus_disk::{Contents, DriveError, SECTOR};

/// Bytes of a slot: eight sectors, of which a power cut leaves the first ones new, one torn, and the rest old.
pub const SLOT: usize = 8 * SECTOR;

/// Why a slot was not read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreError {
    /// The power went.
    PowerLost,
    /// The drive could not, or would not.
    Failed,
    /// There is no such slot, or the client may not.
    Refused,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreError::PowerLost => "the power went; restore it and open the log again",
            StoreError::Failed => "the drive did not do a request; try it again",
            StoreError::Refused => "the disk has no such slot, or not for this client; give it a longer extent",
        })
    }
}

/// See above. What is written is on the platter after a flush only.
#[allow(async_fn_in_trait, reason = "the log is driven by one thread, on whatever it runs")]
pub trait Store {
    /// Reads a slot; zeros if it was never written.
    async fn read(&mut self, slot: u32, bytes: &mut [u8; SLOT]) -> Result<(), StoreError>;
    /// Writes a slot.
    async fn write(&mut self, slot: u32, bytes: &[u8; SLOT]) -> Result<(), StoreError>;
    /// Waits until all that was written is on the platter.
    async fn flush(&mut self) -> Result<(), StoreError>;
}

/// Slots of a modelled drive, from a block on.
#[derive(Debug)]
pub struct OnDrive {
    /// The drive.
    pub disk: Contents,
    /// The first block.
    pub block: u64,
}

impl OnDrive {
    fn block(&self, slot: u32) -> u64 {
        self.block + u64::from(slot) * (SLOT / SECTOR) as u64
    }
}

fn told(error: DriveError) -> StoreError {
    match error {
        DriveError::PowerLost => StoreError::PowerLost,
        DriveError::Range => StoreError::Refused,
    }
}

impl Store for OnDrive {
    async fn read(&mut self, slot: u32, bytes: &mut [u8; SLOT]) -> Result<(), StoreError> {
        self.disk.read(self.block(slot), bytes).map_err(told)
    }
    async fn write(&mut self, slot: u32, bytes: &[u8; SLOT]) -> Result<(), StoreError> {
        self.disk.write(self.block(slot), bytes).map_err(told)
    }
    async fn flush(&mut self) -> Result<(), StoreError> {
        self.disk.flush().map_err(told)
    }
}
