//! Box plots as SVG, in the source's form: the box from 25 % to 75 %, a line at the median, whiskers from the shortest to the
//! longest; on a logarithmic scale, since the longest are far away. A page has one panel or several with one scale and one
//! legend. The same input gives the same bytes.

use std::fmt::Write;
use std::path::Path;
use tactus_machine::failure::Failure;
use tactus_rig::{Boxes, Line, Operation};
use tactus_studies::plot::escape;

/// What is plotted of an operation, in words.
pub fn words(operation: Operation) -> &'static str {
    match operation {
        Operation::Pull => "a whole pull",
        Operation::Push => "a whole push",
        Operation::Enqueue => "put a task into a ready queue",
        Operation::Dequeue => "take a task out of a ready queue",
        Operation::Preempt => "modify: tell of an arrival",
        Operation::Finish => "modify: tell of a departure",
        Operation::Find => "query: find a core to push to",
        Operation::PullPreempt => "modify, pull side: tell of an arrival",
        Operation::PullFinish => "modify, pull side: tell of a departure",
        Operation::PullFind => "query, pull side: find a core to pull from",
        Operation::Empty => "nothing: what a measurement itself takes",
    }
}

/// A page of plots.
pub struct Page {
    /// Above it.
    pub title: String,
    /// Under each x axis.
    pub x_name: &'static str,
    /// What has a colour, in the legend's order.
    pub names: Vec<String>,
    /// One beside the other.
    pub panels: Vec<Panel>,
}

/// One plot.
pub struct Panel {
    /// Above it; nothing where the page's title tells all.
    pub title: String,
    /// What stands side by side along the x axis.
    pub groups: Vec<String>,
    /// By name, then by group.
    pub boxes: Vec<Vec<Option<Boxes>>>,
}

const COLOURS: [&str; 12] = [
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#888888", "#ff8800", "#004488", "#8a5a2b",
    "#000000", "#009988",
];

/// How wide a page is; one with very many boxes grows beyond.
const WIDTH: f64 = 1_060.0;
/// How wide a panel is at least, and each box in it.
const PANEL: f64 = 330.0;
const BOX: f64 = 6.0;
/// Around the area of a panel.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 14.0;
const UNDER: f64 = 50.0;
const ABOVE: f64 = 26.0;
/// How wide a character is at most, on average, where text is 12 high.
const CHARACTER: f64 = 6.8;
const KEY: &str =
    "Cycles of the time-stamp counter, on a logarithmic scale. Box: 25 % to 75 %; black line: median; thin line: \
                   from the shortest to the longest.";

impl Page {
    /// Of each operation that was measured, a panel: all processors together, then each by itself.
    pub fn by_processor(title: String, lines: &[Line]) -> Page {
        let mut names: Vec<String> = Vec::new();
        for line in lines {
            if !names.contains(&line.directory) {
                names.push(line.directory.clone());
            }
        }
        let most = lines.iter().map(|line| line.processors).max().unwrap_or(0);
        let processors: Vec<Option<usize>> = std::iter::once(None).chain((0..most).map(Some)).collect();
        let panel = |operation: Operation| {
            let of = |name: &String, processor: Option<usize>| {
                let this = |line: &&Line| {
                    line.operation == operation.name() && line.processor == processor && line.directory == *name
                };
                lines.iter().find(this)?.durations
            };
            Panel {
                title: format!("{} – {}", operation.name(), words(operation)),
                groups: processors.iter().map(|p| p.map_or("all".to_string(), |n| n.to_string())).collect(),
                boxes: names.iter().map(|name| processors.iter().map(|p| of(name, *p)).collect()).collect(),
            }
        };
        let panels = Operation::ALL.into_iter().map(panel).filter(|panel| panel.all().next().is_some()).collect();
        Page { title, x_name: "processor", names, panels }
    }

