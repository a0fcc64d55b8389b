//! What the component tells of its disk on the console: a line of text for each request that ends, for each that a component
//! sends, and for each power cut. The command line takes them for the run's table and holds them against the host's own decisions.

use core::fmt::{self, Write};
use tactus_disk::{Finished, Outcome, Request};
use tactus_time::Instant;

/// `disk 0,1,2,…`: behind the first word a line of `disks.csv`.
pub(crate) fn ended(disk: u32, it: &Finished, put: &mut impl FnMut(&str)) {
    let (client, number) = (it.request.client(), it.request.number());
    let times = [it.request.arrival, it.started, it.ended].map(Instant::as_nanos);
    let (pause, expected, outcome) = (u8::from(it.after_pause), it.expected.as_nanos(), it.outcome.number());
    let row = it.request.granule;
    tell(put, |line| {
        write!(line, "disk {disk},{client},{number},{},{row},{pause},", it.from)?;
        writeln!(line, "{},{},{},{expected},{outcome}", times[0], times[1], times[2])
    });
}

/// The same of a power cut, which has a disk, an instant and an outcome and nothing else.
pub(crate) fn power_cut(disk: u32, at: Instant, put: &mut impl FnMut(&str)) {
    let (at, outcome) = (at.as_nanos(), Outcome::PowerLost.number());
    tell(put, |line| writeln!(line, "disk {disk},,,,,,,,{at},,{outcome}"));
}

/// `ask disk,client,number,place,blocks,write,cancels,at`: what a component asked, and when.
pub(crate) fn asked(disk: u32, request: &Request, place: u64, put: &mut impl FnMut(&str)) {
    let (client, number, blocks) = (request.client(), request.number(), request.blocks);
    let (write, at) = (u8::from(request.write), request.arrival.as_nanos());
    tell(put, |line| writeln!(line, "ask {disk},{client},{number},{place},{blocks},{write},0,{at}"));
}

/// The same of a request that is cancelled.
pub(crate) fn cancelled(disk: u32, it: &Finished, put: &mut impl FnMut(&str)) {
    let (client, number, at) = (it.request.client(), it.request.number(), it.ended.as_nanos());
    tell(put, |line| writeln!(line, "ask {disk},{client},{number},0,0,0,1,{at}"));
}

fn tell(put: &mut impl FnMut(&str), write: impl FnOnce(&mut Line) -> fmt::Result) {
    let mut line = Line { bytes: [0; 256], length: 0 };
    // A line has room for a dozen numbers.
    if write(&mut line).is_ok() {
        put(core::str::from_utf8(&line.bytes[..line.length]).unwrap_or_default());
    }
}

/// A line of text that takes no memory from the heap, which never gets any back.
struct Line {
    bytes: [u8; 256],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}
