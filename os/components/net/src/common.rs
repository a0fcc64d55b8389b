//! What the study's components share: how they ask the scheduler, the run's parameters, the bin that counts go to now.

use tactus_packets::{service, Parameters};
use tactus_rt::{calls, now};

/// Asks the root scheduler; see [`service`].
pub fn ask(what: u64, first: u64, second: u64) -> Result<[u64; 2], calls::Error> {
    calls::invoke(service::GRANT, [what, first, second, 0, 0])
}

/// The parameters of the run.
pub fn parameters() -> Option<Parameters> {
    let mut words = [0; Parameters::WORDS];
    for (place, word) in words.iter_mut().enumerate() {
        *word = ask(service::PARAMETER, place as u64, 0).ok()?[0];
    }
    Parameters::from_words(words)
}

/// The bin of [`tactus_packets::Counts`] for now.
pub fn bin(length: u64) -> u64 {
    now().as_nanos().checked_div(length).unwrap_or(0)
}
