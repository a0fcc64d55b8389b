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
    folder.write("disk.toml", &with_paths(&text, 1))
}

/// The crates of an example of this depth, wherever its file is written.
fn with_paths(text: &str, depth: usize) -> String {
    let own = file(if depth == 1 { "examples" } else { "examples/hostile" }).display().to_string();
    let up = |line: &str| match line.strip_prefix("crate = \"") {
        Some(path) => format!("crate = \"{own}/{path}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(up).collect()
}

/// The number before a word in the last line of a run's console that begins so.
fn last(run: &Finished, begins: &str, word: &str) -> u64 {
    let log = run.text("run.log");
    let line = log.lines().rfind(|line| line.contains(begins)).unwrap_or_else(|| panic!("{begins}: {log}"));
    let before = line.rsplit_once(word).unwrap_or_default().0;
    before.trim_end().rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
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
fn a_power_cut_of_a_disk_that_had_nothing_to_do_voids_what_is_missed_after_it() {
    let folder = Scratch::new("disks");
    let text = "[system]\ncores = 1\nduration = '60 s'\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'a'\ncore = 0\n\
        period = '10 ms'\nexecution = '1 ms'\n[[disk]]\nname = 'd'\ndrive = 'cheetah-15k7'\nqueue = 'edf'\nwrite-cache = 1\n\
        faults = { power-cuts = '1 s' }\n[[disk.client]]\nname = 'c'\nstart = '0 MiB'\nextent = '1 GiB'\nsize = '8 KiB'\n\
        period = '70 ms'\ndeadline = '30 ms'\n";
    let run = Finished::simulate(&folder.write("cut.toml", text), &[]);
    assert_eq!(run.summary.outcome(), "void", "{}", run.said.output);
    let slow = &run.summary.json["disks"][0]["slow"];
    let first = run.text("disks.csv").lines().nth(1).map(str::to_string).expect("a power cut");
    assert_eq!(first, format!("0,,,,,,,,{},,4", slow["from_ns"]));
    assert_eq!(slow["why"], "power_cut");
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
    let short = ("duration = \"20 s\"", "duration = \"2 s\"");
    // With the emulated disk the requests are the same twice, and the rest nearly always: its threads are the host's. On
    // several cores that would show more, so that there the disk is the model alone.
    let text = fs::read_to_string(file("examples/disk.toml")).expect("the example");
    let (_, device) = text.split_once("[[device]]").expect("a device");
    let device = format!("[[device]]{}", device.split_once("\n\n").expect("more behind it").0);
    // Memory that the host lends answers at once, on any number of cores.
    let lent = "[[device]]\nname = \"lent\"\ncomponent = \"block\"\nkind = \"ivshmem\"\nsize = \"512 KiB\"";
    let sizes = [("size = \"8 KiB\"", "size = \"4 KiB\""), ("size = \"32 KiB\"", "size = \"4 KiB\"")];
    let lent = [short, (&device, lent), ("cores = 1", "cores = 4"), sizes[0], sizes[1]].to_vec();
    let model = [vec![short, (&device, "")], vec![short, (&device, ""), ("cores = 1", "cores = 4")], lent];
    for changes in [vec![short]].into_iter().chain(model) {
        let path = example(&folder, &changes);
        let [one, two] = [(); 2].map(|()| Finished::run(&path, &[]));
        assert!(one.said.output.contains("requests is the simulation's"), "{}", one.said.output);
        assert_eq!(one.summary.json["disks"][0]["fate"], "held");
        assert!(one.text("disks.csv").lines().count() > 250);
        let names: &[&str] = if changes.len() == 1 { &["disks.csv"] } else { &["disks.csv", "trace.bin"] };
        for name in names {
            let bytes = |run: &Finished| fs::read(run.file(name)).expect("it is there");
            assert!(bytes(&one) == bytes(&two), "{changes:?}: {name} is not the same twice");
        }
    }
}

#[test]
fn answers_that_the_disks_interrupt_announces_are_handed_over_when_the_simulation_says() {
    let folder = Scratch::new("announced");
    let task = "[[task]]\nname = \"answers\"\ncomponent = \"block\"\ninterrupt = 10\ncore = 0\nperiod = \"1 ms\"\n\
        deadline = \"500 us\"\nexecution = \"50 us\"\n\n[[device]]";
    let run =
        Finished::run(&example(&folder, &[("duration = \"20 s\"", "duration = \"1 s\""), ("[[device]]", task)]), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert!(run.said.output.contains("requests is the simulation's"), "{}", run.said.output);
    assert!(last(&run, "block: its interrupt announced", " answers") >= 64, "{}", run.said.output);
}

/// The recorder on the machine: how often the power went, how many entries were acknowledged, how many slots were mended.
fn recorded(folder: &Scratch, changes: &[(&str, &str)]) -> (Finished, [u64; 3]) {
    let mut text = fs::read_to_string(file("examples/flight-recorder.toml")).expect("the example");
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    let run = Finished::run(&folder.write("flight-recorder.toml", &with_paths(&text, 1)), &[]);
    assert!(run.said.output.contains("requests is the simulation's, "), "{}", run.said.output);
    let cut = last(&run, "recorder: power cut", ": ");
    let figures = [cut, last(&run, "recorder: power cut", " entries"), last(&run, "recorder: power cut", " slots")];
    (run, figures)
}

#[test]
fn twenty_power_cuts_on_the_machine_lose_nothing_that_the_recorder_acknowledged() {
    let folder = Scratch::new("recorder");
    // Where anything were missing, the recorder would give up, and its component be stopped.
    let (run, [cuts, acknowledged, _]) = recorded(&folder, &[]);
    assert!(cuts >= 20 && acknowledged > 40, "{cuts} {acknowledged}");
    // Nothing that was promised came late, and the disk's promises end with its power.
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert!(run.said.output.contains("when the power of its drive went"), "{}", run.said.output);
}

#[test]
#[ignore = "takes minutes: 1,000 power cuts"]
fn a_thousand_power_cuts_on_the_machine_lose_nothing_that_the_recorder_acknowledged() {
    let folder = Scratch::new("recorder");
    let mut all = [0; 3];
    for seed in 1..=10 {
        let seed = format!("duration = \"140 s\"\nseed = {seed}");
        let (run, figures) = recorded(&folder, &[("duration = \"30 s\"", &seed)]);
        // A request that a cut meets is not done, which voids its promise and breaks none.
        assert!(matches!(run.summary.outcome(), "void" | "held"), "{}", run.said.output);
        all.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
    }
    println!("{} power cuts, {} entries acknowledged, {} slots mended", all[0], all[1], all[2]);
    assert!(all[0] >= 1_000 && all[2] > 0, "{all:?}");
}

#[test]
fn without_power_cuts_the_recorders_requests_keep_their_promises_beside_readers() {
    let folder = Scratch::new("recorder");
    let mut text = fs::read_to_string(file("examples/flight-recorder.toml")).expect("the example");
    text = text.replace("faults = { power-cuts = \"1200 ms\" }\n", "").replace("\"30 s\"", "\"5 s\"");
    let run = Finished::run(&folder.write("flight-recorder.toml", &with_paths(&text, 1)), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let clients = &run.summary.json["disks"][0]["clients"];
    assert!(clients[0]["requests"].as_u64() > Some(90) && clients[2]["requests"].as_u64() > Some(500), "{clients}");
    for promised in [&clients[0], &clients[1]] {
        assert!(promised["worst_over_bound"].as_f64().is_some_and(|most| most <= 1.0), "{clients}");
    }
    assert!(clients[1]["requests"].as_u64() > Some(10), "{clients}");
}

/// A hostile client beside the recorder for this long: how many requests it put.
fn attacked(duration: &str) -> u64 {
    let folder = Scratch::new("hostile");
    let text = fs::read_to_string(file("examples/hostile/disk.toml")).expect("the example");
    let text = text.replace("duration = \"5 s\"", &format!("duration = \"{duration}\""));
    let run = Finished::run(&folder.write("disk.toml", &with_paths(&text, 2)), &[]);
    // It gives up where a foreign word comes back to it, and the recorder where its log is not what it wrote.
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let clients = &run.summary.json["disks"][0]["clients"];
    for promised in [&clients[0], &clients[1]] {
        assert!(promised["worst_over_bound"].as_f64().is_some_and(|most| most <= 1.0), "{clients}");
    }
    // 20 ms in each 200, of which the judge says that it was held; it asks for more than it gets.
    let share =
        clients[2]["busy_ns"].as_f64().expect("a length") / run.summary.json["duration_ns"].as_f64().expect("one");
    assert!((0.09..0.11).contains(&share), "{share}");
    assert!(run.text("disks.csv").lines().any(|line| line.ends_with(",5")), "the watcher cancels some requests");
    assert!(last(&run, "hostile: ", " done") > 0);
    // What it says of the disk is in the log, behind another mark than the disk's component has, and changes no verdict.
    assert!(run.log.contains("| disk 0,,,,,,,,3,,4\n") && run.log.lines().any(|line| line.contains(" disk 0,2,")));
    assert_eq!(run.summary.json["disks"][0]["slow"], serde_json::Value::Null);
    last(&run, "hostile: ", " requests put")
}

#[test]
fn a_hostile_client_on_the_machine_reads_and_delays_nobody() {
    assert!(attacked("5 s") > 10_000);
}

#[test]
#[ignore = "takes minutes: 1,000,000 requests"]
fn a_million_requests_of_a_hostile_client_on_the_machine_read_and_delay_nobody() {
    let put = attacked("260 s");
    println!("{put} requests put");
    assert!(put > 1_000_000);
}

#[test]
fn a_drive_that_fails_lies_and_says_nothing_is_told_of_and_others_keep_their_promises() {
    let folder = Scratch::new("faults");
    let text = fs::read_to_string(file("examples/disk.toml")).expect("the example");
    let (_, device) = text.split_once("[[device]]").expect("a device");
    let device = format!("[[device]]{}", device.split_once("\n\n").expect("more behind it").0);
    // One of a hundred requests at most, so that no busy time has two.
    let faults =
        "faults = { tolerated = 1, short = 100, failed = 200, silent = 300, unasked = 50 }\ncomponent = \"block\"";
    let changes = [
        ("\"70 ms\"", "\"190 ms\""),
        ("\"90 ms\"", "\"190 ms\""),
        ("period = \"130 ms\"", "period = \"130 ms\"\ndeadline = \"190 ms\""),
        ("duration = \"20 s\"", "duration = \"10 s\""),
        (&device, ""),
    ];
    let text = fs::read_to_string(example(&folder, &changes)).expect("written");
    let (head, disk) = text.split_once("\n[[disk]]\n").expect("a disk");
    let disk = disk.replace("component = \"block\"", faults);
    let path = folder.write("disk.toml", &format!("{head}\n[[disk]]\n{disk}"));
    let run = Finished::run(&path, &[]);
    assert!(run.said.output.contains("requests is the simulation's"), "{}", run.said.output);
    let disk = &run.summary.json["disks"][0];
    assert!(disk["faults"].as_u64() > Some(8) && disk["slow"].is_null(), "{disk}");
    for client in disk["clients"].as_array().expect("clients").iter().filter(|it| it["bound_ns"].is_u64()) {
        assert!(client["worst_over_bound"].as_f64().is_some_and(|most| most <= 1.0), "{client}");
        assert_eq!(client["missed"], 0, "{client}");
    }
}

#[test]
fn what_the_service_does_for_a_client_is_charged_to_a_server_of_that_clients_rank() {
    let folder = Scratch::new("charged");
    let text = fs::read_to_string(file("examples/flight-recorder.toml")).expect("the example");
    let servers = "[[server]]\nname = \"recorder\"\nkind = \"sporadic\"\nbudget = \"1 ms\"\nperiod = \"4 ms\"\n\
        policy = \"partitioned-fifo\"\n[[server]]\nname = \"disk\"\nkind = \"pibs\"\nshare = 0.2\nfor = \"recorder\"\n\
        policy = \"partitioned-fifo\"\n[machine]\noverheads = false\n";
    let (head, tasks) = text.split_once("[[task]]").expect("a task");
    let (recorder, rest) = tasks.split_once("[[task]]").expect("another");
    let into =
        |task: &str, server: &str| {
            task.replacen("core = 0", &format!("server = \"{server}\""), 1)
                .replacen("\"4 ms\"", "\"8 ms\"", 1)
                .replacen("\"1 ms\"", "\"400 us\"", 1)
        };
    let text = format!("{head}{servers}[[task]]{}[[task]]{}", into(recorder, "recorder"), into(rest, "disk"));
    let text = text.replace("partitioned-edf", "partitioned-rm").replace("\"30 s\"", "\"3 s\"");
    let text = text.replace("faults = { power-cuts = \"1200 ms\" }\n", "");
    let run = Finished::run(&folder.write("charged.toml", &with_paths(&text, 1)), &[]);
    // The judge holds each server to its budget.
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let block = run.summary.json["tasks"].as_array().expect("tasks").iter().find(|task| task["name"] == "block");
    let charged = block.expect("the service")["charged"]["total_ns"].as_u64().expect("a time");
    assert!(charged > 1_000_000 && charged < 600_000_000, "{charged}");
}

#[test]
#[ignore = "takes minutes: 10,000 promised requests on the machine"]
fn ten_thousand_promised_requests_on_the_machine_are_the_simulations_and_none_is_over_its_bound() {
    let folder = Scratch::new("promised");
    let text = fs::read_to_string(file("examples/disk.toml")).expect("the example");
    let (_, device) = text.split_once("[[device]]").expect("a device");
    let device = format!("[[device]]{}", device.split_once("\n\n").expect("more behind it").0);
    let path = example(&folder, &[(&device, ""), ("duration = \"20 s\"", "duration = \"350 s\"")]);
    let run = Finished::run(&path, &[]);
    assert!(run.said.output.contains("requests is the simulation's"), "{}", run.said.output);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let clients = run.summary.json["disks"][0]["clients"].as_array().expect("clients").clone();
    let promised: Vec<_> = clients.iter().filter(|client| client["bound_ns"].is_u64()).collect();
    assert!(promised.iter().all(|client| client["worst_over_bound"].as_f64().is_some_and(|most| most <= 1.0)));
    let all: u64 = promised.iter().filter_map(|client| client["requests"].as_u64()).sum();
    println!("{all} promised requests, none over its bound");
    assert!(all >= 10_000, "{all}");
}
