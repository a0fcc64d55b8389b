//! Network files: what is read, and what is refused with line and remedy.

use std::collections::BTreeMap;
use std::path::Path;
use tactus_model::network::Network;
use tactus_network::verdict::judge;

const FILE: &str = "[network]\nduration = '60 s'\nbyte = '32 us'\nhears = 6.0\n[[node]]\nname = 'door'\nat = [0, 0]\n[[node]]\n\
    name = 'lamp'\nat = [4.5, 1]\nactuators = ['lamp']\n[[area]]\nname = 'A'\ncentre = [4, 0]\nradius = 3\n[[application]]\n\
    name = 'light'\nsize = '2 KiB'\ndeliver = ['door']\nareas = ['A']\nactuators = ['lamp']\n";

fn refused(text: &str) -> String {
    // Files that it names are looked for at the root.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match Network::parse(text, &root.join("n.toml")) {
        Ok(_) => String::new(),
        Err(problems) => problems.to_string().replace(&format!("{}/", root.display()), ""),
    }
}

#[test]
fn a_file_becomes_a_network_that_delivers() {
    let network = Network::parse(FILE, Path::new("n.toml")).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!((network.nodes.len(), network.field.members[0].links.len()), (2, 1));
    let run = network.field.run();
    let verdict = judge(&network.field, &run, &BTreeMap::new());
    assert_eq!((verdict.wrong, verdict.outcomes[0].expected, run.hosted[0].0), (vec![], 1, 1));
}

