//! The run's parameters, as every component of the study learns them.

use tactus_packets::{service, Parameters};
use tactus_rt::grant;

/// The parameters of the run.
pub fn parameters() -> Option<Parameters> {
    let study = grant("study");
    let mut words = [0; Parameters::WORDS];
    for (place, word) in words.iter_mut().enumerate() {
        *word = study.call([service::PARAMETER, place as u64, 0, 0, 0]).ok()?[0];
    }
    Parameters::from_words(words)
}
