//! The page of a study: what was asked, the plots, and the weighted figures. One file, no scripts.

use crate::plot::{escape, Curve, Plot};
use crate::results::Results;
use crate::spec::Study;
use std::fmt::Write;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:1400px;margin:2em auto;padding:0 1em;color:#222}\
table{border-collapse:collapse;margin:1em 0;font-size:13px}td,th{padding:3px 9px;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child{text-align:left}figure{display:inline-block;margin:.5em 1em .5em 0;vertical-align:top}\
.note{color:#555;font-size:13px}";

/// A plot of each workload: the share of accepted sets over the cap.
pub fn plots(study: &Study, results: &Results) -> Vec<(String, Plot)> {
    let caps: Vec<f64> = study.caps.iter().map(|&cap| cap as f64 / 1000.0).collect();
    let plot = |w: usize| {
        let mut curves = Vec::new();
        for (d, decision) in study.decisions.iter().enumerate() {
            for (s, scenario) in study.scenarios.iter().enumerate() {
                let name = match study.scenarios.len() {
                    1 => decision.name().to_string(),
                    _ => format!("{} · {}", decision.name(), scenario.name),
                };
                curves.push(Curve { name, y: results.curve(study, w, s, d), colour: d, dash: s });
            }
        }
        let workload = &study.workloads[w];
        let plot = Plot {
            title: format!("{}, {} cores", workload.name(), study.cores),
            x_name: "cap of utilisation".into(),
            y_name: "share of sets accepted".into(),
            x: caps.clone(),
            x_labels: None,
            curves,
        };
        (format!("{}.svg", workload.name().replace(' ', "-")), plot)
    };
    (0..study.workloads.len()).map(plot).collect()
}

/// A plot of each workload over the cache delays: weighted schedulability. None where the study has no delays.
pub fn weighted_plots(study: &Study, results: &Results) -> Vec<(String, Plot)> {
    let Some(delays) = study.scenarios.iter().position(|s| s.overhead != study.scenarios[0].overhead) else {
        return weighted_plots_of(study, results, study.scenarios.len());
    };
    weighted_plots_of(study, results, delays)
}

fn weighted_plots_of(study: &Study, results: &Results, delays: usize) -> Vec<(String, Plot)> {
    if delays < 2 {
        return Vec::new();
    }
    let labels: Vec<String> = study.scenarios[..delays]
        .iter()
        .map(|s| tactus_time::Duration::from_nanos(s.cache_delay as u64).to_string())
        .collect();
    let plot = |w: usize| {
        let mut curves = Vec::new();
        for (d, decision) in study.decisions.iter().enumerate() {
            for first in (0..study.scenarios.len()).step_by(delays) {
                let y = (first..first + delays).map(|s| results.weighted(study, w, s, d)).collect();
                let name = format!("{} · {}", decision.name(), study.scenarios[first].overhead.name);
                curves.push(Curve { name, y, colour: d, dash: first / delays });
            }
        }
        let workload = &study.workloads[w];
        let plot = Plot {
            title: format!("{}, weighted", workload.name()),
            x_name: "cache-related delay".into(),
            y_name: "weighted schedulability".into(),
            x: (0..delays).map(|n| n as f64).collect(),
            x_labels: Some(labels.clone()),
            curves,
        };
        (format!("{}-weighted.svg", workload.name().replace(' ', "-")), plot)
    };
    (0..study.workloads.len()).map(plot).collect()
}

/// The page.
pub fn html(study: &Study, results: &Results) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_html(study, results, &mut out);
    out
}

fn write_html(study: &Study, results: &Results, out: &mut String) -> std::fmt::Result {
    let title = escape(&study.title);
    writeln!(out, "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>")?;
    writeln!(out, "<style>{STYLE}</style><h1>{title}</h1>")?;
    writeln!(
        out,
        "<p>{} task sets on {} cores, clusters of {}; {} at each cap, seed {}. Every figure is in \
         <a href=\"results.csv\">results.csv</a> and <a href=\"weighted.csv\">weighted.csv</a>.</p>",
        results.sets(),
        study.cores,
        study.cluster,
        study.sets,
        study.seed
    )?;
    writeln!(
        out,
        "<h2>Weighted schedulability</h2><p class=\"note\">Σ U·S(U) / ΣU over the caps; 1 is everything.</p>"
    )?;
    write!(out, "<table><tr><th>workload</th>")?;
    for scenario in &study.scenarios {
        for decision in &study.decisions {
            write!(out, "<th>{}<br>{}</th>", escape(decision.name()), escape(&scenario.name))?;
        }
    }
    writeln!(out, "</tr>")?;
    for (w, workload) in study.workloads.iter().enumerate() {
        write!(out, "<tr><td>{}</td>", escape(workload.name()))?;
        for s in 0..study.scenarios.len() {
            for d in 0..study.decisions.len() {
                write!(out, "<td>{:.3}</td>", results.weighted(study, w, s, d))?;
            }
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</table>")?;
    let over_delays = weighted_plots(study, results);
    if !over_delays.is_empty() {
        writeln!(out, "<h2>Over the cache-related delay</h2>")?;
        for (_, plot) in &over_delays {
            writeln!(out, "<figure>{}</figure>", plot.svg())?;
        }
    }
    writeln!(out, "<h2>Over the cap of utilisation</h2>")?;
    for (_, plot) in plots(study, results) {
        writeln!(out, "<figure>{}</figure>", plot.svg())?;
    }
    writeln!(out, "</html>")
}
