//! What every report keeps to, whatever the run: sound markup, nothing loaded, nothing smuggled in, nothing lost.

#[path = "../examples/synthetic/mod.rs"]
mod synthetic;

use base64::Engine;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use synthetic::Wanted;
use tactus_record::{EventKind, Record};
use tactus_report::{html, Details};
use tactus_time::{CoreId, Duration, Instant, TaskId};
use tactus_trace::{jobs, judge, schedule, SegmentKind, Trace, View};

fn made_up(tasks: usize, seconds: u64, overrun: bool) -> (View, Trace) {
    synthetic::run(&Wanted { tasks, cores: 4, seconds, seed: 11, overrun, fault: false })
}

fn page(view: &View, trace: &Trace, extra: &Details) -> String {
    html(view, trace, &judge(view, trace), extra)
}

/// The content of the element that begins with `open`, up to its end tag.
fn inside<'a>(page: &'a str, open: &str, close: &str) -> &'a str {
    let start = page.find(open).unwrap_or_else(|| panic!("no {open}")) + open.len();
    &page[start..start + page[start..].find(close).unwrap_or_else(|| panic!("no {close}"))]
}

/// The tags of a page in order, with the contents of `script` and `style` left out.
fn tags(page: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let mut quoted = None;
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                match quoted {
                    Some(q) if q == *c => quoted = None,
                    None if *c == '"' || *c == '\'' => quoted = Some(*c),
                    _ => {}
                }
                quoted.is_none() && *c == '>'
            })
            .map(|(i, _)| i)
            .expect("a tag has an end");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        for raw in ["script", "style"] {
            if tag.split_whitespace().next() == Some(raw) {
                rest = &rest[rest.find(&format!("</{raw}>")).expect("raw text has an end")..];
            }
        }
        out.push(tag.to_owned());
    }
    out
}

fn assert_balanced(page: &str) {
    const ALONE: [&str; 5] = ["!doctype", "meta", "input", "br", "link"];
    let mut open: Vec<String> = Vec::new();
    for tag in tags(page) {
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap_or_default().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "closed in another order than opened");
        } else if !ALONE.contains(&name.as_str()) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn every_tag_that_is_opened_is_closed_in_order() {
    let (view, trace) = made_up(12, 1, true);
    assert_balanced(&page(&view, &trace, &Details::default()));
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let (view, trace) = made_up(12, 1, true);
    let page = page(&view, &trace, &Details::default());
    for tag in tags(&page) {
        assert!(!tag.contains(" src="), "{tag}");
        if let Some((_, target)) = tag.split_once(" href=\"") {
            assert!(target.starts_with('#'), "{tag}");
        }
    }
    let style = inside(&page, "<style>", "</style>");
    assert!(!style.contains("url(") && !style.contains("@import"));
    for call in ["fetch(", "XMLHttpRequest", "import(", "WebSocket", "sendBeacon"] {
        assert!(!page.contains(call), "{call}");
    }
    assert!(page.contains("default-src 'none'"), "the browser is told to refuse loads");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (view, trace) = made_up(20, 1, true);
    let extra = Details { machine: "m".into(), seed: 3, command: "c".into(), ..Details::default() };
    assert_eq!(page(&view, &trace, &extra), page(&view, &trace, &extra));
}

