//! A drive that orders its own queue (TCQ, NCQ): always the request that it can end first. It knows no deadlines.

use crate::drive::{Drive, Served};
use crate::request::Request;
use alloc::vec::Vec;
use tactus_time::Instant;

/// A drive with a queue of its own.
#[derive(Clone, Debug)]
pub struct DriveQueue {
    drive: Drive,
    held: Vec<Request>,
    depth: usize,
}

impl DriveQueue {
    /// Takes up to `depth` requests (4 to 64 are usual; at least 1).
    pub fn new(drive: Drive, depth: usize) -> DriveQueue {
        let depth = depth.max(1);
        DriveQueue { drive, held: Vec::with_capacity(depth), depth }
    }
    /// Whether another fits.
    pub fn has_room(&self) -> bool {
        self.held.len() < self.depth
    }
    /// Takes a request; hands it back where there is no room.
    ///
    /// # Errors
    /// Where the queue is full.
    pub fn take(&mut self, request: Request) -> Result<(), Request> {
        if !self.has_room() {
            return Err(request);
        }
        self.held.push(request);
        Ok(())
    }
    /// Serves the one that ends first; the host's handling overlaps, so that nothing is lost between two.
    pub fn serve(&mut self, now: Instant) -> Option<(Request, Served)> {
        let (at, _) = self.held.iter().enumerate().min_by_key(|(_, request)| self.drive.predict(now, request))?;
        let request = self.held.remove(at);
        Some((request, self.drive.serve(now, &request)))
    }
}
