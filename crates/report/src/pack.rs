//! The run as compact data inside the page: columns of numbers, each a stream of LEB128 varints, all deflated
//! together and written as base64. The page's `data.js` reads them back; so does the test below.
//!
//! Starts are gaps after the previous end and job numbers are differences within a task, so most numbers take one
//! to three bytes before deflate and about one after.

use crate::budget::Budget;
use crate::history::{CoreHistory, History, Job, Stretch};
use base64::Engine;
use flate2::{write::DeflateEncoder, Compression};
use std::collections::{BTreeMap, HashMap};
use std::io::Write;

/// The streams by name, as the page finds them: offset in bytes, then count of numbers.
pub(crate) type Directory = BTreeMap<String, (usize, usize)>;

/// Bytes and where each stream lies in them.
#[derive(Default)]
pub(crate) struct Packed {
    pub bytes: Vec<u8>,
    pub directory: Directory,
}

impl Packed {
    fn stream(&mut self, name: String, numbers: impl Iterator<Item = u64>) {
        let offset = self.bytes.len();
        let mut count = 0;
        for mut n in numbers {
            count += 1;
            while n >= 0x80 {
                self.bytes.push(n as u8 | 0x80);
                n >>= 7;
            }
            self.bytes.push(n as u8);
        }
        self.directory.insert(name, (offset, count));
    }

    /// The bytes as the page holds them: raw deflate, then base64.
    pub(crate) fn to_text(&self) -> String {
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::new(6));
        // Writing to a vector cannot fail; if it could, an empty chart is what is left to show.
        let bytes = deflate.write_all(&self.bytes).and_then(|()| deflate.finish()).unwrap_or_default();
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }
}

/// Small magnitudes of either sign become small numbers.
fn zigzag(n: i64) -> u64 {
    ((n << 1) ^ (n >> 63)) as u64
}

/// Packs everything that the page draws.
pub(crate) fn pack(history: &History, budgets: &[Budget]) -> Packed {
    let mut packed = Packed::default();
    for (core, on_core) in history.cores.iter().enumerate() {
        stretches(&mut packed, &format!("run{core}"), &on_core.runs);
        stretches(&mut packed, &format!("ghost{core}"), &on_core.ghosts);
        turns(&mut packed, core, on_core);
    }
    for (n, budget) in budgets.iter().enumerate() {
        let times = budget.points.iter().map(|(time, _)| *time);
        packed.stream(
            format!("budget{n}.gap"),
            times.scan(0, |before, time| Some(time - std::mem::replace(before, time))),
        );
        packed.stream(format!("budget{n}.level"), budget.points.iter().map(|(_, level)| *level));
    }
    packed.stream("jobs.count".into(), history.jobs.iter().map(|jobs| jobs.len() as u64));
    let all = || history.jobs.iter().flat_map(|jobs| with_previous(jobs.iter()));
    packed.stream("jobs.number".into(), all().map(|(before, (n, _))| u64::from(n - before.map_or(0, |(b, _)| *b))));
    packed.stream(
        "jobs.release".into(),
        all().map(|(before, (_, job))| zigzag(job.release.wrapping_sub(before.map_or(0, |(_, b)| b.release)) as i64)),
    );
    // Zero: not finished. Else one more than the response.
    packed.stream(
        "jobs.response".into(),
        all().map(|(_, (_, job))| job.complete.map_or(0, |at| at.saturating_sub(job.release) + 1)),
    );
    // Zero: not. Else one more than how long after its release the job missed its deadline or outlived its bound.
    let after = |job: &Job, at: Option<u64>| at.map_or(0, |at| at.saturating_sub(job.release) + 1);
    packed.stream("jobs.missed".into(), all().map(|(_, (_, job))| after(job, job.missed)));
    packed.stream("jobs.outlived".into(), all().map(|(_, (_, job))| after(job, job.outlived)));
    packed
}

fn with_previous<T: Copy>(items: impl Iterator<Item = T>) -> impl Iterator<Item = (Option<T>, T)> {
    items.scan(None, |previous, item| Some((previous.replace(item), item)))
}

fn gaps(pairs: impl Iterator<Item = (u64, u64)>) -> impl Iterator<Item = u64> {
    pairs.scan(0, |before, (start, end)| {
        let gap = start.saturating_sub(*before);
        *before = end;
        Some(gap)
    })
}

fn stretches(packed: &mut Packed, name: &str, list: &[Stretch]) {
    packed.stream(format!("{name}.gap"), gaps(list.iter().map(|s| (s.start, s.end))));
    packed.stream(format!("{name}.length"), list.iter().map(|s| s.end - s.start));
    packed.stream(format!("{name}.task"), list.iter().map(|s| u64::from(s.task)));
    let mut last = HashMap::new();
    packed.stream(
        format!("{name}.job"),
        list.iter().map(|s| zigzag(i64::from(s.job) - i64::from(last.insert(s.task, s.job).unwrap_or(0)))),
    );
    packed.stream(format!("{name}.ending"), list.iter().map(|s| s.ending as u64));
}

fn turns(packed: &mut Packed, core: usize, on_core: &CoreHistory) {
    let list = &on_core.turns;
    packed.stream(format!("turn{core}.gap"), gaps(list.iter().map(|t| (t.start, t.end))));
    packed.stream(format!("turn{core}.length"), list.iter().map(|t| t.end - t.start));
    packed.stream(format!("turn{core}.reason"), list.iter().map(|t| u64::from(t.reason)));
    // Zero: no timer. Else one more than the lateness.
    packed.stream(format!("turn{core}.late"), list.iter().map(|t| t.late.map_or(0, |late| late + 1)));
}
