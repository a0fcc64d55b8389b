//! What the studies of schedulers leave: a table (CSV), plots (SVG) and a page (Markdown), the same bytes for the same runs.

use crate::plot::{Curve, Plot};
use std::fs;
use std::path::Path;
use tactus_machine::failure::Failure;

/// One line of a plot: its name, a value for each x, its colour and dash.
pub struct Line {
    /// In the legend.
    pub name: String,
    /// One for each x.
    pub y: Vec<f64>,
    /// Lines that belong together share one.
    pub colour: usize,
    /// And differ in this.
    pub dash: usize,
}

/// Draws lines over numbers of any size: the y axis goes from 0 to the largest, which its name tells.
pub fn plot(title: &str, x_name: &str, y_name: &str, x: &[f64], lines: Vec<Line>) -> String {
    let most = lines.iter().flat_map(|line| &line.y).copied().filter(|y| y.is_finite()).fold(0.0, f64::max);
    // A round number, so that the marks are round as well.
    let unit = if most > 0.0 { 10_f64.powf(most.log10().floor()) } else { 1.0 };
    let scale = if most > 0.0 { (most / unit).ceil() * unit } else { 1.0 };
    let fits = (scale - 1.0).abs() < 1e-9;
    let plot = Plot {
        title: title.to_string(),
        x_name: x_name.to_string(),
        y_name: if fits { y_name.to_string() } else { format!("{y_name}, in units of {scale}") },
        x: x.to_vec(),
        x_labels: Some(x.iter().map(f64::to_string).collect()),
        curves: lines
            .into_iter()
            .map(|Line { name, y, colour, dash }| {
                let y = y.into_iter().map(|y| (y / scale).clamp(0.0, 1.0)).collect();
                Curve { name, y, colour, dash }
            })
            .collect(),
    };
    plot.svg()
}

/// Writes one file into the folder, which is made if it is not there.
pub fn put(folder: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))
}

/// A table in Markdown.
pub fn markdown(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let mut out = line(&mut head.iter().map(|cell| (*cell).to_string()));
    out += &format!("|---|{}\n", "--:|".repeat(head.len() - 1));
    for row in rows {
        out += &line(&mut row.iter().cloned());
    }
    out
}

/// A table as CSV; a comma within a cell becomes a semicolon.
pub fn csv(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |fields: &mut dyn Iterator<Item = &str>| {
        fields.map(|field| field.replace(',', ";")).collect::<Vec<_>>().join(",") + "\n"
    };
    let mut out = line(&mut head.iter().copied());
    for row in rows {
        out += &line(&mut row.iter().map(String::as_str));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_size_are_drawn_to_a_round_number_that_the_axis_tells() {
        let line = Line { name: "a".into(), y: vec![0.0, 3_400.0], colour: 0, dash: 0 };
        let svg = plot("t", "x", "instructions", &[1.0, 2.0], vec![line]);
        assert!(svg.contains("instructions, in units of 4000"), "{svg}");
    }

    #[test]
    fn tables_have_a_line_for_each_row() {
        let rows = vec![vec!["a".to_string(), "1".to_string()]];
        assert_eq!(markdown(&["n", "x"], &rows), "| n | x |\n|---|--:|\n| a | 1 |\n");
        assert_eq!(csv(&["n", "x"], &rows), "n,x\na,1\n");
        assert_eq!(csv(&["n", "late, %"], &[vec!["P, C".into(), "1".into()]]), "n,late; %\nP; C,1\n");
    }
}
