//! Disks from the system file to the verdict: checked, simulated, judged, judged again, and a drive that is slower than its map.

use std::fs;
use tactus_scenarios::{file, tactus, Finished, Scratch};

/// The example with some texts replaced.
fn example(folder: &Scratch, changes: &[(&str, &str)]) -> std::path::PathBuf {
    let mut text = fs::read_to_string(file("examples/disk.toml")).expect("the example");
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    text = text.replace("disk/block", &file("examples/disk/block").display().to_string());
    folder.write("disk.toml", &text)
}

/// A drive that turns at 15,000 rpm on paper and at 10,000 in truth.
const SLOWER: [(&str, &str); 3] = [
    ("drive = \"source-10k\"", "drive = \"cheetah-15k7\"\nactual = \"atlas-10k\""),
    ("\"70 ms\"", "\"45 ms\""),
    ("\"80 ms\"", "\"45 ms\""),
];

#[test]
fn the_example_is_accepted_and_each_request_of_its_simulation_within_its_bound() {
    let path = file("examples/disk.toml");
    let said = tactus(["check".as_ref(), path.as_os_str()]);
    assert_eq!(said.status, 0, "{}", said.output);
    assert!(said.output.contains("3 of 4 clients promised"), "{}", said.output);
    let run = Finished::simulate(&path, &[]);
    let disk = &run.summary.json["disks"][0];
    assert_eq!((&disk["fate"], &disk["slow"]), (&"held".into(), &serde_json::Value::Null));
    let (mut promised, mut all) = (0, 0);
    for client in disk["clients"].as_array().expect("clients") {
        let requests = client["requests"].as_u64().expect("a number");
        all += requests;
        assert_eq!(client["missed"], 0);
        if client["bound_ns"].is_u64() {
            promised += requests;
            assert!(client["worst_over_bound"].as_f64().expect("a ratio") <= 1.0, "{client}");
        }
    }
    assert!(promised > 550 && all > 2_500, "{promised} of {all}");
    assert_eq!(run.text("disks.csv"), Finished::simulate(&path, &[]).text("disks.csv"), "the same twice");
}

#[test]
fn a_drive_slower_than_its_map_voids_the_promise_and_its_cells_are_named() {
    let folder = Scratch::new("disks");
    let run = Finished::simulate(&example(&folder, &SLOWER), &[]);
    assert_eq!(run.summary.outcome(), "void", "{}", run.said.output);
    let words = ["void by disk log", "on its drive took longer than its map says (recorder ", " where the cell says "];
    for word in words {
        assert!(run.said.output.contains(word), "{word}:\n{}", run.said.output);
    }
    assert!(run.text("report.html").contains("longer than its map says"));
}

#[test]
fn results_of_a_disk_are_judged_again_and_a_damaged_table_is_refused_by_line() {
    let folder = Scratch::new("disks");
    let path = example(&folder, &SLOWER);
    let out = folder.path().join("out");
    let words = ["simulate".as_ref(), path.as_os_str(), "--out".as_ref(), out.as_os_str()];
    assert_eq!(tactus(words).status, 1);
    let summary = fs::read_to_string(out.join("summary.json")).expect("a summary");
    let again = tactus(["report".as_ref(), out.as_os_str()]);
    assert!(again.output.contains("void by disk log"), "{}", again.output);
    assert_eq!(fs::read_to_string(out.join("summary.json")).expect("a summary"), summary);
    let table = fs::read_to_string(out.join("disks.csv")).expect("the requests");
    fs::write(out.join("disks.csv"), table.replacen(",1,", ",x,", 1)).expect("written");
    let refused = tactus(["report".as_ref(), out.as_os_str()]);
    assert_eq!(refused.status, 2, "{}{}", refused.output, refused.errors);
    assert!(refused.errors.contains("disks.csv: line "), "{}", refused.errors);
}

#[test]
fn a_disk_that_cannot_keep_its_deadlines_is_refused_with_line_and_remedy() {
    let folder = Scratch::new("disks");
    for (changes, words) in [
        ([("\"110 ms\"", "\"20 ms\"")], "% of the drive; lengthen periods"),
        ([("\"90 ms\"", "\"30 ms\"")], "longer than the deadline of client `map`; lengthen the deadline or periods"),
    ] {
        let path = example(&folder, &changes);
        let said = tactus(["check".as_ref(), path.as_os_str()]);
        assert_eq!(said.status, 1, "{}", said.output);
        assert!(said.output.contains(words) && said.output.contains("disk.toml:"), "{}", said.output);
        let run = Finished::simulate(&path, &[]);
        assert_eq!(run.summary.outcome(), "refused");
    }
}

#[test]
fn on_the_machine_each_request_of_the_disk_is_the_simulations_on_one_core_and_on_four() {
    let folder = Scratch::new("disks");
    let short = ("duration = \"20 s\"", "duration = \"4 s\"");
    // With the emulated disk the requests are the same twice, and the rest nearly always: its threads are the host's. On
    // several cores that would show more, so that there the disk is the model alone.
    let text = fs::read_to_string(file("examples/disk.toml")).expect("the example");
    let (_, device) = text.split_once("[[device]]").expect("a device");
    let device = format!("[[device]]{}", device.split_once("\n\n").expect("more behind it").0);
    let model = [vec![short, (&device, "")], vec![short, (&device, ""), ("cores = 1", "cores = 4")]];
    for changes in [vec![short]].into_iter().chain(model) {
        let path = example(&folder, &changes);
        let [one, two] = [(); 2].map(|()| Finished::run(&path, &[]));
        assert!(one.said.output.contains("requests is the simulation's"), "{}", one.said.output);
        assert_eq!(one.summary.json["disks"][0]["fate"], "held");
        assert!(one.text("disks.csv").lines().count() > 500);
        let names: &[&str] = if changes.len() == 1 { &["disks.csv"] } else { &["disks.csv", "trace.bin"] };
        for name in names {
            let bytes = |run: &Finished| fs::read(run.file(name)).expect("it is there");
            assert!(bytes(&one) == bytes(&two), "{changes:?}: {name} is not the same twice");
        }
    }
}

#[test]
fn a_machine_whose_disk_is_not_that_of_the_file_is_found_out() {
    let folder = Scratch::new("disks");
    let path = example(&folder, &[("duration = \"20 s\"", "duration = \"1 s\"\nseed = 2")]);
    let run = tactus(["run".as_ref(), path.as_os_str(), "--out".as_ref(), folder.path().join("out").as_os_str()]);
    assert_eq!(run.status, 1, "{}{}", run.output, run.errors);
    assert!(run.output.contains("disk 0, request 0: the machine has Served"), "{}", run.output);
}
