//! The bars of the measured paths, `lab/bench/bars.toml`: how many instructions the median of each may take at most.
//!
//! A path whose way was shut by mistake still does what it should, only longer: no other test notices.

use super::figures::Figure;
use std::collections::BTreeMap;
use tactus_machine::failure::Failure;

/// By the figure's name.
pub struct Bars(BTreeMap<String, u64>);

/// Where they are kept, from the root.
const FILE: &str = "lab/bench/bars.toml";

/// Reads them.
pub fn read() -> Result<Bars, Failure> {
    let file = tactus_machine::place::root()?.join(FILE);
    let text = std::fs::read_to_string(&file).map_err(super::guest::machine)?;
    toml::from_str(&text).map(Bars).map_err(|error| Failure::Input(format!("{}: {error}", file.display())))
}

impl Bars {
    /// What is wrong with the figures, a sentence for each; nothing if each path has a bar and keeps to it.
    pub fn broken(&self, figures: &[Figure]) -> Vec<String> {
        let kept = |figure: &Figure| match self.0.get(&figure.name) {
            Some(bar) if figure.median <= *bar => None,
            Some(bar) => {
                Some(format!("\"{}\" takes {} instructions, and its bar is {bar}", figure.name, figure.median))
            }
            None => Some(format!("\"{}\" has no bar: add a line to {FILE}", figure.name)),
        };
        let measured = |name: &String| figures.iter().any(|figure| figure.name == *name);
        let unmeasured =
            self.0.keys().filter(|name| !measured(name)).map(|name| format!("\"{name}\" was not measured"));
        figures.iter().filter_map(kept).chain(unmeasured).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, median: u64) -> Figure {
        Figure::of(name, vec![median], None).expect("one sample")
    }

    #[test]
    fn a_path_that_is_longer_than_its_bar_or_has_none_or_was_not_measured_is_named() {
        let bars = Bars([("short".to_string(), 10), ("gone".to_string(), 5)].into());
        let broken = bars.broken(&[figure("short", 11), figure("new", 1)]);
        assert_eq!(broken.len(), 3, "{broken:?}");
        assert!(broken[0].contains("\"short\" takes 11 instructions, and its bar is 10"), "{broken:?}");
        assert!(
            broken[1].contains("\"new\" has no bar") && broken[2].contains("\"gone\" was not measured"),
            "{broken:?}"
        );
        assert_eq!(bars.broken(&[figure("short", 10), figure("gone", 0)]), Vec::<String>::new());
    }

    /// The last line of the history is what the pages show.
    #[test]
    fn the_figures_that_are_kept_are_within_their_bars() {
        let history = include_str!("../../../docs/measured/history.jsonl");
        let last: serde_json::Value = serde_json::from_str(history.lines().last().expect("a line")).expect("JSON");
        let figures = last["figures"]
            .as_array()
            .expect("figures")
            .iter()
            .map(|it| figure(it["name"].as_str().expect("a name"), it["median"].as_u64().expect("a number")));
        let broken = read().expect("the bars").broken(&figures.collect::<Vec<_>>());
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }
}
