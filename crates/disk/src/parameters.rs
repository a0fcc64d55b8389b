//! Drives that exist, from what is published of them.
//!
//! - [`atlas_10k`]: Quantum Atlas 10K, as extracted and validated for DiskSim (Ganger, Worthington, Patt; Schindler and
//!   Ganger, "Automated Disk Drive Characterization", CMU-CS-99-176; files `valid/atlas10k.model` and `atlas10k.seek` of
//!   DiskSim): 10,025 rpm, 6 surfaces, 10,042 cylinders, 24 zones, measured skews, head switch and seek curve (every
//!   second or third of the measured long distances, without three outliers).
//! - [`cheetah_15k7`]: Seagate Cheetah 15K.7, ST3450857SS (product manual 100516226 as quoted, with the geometry, by
//!   the public simulator desim of Mero): 15,000 rpm, 6 heads, 107,500 cylinders, 680 to 2,040 sectors a track, seeks 0.2 / 3.4 /
//!   6.6 ms. Skews are not published: the least that hides the switch is taken.
//! - [`source_10k`]: stands for the source's ST373207LW (10,000 rpm), of which the source tells the average seek and the
//!   rate without reordering: the Atlas with its seek curve scaled so that this rate is met. What is judged are ratios.

use crate::geometry::{Geometry, GeometryError, Zone};
use crate::seek::SeekCurve;
use alloc::vec::Vec;
use tactus_time::Duration;

/// Cylinders and microseconds.
const ATLAS_SEEK: &[(u32, u64)] = &[
    (1, 1245),
    (2, 1157),
    (3, 1163),
    (4, 1378),
    (5, 1355),
    (6, 1437),
    (7, 1494),
    (8, 1645),
    (9, 1506),
    (10, 1531),
    (12, 1515),
    (14, 1535),
    (16, 1547),
    (18, 1576),
    (20, 1620),
    (25, 1628),
    (30, 1698),
    (35, 1804),
    (40, 1929),
    (45, 2051),
    (50, 1863),
    (60, 2313),
    (70, 1927),
    (80, 2420),
    (90, 1970),
    (100, 2011),
    (125, 2083),
    (150, 2531),
    (175, 2380),
    (200, 2651),
    (250, 2858),
    (300, 2930),
    (350, 2987),
    (400, 3146),
    (450, 3159),
    (500, 3208),
    (600, 3097),
    (700, 3263),
    (800, 3321),
    (900, 3516),
    (1000, 3820),
    (1200, 3825),
    (1500, 4198),
    (1700, 4305),
    (2000, 4842),
    (2200, 5013),
    (2500, 5224),
    (2700, 5158),
    (3000, 5643),
    (3200, 5465),
    (3500, 5703),
    (3700, 5862),
    (4000, 6226),
    (4300, 6255),
    (4600, 6486),
    (5000, 6814),
    (5300, 7025),
    (5600, 7221),
    (6000, 7525),
    (6300, 7744),
    (6600, 7992),
    (7000, 8205),
    (7300, 8778),
    (7700, 8714),
    (8000, 8951),
    (8300, 9137),
    (8600, 9433),
    (9000, 10114),
    (9300, 9911),
    (9600, 10160),
    (10021, 10828),
];

/// Last cylinder, sectors, track skew, cylinder skew.
const ATLAS_ZONES: &[(u32, u32, u32, u32)] = &[
    (432, 334, 63, 113),
    (848, 334, 63, 113),
    (1264, 334, 63, 113),
    (1688, 324, 63, 101),
    (2104, 324, 63, 101),
    (2520, 324, 63, 101),
    (2936, 324, 62, 101),
    (3360, 324, 61, 98),
    (3776, 324, 61, 98),
    (4192, 324, 61, 98),
    (4608, 324, 61, 98),
    (5032, 306, 58, 98),
    (5448, 306, 58, 98),
    (5864, 302, 57, 92),
    (6280, 293, 56, 91),
    (6704, 288, 55, 91),
    (7120, 288, 55, 88),
    (7536, 280, 54, 88),
    (7952, 270, 51, 87),
    (8376, 262, 51, 83),
    (8792, 255, 48, 83),
    (9208, 246, 47, 75),
    (9624, 237, 45, 75),
    (10041, 229, 44, 75),
];

