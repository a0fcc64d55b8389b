//! Monitors that a system file cannot have: each is refused with its line, and with what to do.

use std::collections::BTreeSet;
use std::path::Path;
use tactus_model::System;

const HEAD: &str =
    "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitioned-edf'\n[[task]]\nname = 'nav'\n\
    core = 0\nperiod = '10 ms'\nexecution = '5 ms'\n";

/// The keys of a monitor, from line 12 on.
fn complaints(keys: &str) -> String {
    let text = format!("{HEAD}[[monitor]]\n{keys}\n");
    match System::parse_toml(&text, Path::new("x.toml")) {
        Ok(_) => String::new(),
        Err(problems) => problems.to_string(),
    }
}

/// A monitor with a name, two events and this property.
fn property(text: &str) -> String {
    complaints(&format!("name = 'm'\nevents = {{ go = 'start nav', done = 'complete nav' }}\nproperty = '{text}'"))
}

#[test]
fn a_sound_monitor_is_taken() {
    assert_eq!(property("always (go -> next (not go unless done))"), "");
    assert_eq!(property("always (go -> eventually[<= 10 ms] done)"), "");
}

/// Properties that cannot be watched, and what is said of each.
const PROPERTIES: &[(&str, &str)] = &[
    ("always (go -> next done", "column 24 of the property: the text ends here, where \")\" is wanted"),
    ("always go done", "column 11 of the property: found the name \"done\", where the property should end"),
    ("go $ done", "column 4 of the property: the sign '$' is not part of the language"),
    (
        "always (go -> once[5 ms, 20 ms] done)",
        "begins later than now takes a stamp for each event that waits, and a monitor has one",
    ),
    ("always (go -> next[<= 3] done)", "column 19 of the property: found \"[\""),
    (
        "always (go -> go unless[<= 3] done)",
        "unless takes no interval; until, since, eventually, always, once and historically do",
    ),
    ("always (go -> once[5, 3] done)", "an interval goes from the less to the more, both in events or both in time"),
    ("always (go -> once[2, 3 ms] done)", "an interval goes from the less to the more, both in events or both in time"),
    ("always (go -> once[0, 129] done)", "an interval reaches 128 events at most; bound it by a time"),
    ("always (go -> once next done)", "next done speaks of what comes, within an operator of the past"),
    ("always (go -> go until[<= 1 ms] once[<= 1 ms] done)", "bounds on time are nested"),
    ("always (go -> eventually[< 10 ms] done)", "the sign '<' is not part of the language"),
    ("always (go -> eventually[<= 10 min] done)", "\"min\" is not a unit of time; write ns, us, ms or s"),
    ("always (go -> eventually[<= 0 ms] done)", "a bound of no time at all"),
    ("always (go -> eventually[<= 99999999999999999999 ms] done)", "is too large; write it in a larger unit"),
    ("distance(go until done) >= 1 ms", "distance takes what is and what was, without a time; found go until done"),
    ("latency(go) <= 1 ms", "a chain has two events or more"),
    ("always (go -> eventually[<= 1 ms] always[<= 1 ms] done)", "bounds on time are nested"),
    ("eventually[<= 1 ms] (go or done)", "with a bound on time it must begin with always"),
    ("always eventually (go and not done) and always (done or true)", "no sequence of events ever decides"),
    ("always (go or not go) or done", "is true before any event"),
    ("eventually (go and done)", "is false before any event"),
    ("always (go -> next halt) or done", "\"halt\""),
    ("always not go", "neither the property nor an automaton names the event \"done\""),
];

#[test]
fn properties_that_cannot_be_watched_are_refused_with_their_line_and_a_remedy() {
    for (text, words) in PROPERTIES {
        let said = property(text);
        assert!(said.starts_with("x.toml:14: monitor \"m\": ") && said.contains(words), "{text}\n{said}");
    }
}

const SOUND: &str = "property = 'always (go -> next (not go unless done))'";
const EVENTS: &str = "go = 'start nav', done = 'complete nav'";

/// A monitor with these events and further keys.
fn with(events: &str, more: &str) -> String {
    format!("name = 'm'\nevents = {{ {events} }}\n{SOUND}\n{more}")
}