#[test]
fn hostile_names_stay_text() {
    let (mut view, mut trace) = made_up(6, 1, true);
    let names = [
        "</script><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'><svg/onload=alert(1)>",
        "{{script}}<!--",
        "&lt;b&gt; \u{202e}gnol\u{202c} \u{0}",
        "<style>*{display:none}</style>",
    ];
    for (task, name) in view.tasks.iter_mut().zip(names) {
        task.name = name.into();
    }
    view.name = "</title><img src=x>".into();
    view.policy = "<i>EDF".into();
    let fault = Record {
        time: Instant::from_nanos(500_000_000),
        arg: 0xdead,
        job: 1,
        task: Some(TaskId(2)),
        kind: EventKind::Fault,
        level: 1,
        core: CoreId(0),
        ticket: 0,
    };
    let at = trace.cores[0].partition_point(|r| r.time <= fault.time);
    trace.cores[0].insert(at, fault);
    let extra = Details {
        machine: "<img src=m>".into(),
        command: "</code><img src=c>".into(),
        components: vec!["a".into(), "<img src=k>".into()],
        facts: vec![("<img src=f>".into(), "</dl><img src=v>".into())],
        ..Details::default()
    };
    let page = page(&view, &trace, &extra);
    assert_balanced(&page);
    let names_of: Vec<String> =
        tags(&page).iter().map(|t| t.split_whitespace().next().unwrap_or_default().to_owned()).collect();
    let number = |name: &str| names_of.iter().filter(|n| *n == name).count();
    assert_eq!((number("script"), number("style"), number("img"), number("svg/onload=alert(1)")), (4, 1, 0, 0));
    // Outside quoted values, no attribute runs anything.
    let bare = |tag: &String| tag.split('"').step_by(2).any(|part| part.contains("onerror") || part.contains("onload"));
    assert!(!tags(&page).iter().any(bare));
    assert!(page.contains("&lt;img src=k&gt;"), "the culprit's component is named");
    let data: serde_json::Value =
        serde_json::from_str(inside(&page, "id=\"data\">", "</script>")).expect("the data is JSON");
    for (i, name) in names.iter().enumerate() {
        assert_eq!(data["tasks"][i]["name"], *name, "scripts get the name as it is, and show it as text");
    }
}

/// Reads the packed columns as the page's script does, written another way.
struct Columns {
    bytes: Vec<u8>,
    streams: serde_json::Value,
}

impl Columns {
    fn of(page: &str) -> Columns {
        let packed = base64::engine::general_purpose::STANDARD
            .decode(inside(page, "id=\"columns\">", "</script>"))
            .expect("base64");
        let mut bytes = Vec::new();
        flate2::read::DeflateDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("deflate");
        let data: serde_json::Value = serde_json::from_str(inside(page, "id=\"data\">", "</script>")).expect("JSON");
        Columns { bytes, streams: data["streams"].clone() }
    }

