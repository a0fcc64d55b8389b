//! Services written as a system file has them.

use crate::system::time;
use std::fmt::{self, Write};
use tactus_model::{RequestOrder, Service, ServiceClient, System};

/// Adds the `[[service]]`.
pub(crate) fn write(text: &mut String, service: &Service, system: &System) -> fmt::Result {
    let name = |task: &usize| format!("{:?}", system.tasks[*task].name);
    let client = |client: &ServiceClient| match &client.tasks[..] {
        [task] => name(task),
        tasks => format!("[{}]", tasks.iter().map(name).collect::<Vec<_>>().join(", ")),
    };
    let clients: Vec<String> = service.clients.iter().map(client).collect();
    let order = match service.order {
        RequestOrder::Turns => "turns",
        RequestOrder::Priority => "priority",
        RequestOrder::Slots => "slots",
    };
    writeln!(text, "\n[[service]]\nname = {:?}\nserver = {}", service.name, name(&service.server))?;
    writeln!(text, "clients = [{}]\norder = \"{order}\"\nrequests = {}", clients.join(", "), service.requests)?;
    writeln!(text, "size = \"{} B\"\nlatency = {}", service.size, time(service.latency))?;
    if service.shaped {
        writeln!(text, "shaped = true")?;
    }
    Ok(())
}