    /// Writes the picture.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        std::fs::write(path, self.svg()).map_err(|error| Failure::Machine(format!("{}: {error}", path.display())))
    }

    /// The picture.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = self.draw(&mut out);
        out
    }

    fn draw(&self, out: &mut String) -> std::fmt::Result {
        let all = || self.panels.iter().flat_map(Panel::all);
        let low = all().map(|b| b.min.max(1)).min().unwrap_or(1);
        let high = all().map(|b| b.max).max().unwrap_or(10).max(low.saturating_mul(10));
        let scale = (f64::from(low).log10().floor(), f64::from(high).log10().ceil());
        let count = |panel: &Panel| panel.groups.len() * (self.names.len() + 1);
        let boxes = self.panels.iter().map(count).max().unwrap_or(0) as f64 * BOX;
        let single = self.panels.len() <= 1;
        let each = (boxes + LEFT + RIGHT).max(if single { WIDTH } else { PANEL });
        let columns = (WIDTH / each).floor().max(1.0);
        let each = each.max(WIDTH / columns);
        let width = each * columns;
        let legend = if self.names.len() > 1 { self.legend(width) } else { Vec::new() };
        let top = 40.0 + legend.last().map_or(0.0, |(_, y)| y + 16.0);
        let area = (each - LEFT - RIGHT, if single { 300.0 } else { 210.0 });
        let row = ABOVE + area.1 + UNDER;
        let height = top + row * (self.panels.len() as f64 / columns).ceil() + 24.0;
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"14\" y=\"24\" font-size=\"15\" font-weight=\"bold\">{}</text>",
            escape(&self.title)
        )?;
        for (n, (x, y)) in legend.iter().enumerate() {
            let (y, colour) = (y + 34.0, COLOURS[n % COLOURS.len()]);
            writeln!(out, "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>")?;
            writeln!(out, "<text x=\"{:.0}\" y=\"{:.0}\">{}</text>", x + 14.0, y + 9.0, escape(&self.names[n]))?;
        }
        for (n, panel) in self.panels.iter().enumerate() {
            let at = (n as f64 % columns * each + LEFT, top + (n as f64 / columns).floor() * row + ABOVE);
            self.panel(out, panel, at, area, scale)?;
        }
        writeln!(out, "<text x=\"14\" y=\"{:.0}\" fill=\"#555\">{KEY}</text>\n</svg>", height - 10.0)
    }

    /// Where each name of the legend stands, in rows.
    fn legend(&self, width: f64) -> Vec<(f64, f64)> {
        let longest = self.names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64;
        let each = longest * CHARACTER + 34.0;
        let columns = ((width - 28.0) / each).floor().max(1.0);
        let place = |n: usize| (14.0 + n as f64 % columns * each, (n as f64 / columns).floor() * 17.0);
        (0..self.names.len()).map(place).collect()
    }

    /// One panel, the area of which begins there and is so large; the scale in powers of ten.
    fn panel(
        &self,
        out: &mut String,
        panel: &Panel,
        (left, top): (f64, f64),
        (width, height): (f64, f64),
        (low, high): (f64, f64),
    ) -> std::fmt::Result {
        let bottom = top + height;
        let y = |value: u32| bottom - (f64::from(value.max(1)).log10() - low) / (high - low) * height;
        if !panel.title.is_empty() {
            writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", left - 62.0, top - 10.0, escape(&panel.title))?;
        }
        for power in low as u32..=high as u32 {
            let (value, at) = (10_u64.pow(power), bottom - (f64::from(power) - low) / (high - low) * height);
            writeln!(out, "<path d=\"M{left:.1} {at:.1}h{width:.1}\" stroke=\"#ddd\"/>")?;
            let digits = tactus_terminal::lines::grouped(value);
            let x = left - 5.0;
            writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10\">{digits}</text>",
                at + 4.0
            )?;
        }
        writeln!(
            out,
            "<text transform=\"translate({:.1} {:.1}) rotate(-90)\" text-anchor=\"middle\" font-size=\"11\">cycles</text>",
            left - 64.0,
            top + height / 2.0
        )?;
        let group = width / panel.groups.len().max(1) as f64;
        let each = (group * 0.86 / self.names.len().max(1) as f64).min(44.0);
        let longest = panel.groups.iter().map(|name| name.chars().count()).max().unwrap_or(1) as f64;
        let every = ((longest + 1.0) * CHARACTER / group).ceil().max(1.0) as usize;
        for (n, name) in panel.groups.iter().enumerate() {
            let middle = left + group * (n as f64 + 0.5);
            if n % every == 0 {
                let under = bottom + 17.0;
                writeln!(
                    out,
                    "<text x=\"{middle:.1}\" y=\"{under:.1}\" text-anchor=\"middle\">{}</text>",
                    escape(name)
                )?;
            }
            let begin = middle - each * self.names.len() as f64 / 2.0;
            for (s, boxes) in panel.boxes.iter().enumerate() {
                let Some(b) = boxes.get(n).copied().flatten() else { continue };
                let (x, wide, colour) = (begin + each * s as f64, each * 0.86, COLOURS[s % COLOURS.len()]);
                let (upper, lower, median) = (y(b.p75), y(b.p25), y(b.median));
                writeln!(
                    out,
                    "<path d=\"M{:.1} {:.1}V{:.1}\" stroke=\"{colour}\"/>",
                    x + wide / 2.0,
                    y(b.min),
                    y(b.max)
                )?;
                writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{upper:.1}\" width=\"{wide:.1}\" height=\"{:.1}\" fill=\"{colour}\" \
                     fill-opacity=\"0.5\" stroke=\"{colour}\"><title>{}, {} {}: min {}, 25 % {}, median {}, 75 % {}, max {} \
                     cycles, {} measured</title></rect>",
                    (lower - upper).max(0.5),
                    escape(&self.names[s]),
                    self.x_name,
                    escape(name),
                    b.min,
                    b.p25,
                    b.median,
                    b.p75,
                    b.max,
                    b.samples
                )?;
                writeln!(out, "<path d=\"M{x:.1} {median:.1}h{wide:.1}\" stroke=\"black\" stroke-width=\"1.5\"/>")?;
            }
        }
        writeln!(out, "<path d=\"M{left:.1} {top:.1}V{bottom:.1}h{width:.1}\" stroke=\"#333\" fill=\"none\"/>")?;
        let (middle, under) = (left + width / 2.0, bottom + 34.0);
        writeln!(out, "<text x=\"{middle:.1}\" y=\"{under:.1}\" text-anchor=\"middle\">{}</text>", self.x_name)
    }
}