/// A monitor with an automaton.
fn automaton(states: &str, transitions: &str) -> String {
    let head = "name = 'm'\nevents = { go = 'start nav', done = 'complete nav' }\nproperty = 'always (go -> busy)'";
    format!("{head}\n[[monitor.automaton]]\nname = 'a'\nstates = [{states}]\ntransitions = [{transitions}]")
}

/// Keys, events and automata that are wrong, the line, and what is said of each.
fn keys() -> Vec<(String, usize, &'static str)> {
    let (sound, ok) = (SOUND, EVENTS);
    vec![
        (format!("events = {{ {ok} }}\n{sound}"), 11, "\"name\" is missing"),
        (format!("name = 'm'\nevents = {{ {ok} }}"), 11, "\"property\" is missing"),
        (with(ok, "speed = 3"), 15, "key \"speed\" is not known here"),
        (
            with("go = 'begin nav', done = 'complete nav'", ""),
            13,
            "\"begin\" is nothing that happens; write one of release",
        ),
        (with("go = 'start', done = 'complete nav'", ""), 13, "\"start\" needs the name of a task after it"),
        (with("go = 'mode nav', done = 'complete nav'", ""), 13, "\"nav\" has no place after \"mode\"; leave it out"),
        (with("go = 'start nva', done = 'complete nav'", ""), 13, "there is no task \"nva\"; did you mean \"nav\"?"),
        (with("go = 'exhaust radio', done = 'complete nav'", ""), 13, "there is no task or server \"radio\""),
        (with("go = 'reconfigure', done = 'complete nav'", ""), 13, "cannot occur: the system has no [[change]]"),
        (
            with("go = 'start nav', done = 'start nav'", ""),
            14,
            "the events \"go\" and \"done\" are both \"start nav\", which would count twice each time; write go in place of done",
        ),
        (with("go = 3, done = 'complete nav'", ""), 13, "what happens, like \"complete control\""),
        (
            with("until = 'start nav', done = 'complete nav'", ""),
            13,
            "the event name \"until\" is no name of the language",
        ),
        (with(ok, "encoding = 'plein'"), 15, "there is no encoding \"plein\"; did you mean \"plain\"?"),
        (with(ok, "reset = 'yes'"), 15, "reset is \"yes\"; write true or false"),
        (with(ok, "table-limit = '2 B'\nencoding = 'plain'"), 14, "its table has 6 bytes, more than the 2 granted"),
        (automaton("", ""), 14, "it has no state; give it one or more"),
        (automaton("'idle', 'bu\\sy'", ""), 17, "the automaton or state name \"bu\\\\sy\" is no name of the language"),
        (automaton("'busy', 'busy'", ""), 14, "its state \"busy\" is there twice"),
        (
            automaton("'idle', 'busy'", "'idle go bsy'"),
            14,
            "a transition names the state \"bsy\"; its states are idle, busy",
        ),
        (automaton("'idle', 'busy'", "'idle go'"), 18, "write a state, an event and a state"),
        (automaton("'idle', 'busy'", "'idle go busy', 'idle go idle'"), 14, "leads to both \"busy\" and \"idle\""),
        (automaton("'idle', 'busy'", "'busy done idle'"), 14, "its state \"busy\" cannot be reached"),
        (automaton("'idle', 'busy'", "'idle stop busy'"), 14, "\"stop\" is not an event; the events are go, done"),
        (
            automaton("'idle', 'go', 'busy'", "'idle go busy', 'busy done go'"),
            14,
            "could be the event \"go\" or the state \"go\"",
        ),
    ]
}

#[test]
fn keys_events_and_automata_of_monitors_that_are_wrong_are_refused_with_their_line_and_a_remedy() {
    for (keys, line, words) in keys() {
        let said = complaints(&keys);
        let start = format!("x.toml:{line}: ");
        assert!(
            said.lines().any(|said| said.starts_with(&start) && said.contains(words)),
            "{keys}\nwanted {start}{words}\n{said}"
        );
    }
    let twice = format!("{}\n[[monitor]]\n{}", with(EVENTS, ""), with(EVENTS, ""));
    assert!(complaints(&twice).contains("monitor \"m\" is there already, on line 12"), "{}", complaints(&twice));
}

