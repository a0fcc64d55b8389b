//! How often a thread met a page that was not there.

use std::fs::File;
use std::io::Read;

/// The page faults of this thread until now; zero where the system does not tell. Takes no memory: what is locked is there at
/// once, so memory that the thread took here would be a fault of its own, counted by the next call.
pub(crate) fn page_faults() -> u64 {
    let mut text = [0; 1_024];
    let length = File::open("/proc/thread-self/stat").and_then(|mut file| file.read(&mut text)).unwrap_or(0);
    // Behind the name, which is in brackets: state, then numbers; the 8th and the 10th are the faults.
    let numbers = text[..length].rsplit(|byte| *byte == b')').next().unwrap_or_default();
    let number = |part: &[u8]| std::str::from_utf8(part).ok()?.parse::<u64>().ok();
    let all = numbers.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty());
    all.enumerate().filter(|(n, _)| [7, 9].contains(n)).filter_map(|(_, part)| number(part)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_faults_are_those_of_this_thread_and_asking_makes_none() {
        // The first time the program's own pages may not be there yet, and any of them may be taken away at any time.
        let quiet = |_| page_faults() == page_faults();
        assert!((0..100).any(quiet), "asking makes faults");
        let before = page_faults();
        // Above what is kept of freed memory, so that it comes from the system, a page for each fault or for many.
        let room = vec![1_u8; 64 << 20];
        let after = page_faults();
        assert!(after > before, "{before} {after} {}", room[room.len() - 1]);
        std::thread::spawn(|| std::hint::black_box(vec![1_u8; 64 << 20])).join().unwrap();
        assert!(page_faults() < after + 1_000, "another thread's count");
    }
}
