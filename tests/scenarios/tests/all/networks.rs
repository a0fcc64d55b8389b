//! Booted nodes, each on a machine of its own: what is delivered at one comes over its network card to the others, is admitted there,
//! loaded and run, or refused, and its owner's node learns why.

use std::fs;
use tactus_scenarios::{file, tactus, Scratch};

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
