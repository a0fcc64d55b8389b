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
use tactus_model::{parse_duration, Costs, Machine};
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

/// What was measured on the emulated machine.
const MEASURED: &str = include_str!("../costs/emulated-pc.toml");

/// The machine's shift at which it was measured.
const MEASURED_AT: u8 = 1;

/// Reads what `--costs` names: `none`, `measured`, or a file.
pub fn read(named: &str, machine: &Machine) -> Result<Costs, Failure> {
    match named {
        "none" => Ok(Costs::default()),
        "measured" => measured(machine).map_err(Failure::Machine),
        _ => {
            let text = std::fs::read_to_string(Path::new(named)).map_err(|error| {
                Failure::Input(format!("--costs {named}: {error}; give `none`, `measured` or a file of costs"))
            })?;
            parse(&text).map_err(|why| Failure::Input(format!("{named}: {why}")))
        }
    }
}

/// What the system's own work costs on the emulated machine: instructions, which take as long as the machine says.
fn measured(machine: &Machine) -> Result<Costs, String> {
    let costs = parse(MEASURED)?;
    let scaled = |length: Duration| {
        let nanos = u128::from(length.as_nanos()) << machine.shift >> MEASURED_AT;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    };
    Ok(Costs {
        release: scaled(costs.release),
        schedule: scaled(costs.schedule),
        switch: scaled(costs.switch),
        inter_core: scaled(costs.inter_core),
        complete: scaled(costs.complete),
    })
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
    fn measured_costs_grow_with_the_length_of_an_instruction() {
        let at = |shift| measured(&Machine { shift, overheads: true }).expect("the file that comes along");
        assert_eq!(at(1), parse(MEASURED).expect("the same file"));
        assert_eq!(at(3).schedule, at(1).schedule * 4);
        assert_eq!(at(0).schedule, at(1).schedule / 2);
    }

    #[test]
    fn a_cost_that_is_missing_unknown_or_no_length_is_named() {
        let told = |text: &str| parse(text).expect_err("a bad file");
        assert!(told(&GOOD.replace("switch", "swich")).contains("swich"));
        assert!(told(&GOOD.replace("release = '4 us'\n", "")).contains("release"));
        assert!(told(&GOOD.replace("'5 us'", "'5'")).contains("inter_core"));
    }
}
