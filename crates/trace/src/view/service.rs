//! A service as a trace is read against it.

use super::plain;
use serde::{Deserialize, Serialize};
use tactus_record::{RequestEvent, RequestOrder};
use tactus_time::TaskId;

/// A service, as its rules are held against a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceView {
    /// Name.
    pub name: String,
    /// The task that serves.
    #[serde(with = "plain")]
    pub server: TaskId,
    /// Whom it serves first.
    #[serde(with = "plain")]
    pub order: RequestOrder,
    /// How many requests a job of it serves at most.
    pub requests: u32,
    /// The number of its first client.
    pub first: u16,
    /// By client: the tasks that ask for it. Nobody else's request counts.
    #[serde(with = "plain")]
    pub clients: Vec<Vec<TaskId>>,
    /// By client: by priority, in one of how many of the server's jobs a request of it is served at most.
    pub every: Vec<u64>,
}

impl ServiceView {
    /// The client's place, where the event is the service's and the task is one that may tell it: what others signal is nobody's word.
    pub(crate) fn spoken(&self, event: RequestEvent, by: TaskId) -> Option<usize> {
        let place = |client: u16| client.checked_sub(self.first).map(usize::from).filter(|n| *n < self.every.len());
        match event {
            RequestEvent::Request(client) => {
                place(client).filter(|n| self.clients.get(*n).is_some_and(|tasks| tasks.contains(&by)))
            }
            RequestEvent::Answer(client) => place(client).filter(|_| by == self.server),
        }
    }
}
