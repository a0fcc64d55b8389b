//! What each job of the built-in workload takes, from the table that the image has for its component.

use tactus_abi::layout::{DEMANDS, STEP_WORDS};
use tactus_time::Duration;

/// What the job with this number takes.
#[must_use]
pub fn demand(number: u64) -> Duration {
    // SAFETY: the image builder maps the table read-only: its length, which is at least one, then its entries.
    unsafe {
        let table = DEMANDS as *const u64;
        let count = table.read();
        Duration::from_nanos(table.add(1 + (number % count) as usize).read())
    }
}

/// What a job has executed before each of its waits, and how long that is (ns).
#[must_use]
pub fn waits() -> &'static [[u64; 2]] {
    // SAFETY: as above. Behind the entries lie the number of waits and so many pairs, which the verifier has counted.
    unsafe {
        let table = DEMANDS as *const u64;
        let waits = table.add(1 + table.read() as usize);
        core::slice::from_raw_parts(waits.add(1).cast(), waits.read() as usize)
    }
}

/// What the job with this number does on the way, where it signals and awaits events: steps of [`STEP_WORDS`] words, as they stand in the
/// table.
#[must_use]
pub fn steps(number: u64) -> &'static [[u64; STEP_WORDS]] {
    // SAFETY: as above. Behind the waits lie the number of programs, where each of them lies, and they; the verifier has followed each.
    unsafe {
        let table = DEMANDS as *const u64;
        let waits = table.add(1 + table.read() as usize);
        let programs = waits.add(1 + 2 * waits.read() as usize);
        let count = programs.read();
        if count == 0 {
            return &[];
        }
        let body = table.add(programs.add(1 + (number % count) as usize).read() as usize);
        core::slice::from_raw_parts(body.add(1).cast(), body.read() as usize)
    }
}
