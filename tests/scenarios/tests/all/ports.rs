//! Channels between components, on the machine: what writing and reading cost, messages that are whole though both sides are at it all the
//! time, queues whose ends begin anew; and bounds from end to end that are refused where they do not fit.

use crate::services::{part, task};
use tactus_scenarios::{file, tactus, Finished, Scratch};

/// A source and a destination, 5 ms apart in their 10 ms, on one core or two, with these channels.
fn pair(name: &str, cores: u64, more: &str, channels: &[(&str, &str)]) -> (Scratch, std::path::PathBuf) {
    let scratch = Scratch::new(name);
    let services = file("os/components/services");
    let mut text = format!(
        "[system]\ncores = {cores}\nduration = '200 ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitioned-edf'\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n",
        services.display()
    );
    text += &part("gyro", more);
    text += &part("elevator", "uses = { console = \"console.write\" }");
    text += &task("gyro", true, 0);
    let offset = if cores == 1 { 5 } else { 0 };
    text += &task("elevator", true, offset).replace("core = 0", &format!("core = {}", cores - 1));
    for (channel, keys) in channels {
        text += &format!(
            "[[channel]]\nname = '{channel}'\nsource = 'gyro'\ndestinations = ['elevator']\nsize = '64 B'\n{keys}\n"
        );
    }
    let path = scratch.write("pair.toml", &text);
    (scratch, path)
}

/// The number behind a word of the console's lines.
fn told(run: &Finished, word: &str) -> u64 {
    let text = run.log.split(&format!("{word} ")).nth(1).unwrap_or_else(|| panic!("no {word}: {}", run.log));
    let number: String = text.chars().take_while(char::is_ascii_digit).collect();
    number.parse().unwrap_or_else(|_| panic!("no number of {word}: {}", run.log))
}

const SAMPLING: &str = "kind = 'sampling'\nrefresh-period = '15 ms'";

#[test]
fn a_message_of_64_bytes_is_written_and_read_in_400_instructions() {
    let (_scratch, path) =
        pair("port-costs", 1, "", &[("attitude", SAMPLING), ("orders", "kind = 'queuing'\ndepth = 8\nmessages = 3")]);
    let run = Finished::run(&path, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let (write, read) = (told(&run, "write"), told(&run, "read"));
    println!("written in {write} instructions, read in {read}");
    assert!(write > 20 && read > 20 && write + read <= 400, "{write} and {read}");
    // 19 jobs have come when the destination's job 18 looks.
    assert_eq!((told(&run, "orders"), told(&run, "anew")), (57, 0), "{}", run.log);
}

#[test]
fn messages_are_whole_though_both_cores_are_at_them_all_the_time() {
    let (_scratch, path) = pair("port-storm", 2, "", &[("storm", SAMPLING)]);
    let run = Finished::run(&path, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    println!("{} messages seen, {} reads given up", told(&run, "storm"), told(&run, "given up"));
    assert!(told(&run, "storm") > 500, "{}", run.log);
}

/// The source faults in its tenth job, and so its count of messages begins anew. What waited is gone, and what comes after is in order.
#[test]
fn a_queue_goes_on_when_its_source_begins_anew() {
    let more = "restarted-by = \"root\"\nrestarts = { most = 10, per = \"1 s\" }";
    let channels = [("orders", "kind = 'queuing'\ndepth = 8\nmessages = 3"), ("fatal", SAMPLING)];
    let (_scratch, path) = pair("port-anew", 1, more, &channels);
    let run = Finished::run(&path, &[]);
    assert_eq!(run.summary.json["restarts"].as_array().map(Vec::len), Some(2), "{}", run.said.output);
    assert_eq!(run.summary.task("elevator").missed(), 0);
    assert_eq!(told(&run, "anew"), 1, "{}", run.log);
    // Those of the faulting job are gone with it.
    assert_eq!(told(&run, "orders"), 54, "{}", run.log);
}

#[test]
fn latencies_ages_and_queues_that_do_not_fit_are_refused_with_a_remedy() {
    let scratch = Scratch::new("port-bounds");
    let text = std::fs::read_to_string(file("examples/partitions.toml")).expect("the example");
    for (from, to, words) in [
        ("latency = \"170 ms\"", "latency = \"150 ms\"", "channel `position to map-display` may take 161.022 ms"),
        (
            "refresh-period = \"50 ms\"",
            "refresh-period = \"20 ms\"",
            "channel `attitude` may have samples that are 22.463 ms old",
        ),
        (
            "depth = 8",
            "depth = 3",
            "channel `waypoints` may have 4 messages that wait, over its depth of 3; raise depth",
        ),
        (
            "deadline = \"100 ms\"",
            "deadline = \"50 ms\"",
            "chain `gyroscope to elevator` may take 58.364 ms from end to end",
        ),
    ] {
        let path = scratch.write("broken.toml", &text.replacen(from, to, 1));
        let said = tactus([std::ffi::OsStr::new("check"), path.as_os_str()]);
        assert_eq!(said.status, 1, "{}", said.output);
        assert!(said.output.contains(words), "{words}: {}", said.output);
    }
}

#[test]
fn a_source_of_a_sampling_channel_that_never_writes_is_told_and_one_that_does_is_not() {
    let silent = ("forgotten", "kind = 'sampling'\nrefresh-period = '15 ms'\nlatency = '60 ms'");
    let (_scratch, path) = pair("silent-source", 1, "", &[("attitude", SAMPLING), silent]);
    let run = Finished::run(&path, &[]);
    let words = "by gyro (its jobs wrote to a sampling channel 0 times, less often than they ended): 20 jobs";
    assert!(run.said.output.contains(words) && run.text("report.html").contains(words), "{}", run.said.output);
    let of = |name: &str| run.summary.task(name).json().clone();
    assert_eq!(of("gyro")["written"], 0, "{}", of("gyro"));
    assert!(of("gyro")["void"].as_str().is_some_and(|why| why.contains("sampling channel 0 times")), "{}", of("gyro"));
    assert!(of("elevator")["written"].is_null() && of("elevator")["void"].is_null());
    // Of the one channel all messages came, of the other one none.
    let [attitude, forgotten] = [0, 1].map(|n| run.summary.json["chains"][n].clone());
    assert!(attitude["completed"] == 20 && attitude["missed"] == 0, "{attitude}");
    assert!(forgotten["completed"] == 0 && forgotten["missed"] == 20 && forgotten["response"].is_null(), "{forgotten}");
    assert_eq!(run.summary.outcome(), "void");
    let (_scratch, path) = pair("writing-source", 1, "", &[("attitude", SAMPLING)]);
    let honest = Finished::run(&path, &[]);
    assert!(!honest.said.output.contains("to a sampling channel"), "{}", honest.said.output);
    assert_eq!((honest.summary.outcome(), honest.summary.task("gyro").json()["void"].is_null()), ("held", true));
}
