//! Nodes on a mesh, each simulated alone (MOSSCA). A node's message leaves at the deadline of the job that made it, whenever that job
//! ended, and for the node to which it goes the network is a delay of at most its bound. So no node depends on when another one does
//! what, and a thousand of them are a thousand small simulations.

use std::fmt::Write;
use std::path::Path;
use tactus_analysis::Bound;
use tactus_generate::Random;
use tactus_model::System;
use tactus_network::mesh::{Mesh, Node};
use tactus_network::simulate::{with_rates, with_slots, Limit, Sender};
use tactus_network::slots::Table;
use tactus_network::{rates, Cycles, Flow, NetworkError};
use tactus_plan::plan;
use tactus_record::EventKind;
use tactus_sim::{simulate_with_arrivals, Arrivals, Costs};
use tactus_time::{Duration, Instant, TaskId};

/// A cycle of the network.
pub const CYCLE: Duration = Duration::from_nanos(10);
/// Cycles that a router takes.
const ROUTER: Cycles = Cycles(2);
/// With how many cycles slots repeat.
const SLOTS: u32 = 64;
/// Flits of a message.
const FLITS: u32 = 64;
/// Tasks of a node beside those that receive.
const OWN_TASKS: usize = 4;
/// The most nodes that send to one.
const MOST_SENDERS: usize = 6;

/// How the network's links are shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// Each flow has slots of its own.
    Slots,
    /// Interfaces limit rates, links serve in the order of arrival.
    Rates,
}

/// What is studied.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Nodes from left to right.
    pub columns: u32,
    /// Nodes from top to bottom.
    pub rows: u32,
    /// How links are shared.
    pub sharing: Sharing,
    /// The part of each node's time that its tasks ask for.
    pub load: f64,
    /// What all is drawn from.
    pub seed: u64,
}

/// A network with what its nodes send.
pub struct Network {
    /// One flow from each node, by node.
    pub flows: Vec<Flow>,
    /// The bound of each flow.
    pub bounds: Vec<Duration>,
    /// The longest that a message of each took where all nodes send as soon as they may.
    pub longest: Vec<Duration>,
    shape: Shape,
}

/// What became of the messages of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// Its index.
    pub flow: usize,
    /// How many were worked through by the end.
    pub messages: u64,
    /// From the release of the sending job to the end of the receiving one, at most.
    pub longest: Duration,
    /// What was promised for that, if the checks accept both nodes.
    pub bound: Option<Duration>,
}

/// What became of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Whether its check accepts it.
    pub accepted: bool,
    /// Whether every promise of its tasks held.
    pub held: bool,
    /// Jobs that ended.
    pub jobs: u64,
    /// By flow that ends there. Bounds are as if the sending node were accepted.
    pub received: Vec<Received>,
}

fn time(cycles: Cycles) -> Duration {
    CYCLE * cycles.0
}

impl Network {
    /// Draws what each node sends, works out the bounds, and runs the network flit for flit for three of the longest periods.
    ///
    /// # Errors
    /// The network does not carry what is sent.
    pub fn new(shape: Shape) -> Result<Network, NetworkError> {
        let mesh = Mesh::new(shape.columns, shape.rows, ROUTER).ok_or(NetworkError::NoFlow { flow: 0 })?;
        let mut random = Random::new(shape.seed);
        let mut senders = vec![0; mesh.nodes() as usize];
        let flows: Vec<Flow> = (0..mesh.nodes())
            .map(|from| {
                let to = loop {
                    let to = random.below(mesh.nodes().into()) as u32;
                    if to != from && senders[to as usize] < MOST_SENDERS {
                        break to;
                    }
                };
                senders[to as usize] += 1;
                let period = Duration::from_millis(*random.of(&[1, 2, 5]));
                let period = Cycles(period.as_nanos() / CYCLE.as_nanos());
                Flow { from: Node(from), to: Node(to), flits: FLITS, period }
            })
            .collect();
        let length = Cycles(3 * flows.iter().map(|flow| flow.period.0).max().unwrap_or(0));
        let floods = vec![Sender::Floods; flows.len()];
        let (bounds, traffic) = match shape.sharing {
            Sharing::Slots => {
                let table = Table::new(&mesh, &flows, SLOTS)?;
                (table.bounds(&mesh, &flows), with_slots(&mesh, &flows, &floods, &table, length)?)
            }
            Sharing::Rates => {
                let bounds = rates::bounds(&mesh, &flows)?;
                (bounds, with_rates(&mesh, &flows, &floods, Limit::Declared, length)?)
            }
        };
        let longest = traffic.iter().map(|it| time(it.longest)).collect();
        Ok(Network { flows, bounds: bounds.into_iter().map(time).collect(), longest, shape })
    }

    /// From the release of a job that sends to the time at which its message leaves.
    fn leaves(&self, flow: usize) -> Duration {
        time(self.flows[flow].period) / 2
    }