impl Panel {
    fn all(&self) -> impl Iterator<Item = &Boxes> {
        self.boxes.iter().flatten().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: Boxes = Boxes { samples: 9, min: 90, p25: 100, median: 120, p75: 200, p99: 900, p999: 990, max: 1_000 };

    fn page(names: usize, groups: usize, panels: usize) -> Page {
        let panel = |n| Panel {
            title: format!("panel {n}"),
            groups: (0..groups).map(|n| n.to_string()).collect(),
            boxes: vec![vec![Some(B); groups]; names],
        };
        Page {
            title: "find <cycles>".into(),
            x_name: "processors",
            names: (0..names).map(|n| format!("structure {n}")).collect(),
            panels: (0..panels).map(panel).collect(),
        }
    }

    #[test]
    fn a_plot_has_a_box_for_each_structure_and_group_that_was_measured() {
        let mut page = page(2, 2, 1);
        page.panels[0].boxes[1][1] = None;
        let plot = page.svg();
        assert_eq!(plot.matches("<title>").count(), 3);
        assert!(plot.contains("find &lt;cycles&gt;") && plot.ends_with("</svg>\n"));
        assert!(
            plot.contains("<title>structure 0, processors 1: min 90, 25 % 100, median 120, 75 % 200, max 1000 cycles")
        );
    }

    /// All numbers that stand behind this attribute.
    fn numbers(plot: &str, attribute: &str) -> Vec<f64> {
        let of = |part: &str| part.split('"').next()?.parse().ok();
        plot.split(&format!(" {attribute}=\"")).skip(1).filter_map(of).collect()
    }

    #[test]
    fn nothing_stands_outside_the_page_however_many_boxes_there_are() {
        for (names, groups, panels) in [(1, 3, 11), (12, 5, 11), (12, 49, 11), (1, 49, 11), (12, 8, 1), (1, 1, 1)] {
            let plot = page(names, groups, panels).svg();
            assert_eq!(plot.matches("<title>").count(), names * groups * panels);
            let (width, height) = (numbers(&plot, "width"), numbers(&plot, "height"));
            let furthest = numbers(&plot, "x").into_iter().fold(0.0, f64::max);
            let lowest = numbers(&plot, "y").into_iter().fold(0.0, f64::max);
            assert!(furthest < width[0] && lowest < height[0], "{furthest} of {width:?}, {lowest} of {height:?}");
            // Each box can be seen.
            assert!(width.iter().all(|width| *width >= 4.0), "{names} {groups} {panels}: {width:?}");
        }
    }

    #[test]
    fn an_operation_that_was_not_measured_has_no_panel() {
        let line = |processor, operation: &str, durations| {
            let line = serde_json::json!({
                "directory": "scan", "queue": "bitmap", "processors": 2, "processor": processor, "operation": operation,
                "count": 9, "durations": durations, "faults": 0, "bound": true, "cycles": 5, "real_time": false, "seed": 0
            });
            serde_json::from_value::<Line>(line).unwrap()
        };
        let lines = [
            line(None, "find", Some(B)),
            line(Some(1), "find", Some(B)),
            line(None, "pull", None),
            line(None, "push", None),
        ];
        let page = Page::by_processor("a run".into(), &lines);
        assert_eq!(page.names, ["scan"]);
        assert_eq!(page.panels.len(), 1);
        assert_eq!(page.panels[0].groups, ["all", "0", "1"]);
        assert_eq!(page.panels[0].boxes, [[Some(B), None, Some(B)]]);
    }
}
