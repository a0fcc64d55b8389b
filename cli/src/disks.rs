//! Disks in the words of the terminal: what the check says of them, and what became of their promises.

use tactus_analysis::{DiskCheck, DiskClientVerdict};
use tactus_disk::Policy;
use tactus_machine::disk::Compared;
use tactus_model::System;
use tactus_terminal::lines::{self, brief, grouped};
use tactus_trace::{DiskClientSummary, DiskFate, DiskSummary, Summary};

/// `disk     log: G-MATRIX 4 on source-10k · 27.1 % at most · 3 of 4 clients promised      accepted`
pub fn lines(system: &System, checks: &[DiskCheck]) {
    for (disk, check) in system.disks.iter().zip(checks) {
        let queue = match disk.queue {
            Policy::GMatrix(k) => format!("G-MATRIX {k}"),
            _ => "EDF".to_string(),
        };
        let promised = check.clients.iter().filter(|client| client.bound.is_some()).count();
        let (share, all) = (check.share as f64 / 10.0, check.clients.len());
        let what = format!("{}: {queue} on {} · {share:.1} % at most", disk.name, disk.drive.name());
        match &check.refused {
            None => lines::line(
                "disk",
                format!("{what}      {}: {promised} of {all} clients promised", lines::good("accepted")),
            ),
            Some((line, why)) => {
                lines::line("disk", format!("{what}      {}", lines::bad("not accepted")));
                lines::line("", format!("{}:{line}: {why}", system.source.display()));
            }
        }
    }
}

/// Every client with its bound.
pub fn table(checks: &[DiskCheck]) -> String {
    let head = ["disk", "client", "one request", "deadline", "bound", ""];
    let row = |disk: &DiskCheck, client: &DiskClientVerdict| {
        let holds = match (client.deadline, client.bound) {
            (None, _) => "best-effort",
            (Some(_), Some(_)) => "holds",
            (Some(_), None) => "fails",
        };
        vec![
            disk.name.clone(),
            client.name.clone(),
            brief(client.service),
            client.deadline.map_or("–".to_string(), brief),
            client.bound.map_or("–".to_string(), |bound| format!("response ≤ {}", brief(bound))),
            holds.to_string(),
        ]
    };
    let rows: Vec<_> =
        checks.iter().flat_map(|disk| disk.clients.iter().map(move |client| row(disk, client))).collect();
    lines::table(&head, &rows)
}

/// How the machine and the simulation of its disks compare.
pub fn compared(all: Compared) -> String {
    let rest =
        if all.untold == 0 { String::new() } else { format!("; {} at the end were not told", grouped(all.untold)) };
    let asked = if all.asked == 0 { String::new() } else { format!(", {} asked by components", grouped(all.asked)) };
    format!("each of {} requests is the simulation's{asked}{rest}", grouped(all.same))
}

/// What became of the disks' promises; nothing where there are none.
pub fn verdict(summary: &Summary) -> String {
    if summary.disks.is_empty() {
        return String::new();
    }
    let head = ["disk", "client", "requests", "failed", "missed", "worst response", "deadline", "promised", ""];
    let rows: Vec<_> =
        summary.disks.iter().flat_map(|disk| disk.clients.iter().map(move |client| row(disk, client))).collect();
    lines::table(&head, &rows)
}

fn row(disk: &DiskSummary, client: &DiskClientSummary) -> Vec<String> {
    let void = client.bound.is_some() && matches!(disk.fate, DiskFate::Void) && client.void > 0;
    vec![
        disk.name.clone(),
        client.name.clone(),
        grouped(client.requests),
        grouped(client.failed),
        grouped(client.missed),
        client.response.map_or("–".to_string(), |response| brief(response.max)),
        client.deadline.map_or("–".to_string(), brief),
        client.bound.map_or("–".to_string(), |bound| format!("≤ {}", brief(bound))),
        if void { "void".to_string() } else { String::new() },
    ]
}