/// What a system with this policy, these tasks and servers says of the event; nothing if it takes it.
fn of_policy(policy: &str, more: &str, event: &str) -> String {
    let text = format!(
        "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = '{policy}'\n{more}[[monitor]]\nname = 'm'\n\
         property = 'always not it'\nevents = {{ it = '{event}' }}\n"
    );
    System::parse_toml(&text, Path::new("x.toml")).map_or_else(|problems| problems.to_string(), |_| String::new())
}

#[test]
fn events_that_cannot_occur_are_refused_with_the_reason_and_what_to_do_and_no_others() {
    let task = |more: &str| format!("[[task]]\nname = 't'\ncore = 0\nperiod = '10 ms'\nexecution = '1 ms'\n{more}");
    let critical = |a: &str| {
        format!(
            "[[task]]\nname = 't'\nlevel = 'A'\ncore = 0\nperiod = '10 ms'\nexecution = {{ A = '{a}', B = '1 ms' }}\n\
             [[task]]\nname = 'u'\nlevel = 'B'\ncore = 0\nperiod = '10 ms'\nexecution = {{ B = '1 ms' }}\n"
        )
    };
    let served = |kind: &str| {
        let server = "[[server]]\nname = 's'\nbudget = '2 ms'\nperiod = '10 ms'\npolicy = 'partitioned-edf'\n";
        format!("{server}kind = '{kind}'\n{}", task("server = 's'\n"))
    };
    let all = ["exhaust", "replenish", "mode", "drop"];
    let taken = |policy: &str, more: &str| {
        let event = |word: &str| if word == "mode" { word.to_owned() } else { format!("{word} t") };
        let taken = |word: &&str| {
            let said = of_policy(policy, more, &event(word));
            assert!(said.is_empty() || said.contains("cannot occur"), "{policy}\n{more}\n{said}");
            said.is_empty()
        };
        all.into_iter().filter(taken).collect::<Vec<_>>()
    };
    for policy in ["partitioned-edf", "partitioned-rm"] {
        assert_eq!(taken(policy, &task("")), [""; 0], "{policy}");
        assert_eq!(taken(policy, &task("overrun = 'stop'\n")), ["exhaust", "replenish"], "{policy}");
        assert_eq!(taken(policy, &task("overrun = 'skip'\n")), ["drop"], "{policy}");
        assert_eq!(taken(policy, &task("overrun = 'kill'\n")), ["drop"], "{policy}");
    }
    assert_eq!(taken("global-edf", "[[task]]\nname = 't'\nperiod = '10 ms'\nexecution = '1 ms'\n"), [""; 0]);
    assert_eq!(taken("edf-vd", &critical("2 ms")), ["mode", "drop"]);
    assert_eq!(taken("edf-vd", &critical("1 ms")), ["drop"]);
    let levels = |level: &str| {
        let core = if level == "C" || level == "D" { "" } else { "core = 0\n" };
        let mut task = format!(
            "[[task]]\nname = 'c'\nlevel = 'C'\nperiod = '10 ms'\nexecution = {{ C = '1 ms' }}\n[[task]]\nname = 't'\n\
             level = '{level}'\n{core}period = '10 ms'\nexecution = "
        );
        task += if level == "A" { "{ A = '1 ms', B = '1 ms', C = '1 ms' }\n" } else { "'1 ms'\n" };
        task
    };
    assert_eq!(taken("mc2", &levels("A")), ["exhaust", "replenish"]);
    assert_eq!(taken("mc2", &levels("D")), [""; 0]);
    assert_eq!(taken("mc2'\nenforce = false #'", &levels("A")), [""; 0]);
    for kind in ["periodic", "polling", "deferrable", "sporadic", "cbs-hard", "cbs-soft", "grub"] {
        let at_once = ["cbs-soft", "grub"].contains(&kind);
        assert_eq!(of_policy("partitioned-edf", &served(kind), "exhaust s"), "", "{kind}");
        assert_eq!(of_policy("partitioned-edf", &served(kind), "replenish s").is_empty(), !at_once, "{kind}");
    }
    for (policy, more, event, words) in [
        ("partitioned-edf", task(""), "exhaust t", "t is not held to its execution time; write overrun = \"stop\""),
        (
            "partitioned-edf",
            task(""),
            "mode",
            "under the policies amc and edf-vd alone; leave the event out, or choose",
        ),
        (
            "partitioned-edf",
            task(""),
            "drop t",
            "each job of t is done in the end; leave the event out, or write overrun",
        ),
        ("edf-vd", critical("1 ms"), "mode", "no task of level A has a longer time at A than at B"),
        ("mc2", levels("D"), "replenish t", "t has no budget at level D; name a task of another level"),
        ("partitioned-edf", served("grub"), "replenish s", "as soon as one is used up; watch exhaust instead"),
    ] {
        let said = of_policy(policy, &more, event);
        let start = format!("monitor \"m\": \"{event}\" cannot occur: ");
        assert!(said.contains(&start) && said.contains(words), "{said}");
    }
}

