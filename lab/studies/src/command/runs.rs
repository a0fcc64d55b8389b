//! Many runs at once.

use super::progress::Progress;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use tactus_machine::failure::Failure;

/// Does `work` for each of the inputs, on `threads` threads, and hands each result with its input's number to `take`, in the calling
/// thread, as it comes. `work` learns the number of its thread. The line of progress counts the results.
///
/// # Errors
/// The first error of `work`; what has not begun by then does not begin.
pub fn at_once<I: Sync, O: Send>(
    threads: usize,
    inputs: &[I],
    work: impl Fn(usize, &I) -> Result<O, Failure> + Sync,
    mut take: impl FnMut(usize, O),
) -> Result<(), Failure> {
    let next = AtomicUsize::new(0);
    let mut progress = Progress::new("study", "runs", inputs.len() as u64);
    let (sender, receiver) = mpsc::channel();
    let result = thread::scope(|scope| {
        for thread in 0..threads.clamp(1, inputs.len().max(1)) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(input) = inputs.get(number) else { return };
                let result = work(thread, input);
                if result.is_err() {
                    next.store(inputs.len(), Ordering::Relaxed);
                }
                if sender.send((number, result)).is_err() {
                    return;
                }
            });
        }
        drop(sender);
        for (done, (number, result)) in receiver.iter().enumerate() {
            take(number, result?);
            progress.tell(done as u64 + 1);
        }
        Ok(())
    });
    progress.end();
    result
}

/// As many threads as this computer has processors.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_gives_its_result_once_and_after_an_error_none_begins() {
        let inputs: Vec<usize> = (0..100).collect();
        let mut squares = vec![0; 100];
        at_once(4, &inputs, |_, it| Ok(it * it), |number, square| squares[number] += square).expect("no error");
        assert!(squares.iter().enumerate().all(|(n, square)| *square == n * n), "{squares:?}");

        let begun = AtomicUsize::new(0);
        let work = |_, it: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *it == 3 {
                Err(Failure::Input("three".into()))
            } else {
                Ok(())
            }
        };
        let mut taken = 0;
        let result = at_once(1, &inputs, work, |_, ()| taken += 1);
        assert!(matches!(result, Err(Failure::Input(words)) if words == "three") && taken == 3);
        assert_eq!(begun.load(Ordering::Relaxed), 4);
    }
}
