//! The study's plots: one picture for each sweep, one panel for each set-up, as SVG that follows the reader's choice of light
//! or dark.

use super::figures::Figures;
use super::spec::Sweep;
use std::fmt::Write;
use tactus_packets::{Setup, STREAMS};

const WIDTH: f64 = 470.0;
const HEIGHT: f64 = 290.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 46.0;
/// Room for the title above all panels.
const HEAD: f64 = 62.0;

const STYLE: &str = "\
svg{--card:#fff;--ink:#1c2126;--soft:#5d6670;--line:#dfe3e8;--one:#0072b2;--two:#d98a00;--all:#8a8f98;--late:#c8102e;\
font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif;font-size:12px}\
@media (prefers-color-scheme:dark){svg{--card:#1c2024;--ink:#e4e7ea;--soft:#9aa4ae;--line:#343a41;--one:#4da6e0;--two:#eda93b;\
--all:#8b929b;--late:#ff6b74}}\
.ground{fill:var(--card)}text{fill:var(--soft)}.title{fill:var(--ink);font-size:17px;font-weight:600}\
.name{fill:var(--ink);font-size:13px;font-weight:600}.grid{stroke:var(--line)}\
polyline{fill:none;stroke-width:2;stroke-linejoin:round}.one{stroke:var(--one)}.two{stroke:var(--two)}\
.all{stroke:var(--all);stroke-dasharray:4 3;stroke-width:1.5}\
.dots .one{fill:var(--one);stroke:none}.dots .two{fill:var(--two);stroke:none}\
.livelock{fill:var(--late);font-weight:600}";

/// What the source says of a set-up, for the panel's name.
fn name(setup: Setup) -> &'static str {
    match setup {
        Setup::OneThread => "a  one interrupt thread above the tasks",
        Setup::Brands => "b  a brand for each stream, above its task",
        Setup::OneServer => "c  one deferrable server for all upcalls",
        Setup::Servers => "d  a brand and a server for each stream",
    }
}

/// The smallest of 1, 2, 2.5, 5 times a power of ten that makes at most `most` steps up to `highest`.
fn step(highest: f64, most: f64) -> f64 {
    let power = 10_f64.powf((highest / most).log10().floor());
    [1.0, 2.0, 2.5, 5.0].map(|n| n * power).into_iter().find(|step| highest / step <= most).unwrap_or(10.0 * power)
}

fn thousands(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else {
        format!("{} k", (value / 100.0).round() / 10.0)
    }
}

/// The picture of one sweep.
pub fn svg(sweep: &Sweep, figures: &[Figures]) -> String {
    let setups = sweep.setups();
    let columns = 2.min(setups.len()).max(1);
    let rows = setups.len().div_ceil(columns);
    let (width, height) = (WIDTH * columns as f64, HEAD + HEIGHT * rows as f64);
    let right = figures.iter().map(|it| it.rates[1]).max().unwrap_or(1) as f64;
    let highest = figures.iter().map(Figures::total).fold(1.0, f64::max) * 1.05;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\
         <style>{STYLE}</style><rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\
         <text class=\"title\" x=\"20\" y=\"30\">{}</text>",
        sweep.title
    );
    // Legend.
    for (place, (class, text)) in [("one", "task 1"), ("two", "task 2"), ("all", "both")].into_iter().enumerate() {
        let x = 20.0 + 90.0 * place as f64;
        let _ = write!(
            out,
            "<polyline class=\"{class}\" points=\"{x},48 {},48\"/><text x=\"{}\" y=\"52\">{text}</text>",
            x + 24.0,
            x + 30.0
        );
    }
    for (place, setup) in setups.into_iter().enumerate() {
        let (x, y) = ((place % columns) as f64 * WIDTH, HEAD + (place / columns) as f64 * HEIGHT);
        let _ = write!(out, "<g transform=\"translate({x},{y})\">");
        let mut points: Vec<&Figures> = figures.iter().filter(|it| it.setup == setup.letter()).collect();
        points.sort_by_key(|it| it.rates[1]);
        panel(&mut out, sweep, setup, &points, (right, highest));
        out += "</g>";
    }
    out + "</svg>\n"
}

fn panel(out: &mut String, sweep: &Sweep, setup: Setup, points: &[&Figures], (right, highest): (f64, f64)) {
    let at_x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * value / right;
    let at_y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest;
    let _ = write!(out, "<text class=\"name\" x=\"{LEFT}\" y=\"28\">{}</text>", name(setup));
    let steps = |end: f64, step: f64| (0..=(end / step) as usize).map(move |i| i as f64 * step);
    for value in steps(highest, step(highest, 6.0)) {
        let y = at_y(value);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
            thousands(value)
        );
    }
    for value in steps(right, step(right, 6.0)) {
        // The last one may be at the picture's edge.
        let anchor = if at_x(value) > WIDTH - 2.0 * RIGHT { "end" } else { "middle" };
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            at_x(value),
            HEIGHT - BOTTOM + 17.0,
            thousands(value)
        );
    }
    let across = if sweep.first.is_some() { "packets/s of stream 2" } else { "packets/s of each stream" };
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{across}</text>\
         <text transform=\"translate(14,{}) rotate(-90)\" text-anchor=\"middle\">handled packets/s</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - BOTTOM + 34.0,
        (TOP + HEIGHT - BOTTOM) / 2.0
    );
    let mut curve = |class: &str, value: &dyn Fn(&Figures) -> f64| {
        let line: Vec<String> =
            points.iter().map(|it| format!("{:.1},{:.1}", at_x(it.rates[1] as f64), at_y(value(it)))).collect();
        let _ = write!(out, "<polyline class=\"{class}\" points=\"{}\"/>", line.join(" "));
    };
    curve("all", &Figures::total);
    for stream in (0..STREAMS).rev() {
        curve(["one", "two"][stream], &|it| it.handled[stream]);
    }
    *out += "<g class=\"dots\">";
    for (it, stream) in points.iter().flat_map(|it| [1, 0].map(|stream| (it, stream))) {
        let (x, y) = (at_x(it.rates[1] as f64), at_y(it.handled[stream]));
        let _ = write!(
            out,
            "<circle class=\"{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>task {}: {:.0} of {} packets/s</title></circle>",
            ["one", "two"][stream],
            stream + 1,
            it.handled[stream],
            it.rates[stream]
        );
    }
    *out += "</g>";
    if let Some(first) = points.iter().find(|it| it.livelock) {
        let _ = write!(
            out,
            "<text class=\"livelock\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">livelock from {}</text>",
            WIDTH - RIGHT,
            TOP + 10.0,
            thousands(first.rates[1] as f64)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_steps() {
        assert_eq!([step(250_000.0, 6.0), step(54_000.0, 6.0), step(0.9, 6.0)], [50_000.0, 10_000.0, 0.2]);
        assert_eq!([thousands(0.0), thousands(24_100.0), thousands(5_000.0)], ["0", "24.1 k", "5 k"]);
    }
}
