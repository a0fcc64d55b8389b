//! The system's own costs, by the name that `--costs` gives.

use crate::failure::Failure;
use tactus_model::{Costs, System};
use tactus_plan::costs::{self, CostModel, CostsError};

/// Reads what `--costs` names: `none`, `measured`, or a file.
pub fn read(named: &str, system: &System) -> Result<Costs, Failure> {
    costs::named(named, system).map_err(failure)
}

/// What a simulation with `--costs` of this name counts and takes.
pub fn of_simulation(named: &str, system: &System) -> Result<CostModel, Failure> {
    CostModel::of_simulation(named, system).map_err(failure)
}

fn failure(error: CostsError) -> Failure {
    match error {
        CostsError::Unreadable { .. } => Failure::Input(format!("--{error}")),
        CostsError::Wrong { .. } => Failure::Input(error.to_string()),
        CostsError::NotMeasured { .. } => Failure::Machine(error.to_string()),
    }
}
