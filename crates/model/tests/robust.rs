//! Nothing that a file can hold makes the reader panic, run away, or accept what breaks its own rules.

use proptest::prelude::*;
use std::path::Path;
use tactus_model::{Policy, System};
use tactus_time::{Duration, Level, TaskId};

const TOML: [&str; 5] = [
    include_str!("../../../examples/avionics.toml"),
    include_str!("../../../examples/mc2-example.toml"),
    include_str!("../../../examples/partitioned-edf.toml"),
    include_str!("../../../examples/broken/35-beta-impossible.toml"),
    include_str!("../../../examples/broken/31-circular-grants.toml"),
];
const JSON: [&str; 4] = [
    include_str!("../../../examples/rt-app/deadline.json"),
    include_str!("../../../examples/rt-app/fixed-priority.json"),
    include_str!("../../../examples/broken/71-two-periods.json"),
    include_str!("../../../examples/broken/81-unknown-names.json"),
];
/// Pieces that are likely to lead somewhere.
const PIECES: [&str; 24] = [
    "[[task]]\n",
    "name = \"x\"\n",
    "{",
    "}",
    "\"",
    "[",
    "]",
    "= ",
    "\n",
    "level = \"B\"\n",
    "-1",
    "\"1e99 s\"",
    "99999999999999999999",
    "0.5",
    "actual = { scale = \"1 ms\", mean = 0.5, deviation = 0.1 }\n",
    "\u{b5}s",
    "\"run\" : 1000,",
    "\"loop\" : -1,",
    "\"loop\" : 4000000000,",
    "\"timer\" : { \"ref\" : \"u\", \"period\" : 10 },",
    "\"sleep\" : 9223372036854775807,",
    "\"instance\" : 4294967296,",
    "/*",
    "\\u",
];

/// One change to a text, made of bytes so that UTF-8 breaks too.
#[derive(Clone, Debug)]
enum Change {
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index, usize),
    Truncate(prop::sample::Index),
    DropLine(prop::sample::Index),
    RepeatLine(prop::sample::Index),
    SwapLines(prop::sample::Index, prop::sample::Index),
    Insert(prop::sample::Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    use prop::sample::Index;
    let index = any::<Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, bits)| Change::Flip(at, bits)),
        (index(), 1..40_usize).prop_map(|(at, length)| Change::Cut(at, length)),
        index().prop_map(Change::Truncate),
        index().prop_map(Change::DropLine),
        index().prop_map(Change::RepeatLine),
        (index(), index()).prop_map(|(a, b)| Change::SwapLines(a, b)),
        (index(), 0..PIECES.len()).prop_map(|(at, piece)| Change::Insert(at, piece)),
    ]
}

