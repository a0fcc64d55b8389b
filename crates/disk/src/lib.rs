//! Disks: how long the next request will take, which request goes next, and which streams of requests can be promised.
//!
//! The decision part is pure: events in, decisions out, the clock passed in. It allocates in `new` functions only, so
//! that the same code runs in a component of the kernel, in the simulator and in tests.
//!
//! - [`LatencyMap`] learns the worst time from one place to another (Tarasov, Sim, Povzner, Zadok, OSPERT 2012, §III).
//! - [`Scheduler`] holds the queue and picks the next request, one outstanding at a time.
//! - [`Drive`] and [`Ssd`] are models of what answers; [`DriveQueue`] is a drive that orders its own queue.
//! - [`Station`] is a disk with its clients: what the simulator and the machine run.
//! - [`admission`] says which streams of requests meet their deadlines whatever happens.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod admission;
mod budget;
mod cache;
mod client;
mod contents;
mod drive;
mod drive_queue;
mod gate;
mod geometry;
mod gmatrix;
mod hot;
mod map;
mod order;
pub mod parameters;
mod request;
mod saved;
mod scheduler;
mod seek;
mod service;
mod setup;
mod ssd;
mod station;
mod survey;

pub use budget::{Budget, Limit};
pub use cache::{CacheSettings, Lost};
pub use client::{Arrivals, Client};
pub use contents::{Contents, DriveError, SECTOR};
pub use drive::{Drive, Served};
pub use drive_queue::DriveQueue;
pub use gate::{Asked, Gate, Refusal};
pub use geometry::{Geometry, GeometryError, Place, Zone};
pub use gmatrix::MOST_LOOKAHEAD;
pub use hot::HotSet;
pub use map::{map_bytes, Form, LatencyMap, MapError, CODES, GRANULE};
pub use order::MOST_EXACT;
pub use request::{Head, Request};
pub use saved::{DriveName, LoadError};
pub use scheduler::{Full, Policy, Scheduler};
pub use seek::SeekCurve;
pub use service::{Answer, Finished, Outcome, Service, Unasked};
pub use setup::{ClientSetup, DiskSetup, SetupError};
pub use ssd::{Ssd, SsdSettings};
pub use station::{Event, Faults, Station};
pub use survey::{longest, services, survey, Survey, MOST_PLACES};
