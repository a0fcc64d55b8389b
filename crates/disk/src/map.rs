//! The latency map: for each pair of granules the worst time ever seen from one to the other, in four bits.
//!
//! A cell never decreases (maximum hold): a fast answer from the drive's cache does no harm, a remapped sector is
//! learned. Code 0 is "not seen yet"; code n is "at most n quanta". A time beyond code 15 is held as 15 and counted in
//! [`LatencyMap::beyond`], since such a cell is no upper bound any more. (Source §III; the quantum and the code for
//! unknown are our choice, the source is silent.)

use alloc::vec::Vec;
use core::fmt;
use tactus_time::Duration;

/// Bytes of a granule (source §III: 128 KB).
pub const GRANULE: u64 = 128 * 1024;
/// The largest code of a cell.
pub const CODES: u8 = 15;

/// What the map keeps of a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One cell for both directions, as in the source: half the memory.
    Symmetric,
    /// A cell for each direction: rotation makes the two differ.
    Directed,
}

/// Why there is no such map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapError {
    /// No granule.
    Empty,
    /// More granules than a row number can name.
    TooMany(usize),
    /// A quantum of no time.
    NoQuantum,
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapError::Empty => write!(f, "the map covers no granule; give it a hot set"),
            MapError::TooMany(n) => write!(f, "the map covers {n} granules; make the hot set 65536 (8 GiB) at most"),
            MapError::NoQuantum => write!(f, "the map's quantum is no time; 1 ms suits a drive whose worst is 15 ms"),
        }
    }
}

/// Bytes by the source's formula: (hot/128K)² / 2, and half of that if symmetric. Rounded down; the diagonal, which the
/// formula leaves out, is less than a thousandth.
pub fn map_bytes(hot: u64, form: Form) -> u64 {
    let square = u128::from(hot) * u128::from(hot) / u128::from(GRANULE * GRANULE);
    let parts = if form == Form::Symmetric { 4 } else { 2 };
    (square / parts) as u64
}

/// The map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LatencyMap {
    form: Form,
    granules: u32,
    quantum: u64,
    beyond: u64,
    pub(crate) cells: Vec<u8>,
}

impl LatencyMap {
    /// A map that knows nothing.
    ///
    /// # Errors
    /// Where there are no granules, too many, or no quantum.
    pub fn new(form: Form, granules: usize, quantum: Duration) -> Result<LatencyMap, MapError> {
        match (granules, quantum.as_nanos()) {
            (0, _) => Err(MapError::Empty),
            (n, _) if n > 65_536 => Err(MapError::TooMany(n)),
            (_, 0) => Err(MapError::NoQuantum),
            (n, quantum) => {
                let cells = match form {
                    Form::Symmetric => n * (n + 1) / 2,
                    Form::Directed => n * n,
                };
                let cells = alloc::vec![0; cells.div_ceil(2)];
                Ok(LatencyMap { form, granules: n as u32, quantum, beyond: 0, cells })
            }
        }
    }
    /// Symmetric or directed.
    pub fn form(&self) -> Form {
        self.form
    }
    /// How many rows.
    pub fn granules(&self) -> u32 {
        self.granules
    }
    /// What one code is worth.
    pub fn quantum(&self) -> Duration {
        Duration::from_nanos(self.quantum)
    }
    /// How many times were longer than the largest code: if any, cells of code 15 are no bounds.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }
    pub(crate) fn set_beyond(&mut self, beyond: u64) {
        self.beyond = beyond;
    }
    /// Bytes of the cells.
    pub fn bytes(&self) -> usize {
        self.cells.len()
    }

    fn cell(&self, from: u32, to: u32) -> usize {
        let (from, to) = (from as usize, to as usize);
        match self.form {
            Form::Directed => from * self.granules as usize + to,
            Form::Symmetric => {
                let (high, low) = if from > to { (from, to) } else { (to, from) };
                high * (high + 1) / 2 + low
            }
        }
    }