    fn read(&self, name: &str) -> Vec<u64> {
        let stream = &self.streams[name];
        let (mut at, count) = (stream[0].as_u64().expect(name) as usize, stream[1].as_u64().expect(name));
        let mut number = || {
            let mut n = 0;
            for shift in (0..).step_by(7) {
                let byte = self.bytes[at];
                at += 1;
                n |= u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            n
        };
        (0..count).map(|_| number()).collect()
    }

    /// Start, end, task and job of each stretch.
    fn stretches(&self, name: &str) -> Vec<(u64, u64, u64, i64)> {
        let column = |part| self.read(&format!("{name}.{part}"));
        let (gaps, lengths, tasks, steps) = (column("gap"), column("length"), column("task"), column("job"));
        let (mut time, mut last) = (0, BTreeMap::new());
        let mut out = Vec::new();
        for i in 0..gaps.len() {
            let start = time + gaps[i];
            time = start + lengths[i];
            let job = last.entry(tasks[i]).or_insert(0);
            *job += unfold(steps[i]);
            out.push((start, time, tasks[i], *job));
        }
        out
    }
}

fn unfold(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

#[test]
fn the_schedule_in_the_page_is_that_of_the_trace() {
    let (view, trace) = made_up(30, 2, true);
    let columns = Columns::of(&page(&view, &trace, &Details::default()));
    let segments = schedule(&trace);
    for (core, kind, name) in (0..4_u8).flat_map(|c| [(c, SegmentKind::Run, "run"), (c, SegmentKind::Ghost, "ghost")]) {
        // The page draws a job that goes on without a break as one stretch, however often it was decided on.
        let mut expected: Vec<(u64, u64, u64, i64)> = Vec::new();
        for s in segments.iter().filter(|s| s.core == CoreId(core) && s.kind == kind) {
            let task = u64::from(s.task.expect("runs and ghosts have a task").0);
            expected.push((s.start.as_nanos(), s.end.as_nanos(), task, i64::from(s.job)));
        }
        let in_page = columns.stretches(&format!("{name}{core}"));
        assert!(name == "ghost" || !expected.is_empty(), "the made-up run keeps every core busy at times");
        let time = |list: &[(u64, u64, u64, i64)]| {
            let mut by_job = BTreeMap::new();
            for (start, end, task, job) in list {
                *by_job.entry((*task, *job)).or_insert(0) += end - start;
            }
            by_job
        };
        if name == "ghost" {
            assert_eq!(in_page, expected, "ghosts of core {core}");
        } else {
            // The judge counts time in the scheduler apart; the page lays it over the job that is charged for it.
            let (page_time, judge_time) = (time(&in_page), time(&expected));
            assert_eq!(page_time.keys().collect::<Vec<_>>(), judge_time.keys().collect::<Vec<_>>());
            for (job, judged) in &judge_time {
                assert!(page_time[job] >= *judged, "core {core}, {job:?}");
            }
            for (start, end, task, job) in &expected {
                let covers = |s: &&(u64, u64, u64, i64)| s.0 <= *start && s.1 >= *end && (s.2, s.3) == (*task, *job);
                assert!(in_page.iter().any(|s| covers(&s)), "core {core}: {task} job {job} from {start} to {end}");
            }
        }
    }
}

#[test]
fn the_responses_in_the_page_are_those_of_the_judge() {
    let (view, trace) = made_up(30, 2, true);
    let columns = Columns::of(&page(&view, &trace, &Details::default()));
    let responses = columns.read("jobs.response");
    let mut at = 0;
    let mut in_page = BTreeMap::new();
    for (task, count) in columns.read("jobs.count").into_iter().enumerate() {
        let mut number = 0;
        for (i, step) in columns.read("jobs.number").into_iter().enumerate().skip(at).take(count as usize) {
            number = if i == at { step } else { number + step };
            in_page.insert((task, number), responses[i].checked_sub(1));
        }
        at += count as usize;
    }
    let expected: BTreeMap<_, _> = jobs(&trace)
        .into_iter()
        .map(|j| ((j.task.index(), u64::from(j.job)), j.response().map(Duration::as_nanos)))
        .collect();
    assert!(expected.len() > 500);
    assert_eq!(in_page, expected);
}

#[test]
fn the_verdict_comes_first_and_is_the_judges() {
    for overrun in [false, true] {
        let (view, trace) = made_up(10, 4, overrun);
        let page = page(&view, &trace, &Details::default());
        let verdict = inside(&page, "<section id=\"verdict\"", "</section>");
        let expected = if overrun { "Broken: " } else { "Every promise held" };
        assert!(verdict.contains(expected), "{verdict}");
        if overrun {
            assert!(verdict.contains("<dt>Cause</dt>") && verdict.contains("href=\"#t="), "{verdict}");
        }
        assert!(page.find("id=\"verdict\"") < page.find("<table"));
    }
}

#[test]
fn a_system_that_was_not_accepted_is_promised_nothing() {
    let (mut view, trace) = made_up(10, 1, false);
    view.accepted = false;
    let page = page(&view, &trace, &Details::default());
    assert!(inside(&page, "<section id=\"verdict\"", "</section>").contains("Nothing was promised"));
}

#[test]
fn every_task_has_its_row() {
    let (view, trace) = made_up(40, 1, false);
    let page = page(&view, &trace, &Details::default());
    assert_eq!(page.matches("<tr data-task=").count(), 40);
    for task in &view.tasks {
        assert!(page.contains(&format!(">{}</a>", task.name)), "{}", task.name);
    }
}

#[test]
fn a_run_of_nothing_still_has_a_report() {
    let (mut view, _) = made_up(1, 1, false);
    view.tasks.clear();
    for cores in [0, 4] {
        let trace =
            Trace { cores: vec![Vec::new(); cores], dropped: vec![0; cores], disks: Vec::new(), observed: Vec::new() };
        assert_balanced(&page(&view, &trace, &Details::default()));
    }
}

#[test]
fn records_out_of_order_or_of_unknown_tasks_do_no_harm() {
    let (view, mut trace) = made_up(8, 1, false);
    for (core, records) in trace.cores.iter_mut().enumerate() {
        let third = records.len() / 3;
        records.rotate_left(third * core);
        for record in records.iter_mut().step_by(7) {
            record.task = Some(TaskId(60_000));
        }
    }
    let columns = Columns::of(&page(&view, &trace, &Details::default()));
    for core in 0..4 {
        assert!(columns.stretches(&format!("run{core}")).iter().all(|(start, end, task, _)| start < end && *task < 8));
    }
}

#[test]
fn a_hundred_and_twenty_tasks_over_ten_seconds_stay_below_eight_megabytes() {
    let (view, trace) = made_up(120, 10, false);
    let size = page(&view, &trace, &Details::default()).len();
    assert!(size < 8_000_000, "{size}");
}

#[test]
fn the_plotting_library_is_the_published_one() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("third_party/uplot");
    let sums = std::fs::read_to_string(folder.join("SHA256SUMS")).expect("checksums");
    assert_eq!(sums.lines().count(), 3);
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").expect("checksum, two spaces, name");
        let bytes = std::fs::read(folder.join(name)).expect(name);
        let found: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(found, sum, "{name}");
    }
}

