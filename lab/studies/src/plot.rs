//! Curves as SVG: a share from 0 to 1 over some number, with a legend. The same input gives the same bytes.

use std::fmt::Write;

/// One curve.
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// One value for each x; 0 to 1.
    pub y: Vec<f64>,
    /// Which colour; curves of a policy share one.
    pub colour: usize,
    /// Which line: whole, dashed, dotted …
    pub dash: usize,
}

/// A plot.
pub struct Plot {
    /// Above it.
    pub title: String,
    /// Under the x axis.
    pub x_name: String,
    /// Beside the y axis.
    pub y_name: String,
    /// Positions on the x axis, in rising order.
    pub x: Vec<f64>,
    /// What stands under them, where it is not the number.
    pub x_labels: Option<Vec<String>>,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// Colours that colour-blind people can tell apart (Okabe and Ito).
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a7a00"];
const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "1 5"];

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 34.0;
const LEGEND: f64 = 190.0;
const LEGEND_LINE: f64 = 16.0;

/// Text as XML has it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Plot {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.draw(&mut out);
        out
    }

    fn draw(&self, out: &mut String) -> std::fmt::Result {
        let height = (TOP + HEIGHT + 46.0).max(TOP + LEGEND_LINE * self.curves.len() as f64 + 10.0);
        let width = LEFT + WIDTH + LEGEND;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">"
        )?;
        writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>")?;
        writeln!(
            out,
            "<text x=\"{LEFT}\" y=\"20\" font-size=\"13\" font-weight=\"bold\">{}</text>",
            escape(&self.title)
        )?;
        let (first, last) = (self.x.first().copied().unwrap_or(0.0), self.x.last().copied().unwrap_or(1.0));
        let x_at = |x: f64| LEFT + WIDTH * if last > first { (x - first) / (last - first) } else { 0.5 };
        let y_at = |y: f64| TOP + HEIGHT * (1.0 - y);
        for n in 0..=5 {
            let (y, at) = (f64::from(n) / 5.0, y_at(f64::from(n) / 5.0));
            writeln!(out, "<path d=\"M{LEFT} {at:.1}h{WIDTH}\" stroke=\"#ddd\"/>")?;
            writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{y:.1}</text>", LEFT - 6.0, at + 4.0)?;
        }
        let every = (self.x.len() / 8).max(1);
        for (n, &x) in self.x.iter().enumerate().step_by(every) {
            let label = match &self.x_labels {
                Some(labels) => labels.get(n).cloned().unwrap_or_default(),
                None => format!("{x:.1}"),
            };
            let at = x_at(x);
            writeln!(out, "<path d=\"M{at:.1} {:.1}v4\" stroke=\"#333\"/>", TOP + HEIGHT)?;
            let y = TOP + HEIGHT + 17.0;
            writeln!(out, "<text x=\"{at:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>", escape(&label))?;
        }
        writeln!(out, "<path d=\"M{LEFT} {TOP}v{HEIGHT}h{WIDTH}\" stroke=\"#333\" fill=\"none\"/>")?;
        let (middle, under) = (LEFT + WIDTH / 2.0, TOP + HEIGHT + 36.0);
        writeln!(out, "<text x=\"{middle}\" y=\"{under}\" text-anchor=\"middle\">{}</text>", escape(&self.x_name))?;
        let beside = TOP + HEIGHT / 2.0;
        writeln!(
            out,
            "<text transform=\"translate(14 {beside}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(&self.y_name)
        )?;
        for (n, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[curve.colour % COLOURS.len()];
            let dash = match DASHES[curve.dash % DASHES.len()] {
                "" => String::new(),
                dash => format!(" stroke-dasharray=\"{dash}\""),
            };
            let points: Vec<String> =
                self.x.iter().zip(&curve.y).map(|(&x, &y)| format!("{:.1},{:.1}", x_at(x), y_at(y))).collect();
            let style = format!("stroke=\"{colour}\" stroke-width=\"1.6\" fill=\"none\"{dash}");
            writeln!(out, "<polyline points=\"{}\" {style}/>", points.join(" "))?;
            let (x, y) = (LEFT + WIDTH + 14.0, TOP + 6.0 + LEGEND_LINE * n as f64);
            writeln!(out, "<path d=\"M{x} {y}h26\" {style}/>")?;
            writeln!(out, "<text x=\"{}\" y=\"{}\">{}</text>", x + 32.0, y + 4.0, escape(&curve.name))?;
        }
        writeln!(out, "</svg>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_from_corner_to_corner() {
        let plot = Plot {
            title: "a < b".into(),
            x_name: "x".into(),
            y_name: "y".into(),
            x: vec![1.0, 2.0],
            x_labels: None,
            curves: vec![Curve { name: "c".into(), y: vec![1.0, 0.0], colour: 0, dash: 1 }],
        };
        let svg = plot.svg();
        assert!(svg.contains("points=\"52.0,34.0 472.0,294.0\""), "{svg}");
        assert!(svg.contains("a &lt; b") && svg.trim_end().ends_with("</svg>"));
    }
}