fn atlas(seek_share: u64) -> Result<Geometry, GeometryError> {
    let points = ATLAS_SEEK.iter().map(|&(distance, micros)| (distance, micros * 1000)).collect();
    let seek = SeekCurve::from_points(points).ok_or(GeometryError::Nothing)?.scaled(seek_share);
    let mut first = 0;
    let zone = |&(last, sectors, track_skew, cylinder_skew): &(u32, u32, u32, u32)| {
        let zone = Zone { first, last, sectors, track_skew, cylinder_skew };
        first = last + 1;
        zone
    };
    let zones: Vec<Zone> = ATLAS_ZONES.iter().map(zone).collect();
    let mut drive = Geometry::new(6, 60_000_000_000 / 10_025, seek, &zones)?;
    (drive.head_switch, drive.write_settle) = (176_000, 487_000);
    // Ultra2 SCSI moves 80 MB/s.
    (drive.overhead, drive.bus_sector) = (100_000, 6_400);
    Ok(drive)
}

/// Quantum Atlas 10K (9 GB).
///
/// # Errors
/// None; the figures are checked as any drive's are.
pub fn atlas_10k() -> Result<Geometry, GeometryError> {
    atlas(1000)
}

/// The source's SCSI drive: as the Atlas, seeks scaled to its 130 operations a second without reordering.
///
/// # Errors
/// None; the figures are checked as any drive's are.
pub fn source_10k() -> Result<Geometry, GeometryError> {
    atlas(SOURCE_SHARE)
}
/// Thousandths of the Atlas' seek times.
const SOURCE_SHARE: u64 = 790;

/// Seagate Cheetah 15K.7 (450 GB).
///
/// # Errors
/// None; the figures are checked as any drive's are.
pub fn cheetah_15k7() -> Result<Geometry, GeometryError> {
    const CYLINDERS: u32 = 107_500;
    const ZONES: u32 = 25;
    let micros = Duration::from_micros;
    let seek =
        SeekCurve::from_sheet(CYLINDERS, micros(200), micros(3_400), micros(6_600)).ok_or(GeometryError::Nothing)?;
    let zone = |n: u32| {
        let sectors = 2_040 - (2_040 - 680) * n / (ZONES - 1);
        // 0.2 ms of a turn of 4 ms, rounded up, and two sectors.
        let skew = sectors / 20 + 2;
        let (first, last) = (n * (CYLINDERS / ZONES), (n + 1) * (CYLINDERS / ZONES) - 1);
        Zone { first, last, sectors, track_skew: skew, cylinder_skew: skew }
    };
    let zones: Vec<Zone> = (0..ZONES).map(zone).collect();
    let mut drive = Geometry::new(6, 4_000_000, seek, &zones)?;
    (drive.head_switch, drive.write_settle) = (200_000, 240_000);
    // SAS moves 600 MB/s.
    (drive.overhead, drive.bus_sector) = (50_000, 900);
    Ok(drive)
}

/// The drives above by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// [`source_10k`].
    Source10k,
    /// [`atlas_10k`].
    Atlas10k,
    /// [`cheetah_15k7`].
    Cheetah15k7,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 3] = [Model::Source10k, Model::Atlas10k, Model::Cheetah15k7];
    /// The name in system files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Model::Source10k => "source-10k",
            Model::Atlas10k => "atlas-10k",
            Model::Cheetah15k7 => "cheetah-15k7",
        }
    }
    /// What it is made of.
    ///
    /// # Errors
    /// None; the figures are checked as any drive's are.
    pub fn geometry(self) -> Result<Geometry, GeometryError> {
        match self {
            Model::Source10k => source_10k(),
            Model::Atlas10k => atlas_10k(),
            Model::Cheetah15k7 => cheetah_15k7(),
        }
    }
}
