//! What the study's components share: the run's parameters, and the bin that counts go to now.

use tactus_packets::{service, Parameters};
use tactus_rt::{grant, now};

/// The parameters of the run.
pub fn parameters() -> Option<Parameters> {
    let study = grant("study");
    let mut words = [0; Parameters::WORDS];
    for (place, word) in words.iter_mut().enumerate() {
        *word = study.call([service::PARAMETER, place as u64, 0, 0, 0]).ok()?[0];
    }
    Parameters::from_words(words)
}

/// The bin of [`tactus_packets::Counts`] for now.
pub fn bin(length: u64) -> u64 {
    now().as_nanos().checked_div(length).unwrap_or(0)
}
