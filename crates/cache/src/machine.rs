//! Geometries in files, and the four that come with Tactus.

use crate::coherence::Protocol;
use crate::geometry::{Costs, Geometry, GeometryError, Inclusion, Index, Level, Shape};
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use serde::Deserialize;

/// The machines that come with Tactus: a name for the command line, and the file.
pub const MACHINES: [(&str, &str); 4] = [
    ("i7-2600", include_str!("../machines/i7-2600.toml")),
    ("ryzen-7-7700", include_str!("../machines/ryzen-7-7700.toml")),
    ("raspberry-pi-5", include_str!("../machines/raspberry-pi-5.toml")),
    ("zynq-ultrascale", include_str!("../machines/zynq-ultrascale.toml")),
];

/// A geometry that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MachineError {
    /// No machine of this name comes with Tactus.
    NoSuchMachine(String),
    /// The file does not have the form of a geometry.
    Form(String),
    /// The file has the form, and no such hierarchy can be.
    Geometry(GeometryError),
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineError::NoSuchMachine(name) => {
                write!(f, "no machine is called {name}: take")?;
                for (at, (known, _)) in MACHINES.iter().enumerate() {
                    write!(f, "{} {known}", if at == 0 { "" } else { " or" })?;
                }
                f.write_str(", or a file with a geometry")
            }
            MachineError::Form(why) => write!(f, "this is no geometry: {why}"),
            MachineError::Geometry(why) => why.fmt(f),
        }
    }
}

impl core::error::Error for MachineError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayForm {
    bytes: u64,
    ways: usize,
}

#[derive(Deserialize, Clone, Copy)]
enum InclusionForm {
    #[serde(rename = "inclusive")]
    Inclusive,
    #[serde(rename = "non-inclusive")]
    NonInclusive,
    #[serde(rename = "victim")]
    Victim,
}

#[derive(Deserialize, Clone, Copy, Default)]
enum IndexForm {
    #[default]
    #[serde(rename = "modulo")]
    Modulo,
    #[serde(rename = "sandy-bridge-4")]
    SandyBridge4,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelForm {
    bytes: u64,
    ways: usize,
    inclusion: InclusionForm,
    #[serde(default)]
    index: IndexForm,
}

#[derive(Deserialize)]
enum ProtocolForm {
    #[serde(rename = "MESI")]
    Mesi,
    #[serde(rename = "MESIF")]
    Mesif,
    #[serde(rename = "MOESI")]
    Moesi,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CyclesForm {
    first: u32,
    second: u32,
    shared: u32,
    remote_clean: u32,
    remote_modified: u32,
    memory: u32,
    /// As long as a line takes where the file does not say: one after the other.
    memory_busy: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    name: String,
    cores: usize,
    threads: usize,
    line: u64,
    page: u64,
    clock_hz: u64,
    protocol: ProtocolForm,
    next_line: bool,
    l1_instruction: ArrayForm,
    l1_data: ArrayForm,
    l2: Option<LevelForm>,
    shared: LevelForm,
    cycles: CyclesForm,
}

impl LevelForm {
    fn level(&self, line: u64) -> Level {
        let index = match self.index {
            IndexForm::Modulo => Index::Modulo,
            IndexForm::SandyBridge4 => Index::SandyBridge4,
        };
        let inclusion = match self.inclusion {
            InclusionForm::Inclusive => Inclusion::Inclusive,
            InclusionForm::NonInclusive => Inclusion::NonInclusive,
            InclusionForm::Victim => Inclusion::Victim,
        };
        Level { shape: Shape { bytes: self.bytes, ways: self.ways, line, index }, inclusion }
    }
}

impl Geometry {
    /// Reads a geometry and checks it.
    ///
    /// # Errors
    /// Where the text is no geometry, with line and column, or no such hierarchy can be.
    pub fn from_toml(text: &str) -> Result<Geometry, MachineError> {
        let form: Form = toml::from_str(text).map_err(|why| MachineError::Form(why.to_string()))?;
        let shape = |array: &ArrayForm| Shape::new(array.bytes, array.ways, form.line);
        let cycles = &form.cycles;
        let geometry = Geometry {
            cores: form.cores,
            threads: form.threads,
            instruction: shape(&form.l1_instruction),
            data: shape(&form.l1_data),
            second: form.l2.as_ref().map(|level| level.level(form.line)),
            shared: form.shared.level(form.line),
            protocol: match form.protocol {
                ProtocolForm::Mesi => Protocol::Mesi,
                ProtocolForm::Mesif => Protocol::Mesif,
                ProtocolForm::Moesi => Protocol::Moesi,
            },
            next_line: form.next_line,
            page: form.page,
            clock: form.clock_hz,
            costs: Costs {
                first: cycles.first,
                second: cycles.second,
                shared: cycles.shared,
                remote_clean: cycles.remote_clean,
                remote_modified: cycles.remote_modified,
                memory: cycles.memory,
                busy: cycles.memory_busy.unwrap_or(cycles.memory),
            },
            name: form.name,
        };
        geometry.check().map_err(MachineError::Geometry)?;
        Ok(geometry)
    }

    /// A machine that comes with Tactus.
    ///
    /// # Errors
    /// Where there is none of this name.
    pub fn of(name: &str) -> Result<Geometry, MachineError> {
        let known = MACHINES.iter().find(|(known, _)| *known == name);
        let (_, text) = known.ok_or_else(|| MachineError::NoSuchMachine(format!("\"{name}\"")))?;
        Geometry::from_toml(text)
    }
}