/// Components, a buffer of one component, and a monitor of this event that does this.
fn of_components(event: &str, action: &str) -> String {
    let property = format!(
        "name = 'm'\nproperty = 'always (go -> next (not go unless done))'\non-violation = '{action}'\n\
         events = {{ go = '{event}', done = 'complete nav' }}\n"
    );
    let components = "[[component]]\nname = 'log'\ncrate = 'x'\nprovides = ['write']\n[[component]]\nname = 'camera'\n\
        crate = 'x'\nuses = { log = 'log.write' }\n[[component]]\nname = 'radio'\ncrate = 'x'\nrestarted-by = 'root'\n\
        uses = { plan = 'planner.plan' }\n[[component]]\nname = 'planner'\ncrate = 'x'\nscheduler = true\nprovides = ['plan']\n\
        [[task]]\nname = 'later'\ncore = 0\nafter = 'nav'\nperiod = '10 ms'\nexecution = '1 us'\n[[task]]\nname = 'raised'\n\
        core = 0\nrelease = 'sporadic'\nraised-by = 'camera'\nperiod = '10 ms'\nexecution = '1 us'\n\
        [[buffer]]\nname = 'frames'\nsize = '4 KiB'\nbetween = ['camera', 'radio']\n[[buffer]]\nname = 'own'\nsize = '4 KiB'\n\
        between = ['camera']\n";
    let text = format!("{HEAD}{components}[[monitor]]\n{property}");
    match System::parse_toml(&text, Path::new("x.toml")) {
        Ok(_) => String::new(),
        Err(problems) => problems.to_string(),
    }
}

/// Events of components and actions that cannot be, and what is said of each.
const COMPONENTS: &[(&str, &str, &str)] = &[
        ("signal ready", "note", "\"ready\" does not say whose it is; write the component before it, like \"signal camera.ready\""),
        ("signal camra.ready", "note", "there is no component \"camra\"; did you mean \"camera\"?"),
        ("signal", "note", "\"signal\" needs the name of a component and of its event, like camera.ready, after it"),
        ("call camera.lgo", "note", "there is no grant \"lgo\"; did you mean \"log\"?"),
        ("return log.log", "note", "log uses no service, and so calls none; leave the event out, or give the component a grant"),
        ("call camera.", "note", "\"camera.\" does not say whose it is"),
        ("send frame", "note", "there is no buffer \"frame\"; did you mean \"frames\"?"),
        ("send own", "note", "nothing is sent through own, which is not between two components; write between = [sender, receiver]"),
        ("receive frames now", "note", "\"now\" has no place after \"receive\"; leave it out"),
        ("send frames", "halt", "on-violation is \"halt\"; write \"note\", \"stop\" or \"restart\" with the name of a component, \"run\" with that of a task, or \"end\""),
        ("send frames", "run", "on-violation is \"run\""),
        ("send frames", "run nva", "there is no task \"nva\"; did you mean \"nav\"?"),
        ("send frames", "run nav", "time releases nav; write release = \"sporadic\" in its [[task]]"),
        ("send frames", "run later", "something else releases later; give the handler a task of its own"),
        ("send frames", "run raised", "components release raised, and what they raise and what is violated would not be told apart"),
        ("call radio.plan", "note", "radio.plan calls a scheduler, which may give the core to others before it returns"),
        ("send frames", "stop", "on-violation is \"stop\""),
        ("send frames", "stop camra", "there is no component \"camra\"; did you mean \"camera\"?"),
        ("send frames", "stop radio", "radio is restarted when it is stopped; write on-violation = \"restart radio\""),
        ("send frames", "restart camera", "nobody may restart camera; write restarted-by = \"root\" in its [[component]]"),
        ("send frames", "restart nav", "nobody may restart nav; write restarted-by = \"root\" in a [[component]] of its own"),
];

