//! The kernel's and the scheduler's paths in a system with a slot beside the same ones without: an empty slot costs nothing.

use super::books::books;
use super::figures::{self, Figure};
use super::follow::Paths;
use super::guest;
use super::systems::{self, POLICIES, VICTIMS};
use tactus_machine::build::Programs;
use tactus_machine::failure::Failure;
use tactus_terminal::lines;

/// How much longer a path may be with a slot than without, in hundredths.
const MOST: u64 = 1;

/// Measures both, shows each path, and says what is broken.
pub fn slots(programs: &Programs) -> Result<Vec<String>, Failure> {
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for (all, has_slot) in [(&mut without, false), (&mut with, true)] {
        let calls = systems::calls(1, VICTIMS);
        // The measuring scheduler takes further tasks for some that fault.
        let calls = if has_slot { systems::beside(calls, true) } else { calls };
        let ran = guest::run(programs, &calls, Some("bench-scheduler"))?;
        let own = figures::calls(&books(&ran.memory), None, &Paths::new());
        // The boot loader reads what is in the image.
        all.extend(own.into_iter().filter(|it| !it.name.starts_with("reset")));
        for policy in &POLICIES[..2] {
            let ran = guest::run(programs, &systems::beside(systems::periodic(policy, 10, false), has_slot), None)?;
            all.extend(figures::periodic(policy, &ran.trace, &books(&ran.memory), &Paths::new()));
        }
    }
    let row = |(without, with): (&Figure, &Figure)| {
        [vec![without.name.clone()], [without.median, with.median, without.max, with.max].map(lines::grouped).to_vec()]
            .concat()
    };
    let rows: Vec<Vec<String>> = without.iter().zip(&with).map(row).collect();
    lines::put(&lines::table(&["instructions", "without a slot", "with one", "longest without", "with"], &rows));
    Ok(longer(&without, &with))
}

/// A sentence for each path that is longer with a slot, or was not measured with one.
fn longer(without: &[Figure], with: &[Figure]) -> Vec<String> {
    let one = |figure: &Figure| match with.iter().find(|it| it.name == figure.name) {
        Some(with) if with.median * 100 <= figure.median * (100 + MOST) => None,
        Some(with) => Some(format!(
            "\"{}\" takes {} instructions with a slot, and {} without",
            figure.name, with.median, figure.median
        )),
        None => Some(format!("\"{}\" was not measured with a slot", figure.name)),
    };
    without.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_longer_with_a_slot_or_was_not_measured_with_one_is_named() {
        let figure = |name: &str, median| Figure::of(name, vec![median], None).expect("one sample");
        let without = [figure("null call", 14), figure("long", 1_000), figure("longer", 1_000), figure("gone", 5)];
        let with = [figure("null call", 14), figure("long", 1_010), figure("longer", 1_011)];
        let said = longer(&without, &with);
        assert!(
            said.len() == 2 && said[0].contains("\"longer\" takes 1011") && said[1].contains("\"gone\""),
            "{said:?}"
        );
        assert_eq!(longer(&without[..1], &[figure("null call", 15)]).len(), 1);
    }
}
