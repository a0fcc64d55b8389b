//! Box plots as SVG, in the source's form: the box from 25 % to 75 %, a line at the median, whiskers from the shortest
//! to the longest; over the number of processors, on a logarithmic scale, since the longest are far away.

use crate::measure::Boxes;
use std::fmt::Write;

/// One structure's boxes: by number of processors.
pub type Series<'a> = (&'a str, Vec<(usize, Boxes)>);

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 50.0;
const TOP: f64 = 84.0;
const COLOURS: [&str; 12] = [
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888", "#994455", "#004488", "#bb5566",
    "#000000", "#997700",
];

/// Draws the boxes of all structures side by side.
pub fn boxes(title: &str, series: &[Series]) -> String {
    let mut counts: Vec<usize> = series.iter().flat_map(|(_, row)| row.iter().map(|(n, _)| *n)).collect();
    counts.sort_unstable();
    counts.dedup();
    let all = || series.iter().flat_map(|(_, row)| row.iter().map(|(_, boxes)| *boxes));
    let low = all().map(|b| b.min.max(1)).min().unwrap_or(1) as f64;
    let high = all().map(|b| b.max).max().unwrap_or(10) as f64;
    let (low, high) = (low.log10().floor(), high.max(low * 10.0).log10().ceil());
    let y = |value: f64| HEIGHT - BOTTOM - (value.max(1.0).log10() - low) / (high - low) * (HEIGHT - BOTTOM - TOP);
    let group = (WIDTH - LEFT - 20.0) / counts.len().max(1) as f64;
    let each = group * 0.8 / series.len().max(1) as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"20\" \
         font-size=\"15\">{}</text>\n",
        escaped(title)
    );
    // Writing to a string does not fail.
    let mut put = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    for power in low as i32..=high as i32 {
        let at = y(10_f64.powi(power));
        put(format!("<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>", WIDTH - 20.0));
        let label = 10_u64.pow(power.max(0) as u32);
        put(format!("<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>", LEFT - 6.0, at + 4.0));
    }
    put(format!(
        "<text x=\"16\" y=\"{}\" transform=\"rotate(-90 16 {})\" text-anchor=\"middle\">cycles</text>",
        HEIGHT / 2.0,
        HEIGHT / 2.0
    ));
    for (n, count) in counts.iter().enumerate() {
        let middle = LEFT + group * (n as f64 + 0.5);
        put(format!("<text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">{count}</text>", HEIGHT - BOTTOM + 18.0));
    }
    put(format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">processors</text>",
        (WIDTH + LEFT) / 2.0,
        HEIGHT - 12.0
    ));
    for (s, (name, row)) in series.iter().enumerate() {
        let colour = COLOURS[s % COLOURS.len()];
        let (column, line) = (s % 5, s / 5);
        let (x, at) = (LEFT + column as f64 * 150.0, 36.0 + line as f64 * 16.0);
        put(format!("<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>", at - 9.0));
        put(format!("<text x=\"{}\" y=\"{at}\">{}</text>", x + 14.0, escaped(name)));
        for (count, b) in row {
            let n = counts.iter().position(|c| c == count).unwrap_or(0);
            let left = LEFT + group * (n as f64 + 0.1) + each * s as f64;
            let middle = left + each / 2.0;
            let (min, max) = (y(f64::from(b.min)), y(f64::from(b.max)));
            let (p25, median, p75) = (y(f64::from(b.p25)), y(f64::from(b.median)), y(f64::from(b.p75)));
            put(format!(
                "<line x1=\"{middle:.1}\" x2=\"{middle:.1}\" y1=\"{min:.1}\" y2=\"{max:.1}\" stroke=\"{colour}\"/>"
            ));
            put(format!(
                "<rect x=\"{left:.1}\" y=\"{p75:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\" \
                 fill-opacity=\"0.5\" stroke=\"{colour}\"><title>{} on {count}: min {} 25 % {} median {} 75 % {} max \
                 {}</title></rect>",
                each * 0.9,
                (p25 - p75).max(0.5),
                escaped(name),
                b.min,
                b.p25,
                b.median,
                b.p75,
                b.max
            ));
            put(format!(
                "<line x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{median:.1}\" y2=\"{median:.1}\" stroke=\"black\"/>",
                left + each * 0.9
            ));
        }
    }
    out.push_str("</svg>\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_has_a_box_for_each_structure_and_number_of_processors() {
        let b = Boxes { samples: 9, min: 90, p25: 100, median: 120, p75: 200, p99: 900, p999: 990, max: 1_000 };
        let plot = boxes("find <cycles>", &[("scan", vec![(2, b), (4, b)]), ("cpudl", vec![(2, b)])]);
        assert_eq!(plot.matches("<title>").count(), 3);
        assert!(plot.contains("find &lt;cycles&gt;") && plot.ends_with("</svg>\n"));
    }
}
