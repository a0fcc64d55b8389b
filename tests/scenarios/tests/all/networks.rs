//! Booted nodes, each on a machine of its own: what is delivered at one comes over its network card to the others, is admitted there,
//! loaded and run, or refused, and its owner's node learns why. Data that its programs publish comes to those of other nodes.

use std::fs;
use tactus_scenarios::{file, tactus, Said, Scratch};

/// A door, a lamp in reach of it, and stairs in reach of the lamp alone, whose slot has too little time.
const HOUSE: &str = "[network]\nname = 'house'\nduration = '6 s'\nbyte = '10 us'\nchunk = 1024\nhears = 5.0\n\
    [[node]]\nname = 'door'\nsystem = 'node.toml'\nat = [0, 0]\n\
    [[node]]\nname = 'lamp'\nsystem = 'node.toml'\nat = [4, 0]\nactuators = ['lamp']\n\
    [[node]]\nname = 'stairs'\nsystem = 'small.toml'\nat = [8, 0]\nactuators = ['lamp']\n\
    [[application]]\nname = 'blink'\npackage = 'blink.package'\ndeliver = ['door']\ntime = '300 ms'\nactuators = ['lamp']\n";

#[test]
fn what_is_delivered_at_one_booted_node_runs_at_another_and_a_refusal_comes_back_over_a_third() {
    let scratch = Scratch::new("networks");
    let of = |name: &str| scratch.path().join(name).display().to_string();
    let call = |words: &[&str]| {
        let said = tactus(words);
        assert_eq!(said.status, 0, "{words:?}: {}\n{}", said.output, said.errors);
        // Columns are as wide as they need to be.
        said.output.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    call(&["key", "new", &of("dev")]);
    let blink = file("examples/slots/blink-1").display().to_string();
    call(&["pack", &blink, "--key", &of("dev.key"), "-o", &of("blink.package")]);
    for name in ["node.toml", "small.toml"] {
        let text = fs::read_to_string(file(&format!("examples/network/house/{name}"))).expect("an example");
        let text = text.replace("../../../os", &file("os").display().to_string());
        scratch.write(name, &text.replace("../../slots/dev.pub", "dev.pub"));
    }
    let house = scratch.write("house.toml", HOUSE).display().to_string();
    let run = call(&["run", &house, "--offline", "--no-console", "--out", &of("out")]);
    for words in [
        "every application came to its scope and nowhere else, and 1 refusal came back to their owners",
        "every node holds its own promises",
        "lamp hosts blink 1.0.0",
        "stairs refuses it: its tasks could miss deadlines there (task flash)",
        "slot guest: refused at",
    ] {
        assert!(run.contains(words), "{words}: {run}");
    }
    // One node loads it, and its tasks run there within their deadlines; at the two others nothing is in the slot.
    let count = |words: &str| run.matches(words).count();
    let told = (count("s, then blink 1.0.0"), count("slot guest: empty all the time"), count("every promise held"));
    assert_eq!(told, (1, 2, 3), "{run}");
    assert!(run.contains("every promise held (4 of 5 tasks were promised something)"), "{run}");
    // Simulated, it comes to the same.
    let simulated = call(&["simulate", &house]);
    assert!(
        simulated.contains("lamp hosts blink 1.0.0") && simulated.contains("and 1 refusal came back"),
        "{simulated}"
    );
}

/// A door, a corridor that hosts nothing, and a lamp that only the corridor hears. What is delivered at the door is for door and lamp, and so is its
/// data; the lamp's own data is for the door.
const ROW: &str = "[network]\nname = 'row'\nduration = '8 s'\nbyte = '10 us'\nchunk = 1024\nhears = 5.0\nforward = '40 ms'\n\
    [[node]]\nname = 'door'\nsystem = 'node.toml'\nat = [0, 0]\ntags = ['end']\n\
    [[node]]\nname = 'corridor'\nsystem = 'node.toml'\nat = [4, 0]\n\
    [[node]]\nname = 'lamp'\nsystem = 'node.toml'\nat = [8, 0]\ntags = ['end']\nactuators = ['lamp']\n\
    [[application]]\nname = 'level'\npackage = 'level.package'\ndeliver = ['door']\ntime = '300 ms'\ntags = ['end']\n\
    [[data]]\nname = 'level'\napplication = 'level'\nfrom = ['door']\nactuators = ['lamp']\nperiod = '100 ms'\njitter = '50 ms'\n\
    deadline = '400 ms'\nsize = '8 B'\npriority = 1\nrepetitions = 1\n\
    [[data]]\nname = 'presence'\nfrom = ['lamp']\ntags = ['end']\nperiod = '200 ms'\njitter = '20 ms'\ndeadline = '400 ms'\nsize = '1 B'\n";

/// A door and a lamp that hear each other, and somebody whom both hear.
const LIAR: &str = "[[node]]\nname = 'door'\nsystem = 'node.toml'\nat = [0, 0]\n\
    [[node]]\nname = 'lamp'\nsystem = 'node.toml'\nat = [4, 0]\nactuators = ['lamp']\n\
    [[node]]\nname = 'liar'\nsystem = 'liar.toml'\nat = [2, 0]\n\
    [[data]]\nname = 'presence'\nfrom = ['door']\nactuators = ['lamp']\nperiod = '200 ms'\njitter = '20 ms'\ndeadline = '400 ms'\n\
    size = '8 B'\n";

/// Everything that such a run needs beside its network file.
fn nodes(scratch: &Scratch) {
    let text = fs::read_to_string(file("examples/network/house/data-node.toml")).expect("an example");
    let text = text.replace("../../../os", &file("os").display().to_string());
    let text = text.replace("\"presence\"\nuses", &format!("{:?}\nuses", file("examples/network/house/presence")));
    scratch.write("node.toml", &text.replace("../../slots/dev.pub", "dev.pub"));
}

/// The same node, whose exchange offers its programs nothing.
fn mute(scratch: &Scratch) -> String {
    let text = fs::read_to_string(scratch.path().join("node.toml")).expect("it was written");
    let text = text.replace("provides = [\"publish\", \"take\"]\n", "");
    text.replace("uses = { publish = \"exchange.publish\", take = \"exchange.take\" }\n", "")
}

fn words(said: &Said) -> String {
    said.output.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_package_delivered_at_one_booted_node_runs_at_another_and_its_data_comes_over_a_third_to_whom_it_is_for() {
    let scratch = Scratch::new("network-data");
    let of = |name: &str| scratch.path().join(name).display().to_string();
    assert_eq!(tactus(["key", "new", &of("dev")]).status, 0);
    // The program of the example, which also tries to publish data that is not its application's: were that taken, it would be too much of it.
    let of_example =
        |name: &str| fs::read_to_string(file(&format!("examples/network/house/level-1/{name}"))).expect("an example");
    let publishes = "    let _ = publish(\"level\"";
    let (main, manifest) = (of_example("src/main.rs"), of_example("Cargo.toml"));
    assert!(main.contains(publishes) && manifest.contains("../../../../os/rt"));
    let foreign = format!("    let _ = publish(\"presence\", &[9]);\n{publishes}");
    fs::create_dir_all(scratch.path().join("level/src")).expect("a folder");
    scratch.write("level/src/main.rs", &main.replace(publishes, &foreign));
    let manifest = manifest.replace("../../../../os/rt", &file("os/rt").display().to_string());
    scratch.write("level/Cargo.toml", &manifest);
    let level = of("level");
    let packed = tactus(["pack", &level, "--key", &of("dev.key"), "-o", &of("level.package")]);
    assert_eq!(packed.status, 0, "{}", packed.errors);
    nodes(&scratch);
    let row = scratch.write("row.toml", ROW).display().to_string();
    let said = tactus(["run", &row, "--offline", "--no-console", "--out", &of("out")]);
    let run = words(&said);
    assert_eq!(said.status, 0, "{run}\n{}", said.errors);
    for it in [
        "door hosts level 1.0.0",
        "lamp hosts level 1.0.0",
        "every application came to its scope and nowhere else",
        "of data taken, each whole, in order, once, by whom it is for",
        "delays cannot be judged: each node has a clock of its own",
        "every node holds its own promises",
    ] {
        assert!(run.contains(it), "{it}: {run}");
    }
    // Both streams came, and went over the corridor: what is owed of each was taken.
    for stream in ["level door", "presence lamp"] {
        let row: Vec<u64> = run
            .split_once(&format!(" {stream} "))
            .map(|it| it.1.split(' ').map_while(|it| it.parse().ok()).collect())
            .unwrap_or_default();
        let [published, due, received, lost] = row[..] else { panic!("{stream}: {run}") };
        assert!(
            published >= 25 && due >= 5 && received >= due && received <= published && lost == 0,
            "{stream}: {row:?}"
        );
    }
    assert!(run.split_once("frames of data: door ").is_some_and(|it| it.1.contains("corridor ")), "{run}");
}

#[test]
fn data_in_another_nodes_name_is_found_and_nothing_that_it_spoils_is_held() {
    let scratch = Scratch::new("network-liar");
    let of = |name: &str| scratch.path().join(name).display().to_string();
    assert_eq!(tactus(["key", "new", &of("dev")]).status, 0);
    nodes(&scratch);
    let node = mute(&scratch);
    let [honest, own] =
        ["os/components/exchange", "tests/scenarios/false-exchange"].map(|it| file(it).display().to_string());
    assert!(node.contains(&honest), "{node}");
    let liar = node.replace(&honest, &own);
    scratch.write("liar.toml", &liar);
    let head = "[network]\nname = 'lies'\nduration = '4 s'\nbyte = '10 us'\nhears = 5.0\nforward = '40 ms'\n";
    let lies = scratch.write("lies.toml", &format!("{head}{LIAR}").replace("'8 B'", "'1 B'")).display().to_string();
    let said = tactus(["run", &lies, "--offline", "--no-console", "--out", &of("out")]);
    let run = words(&said);
    assert_eq!(said.status, 1, "{run}\n{}", said.errors);
    for it in [
        "of door at liar: it sent a frame in the name of door",
        "of door at liar: it sent a frame of data that is not its own and that it does not pass on",
        "of door at liar: it is not for this node",
        "of door at lamp: nobody published it",
        "of door at lamp: it did not come, though not all of its frames were lost",
    ] {
        assert!(run.contains(it), "{it}: {run}");
    }
    assert!(!run.contains("of data taken, each whole"), "{run}");
    // What it says changes nothing of what the nodes themselves are held to.
    assert!(run.contains("every node holds its own promises"), "{run}");
    assert_eq!(run.matches("every promise held").count(), 3, "{run}");
}

#[test]
fn what_booted_nodes_cannot_carry_is_refused_by_name() {
    let scratch = Scratch::new("network-refused");
    assert_eq!(tactus(["key", "new", &scratch.path().join("dev").display().to_string()]).status, 0);
    nodes(&scratch);
    scratch.write("mute.toml", &mute(&scratch));
    let file = LIAR.replace("[[node]]\nname = 'liar'\nsystem = 'liar.toml'\nat = [2, 0]\n", "");
    let head = "[network]\nname = 'row'\nduration = '6 s'\nbyte = '10 us'\nhears = 5.0\nforward = '40 ms'\n";
    let file = format!("{head}{file}");
    for (from, to, why) in [
        ("size = '8 B'", "size = '57 B'", "data \"presence\": 57 B are more than the 56 B of a booted node's messages"),
        ("forward = '40 ms'", "forward = '39 ms'", "node \"door\": forward is 39 ms, and a booted node needs"),
        (
            "period = '200 ms'\njitter = '20 ms'",
            "period = '20 ms'",
            "node \"door\" would have to send 1.0 frames of data",
        ),
        ("name = 'door'\nsystem = 'node.toml'", "name = 'door'\nsystem = 'mute.toml'", "does not provide \"publish\""),
    ] {
        assert!(file.contains(from), "{from}");
        let path = scratch.write("refused.toml", &file.replace(from, to)).display().to_string();
        let said = tactus(["run", &path, "--offline", "--no-console"]);
        assert_eq!((said.status, said.errors.contains(why)), (2, true), "{why}: {}\n{}", said.output, said.errors);
    }
}
