//! Was granted nothing, and tries everything that others may.
#![no_std]
#![no_main]

use tactus_rt::abi::call::{BrandOperation, MemoryOperation};
use tactus_rt::{calls, cards, grant, Error, Job};

tactus_rt::component! { job: try_all, services: [] }

fn try_all(_: &Job) {
    assert!(cards::components().is_empty() && cards::buffers().is_empty() && cards::devices().is_empty());
    for component in 0..8 {
        let refused = calls::restart(component, 0);
        assert!(matches!(refused, Err(Error::NotAllowed | Error::BadComponent)), "restarts {component}");
    }
    for operation in [MemoryOperation::Take, MemoryOperation::Count, MemoryOperation::Unmap] {
        assert_eq!(calls::memory_control(operation, 0, 0, 0), Err(Error::NotAllowed));
    }
    assert_eq!(calls::brand_control(BrandOperation::Create, 0, 1), Err(Error::Exhausted));
    for service in ["attach", "wake", "write", "ask"] {
        assert_eq!(grant(service).call([0; 5]), Err(Error::NotGranted));
    }
}
