//! Every system in `examples/` is checked, built, booted and judged, and ends as its page says: all hold, but for those
//! that the check refuses. Runs are cut short; the whole ones are what a person starts.

use std::path::PathBuf;
use tactus_scenarios::{file, tactus, Scratch};

/// The files of a folder of `examples/` with this ending, in order.
fn systems(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = file(folder).read_dir().expect("a folder of examples");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files.sort();
    files
}

#[test]
fn every_example_runs_and_ends_as_it_should() {
    let mut files = systems("examples", "toml");
    files.extend(systems("examples/control-loop", "toml"));
    files.extend(systems("examples/rt-app", "json"));
    assert!(files.len() >= 8, "{files:?}");
    for path in files {
        let folder = Scratch::new("examples");
        let out = folder.path().join("out");
        // A thread that others wake is due a second later.
        let duration = if path.ends_with("hand-over.json") { "1100 ms" } else { "600 ms" };
        let words = ["run".as_ref(), path.as_os_str(), "--duration".as_ref(), duration.as_ref(), "--out".as_ref()];
        let said = tactus(words.into_iter().chain([out.as_os_str()]));
        // What the check refuses is promised nothing.
        let refused = ["overload.toml", "vcpus.toml"].iter().any(|name| path.ends_with(name));
        let wanted = i32::from(refused);
        assert_eq!(said.status, wanted, "{}:\n{}{}", path.display(), said.output, said.errors);
        for left in ["report.html", "summary.json", "trace.bin", "trace.pftrace", "run.json", "run.log", "costs.toml"] {
            let length = out.join(left).metadata().map_or(0, |data| data.len());
            assert!(length > 0, "{}: the run left no {left}", path.display());
        }
    }
}
