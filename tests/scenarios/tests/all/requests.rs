//! Services by messages (`examples/services.toml`): machine and simulator answer the same requests in the same order and keep the bounds;
//! and a client that asks as often as it can keeps nobody waiting but itself.

use crate::services::part;
use tactus_record::RequestEvent;
use tactus_scenarios::{file, Finished, Scratch};
use tactus_trace::in_order;

/// All requests and answers, as far as cores tell their order.
fn told(run: &Finished) -> Vec<RequestEvent> {
    let mut all = Vec::new();
    in_order(&run.trace(), |r| all.extend(RequestEvent::of(r)));
    all
}

#[test]
fn the_services_of_the_example_answer_the_same_on_the_machine_as_when_simulated() {
    let example = file("examples/services.toml");
    let runs = [Finished::run(&example, &[]), Finished::simulate(&example, &[])];
    for run in &runs {
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        let chains = run.summary.json["chains"].as_array().expect("chains");
        assert_eq!(chains.len(), 5);
        for chain in chains {
            let (worst, bound) = (chain["response"]["max_ns"].as_u64(), chain["bound_ns"].as_u64());
            println!("{}: {worst:?} of {bound:?}", chain["name"]);
            assert!(worst.is_some() && worst <= bound, "{chain}");
        }
        // The answers of `actuators` are seen when 60 ms are over, however soon they came: then its client asks again.
        let asks = |r: &&tactus_record::Record| RequestEvent::of(r) == Some(RequestEvent::Request(3));
        let trace = run.trace();
        let frames: Vec<u64> = trace.cores[0].iter().filter(asks).map(|r| r.time.as_nanos() / 20_000_000).collect();
        assert!(frames.len() > 60 && frames.windows(2).all(|pair| pair[1] - pair[0] == 3), "{frames:?}");
    }
    // The first three clients are those of one service, the others of another one on the other core.
    let answers = |run: &Finished| {
        let answers = told(run).into_iter().filter(|it| matches!(it, RequestEvent::Answer(_)));
        answers.partition::<Vec<_>, _>(|it| matches!(it, RequestEvent::Answer(0..3)))
    };
    let [ran, simulated] = runs.each_ref().map(answers);
    println!("{} and {} answers", ran.0.len(), ran.1.len());
    assert!(ran.0.len() > 200 && ran.1.len() > 100);
    assert_eq!(ran, simulated);
}

/// By priority the greedy client comes first. Two tasks are one client, in a component as the server is.
#[test]
fn a_client_that_asks_all_the_time_keeps_nobody_waiting_but_itself() {
    let mut text = String::from(
        "[system]\nname = 'greedy'\ncores = 2\nduration = '800 ms'\n[policy]\nkind = 'partitions'\nmajor-frame = '20 ms'\n",
    );
    ["greedy", "asker", "server"].iter().for_each(|name| text += &part(name, ""));
    for (partition, windows) in [
        ("greed", "{ core = 1, start = '0 ms', length = '20 ms' }"),
        ("asks", "{ core = 0, start = '0 ms', length = '3 ms' }, { core = 0, start = '10 ms', length = '3 ms' }"),
        ("plain", "{ core = 0, start = '3 ms', length = '2 ms' }"),
        ("serves", "{ core = 0, start = '5 ms', length = '5 ms' }, { core = 0, start = '15 ms', length = '5 ms' }"),
    ] {
        text += &format!("[[partition]]\nname = '{partition}'\npolicy = 'partitioned-fp'\nwindows = [{windows}]\n");
    }
    for (task, partition, more) in [
        ("greedy", "greed", "priority = 1\nperiod = '40 ms'\nexecution = '19 ms'\ncomponent = 'greedy'"),
        ("ask-a", "asks", "priority = 2\nperiod = '20 ms'\nexecution = '200 us'\ncomponent = 'asker'"),
        ("ask-b", "asks", "priority = 1\nperiod = '40 ms'\nexecution = '200 us'\ncomponent = 'asker'"),
        ("plain", "plain", "priority = 1\nperiod = '20 ms'\nexecution = '200 us'"),
        (
            "serve",
            "serves",
            "priority = 1\nperiod = '10 ms'\noffset = '5 ms'\nexecution = '1 ms'\ncomponent = 'server'",
        ),
    ] {
        text += &format!("[[task]]\nname = '{task}'\npartition = '{partition}'\n{more}\n");
    }
    text += "[[service]]\nname = 'storage'\nserver = 'serve'\nclients = ['greedy', ['ask-a', 'ask-b'], 'plain']\n\
             order = 'priority'\nrequests = 2\nsize = '64 B'\nlatency = '300 ms'\n";
    let scratch = Scratch::new("greedy");
    let run = Finished::run(&scratch.write("greedy.toml", &text), &[]);
    assert_eq!(run.summary.outcome(), "held", "{}{}", run.said.output, run.log);
    let answers = |client: u16| told(&run).iter().filter(|it| **it == RequestEvent::Answer(client)).count();
    let asked = told(&run).iter().filter(|it| **it == RequestEvent::Request(0)).count();
    println!("answers: {:?}, the first has asked {asked} times", [0, 1, 2].map(answers));
    // One in each of its periods, though it asks again as soon as it is answered.
    assert!((18..=21).contains(&answers(0)), "{}", answers(0));
    // Two tasks ask three times in 40 ms, and have one request outstanding.
    assert!(answers(1) >= 38 && answers(2) >= 38, "{} and {}", answers(1), answers(2));
    for chain in run.summary.json["chains"].as_array().expect("chains").iter().skip(1) {
        let (worst, bound) = (chain["response"]["max_ns"].as_u64(), chain["bound_ns"].as_u64());
        assert!(worst.is_some() && worst <= bound, "{chain}");
    }
}

/// Without a service in the file the component serves itself, and no message is sent; its code is the same.
#[test]
fn a_stub_asks_by_messages_only_where_another_component_serves() {
    let mut text = String::from(
        "[system]\nname = 'stub'\ncores = 1\nduration = '800 ms'\n[policy]\nkind = 'partitions'\nmajor-frame = '20 ms'\n",
    );
    ["caller", "server"].iter().for_each(|name| text += &part(name, ""));
    for (partition, task, start, component) in [("calls", "call", 0, "caller"), ("serves", "serve", 10, "server")] {
        text += &format!(
            "[[partition]]\nname = '{partition}'\npolicy = 'partitioned-fp'\n\
             windows = [{{ core = 0, start = '{start} ms', length = '5 ms' }}]\n\
             [[task]]\nname = '{task}'\npartition = '{partition}'\npriority = 1\nperiod = '20 ms'\noffset = '{start} ms'\n\
             execution = '1 ms'\ncomponent = '{component}'\n"
        );
    }
    let service = "[[service]]\nname = 'storage'\nserver = 'serve'\nclients = ['call']\norder = 'turns'\nrequests = 1\nsize = '64 B'\n\
                   latency = '60 ms'\n";
    let scratch = Scratch::new("stub");
    for (name, service) in [("global", service), ("local", "")] {
        let run = Finished::run(&scratch.write(&format!("{name}.toml"), &format!("{text}{service}")), &[]);
        assert_eq!(run.summary.outcome(), "held", "{}{}", run.said.output, run.log);
        let requests = told(&run).len();
        println!("{name}: {requests} requests and answers");
        assert!(if service.is_empty() { requests == 0 } else { requests >= 40 }, "{requests}");
    }
}
