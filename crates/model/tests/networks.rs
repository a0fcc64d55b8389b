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

const DATA: &str = "[[data]]\nname = 'level'\nfrom = ['door']\nperiod = '100 ms'\nsize = '16 B'\nareas = ['A']\n";

#[test]
fn data_is_read_with_a_stream_for_each_sender() {
    let text = FILE.replacen("byte", "forward = '1 ms'\nbyte", 1).replacen("[4.5, 1]", "[4.5, 1]\nforward = '2 ms'", 1);
    let both =
        DATA.replacen("['door']", "['door', 'lamp']", 1).replacen("areas = ['A']", "priority = 3\nrepetitions = 2", 1);
    let more = "time = '1 s'\njitter = '5 ms'\ndeadline = '250 ms'\n";
    let network = Network::parse(&(text + &both + more), Path::new("n.toml")).unwrap_or_else(|it| panic!("{it}"));
    let field = &network.field;
    assert_eq!(field.members.iter().map(|it| it.forward.as_nanos()).collect::<Vec<_>>(), [1_000_000, 2_000_000]);
    let seen: Vec<_> = field.streams.iter().map(|it| (it.from, it.priority, it.repetitions, it.bytes)).collect();
    assert_eq!(seen, [(0, 3, 2, 16), (1, 3, 2, 16)]);
    let millis = |it: tactus_time::Duration| it.as_nanos() / 1_000_000;
    let it = &field.streams[0];
    assert_eq!([it.period, it.jitter, it.deadline].map(millis), [100, 5, 250]);
    assert_eq!(it.start, Some(tactus_time::Instant::from_nanos(1_000_000_000)));
    // The deadline is the period, unless the file says otherwise.
    let plain = Network::parse(&format!("{FILE}{DATA}"), Path::new("n.toml")).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!(plain.field.streams[0].deadline, plain.field.streams[0].period);
    // Of an application it has the scope.
    let of = format!("{FILE}{DATA}").replacen("areas = ['A']\nactuators = ['lamp']\n", "", 1);
    let of = of.replacen("areas = ['A']\n", "application = 'light'\n", 1);
    let network = Network::parse(&of, Path::new("n.toml")).unwrap_or_else(|it| panic!("{it}"));
    let stream = &network.field.streams[0];
    assert_eq!(
        (stream.application, &stream.scope),
        (Some(network.field.deliveries[0].package.app), &Default::default())
    );
    // Data alone makes a network.
    let alone = FILE.split("[[application]]").next().unwrap_or_default().to_string() + DATA;
    assert!(Network::parse(&alone, Path::new("n.toml")).is_ok());
}

#[test]
fn what_is_wrong_with_data_is_told_with_its_line_and_what_to_do() {
    let many: String = (0..257).map(|n| DATA.replacen("level", &format!("d{n}"), 1)).collect();
    for (before, after, words) in [
        (
            "period = '100 ms'\n",
            "",
            "n.toml:22: data \"level\": \"period\" is missing; add a line like period = \"100 ms\"",
        ),
        ("size = '16 B'\n", "", "n.toml:22: data \"level\": \"size\" is missing"),
        ("from = ['door']\n", "", "n.toml:22: data \"level\": \"from\" is missing; add a line like from = [\"door\"]"),
        ("name = 'level'\n", "", "n.toml:22: data number 1: \"name\" is missing"),
        ("'100 ms'", "'0 s'", "n.toml:25: data \"level\": period is 0 ns, no time at all; lengthen it"),
        (
            "'16 B'",
            "'16 B'\njitter = '101 ms'",
            "n.toml:27: data \"level\": jitter is 101 ms, more than its period of 100 ms",
        ),
        (
            "'16 B'",
            "'16 B'\ndeadline = '0 s'",
            "n.toml:27: data \"level\": deadline is 0 ns, no time at all; lengthen it",
        ),
        (
            "'16 B'",
            "'16 B'\ntime = '61 s'",
            "n.toml:27: data \"level\": time is 61 s, more than the network's duration of 60 s",
        ),
        ("'16 B'", "'2 KiB'", "n.toml:26: data \"level\": size is 2048, outside 1 B to 1400 B, what a frame holds"),
        ("'16 B'", "'0 B'", "n.toml:26: data \"level\": size is 0, outside 1 B to 1400 B"),
        (
            "'16 B'",
            "'16 B'\npriority = 256",
            "n.toml:27: data \"level\": priority is 256, more than 255; write a smaller one",
        ),
        (
            "'16 B'",
            "'16 B'\nrepetitions = 16",
            "n.toml:27: data \"level\": repetitions is 16, more than 15; write a smaller one",
        ),
        ("['door']", "['dor']", "n.toml:24: data \"level\": there is no node \"dor\"; did you mean \"door\"?"),
        ("['door']", "[]", "n.toml:24: data \"level\": nobody sends it; name the nodes that do"),
        (
            "['door']",
            "['door', 'door']",
            "n.toml:24: data \"level\": node \"door\" is named twice; name each sender once",
        ),
        (
            "['door']",
            "['lamp']",
            "n.toml:22: data \"level\": no node but \"lamp\" itself is in its scope; widen the scope",
        ),
        ("['A']", "['B']", "n.toml:27: data \"level\": there is no area \"B\"; did you mean \"A\"?"),
        (
            "areas = ['A']",
            "application = 'lights'",
            "n.toml:27: data \"level\": there is no application \"lights\"; did you mean \"light\"?",
        ),
        (
            "areas = ['A']",
            "application = 'light'",
            "n.toml:22: data \"level\": node \"door\" is out of the scope of \"light\", and never hosts it; widen",
        ),
        ("period", "rate", "n.toml:25: data \"level\": key \"rate\" is not known here"),
        ("[[data]]\n", "[data]\n", "data is a table; write [[data]], in double brackets, once for each"),
        (DATA, &format!("{DATA}{DATA}"), "n.toml:28: data \"level\" is there already; give each its own name"),
        (
            DATA,
            &many,
            "the number of senders of data is 257, more than 256, each sender of a [[data]] counted; leave some out",
        ),
    ] {
        assert!(DATA.contains(before), "{before}");
        let said = refused(&format!("{FILE}{}", DATA.replacen(before, after, 1)));
        assert!(said.contains(words), "{after:?}: {said:?} instead of {words:?}");
    }
    // A lamp that nobody hears, and one that only a node hears that goes.
    let said = refused(&format!("{}{DATA}", FILE.replacen("hears = 6.0\n", "", 1)));
    let words =
        "there is no way from \"door\" to \"lamp\" over nodes that are always there; let nodes between hear both";
    assert!(said.contains(words), "{said:?}");
    let between = "[[node]]\nname = 'mid'\nat = [0, 5]\ngoes = '9 s'\n";
    let links = "[[link]]\nbetween = ['door', 'mid']\n[[link]]\nbetween = ['mid', 'lamp']\n";
    let text = FILE.replacen("hears = 6.0\n", "", 1).replacen("[[area]]", &format!("{between}{links}[[area]]"), 1);
    assert!(refused(&format!("{text}{DATA}")).contains(words));
    assert_eq!(refused(&format!("{}{DATA}", text.replacen("goes = '9 s'\n", "", 1))), "");
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
            let delivers = verdict.outcomes.iter().any(|it| it.expected > 1);
            assert!(delivers || network.field.deliveries.is_empty(), "{}: {verdict:?}", file.display());
        }
        count += 1;
    }
    assert!(count > 0);
}
