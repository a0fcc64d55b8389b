//! The page in a real browser: its scripts run to the end, agree with the judge, and run nothing that a name smuggles in.
//!
//! Ignored unless asked for, since it needs Chromium or Chrome:
//! `cargo test -p tactus-report --test browser -- --ignored`.

#[path = "../examples/synthetic/mod.rs"]
mod synthetic;

use std::path::PathBuf;
use std::process::Command;
use synthetic::Wanted;
use tactus_report::{html, Details};
use tactus_trace::{judge, Trace, View};

/// A browser from the path; `CHROME` names another.
fn browser() -> PathBuf {
    if let Some(named) = std::env::var_os("CHROME") {
        return named.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file())
        .expect("Chromium or Chrome in PATH; set CHROME to its path if it lies elsewhere")
}

/// The page's document after its scripts have run.
fn opened(name: &str, view: &View, trace: &Trace, place: &str) -> String {
    let folder = std::env::temp_dir().join(format!("tactus-report-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let file = folder.join("report.html");
    std::fs::write(&file, html(view, trace, &judge(view, trace), &Details::default())).expect("the page is written");
    let output = Command::new(browser())
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"])
        .args(["--disable-component-update", "--disable-sync", "--window-size=1400,5000", "--virtual-time-budget=9000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}{place}", file.display()))
        .output()
        .expect("the browser starts");
    std::fs::remove_dir_all(&folder).expect("the temporary folder goes");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn made_up(tasks: usize, fault: bool) -> (View, Trace) {
    synthetic::run(&Wanted { tasks, cores: 4, seconds: 4, seed: 5, overrun: true, fault })
}

/// The text of the element with this id, where it holds no elements.
fn text_of<'a>(page: &'a str, id: &str) -> &'a str {
    let at = page.find(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no element {id}"));
    let rest = &page[at..];
    let start = rest.find('>').expect("the tag ends") + 1;
    &rest[start..start + rest[start..].find('<').expect("the element ends")]
}

#[test]
#[ignore = "needs a browser"]
fn the_scripts_draw_everything_and_agree_with_the_judge() {
    let (view, trace) = made_up(24, true);
    let page = opened("draws", &view, &trace, "#bench");
    assert!(!page.contains("id=\"failed\""), "{}", text_of(&page, "failed"));
    assert!(text_of(&page, "bench").contains("frames 60"));
    assert_eq!(page.matches("class=\"plot-card\"").count(), 24 + 2, "one per task, two of the system's own work");
    assert!(page.matches("class=\"uplot").count() > 3, "plots are drawn where they are in sight");
    let missed = judge(&view, &trace).total.missed;
    assert!(missed > 1);
    assert_eq!(text_of(&page, "miss-count"), format!("{missed} misses"));
}

#[test]
#[ignore = "needs a browser"]
fn an_address_opens_a_task_at_its_longest_response() {
    let (view, trace) = made_up(12, false);
    let page = opened("address", &view, &trace, "#task=4");
    let selected = &page[page.find("<div id=\"selected\"").expect("the panel")..];
    assert!(selected[..400].contains(&format!("<h3>{}</h3>", view.tasks[4].name)), "{}", &selected[..400]);
    assert_ne!(text_of(&page, "range"), format!("0.000\u{202f}000\u{202f}000 s + 4 s"));
}

#[test]
#[ignore = "needs a browser"]
fn hostile_names_run_nothing() {
    let (mut view, trace) = made_up(12, true);
    for (i, task) in view.tasks.iter_mut().enumerate() {
        task.name = [
            "</script><script>document.body.id='taken'</script>",
            "\"><img src=x onerror=\"document.body.id='taken'\">",
            "<svg onload=document.body.id='taken'>",
            "javascript:document.body.id='taken'",
        ][i % 4]
            .to_owned();
    }
    let page = opened("hostile", &view, &trace, "#task=1");
    assert!(!page.contains("id=\"failed\""), "{}", text_of(&page, "failed"));
    assert!(page.contains("class=\"plot-card\""));
    assert!(!page.contains("<body id="), "a name was run");
}
