//! The system file and the task model: parsed, validated, typed.
//!
//! A file is read in three steps: its format (TOML or rt-app JSON) into a draft that remembers where every value
//! stands, the draft against the rules of a system, and only a draft without fault into a [`System`]. All faults are
//! reported in one go. The keys and the rules are told in `docs/system-file.md` and `docs/rt-app.md`.
#![forbid(unsafe_code)]

mod arrivals;
mod chain;
mod changes;
mod channel;
mod check;
mod colour_assignment;
mod demand;
mod disk;
mod draft;
mod duration;
mod features;
mod form;
mod label;
mod limits;
mod mailbox;
mod mixed;
pub mod network;
mod ordinary;
mod package;
mod partition;
mod platform;
mod problem;
mod queue;
mod read;
mod resource;
mod rtapp;
mod sandbox;
pub mod schema;
mod service;
mod system;
mod text;
mod units;
mod wait;

pub use arrivals::Arrivals;
pub use changes::SystemRevision;
pub use channel::{Channel, ChannelKind, Port};
pub use colour_assignment::{every_colour, longest_run, Caches, ColourAssignment, ColourBits};
pub use demand::SHORTEST_JOB;
pub use disk::{Disk, DiskClient};
pub use features::SystemFeatures;
pub use label::{policy_key, policy_label};
pub use limits::*;
pub use mailbox::{Mailbox, MailboxEnd, MailboxPort};
pub use ordinary::{read_ordinary, read_ordinary_text};
pub use package::{DeclaredTask, PackageDeclaration};
pub use platform::{Buffer, Device, DeviceKind, MemoryTimes, Platform, Restart, Rights, Speculation, Superior};
pub use problem::{Complaint, Location, Problem, Problems};
pub use sandbox::{Sandbox, Sandboxes, SystemFile, MOST_SANDBOXES, SANDBOX_MEMORY};
pub use system::{
    Action, Body, Chain, Change, Component, Criticality, Demand, Grant, Health, HealthAction, LinuxThread, Load,
    LoadKind, Machine, Migration, Mixed, Part, Partition, Partitions, Policy, Processor, Resource, Schedulers,
    Scheduling, Section, Server, Service, ServiceClient, Slot, System, Task, TaskPlacement, Values, Wait,
};
pub use tactus_record::RequestOrder;
pub use tactus_task::{
    Burst, Costs, CriticalSection, EarlyArrival, EventCall, EventRight, EventRule, Feature, Features, JobAction,
    JobStep, KeptNumber, OrderBasis, Overrun, Program, Release, ResourceProtocol, SampledEvent, ScheduleSwitch,
    ServerKind, TaskOrder, WaitLimit, Window, MOST_LOOKS,
};
pub use units::{format_size, parse_duration, parse_size, UnitError};
