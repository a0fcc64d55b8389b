//! Services: whether a job asks when it begins, and whom a job answers when it has done all else.

use tactus_policy::Running;
use tactus_record::{RequestChoice, RequestEvent};
use tactus_task::{EventCall, ServiceSteps};
use tactus_time::TaskId;

/// All services of a system.
#[derive(Default)]
pub(crate) struct Services(Vec<Service>);

struct Service {
    steps: ServiceSteps,
    choice: RequestChoice,
    clients: Vec<Client>,
    /// The server's job that answers, and how many requests it has seen to.
    serving: (u32, u32),
}

#[derive(Clone, Default)]
struct Client {
    /// Whether its request waits for the server.
    waits: bool,
    answered: bool,
    /// Who asked last, and with which of its jobs the time for an answer is over.
    asked: Option<(TaskId, u32)>,
    /// The jobs that have looked whether to ask, by task: the last of each.
    looked: Vec<Option<u32>>,
}

impl Services {
    pub(crate) fn new(all: Vec<ServiceSteps>) -> Services {
        let one = |steps: ServiceSteps| {
            let client = |tasks: &Vec<(TaskId, u32)>| Client { looked: vec![None; tasks.len()], ..Client::default() };
            let clients = steps.clients.iter().map(client).collect();
            Service { steps, choice: RequestChoice::new(), clients, serving: (0, 0) }
        };
        Services(all.into_iter().map(one).collect())
    }

    /// Whether the job, which has a core, has something to ask before it goes on.
    pub(crate) fn asks(&mut self, job: &Running) -> bool {
        self.0.iter_mut().any(|service| service.asks(job).is_some())
    }

    /// What the job asks now.
    pub(crate) fn ask(&mut self, job: &Running) -> Option<EventCall> {
        let (service, n, place) = self.0.iter_mut().find_map(|service| {
            let (n, place) = service.asks(job)?;
            Some((service, n, place))
        })?;
        let client = &mut service.clients[n];
        client.looked[place] = Some(job.job);
        (client.waits, client.answered) = (true, false);
        client.asked = Some((job.task, job.job.saturating_add(service.steps.clients[n][place].1)));
        Some(EventCall::Signal(RequestEvent::Request(service.steps.first + n as u16).event()))
    }

    /// Whom the job, which has done all else, answers now.
    pub(crate) fn answer(&mut self, job: &Running) -> Option<EventCall> {
        self.0.iter_mut().filter(|service| service.steps.server == job.task).find_map(|service| service.answer(job.job))
    }
}

impl Service {
    /// Which of the clients the job is of, if it is to ask, and which of its tasks.
    fn asks(&mut self, job: &Running) -> Option<(usize, usize)> {
        for (n, client) in self.clients.iter_mut().enumerate() {
            let Some(place) = self.steps.clients[n].iter().position(|(task, _)| *task == job.task) else { continue };
            if client.looked[place] == Some(job.job) {
                continue;
            }
            let free = client.asked.is_none_or(|(task, until)| {
                let over = task == job.task && job.job >= until;
                over || client.answered && !self.steps.shaped
            });
            if free && !client.waits {
                return Some((n, place));
            }
            client.looked[place] = Some(job.job);
        }
        None
    }

    fn answer(&mut self, job: u32) -> Option<EventCall> {
        if self.serving.0 != job {
            self.serving = (job, 0);
        }
        let rules = &self.steps.rules;
        while self.serving.1 < rules.requests {
            let waits = self.clients.iter().enumerate().map(|(n, client)| u32::from(client.waits) << n);
            let waiting = waits.sum();
            let place = (u64::from(job), self.serving.1);
            self.serving.1 += 1;
            let Some(n) = self.choice.next(rules, place, waiting, |client| self.steps.every[client]) else {
                if !rules.order.skips() {
                    self.serving.1 = rules.requests;
                }
                continue;
            };
            (self.clients[n].waits, self.clients[n].answered) = (false, true);
            return Some(EventCall::Signal(RequestEvent::Answer(self.steps.first + n as u16).event()));
        }
        None
    }
}