#[test]
fn the_checks_reasons_printed_lines_and_a_panics_place_are_told_as_text() {
    let (mut view, mut trace) = made_up(6, 1, true);
    view.accepted = false;
    let time = Instant::from_nanos(500_000_000);
    let fault = Record {
        time,
        arg: 0xdead,
        job: 1,
        task: Some(TaskId(2)),
        kind: EventKind::Fault,
        level: tactus_record::FaultKind::Panic as u8,
        core: CoreId(0),
        ticket: 0,
    };
    let at = trace.cores[0].partition_point(|r| r.time <= fault.time);
    trace.cores[0].insert(at, fault);
    let details = Details {
        components: vec!["root".into(), "flight".into()],
        findings: vec!["a.toml:7: task `x` fails; lengthen <it>".into()],
        panics: vec![(1, "src/lib.rs:41: index <out> of bounds".into())],
        console: vec!["flight: <hello>".into()],
        ..Details::default()
    };
    let kept = tactus_report::Kept { view, details };
    let summary = kept.judge(&trace);
    assert_eq!(summary.culprits[0].fault, "panicked at src/lib.rs:41: index <out> of bounds");
    let page = tactus_report::html(&kept.view, &trace, &summary, &kept.details);
    for text in
        ["lengthen &lt;it&gt;", "panicked at src/lib.rs:41: index &lt;out&gt; of bounds", "flight: &lt;hello&gt;"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains("Why the check refused the system") && !page.contains("<hello>"));
}

#[test]
fn what_was_promised_until_a_promise_ceased_to_bind_is_marked() {
    let (view, trace) = made_up(6, 1, false);
    let mut summary = judge(&view, &trace);
    let marks = |summary: &tactus_trace::Summary| {
        let page = html(&view, &trace, summary, &Details::default());
        (page.matches(">void</span>").count(), page.matches(">until void</span>").count())
    };
    assert_eq!(marks(&summary), (0, 0));
    let task = summary.tasks.iter_mut().find(|it| it.worst_over_bound.is_some()).expect("one has a bound");
    task.void = Some("job 3 took more than the 2 ms assumed of it".into());
    let level = task.level;
    summary.levels.iter_mut().filter(|it| it.level == level).for_each(|it| it.void = 1);
    assert_eq!(marks(&summary), (1, 2), "the task, its ratio and that of its level");
}