/// What a system file beside these automata says of a monitor with these keys.
fn of_model(folder: &Path, keys: &str) -> Result<System, String> {
    let text = format!("{HEAD}[[monitor]]\nname = 'm'\n{keys}\n");
    System::parse_toml(&text, &folder.join("x.toml")).map_err(|problems| problems.to_string())
}

#[test]
fn an_automaton_of_another_tool_is_the_model_of_a_monitor_and_what_is_wrong_with_it_is_refused() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/monitors"));
    for (model, events) in [
        ("one-at-a-time.dot", "start = 'start nav', complete = 'complete nav'"),
        ("in-turn.hoa", "read = 'start nav', write = 'complete nav'"),
    ] {
        let system = of_model(examples, &format!("model = '{model}'\nevents = {{ {events} }}")).expect(model);
        assert_eq!(system.monitors[0].automata.len(), 1);
        assert_eq!(system.monitors[0].property.to_string(), "always not violation");
    }
    let folder = std::env::temp_dir().join(format!("tactus-model-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let initial = "digraph g {\n\"__init_a\" -> \"a\";\n";
    for (name, edges) in [
        ("reset.dot", "\"a\" -> \"b\" [ label = \"e;reset(clk)\" ];"),
        ("word.dot", "\"a\" -> \"always\" [ label = \"go\" ]; \"always\" -> \"a\" [ label = \"done\" ];"),
        ("all.dot", "\"a\" -> \"a\" [ label = \"go\\ndone\" ];"),
    ] {
        std::fs::write(folder.join(name), format!("{initial}{edges}\n}}\n")).expect("a file");
    }
    std::fs::copy(examples.join("one-at-a-time.dot"), folder.join("sound.dot")).expect("a file");
    std::fs::write(folder.join("sound.oil"), "").expect("a file");
    let events = "events = { start = 'start nav', complete = 'complete nav' }";
    for (keys, place, words) in [
        (format!("model = 'sound.dot'\nproperty = 'always start'\n{events}"), "x.toml:13:", "property stands beside model"),
        (format!("model = 'sound.oil'\n{events}"), "x.toml:13:", "ends neither in .dot nor in .hoa; name an automaton"),
        (format!("model = 'none.dot'\n{events}"), "x.toml:13:", "cannot be read: "),
        (format!("model = 3\n{events}"), "x.toml:13:", "the name of a .dot or .hoa file in quotes"),
        (
            "model = 'sound.dot'\nevents = { start = 'start nav' }".to_owned(),
            "x.toml:13:",
            "the model names the event \"complete\", of which events does not say what it is; write events = { complete = ",
        ),
        (
            "model = 'sound.dot'\nevents = { start = 'start nav', complete = 'complete nav', lost = 'miss nav' }".to_owned(),
            "x.toml:13:",
            "names the event \"lost\"",
        ),
        (format!("model = 'reset.dot'\n{events}"), "reset.dot:3:", "the event \"e\" resets the clock \"clk\""),
        (format!("model = 'word.dot'\n{events}"), "x.toml:13:", "\"always\""),
        (format!("model = 'all.dot'\n{events}"), "all.dot", "nothing could violate it"),
    ] {
        let said = of_model(&folder, &keys).expect_err(&keys);
        assert!(said.lines().any(|line| line.contains(place) && line.contains(words)), "{keys}\n{said}");
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}

/// The files of other tools have their own: `crates/monitor/tests/languages.rs`.
#[test]
fn more_than_fifty_kinds_of_wrong_monitors_are_told_apart() {
    let all = PROPERTIES.iter().map(|it| it.1).chain(COMPONENTS.iter().map(|it| it.2));
    let kinds: BTreeSet<&str> = all.chain(keys().into_iter().map(|it| it.2)).collect();
    assert!(kinds.len() > 50, "{}", kinds.len());
}

#[test]
fn events_of_components_and_actions_that_cannot_be_are_refused_with_a_remedy() {
    for (event, action, words) in COMPONENTS {
        let said = of_components(event, action);
        assert!(
            said.lines().any(|line| line.starts_with("x.toml:") && line.contains(words)),
            "{event}, {action}:\n{said}"
        );
    }
    // A buffer that nobody watches needs somebody who maps it; one that is watched needs nobody.
    for (event, action) in
        [("signal camera.ready", "stop camera"), ("call camera.log", "end"), ("restart", "restart radio")]
    {
        let said = of_components(event, action);
        assert!(
            said.lines().all(|line| line.contains("no component manages memory") || line.contains("no Cargo.toml")),
            "{event}, {action}:\n{said}"
        );
    }
    let said = property("always (go -> next (not go unless done))").is_empty();
    assert!(said);
    let per_server =
        format!("{HEAD}[[monitor]]\nname = 'm'\nevents = {{ go = 'start nav' }}\nproperty = 'always not go'\n")
            .replace("'partitioned-edf'", "'partitioned-edf'\nschedulers = 'per-server'");
    let said = System::parse_toml(&per_server, Path::new("x.toml")).expect_err("no events").to_string();
    assert!(said.contains("x.toml:14: monitor \"m\": \"start\" is known to the scheduler of a server alone"), "{said}");
    // Of what the kernel sees, what such schedulers can be without.
    let kernel = |property: &str, action: &str| {
        let inside = "core = 0\nserver = 's'";
        let text = HEAD
            .replace(
                "'partitioned-edf'",
                "'partitioned-edf'\nschedulers = 'per-server'\n[[server]]\nname = 's'\n\
                kind = 'cbs-hard'\nbudget = '6 ms'\nperiod = '10 ms'\npolicy = 'partitioned-edf'",
            )
            .replace("core = 0", inside);
        let text = format!(
            "{text}[[monitor]]\nname = 'm'\nevents = {{ go = 'fault nav' }}\nproperty = '{property}'\non-violation = '{action}'\n"
        );
        System::parse_toml(&text, Path::new("x.toml")).map_or_else(|problems| problems.to_string(), |_| String::new())
    };
    for sound in ["always not go", "distance(go) >= 5 ms"] {
        assert_eq!(kernel(sound, "note"), "");
    }
    let (ends, awaits) = (kernel("always not go", "end"), kernel("distance(go) <= 5 ms", "note"));
    assert!(
        ends.contains("x.toml:19")
            && ends.contains("monitor \"m\": violations are noted")
            && ends.contains("write on-violation = \"note\""),
        "{ends}"
    );
    assert!(awaits.contains("no scheduler looks") && awaits.contains("distance >="), "{awaits}");
    let restart = complaints(
        "name = 'm'\nevents = { go = 'restart', done = 'complete nav' }\nproperty = 'always (go -> next done)'",
    );
    assert!(restart.contains("\"restart\" cannot occur: no component of the system is restarted"), "{restart}");
}

/// Health tables become monitors, called after their partitions.
#[test]
fn monitors_of_partitions_with_the_longest_names_have_names_that_are_taken_and_differ() {
    let longest = "m".repeat(tactus_model::MAX_NAME - 1);
    let mut text =
        "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitions'\nmajor-frame = '10 ms'\n".to_owned();
    for n in 0..2 {
        text += &format!(
            "[[partition]]\nname = '{longest}{n}'\npolicy = 'partitioned-fp'\n\
             windows = [{{ core = 0, start = '{} ms', length = '2 ms' }}]\nhealth = {{ deadline-missed = 'end-module' }}\n\
             [[task]]\nname = 't{n}'\npartition = '{longest}{n}'\npriority = 1\nperiod = '10 ms'\nexecution = '1 ms'\n",
            5 * n
        );
    }
    let system = System::parse_toml(&text, Path::new("x.toml")).unwrap_or_else(|problems| panic!("{problems}"));
    let names: BTreeSet<&str> = system.monitors.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| name.len() <= tactus_model::MAX_NAME && name.ends_with("-deadline-missed")));
}

#[test]
fn the_monitors_of_the_page_are_taken() {
    let page = include_str!("../../../docs/monitors.md");
    let blocks: Vec<&str> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 2);
    // They stand in the example, behind whose tasks they are taken.
    let example = include_str!("../../../examples/monitors.toml");
    let tasks = example.split("[[monitor]]").next().expect("a first part");
    for block in blocks {
        assert!(example.contains(block), "{block}");
        let system = System::parse_toml(&format!("{tasks}{block}"), Path::new("x.toml"));
        assert_eq!(
            system.map(|system| system.monitors.len()).map_err(|problems| problems.to_string()),
            Ok(1),
            "{block}"
        );
    }
}
