//! Works on all chunks of a study with all cores, can be stopped at any time, and goes on where it stopped.
//!
//! A chunk that is done lies in a file of its own, which appears whole or not at all. Starting again reads what is there
//! and works out the rest. Files of another study, or damaged ones, count as not there.

use crate::chunk::{work, Counts};
use crate::decision::Memory;
use crate::spec::Study;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::{fs, io, thread};

/// Where the file of a chunk lies.
pub fn file(folder: &Path, chunk: usize) -> PathBuf {
    folder.join("chunks").join(format!("{chunk}.txt"))
}

/// Puts a chunk into its file.
pub fn keep(study: &Study, folder: &Path, chunk: usize, counts: &Counts) -> io::Result<()> {
    let path = file(folder, chunk);
    // A name of its own for each process and thread: whoever renames last leaves the same bytes.
    let half = path.with_extension(format!("{}-{:?}.half", std::process::id(), thread::current().id()));
    fs::create_dir_all(folder.join("chunks"))?;
    fs::write(&half, counts.to_text(study, chunk))?;
    fs::rename(&half, &path)
}

/// Reads what there is.
pub fn kept(study: &Study, folder: &Path) -> Vec<Option<Counts>> {
    let read = |chunk| Counts::from_text(study, chunk, &fs::read_to_string(file(folder, chunk)).ok()?);
    (0..study.chunks()).map(read).collect()
}

/// Works out the chunks named, with so many threads, and keeps each in the folder. `told` hears how many of them are done, in the
/// calling thread, at least every fifth of a second. Ends early where `stop` becomes true; what is done by then is kept.
///
/// # Errors
/// The first error of keeping a chunk.
pub fn run(
    study: &Study,
    folder: &Path,
    chunks: &[usize],
    threads: usize,
    stop: &AtomicBool,
    mut told: impl FnMut(usize),
) -> io::Result<()> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        let (send, done) = mpsc::channel();
        for _ in 0..threads.max(1) {
            let (send, next, failed) = (send.clone(), &next, &failed);
            scope.spawn(move || {
                let mut memory = Memory::default();
                let halt = || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
                while let Some(&chunk) = chunks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(counts) = work(study, chunk, &mut memory, &halt) else { return };
                    let result = keep(study, folder, chunk, &counts);
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    if send.send(result).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut finished = 0;
        loop {
            match done.recv_timeout(std::time::Duration::from_millis(200)) {
                Ok(result) => {
                    result?;
                    finished += 1;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
            }
            told(finished);
        }
    })
}
