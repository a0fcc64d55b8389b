//! Services that a task gives to others by messages.

use tactus_record::RequestOrder;
use tactus_time::Duration;

/// A service: the jobs of a task serve the requests of clients.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Service {
    /// Name, unique.
    pub name: String,
    /// The task that serves, by its index in [`System::tasks`](crate::System::tasks).
    pub server: usize,
    /// Its clients; by priority, the most urgent first.
    pub clients: Vec<ServiceClient>,
    /// Whom it serves first.
    pub order: RequestOrder,
    /// How many requests a job of it serves at most.
    pub requests: u32,
    /// The longest request, and the longest answer (bytes).
    pub size: u32,
    /// The longest time from a release of a client's job that asks to the answer.
    pub latency: Duration,
    /// Whether a client sees its answer when the latency is over, and not before.
    pub shaped: bool,
    /// The number of its first client, in the order of all clients of the system.
    pub first: u16,
    /// Line of the system file at which the service begins, for messages.
    pub line: usize,
}

/// A client: tasks that have one request outstanding together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServiceClient {
    /// Its tasks, by their indices in [`System::tasks`](crate::System::tasks); several only of one component.
    pub tasks: Vec<usize>,
}
