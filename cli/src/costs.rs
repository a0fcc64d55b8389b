//! Costs of the system's own work, as a file tells them.
//!
//! A file has these keys, each a length such as `"3.2 us"`, each an upper bound for one occurrence:
//!
//! ```toml
//! release = "4 us"        # from the time for which a timer was set to the scheduler's look at the clock
//! schedule = "6 us"       # a turn of the scheduler
//! switch = "2 us"         # from the decision to the job's first instruction
//! inter_core = "5 us"     # from sending an inter-core event to the receiving scheduler's look at the clock
//! complete = "2 us"       # from the end of a job to the scheduler's look at the clock
//! ```

use crate::failure::Failure;
use serde::Deserialize;
use std::path::Path;
use tactus_model::{parse_duration, Costs};
use tactus_time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    release: String,
    schedule: String,
    switch: String,
    inter_core: String,
    complete: String,
}

/// Reads what `--costs` names: `none`, or a file.
pub fn read(named: &str) -> Result<Costs, Failure> {
    if named == "none" {
        return Ok(Costs::default());
    }
    let text = std::fs::read_to_string(Path::new(named))
        .map_err(|error| Failure::Input(format!("--costs {named}: {error}; give `none` or a file of costs")))?;
    parse(&text).map_err(|why| Failure::Input(format!("{named}: {why}")))
}

/// Reads the text of a file of costs.
pub fn parse(text: &str) -> Result<Costs, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let length = |key: &str, value: &str| -> Result<Duration, String> {
        parse_duration(value).map_err(|error| format!("{key} = {value:?}: {error}; write a length such as \"4 us\""))
    };
    Ok(Costs {
        release: length("release", &file.release)?,
        schedule: length("schedule", &file.schedule)?,
        switch: length("switch", &file.switch)?,
        inter_core: length("inter_core", &file.inter_core)?,
        complete: length("complete", &file.complete)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "release = '4 us'\nschedule = '6 us'\nswitch = '2 us'\ninter_core = '5 us'\ncomplete = '1500 ns'\n";

    #[test]
    fn a_file_of_costs_is_read_with_all_its_keys() {
        let costs = parse(GOOD).expect("a good file");
        assert_eq!(costs.release, Duration::from_micros(4));
        assert_eq!(costs.complete, Duration::from_nanos(1_500));
    }

    #[test]
    fn a_cost_that_is_missing_unknown_or_no_length_is_named() {
        let told = |text: &str| parse(text).expect_err("a bad file");
        assert!(told(&GOOD.replace("switch", "swich")).contains("swich"));
        assert!(told(&GOOD.replace("release = '4 us'\n", "")).contains("release"));
        assert!(told(&GOOD.replace("'5 us'", "'5'")).contains("inter_core"));
    }
}
