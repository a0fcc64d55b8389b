//! Services that a task gives to others by messages: each client asks and is answered, one request after another.

use crate::{Service, System};
use tactus_record::{RequestEvent, RequestRules};
use tactus_task::{EventRight, Program, ServiceSteps};
use tactus_time::TaskId;

impl Service {
    /// The most jobs that the count of `every` and of `jobs` tells.
    pub const MOST_JOBS: u64 = 255;
    /// The most requests that a job may serve.
    pub const MOST_REQUESTS: u64 = 64;
    /// What a request and an answer carry beside what is asked: whose answer it is (bytes).
    pub const HEADER: u32 = 8;

    /// How it serves.
    pub fn rules(&self) -> RequestRules {
        RequestRules { order: self.order, clients: self.clients.len(), requests: self.requests }
    }

    /// What jobs of the built-in workload do about it.
    pub(crate) fn steps(&self, system: &System) -> ServiceSteps {
        let task = |task: &usize| (TaskId(*task as u16), self.jobs(*task, system) as u32);
        ServiceSteps {
            server: TaskId(self.server as u16),
            clients: self.clients.iter().map(|client| client.tasks.iter().map(task).collect()).collect(),
            rules: self.rules(),
            every: (0..self.clients.len()).map(|client| self.every(client, system)).collect(),
            first: self.first,
            shaped: self.shaped,
        }
    }

    /// By priority: in one of how many of its server's jobs a request of this client is served at most.
    pub fn every(&self, client: usize, system: &System) -> u64 {
        let [task] = self.clients[client].tasks[..] else { return 1 };
        let of = |task: usize| system.tasks[task].period.as_nanos();
        (of(task) / of(self.server).max(1)).clamp(1, Service::MOST_JOBS)
    }

    /// After how many jobs of the task at the latest it has been answered.
    pub fn jobs(&self, task: usize, system: &System) -> u64 {
        self.latency.as_nanos().div_ceil(system.tasks[task].period.as_nanos().max(1))
    }
}

impl System {
    /// The events that jobs of the task may signal and await: what it asks and answers, and what its program tells.
    pub fn event_rights(&self, task: usize) -> Vec<EventRight> {
        let asks = self.services.iter().flat_map(|service| {
            let own = service.clients.iter().enumerate().filter(|(_, client)| client.tasks.contains(&task));
            own.map(|(n, _)| EventRight::to_signal(RequestEvent::Request(service.first + n as u16).event()))
        });
        let answers = self.services.iter().filter(|service| service.server == task).map(|service| EventRight {
            awaits: false,
            first: RequestEvent::Answer(service.first).event(),
            count: service.clients.len() as u16,
        });
        let program = self.scheduling.programs.get(task).into_iter().flat_map(Program::rights);
        let mut all: Vec<EventRight> = asks.chain(answers).chain(program).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// How often a job of the task tells the scheduler of requests and answers.
    pub fn request_calls(&self, task: usize) -> u64 {
        let of = |service: &Service| {
            let asks = service.clients.iter().any(|client| client.tasks.contains(&task));
            u64::from(asks) + if service.server == task { u64::from(service.requests) } else { 0 }
        };
        self.services.iter().map(of).sum()
    }
}