    /// The flows that end at a node.
    fn to(&self, node: usize) -> Vec<usize> {
        (0..self.flows.len()).filter(|flow| self.flows[*flow].to == Node(node as u32)).collect()
    }

    /// The system file of a node: tasks of its own, of which the first sends, and one for each flow that ends there.
    pub fn file(&self, node: usize, length: Duration) -> String {
        let mut random = self.random(node);
        let coming = self.to(node);
        let utilisations = random.utilisations(OWN_TASKS + coming.len(), self.shape.load);
        let mut text = format!(
            "[system]\nname = \"node-{node}\"\ncores = 1\nduration = \"{} ns\"\nseed = {node}\n[policy]\nkind = \"partitioned-dm\"\n",
            length.as_nanos()
        );
        let mut task = |name: String, period: Duration, deadline: Duration, share: f64, more: String| {
            let execution = ((period.as_nanos() as f64 * share) as u64).clamp(1_000, deadline.as_nanos());
            let (period, deadline) = (period.as_nanos(), deadline.as_nanos());
            let words = format!(
                "[[task]]\nname = \"{name}\"\ncore = 0\nperiod = \"{period} ns\"\ndeadline = \"{deadline} ns\"\n\
                 execution = \"{execution} ns\"\n{more}"
            );
            text.push_str(&words);
        };
        let sends = time(self.flows[node].period);
        task("sends".into(), sends, self.leaves(node), utilisations[0], String::new());
        for (n, share) in utilisations[1..OWN_TASKS].iter().enumerate() {
            let period = Duration::from_micros(random.log_uniform(1_000.0, 20_000.0) as u64);
            task(format!("own-{n}"), period, period, *share, String::new());
        }
        for (flow, share) in coming.iter().zip(&utilisations[OWN_TASKS..]) {
            let period = time(self.flows[*flow].period);
            let mut more = String::from("release = \"sporadic\"\n");
            // The first may take the whole bound, and the next one no time.
            let _ = writeln!(more, "jitter = \"{} ns\"", self.bounds[*flow].as_nanos());
            task(format!("from-{flow}"), period, period, *share, more);
        }
        text
    }

    fn random(&self, node: usize) -> Random {
        Random::new(self.shape.seed ^ ((node as u64 + 1) << 32))
    }

    /// Checks and simulates a node alone. Each message takes a time between none and the bound to come there.
    ///
    /// # Errors
    /// The words of whoever refuses the node.
    pub fn run(&self, node: usize, length: Duration) -> Result<Outcome, String> {
        let name = format!("node-{node}.toml");
        let system =
            System::parse_toml(&self.file(node, length), Path::new(&name)).map_err(|error| error.to_string())?;
        let check = tactus_analysis::check(&system, &Costs::default());
        let plan = plan(&system, &check, &Costs::default());
        let coming = self.to(node);
        let mut random = self.random(node);
        let mut arrivals: Vec<Arrivals<'_>> = Vec::new();
        for (n, flow) in coming.iter().enumerate() {
            let (period, leaves) = (time(self.flows[*flow].period), self.leaves(*flow));
            let bound = self.bounds[*flow].as_nanos();
            let jobs = length / period;
            // Half of them take as long as may be.
            let taken = |random: &mut Random| if random.chance(0.5) { bound } else { random.between(0, bound) };
            let all: Vec<Instant> = (0..jobs)
                .map(|job| Instant::ZERO + period * job + leaves + Duration::from_nanos(taken(&mut random)))
                .collect();
            arrivals.push((TaskId((OWN_TASKS + n) as u16), Box::new(all.into_iter())));
        }
        let demand = |task: TaskId, job| system.tasks[task.index()].demand(system.seed, task, job);
        let trace = simulate_with_arrivals(&plan.setup, length, (demand, arrivals), &Costs::default())
            .map_err(|error| error.to_string())?;
        let summary = tactus_trace::judge(&plan.view, &trace);
        let ended = || trace.cores.iter().flatten().filter(|record| record.kind == EventKind::Complete);
        let mut received = Vec::new();
        for (n, flow) in coming.iter().enumerate() {
            let task = TaskId((OWN_TASKS + n) as u16);
            let period = time(self.flows[*flow].period);
            let its = || ended().filter(|record| record.task == Some(task));
            let taken = its().map(|it| it.time.since(Instant::ZERO + period * u64::from(it.job)));
            let bound = match check.tasks[task.index()].bound() {
                Some(Bound::Response(response)) if check.accepted => {
                    Some(self.leaves(*flow) + self.bounds[*flow] + response)
                }
                _ => None,
            };
            let longest = taken.max().unwrap_or_default();
            received.push(Received { flow: *flow, messages: its().count() as u64, longest, bound });
        }
        let (jobs, held) = (ended().count() as u64, !check.accepted || summary.verdict.held());
        Ok(Outcome { accepted: check.accepted, held, jobs, received })
    }
}
