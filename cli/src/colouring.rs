//! `tactus check --choose-colours`: tasks get colours of memory of their own, and the system file is written with them.
//!
//! The file keeps its comments and its order; only `colours` of the tasks that get some is set.

use std::path::Path;
use tactus_analysis::Colouring;
use tactus_machine::failure::Failure;
use tactus_model::System;
use tactus_terminal::lines;
use toml_edit::{value, Array, DocumentMut};

/// Reads the file, chooses colours and writes the result to `out`; says so in a line.
pub fn write(file: &Path, out: &Path) -> Result<(), Failure> {
    if file.extension().is_none_or(|extension| extension != "toml") {
        return Err(Failure::Input(format!("--choose-colours: {} is no system file in TOML", file.display())));
    }
    let text = tactus_model::read_ordinary_text(file, 16 << 20)
        .map_err(|e| Failure::Input(format!("{}: {e}", file.display())))?;
    let (coloured, said) = choose(&text, file)?;
    // What the file names is looked for beside it, so it is read once more as what it will be.
    System::parse_toml(&coloured, out).map_err(|problems| Failure::Input(format!("--choose-colours: {problems}")))?;
    std::fs::write(out, coloured).map_err(|e| Failure::Machine(format!("{}: {e}", out.display())))?;
    lines::line("colours", format!("{said}: {}", out.display()));
    Ok(())
}

/// The text with the chosen colours, and what was chosen in words.
fn choose(text: &str, file: &Path) -> Result<(String, String), Failure> {
    let told = |why: String| Failure::Input(format!("{}: {why}", file.display()));
    let mut document: DocumentMut = text.parse().map_err(|e: toml_edit::TomlError| told(e.to_string()))?;
    let system = System::parse_toml(text, file).map_err(|problems| Failure::Input(problems.to_string()))?;
    let chosen = tactus_analysis::colouring(&system).map_err(|e| told(e.to_string()))?;
    let tables = document.get_mut("task").and_then(|tasks| tasks.as_array_of_tables_mut());
    for (table, colours) in tables.into_iter().flat_map(|tables| tables.iter_mut()).zip(&chosen.tasks) {
        if !colours.is_empty() {
            table.insert("colours", value(colours.iter().map(|colour| i64::from(*colour)).collect::<Array>()));
        }
    }
    Ok((document.to_string(), words(&system, &chosen)))
}

fn words(system: &System, chosen: &Colouring) -> String {
    let given = system.tasks.iter().zip(&chosen.tasks).filter(|(_, colours)| !colours.is_empty());
    let given: Vec<String> = given.map(|(task, colours)| format!("{} {}", task.name, colours.len())).collect();
    let how = if chosen.least { "the least sum of utilisations" } else { "the same for all" };
    format!("{}, {how}; {} left for the rest", given.join(", "), chosen.rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# a comment
[system]
name = 'x'
cores = 1
duration = '100 ms'
[policy]
kind = 'partitioned-edf'
[machine]
geometry = 'i7-2600'
colours = 16
[[task]] # kept
name = 'a'
core = 0
period = '10 ms'
execution = '1 ms'
memory = '1 MiB'
[[task]]
name = 'b'
core = 0
period = '10 ms'
execution = '1 ms' # kept too
";

    #[test]
    fn a_file_gets_colours_where_they_pay_and_keeps_all_else() {
        let (text, said) = choose(FILE, Path::new("x.toml")).expect("chosen");
        assert!(text.contains("# a comment") && text.contains("# kept") && text.contains("# kept too"), "{text}");
        let system = System::parse_toml(&text, Path::new("x.toml")).unwrap_or_else(|problems| panic!("{problems}"));
        let assigned = system.platform.colour_assignment.expect("colours are named");
        assert_eq!((assigned.tasks[0].count_ones(), assigned.tasks[1] == assigned.rest), (2, true), "{text}");
        assert_eq!(said, "a 2, the least sum of utilisations; 14 left for the rest");
    }

    #[test]
    fn a_file_without_caches_or_with_faults_is_refused_by_name_or_line() {
        let why = |text: &str| choose(text, Path::new("x.toml")).expect_err("refused").to_string();
        let without = why(&FILE.replace("geometry = 'i7-2600'\n", ""));
        assert!(without.contains("x.toml: the file names no caches; add a line like"), "{without}");
        assert!(why(&FILE.replace("'1 MiB'", "1")).contains("x.toml:16"), "{}", why(&FILE.replace("'1 MiB'", "1")));
    }
}