#[test]
fn the_radius_is_the_default_the_networks_or_the_applications_own() {
    let radius = |text: &str| {
        let network = Network::parse(text, Path::new("n.toml")).unwrap_or_else(|problems| panic!("{problems}"));
        network.field.deliveries[0].package.radius
    };
    let of_network = FILE.replacen("hears", "radius = 4\nhears", 1);
    assert_eq!([radius(FILE), radius(&of_network)], [2, 4]);
    assert_eq!(radius(&of_network.replacen("size", "radius = 1\nsize", 1)), 1);
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_what_to_do() {
    for (before, after, words) in [
        ("'60 s'", "'0 s'", "n.toml:2: [network]: duration is 0 s, no time at all; lengthen it"),
        ("'60 s'", "60", "n.toml:2: [network]: duration is 60; write a time"),
        (
            "duration = '60 s'\n",
            "",
            "n.toml:1: [network]: \"duration\" is missing; add a line like duration = \"60 s\"",
        ),
        ("byte = '32 us'\n", "", "n.toml:1: [network]: \"byte\" is missing"),
        ("hears", "heard", "n.toml:4: [network]: key \"heard\" is not known here; did you mean \"hears\"?"),
        ("hears = 6.0", "hears = -1", "n.toml:4: [network]: hears is -1, outside 0 to 1,000,000 m; write metres"),
        ("hears = 6.0", "loss = 1.0", "n.toml:4: [network]: loss is 1, outside 0 to 1"),
        ("'lamp'\nat", "'door'\nat", "n.toml:8: node \"door\" is there already; give each its own name"),
        ("[4.5, 1]", "[4.5]", "n.toml:10: node \"lamp\": at is a list; write two numbers of metres"),
        ("at = [0, 0]\n", "", "n.toml:5: node \"door\": \"at\" is missing; add a line like at = [2.5, 4]"),
        (
            "actuators = ['lamp']\n[[area]]",
            "actuators = 'lamp'\n[[area]]",
            "n.toml:11: node \"lamp\": actuators is \"lamp\"",
        ),
        ("radius = 3", "", "n.toml:12: area \"A\": it is neither 3 to 16 corners nor a centre with a radius"),
        (
            "centre = [4, 0]\nradius = 3",
            "corners = [[0, 0], [1, 1]]",
            "n.toml:12: area \"A\": it is neither 3 to 16 corners",
        ),
        (
            "areas = ['A']",
            "areas = ['B']",
            "n.toml:20: application \"light\": there is no area \"B\"; did you mean \"A\"?",
        ),
        ("['door']", "['dor']", "n.toml:19: application \"light\": there is no node \"dor\"; did you mean \"door\"?"),
        ("size = '2 KiB'\n", "", "n.toml:16: application \"light\": a version has bytes, or says that there are none"),
        ("'2 KiB'", "'2 GiB'", "n.toml:16: application \"light\": size is 2147483648, outside 1 B to 1 MiB"),
        (
            "deliver = ['door']",
            "deliver = ['door']\ntime = '70 s'",
            "time is 70 s, after the end at 60 s; deliver it earlier",
        ),
        (
            "size",
            "radius = 300\nsize",
            "n.toml:18: application \"light\": radius is 300, more than 255; write fewer hops",
        ),
        ("size", "version = -1\nsize", "n.toml:18: application \"light\": version is -1; write a whole number"),
        ("[[area]]", "[[link]]\nbetween = ['door']\n[[area]]", "n.toml:13: link number 1: a link is between two nodes"),
        (
            "[[area]]",
            "[[link]]\nbetween = ['door', 'lump']\n[[area]]",
            "n.toml:13: link number 1: there is no node \"lump\"",
        ),
        (
            "actuators = ['lamp']\n[[area]]",
            "comes = '5 s'\ngoes = '4 s'\n[[area]]",
            "n.toml:8: node \"lamp\": it goes before it",
        ),
        ("[[application]]", "[[applicaton]]", "key \"applicaton\" is not known here; did you mean \"application\"?"),
        (
            "hears",
            "chunk = 1500\nhears",
            "n.toml:4: [network]: chunk is 1500, outside 32 to 1400; write what a frame holds",
        ),
        (
            "'2 KiB'",
            "'2 KiB'\nremove = true",
            "write one of package = \"blinds.package\", size = \"6 KiB\" and remove = true",
        ),
        ("size = '2 KiB'", "package = 'n.package'", "application \"light\": package \"n.package\": "),
        ("size = '2 KiB'", "package = 'n.package'", "make it: ./tactus pack CRATE --out n.package"),
        (
            "size = '2 KiB'",
            "version = 2\npackage = 'n.package'",
            "n.toml:18: application \"light\": a package says its version itself; leave",
        ),
        (
            "size = '2 KiB'",
            "package = 'Cargo.toml'",
            "\"Cargo.toml\" is not a package: envelope is damaged at byte 0; make it again",
        ),
        ("at = [0, 0]", "at = [0, 0]\nsystem = 'n.toml'", "n.toml:8: node \"door\": its system has faults: "),
        (
            "at = [0, 0]",
            "at = [0, 0]\nsystem = 'examples/five-jobs.toml'",
            "\"examples/five-jobs.toml\" has no slots, so nothing could come",
        ),
        (
            "at = [0, 0]",
            "at = [0, 0]\nsystem = 7",
            "n.toml:8: node \"door\": system is 7; write a system file in quotes",
        ),
        ("[network]", "[network", "n.toml:1: this is not TOML"),
    ] {
        assert!(FILE.contains(before), "{before}");
        let text = FILE.replacen(before, after, 1);
        let said = refused(&text);
        assert!(said.contains(words), "{after:?}: {said:?} instead of {words:?}");
    }
}

#[test]
fn the_examples_come_to_their_scopes_and_nowhere_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/network");
    let mut count = 0;
    let files = std::fs::read_dir(folder).expect("there are examples").flatten().map(|it| it.path());
    // Those in folders need packages that are built.
    for file in files.filter(|file| file.is_file()) {
        let network = Network::read(&file).unwrap_or_else(|problems| panic!("{problems}"));
        for seed in 0..20 {
            let field = tactus_network::field::Field { seed, ..network.field.clone() };
            let verdict = judge(&field, &field.run(), &network.within);
            assert!(verdict.wrong.is_empty(), "{}, seed {seed}: {:?}", file.display(), verdict.wrong);
            assert!(verdict.outcomes.iter().any(|it| it.expected > 1), "{}: {verdict:?}", file.display());
        }
        count += 1;
    }
    assert!(count > 0);
}