    /// The code of a pair; 0 if it was never seen.
    ///
    /// # Panics
    /// If a granule is not in the map.
    #[inline]
    pub fn code(&self, from: u32, to: u32) -> u8 {
        let cell = self.cell(from, to);
        (self.cells[cell / 2] >> (cell % 2 * 4)) & 15
    }

    /// At most how long a request at `to` takes right after one at `from`; nothing if it was never seen.
    pub fn latency(&self, from: u32, to: u32) -> Option<Duration> {
        match self.code(from, to) {
            0 => None,
            code => Some(Duration::from_nanos(u64::from(code) * self.quantum)),
        }
    }
    /// The same for who must keep a deadline: what is unknown counts as the largest code.
    #[inline]
    pub fn careful(&self, from: u32, to: u32) -> Duration {
        let code = self.code(from, to);
        Duration::from_nanos(u64::from(if code == 0 { CODES } else { code }) * self.quantum)
    }
    /// The same from one to four, in nanoseconds; gives the longest.
    #[inline]
    pub(crate) fn careful_four(&self, from: u32, to: &[u32; 4], out: &mut [u64; 4]) -> u64 {
        let mut longest = 0;
        for (to, out) in to.iter().zip(out) {
            *out = self.careful(from, *to).as_nanos();
            longest = longest.max(*out);
        }
        longest
    }
    /// The longest of all cells, unknown ones as the largest code: what any request takes at most.
    pub fn worst(&self) -> Duration {
        let n = self.granules;
        let codes = (0..n).flat_map(|from| (0..n).map(move |to| (from, to))).map(|(from, to)| self.code(from, to));
        let worst = codes.map(|code| if code == 0 { CODES } else { code }).max().unwrap_or(CODES);
        Duration::from_nanos(u64::from(worst) * self.quantum)
    }
    /// How many pairs have been seen, of how many cells.
    pub fn known(&self) -> (u64, u64) {
        let n = self.granules as usize;
        let cells = if self.form == Form::Directed { n * n } else { n * (n + 1) / 2 };
        let seen = (0..cells).filter(|cell| (self.cells[cell / 2] >> (cell % 2 * 4)) & 15 != 0).count();
        (seen as u64, cells as u64)
    }

    /// Learns from a request at `to` that was dispatched right after the one at `from` ended and took so long. Pauses
    /// must not be learned: after one, the phase of the platter is arbitrary and every cell would become a full turn.
    /// Tells whether the cell rose.
    pub fn learn(&mut self, from: u32, to: u32, took: Duration) -> bool {
        let code = took.as_nanos().div_ceil(self.quantum).max(1);
        if code > u64::from(CODES) {
            self.beyond += 1;
        }
        let code = code.min(u64::from(CODES)) as u8;
        let cell = self.cell(from, to);
        let shift = cell % 2 * 4;
        let old = (self.cells[cell / 2] >> shift) & 15;
        if code <= old {
            return false;
        }
        self.cells[cell / 2] = self.cells[cell / 2] & !(15 << shift) | code << shift;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_sources_formula() {
        let megabytes = |bytes: u64| (bytes as f64 / 1e5).round() / 10.0;
        assert_eq!(megabytes(map_bytes(5_000_000_000, Form::Symmetric)), 363.8);
        assert_eq!(megabytes(map_bytes(5 << 30, Form::Symmetric)), 419.4);
        assert_eq!(map_bytes(1 << 30, Form::Symmetric), 16 << 20);
        assert_eq!(map_bytes(1 << 30, Form::Directed), 32 << 20);
        // 100 disks, 4.5 TB: 45 GB each would share one map of identical drives.
        assert_eq!((map_bytes(45_000_000_000, Form::Symmetric) as f64 / 1e9).round(), 29.0);
        let map = LatencyMap::new(Form::Directed, 8192, Duration::from_millis(1)).unwrap();
        assert_eq!(map.bytes() as u64, map_bytes(1 << 30, Form::Directed));
        let map = LatencyMap::new(Form::Symmetric, 8192, Duration::from_millis(1)).unwrap();
        assert_eq!(map.bytes() as u64, map_bytes(1 << 30, Form::Symmetric) + 2048);
    }
}
