//! Services as they are kept, so that their rule can be held against the trace again.

use serde::{Deserialize, Serialize};
use tactus_record::RequestOrder;
use tactus_time::TaskId;
use tactus_trace::ServiceView;

/// [`ServiceView`].
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    name: String,
    server: u16,
    /// The number of the order.
    order: u8,
    requests: u32,
    first: u16,
    /// By client.
    clients: Vec<Vec<u16>>,
    every: Vec<u64>,
}

/// What is kept of a service.
pub(super) fn store(service: &ServiceView) -> Stored {
    Stored {
        name: service.name.clone(),
        server: service.server.0,
        order: service.order as u8,
        requests: service.requests,
        first: service.first,
        clients: service.clients.iter().map(|tasks| tasks.iter().map(|task| task.0).collect()).collect(),
        every: service.every.clone(),
    }
}

/// The service again.
///
/// # Errors
/// If its server is not there, or it serves in no order that there is.
pub(super) fn restore(stored: Stored, tasks: usize) -> Result<ServiceView, String> {
    if usize::from(stored.server) >= tasks {
        return Err(format!("service {:?} has task {}, which is not there", stored.name, stored.server));
    }
    let order = RequestOrder::from_u8(stored.order)
        .ok_or_else(|| format!("service {:?} has order {}, which is not there", stored.name, stored.order))?;
    Ok(ServiceView {
        name: stored.name,
        server: TaskId(stored.server),
        order,
        requests: stored.requests,
        first: stored.first,
        clients: stored.clients.into_iter().map(|tasks| tasks.into_iter().map(TaskId).collect()).collect(),
        every: stored.every,
    })
}