fn apply(text: &str, changes: &[Change]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        let lines = |bytes: &[u8]| bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
        match change {
            Change::Flip(at, bits) => {
                let at = at.index(bytes.len());
                bytes[at] ^= bits;
            }
            Change::Cut(at, length) => {
                let start = at.index(bytes.len());
                let end = (start + length).min(bytes.len());
                bytes.drain(start..end);
            }
            Change::Truncate(at) => bytes.truncate(at.index(bytes.len())),
            Change::DropLine(at) => {
                let mut all = lines(&bytes);
                all.remove(at.index(all.len()));
                bytes = all.concat();
            }
            Change::RepeatLine(at) => {
                let mut all = lines(&bytes);
                let at = at.index(all.len());
                all.insert(at, all[at].clone());
                bytes = all.concat();
            }
            Change::SwapLines(a, b) => {
                let mut all = lines(&bytes);
                let (a, b) = (a.index(all.len()), b.index(all.len()));
                all.swap(a, b);
                bytes = all.concat();
            }
            Change::Insert(at, piece) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, PIECES[*piece].bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads the text in both formats. What is refused has words for it; what is accepted keeps the rules.
fn read(text: &str) -> Result<(), TestCaseError> {
    // A folder that is not there: no changed file name may lead anywhere.
    let source = Path::new("nowhere/at/all/system.toml");
    for result in [System::parse_toml(text, source), System::parse_rt_app(text, source)] {
        match result {
            Ok(system) => check(&system)?,
            Err(problems) => {
                for problem in &problems {
                    prop_assert!(!problem.to_string().is_empty());
                    let lines = text.lines().count() + 1;
                    prop_assert!(problem.place.is_none_or(|place| (1..=lines).contains(&place.line)), "{problem}");
                }
            }
        }
    }
    Ok(())
}

/// The rules that the rest of Tactus relies on, written down a second time.
fn check(system: &System) -> Result<(), TestCaseError> {
    let mc2 = matches!(system.policy, Policy::Mc2 { .. });
    prop_assert!((1..=8).contains(&system.cores) && !system.duration.is_zero());
    prop_assert!((1..=4_000).contains(&system.tasks.len()));
    for (i, task) in system.tasks.iter().enumerate() {
        prop_assert_eq!(task.level.is_some(), system.policy.has_levels());
        let bound = match system.policy {
            Policy::PartitionedRm | Policy::PartitionedEdf | Policy::Mixed(_) => true,
            Policy::GlobalRm | Policy::GlobalEdf => false,
            // Whoever is in a queue of its own has a core.
            Policy::Ordered { .. } => task.core.is_some(),
            Policy::Partitions => true,
            Policy::Mc2 { .. } => task.level <= Some(Level::B),
        };
        prop_assert_eq!(task.core.is_some(), bound);
        prop_assert!(task.core.is_none_or(|core| core.index() < system.cores));
        prop_assert!(task.period >= Duration::from_micros(1));
        prop_assert!(!task.deadline.is_zero() && task.deadline <= task.period * 16);
        prop_assert!(!mc2 || task.deadline == task.period);
        prop_assert!(task.budget() <= task.deadline && !task.budget().is_zero());
        let times: Vec<Duration> = task.execution.iter().flatten().copied().collect();
        prop_assert!(times.windows(2).all(|pair| pair[0] >= pair[1]));
        for level in Level::ALL {
            let own = task.level.unwrap_or_default();
            prop_assert!(level < own || task.execution[level.index()].is_some());
        }
        for job in [0, 1, 2, u32::MAX] {
            prop_assert!(task.demand(system.seed, TaskId(i as u16), job) >= tactus_model::SHORTEST_JOB);
        }
    }
    Ok(())
}

#[test]
fn there_are_no_more_tasks_than_can_be_checked() {
    let head = "[system]\ncores = 2\nduration = '1 s'\n[policy]\nkind = 'global-edf'\n";
    let task = |n: usize| format!("[[task]]\nname = 't{n}'\nperiod = '1 s'\nexecution = '1 us'\n");
    let file = |tasks: usize| head.to_string() + &(0..tasks).map(task).collect::<String>();
    assert!(System::parse_toml(&file(4_000), Path::new("many.toml")).is_ok());
    let problems = System::parse_toml(&file(4_001), Path::new("many.toml")).unwrap_err();
    assert!(problems.to_string().contains("the number of tasks is 4001, more than 4000; leave some out"), "{problems}");
}

/// Quadratic time would show here as a test that does not end.
#[test]
fn large_files_of_nothing_but_mistakes_are_read_in_good_time() {
    let many = |head: &str, piece: &str, tail: &str| format!("{head}{}{tail}", piece.repeat(1_000_000 / piece.len()));
    let json = [
        many("{\"tasks\":{\"a\":{", "\"x\":1,", "}}}"),
        many("{\"tasks\":{", "\"a\":{\"run\":1,\"timer\":{\"ref\":\"unique\",\"period\":9}},", "}}"),
        many("", "{\"\":", ""),
        many("", "[", ""),
        many("{\"tasks\":{\"a\":{", "\"run\":-1,\"sleep\":1,", "}}}"),
        many("", "/", ""),
    ];
    for text in json {
        let problems = System::parse_rt_app(&text, Path::new("large.json")).expect_err("accepted");
        assert!(problems.len() <= 501 && !problems.to_string().is_empty());
    }
    let toml = [
        many("", "[[task]]\n", ""),
        many("", "[[component]]\nprovides = [\"a\"]\n", ""),
        many("[[component]]\nname = \"c\"\nprovides = [", "\"a\",", "]\n"),
        many("x = ", "[", ""),
        many("x = ", "{a=", ""),
        many("", "= ", ""),
        many("a = \"", "\\u", ""),
    ];
    for text in toml {
        let problems = System::parse_toml(&text, Path::new("large.toml")).expect_err("accepted");
        assert!(problems.len() <= 501 && !problems.to_string().is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_mixture_of_likely_pieces_is_read_without_panic(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        read(&text)?;
    }

    #[test]
    fn any_change_of_a_system_file_is_read_without_panic(
        which in 0..TOML.len(), changes in prop::collection::vec(change(), 1..6)
    ) {
        read(&apply(TOML[which], &changes))?;
    }

    #[test]
    fn any_change_of_an_rt_app_file_is_read_without_panic(
        which in 0..JSON.len(), changes in prop::collection::vec(change(), 1..6)
    ) {
        read(&apply(JSON[which], &changes))?;
    }
}

/// The same for longer: `TACTUS_FUZZ_CASES=1000000 cargo test -p tactus-model --release -- --ignored`.
#[test]
#[ignore = "runs as long as TACTUS_FUZZ_CASES asks for"]
fn a_long_search_finds_no_panic() {
    let cases = std::env::var("TACTUS_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let all: Vec<&'static str> = TOML.iter().chain(&JSON).copied().collect();
    let strategy = (0..all.len(), prop::collection::vec(change(), 1..12));
    let result = runner.run(&strategy, |(which, changes)| read(&apply(all[which], &changes)));
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[test]
fn a_timer_that_threads_share_is_reported_with_the_other_faults_of_the_file() {
    let thread = |name: &str, more: &str| {
        format!("{name:?}: {{ \"run\": 1000, {more} \"timer\": {{ \"ref\": \"tick\", \"period\": 10000 }} }}")
    };
    let (bad, cpus) = ("\"priority\": \"high\",", "\"cpus\": [99],");
    let threads = [thread("one", ""), thread("two", bad), thread("three", cpus), thread("none", "\"instance\": 0,")];
    let text = format!("{{ \"tasks\": {{ {} }} }}", threads.join(",\n"));
    let problems = System::parse_rt_app(&text, Path::new("shared.json")).expect_err("accepted").to_string();
    for words in [
        "task \"two\": it waits on the timer \"tick\" of task \"one\"",
        "task \"three\": it waits on the timer \"tick\" of task \"one\"",
        "priority",
    ] {
        assert!(problems.contains(words), "{words}: {problems}");
    }
    assert_eq!(problems.matches("waits on the timer").count(), 2, "{problems}");
    // What is left out shares nothing, and a timer of one's own is no fault.
    let alone = format!("{{ \"tasks\": {{ {},\n{} }} }}", threads[0], threads[3]);
    assert!(System::parse_rt_app(&alone, Path::new("alone.json")).is_ok());
}

#[test]
fn a_pibs_under_given_priorities_needs_a_priority_of_its_own() {
    let text = |priority: &str| {
        let head = "[system]\ncores = 1\nduration = '1 s'\n[policy]\nkind = 'partitioned-fp'\n";
        let main = "[[server]]\nname = 'main'\nkind = 'sporadic'\nbudget = '2 ms'\nperiod = '10 ms'\npriority = 2\n\
            policy = 'partitioned-rm'\n";
        let io = "[[server]]\nname = 'io'\nkind = 'pibs'\nshare = 0.1\nfor = 'main'\npolicy = 'partitioned-rm'\n";
        let task = |name: &str, server: &str| {
            let times = "core = 0\nperiod = '100 ms'\nexecution = '1 ms'\n";
            format!("[[task]]\nname = '{name}'\nserver = '{server}'\n{times}")
        };
        format!("{head}{main}{io}{priority}{}{}", task("a", "main"), task("b", "io"))
    };
    let parse = |priority| System::parse_toml(&text(priority), Path::new("pibs.toml"));
    let refused = parse("").expect_err("accepted").to_string();
    assert!(refused.contains("server \"io\"") && refused.contains("priority"), "{refused}");
    assert!(parse("priority = 1\n").is_ok(), "{:?}", parse("priority = 1\n").err().map(|it| it.to_string()));
}
