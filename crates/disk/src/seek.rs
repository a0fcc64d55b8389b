//! How long the arm takes over a number of cylinders: measured points, straight lines between them.

use alloc::vec::Vec;
use tactus_time::Duration;

/// A seek curve.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeekCurve(Vec<(u32, u64)>);

impl SeekCurve {
    /// From points (cylinders, nanoseconds) in rising order of cylinders, beginning with (1, …). Nothing if they are not.
    pub fn from_points(points: Vec<(u32, u64)>) -> Option<SeekCurve> {
        let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (points.first()?.0 == 1 && rising).then_some(SeekCurve(points))
    }

    /// From what a data sheet tells: track to track, average (at a third of the cylinders) and full stroke. Short seeks
    /// grow with the root of the distance, long ones in a straight line (Ruemmler and Wilkes, IEEE Computer 1994).
    pub fn from_sheet(cylinders: u32, track: Duration, average: Duration, full: Duration) -> Option<SeekCurve> {
        let third = cylinders / 3;
        let rise = average.as_nanos().checked_sub(track.as_nanos())?;
        let mut points = Vec::from([(1, track.as_nanos())]);
        for step in 1..=64_u64 {
            let distance = (u64::from(third) * step * step / 4096) as u32;
            if points.last().is_some_and(|&(last, _)| last < distance) {
                points.push((distance, track.as_nanos() + rise * step / 64));
            }
        }
        points.push((cylinders.checked_sub(1)?, full.as_nanos()));
        SeekCurve::from_points(points)
    }

    /// The same curve with every time multiplied by `by`/1000.
    pub fn scaled(&self, by: u64) -> SeekCurve {
        SeekCurve(self.0.iter().map(|&(distance, time)| (distance, time * by / 1000)).collect())
    }

    /// The longest of all: between two points it is never longer than at one of them.
    pub fn longest(&self) -> u64 {
        self.0.iter().map(|point| point.1).max().unwrap_or(0)
    }
    /// Nanoseconds over this number of cylinders; none for none. Beyond the last point: as long as there.
    pub fn nanos(&self, cylinders: u32) -> u64 {
        if cylinders == 0 {
            return 0;
        }
        match self.0.binary_search_by_key(&cylinders, |point| point.0) {
            Ok(at) => self.0[at].1,
            Err(at) if at == self.0.len() => self.0[at - 1].1,
            Err(at) => {
                let ((left, low), (right, high)) = (self.0[at - 1], self.0[at]);
                let (part, whole) = (i128::from(cylinders - left), i128::from(right - left));
                (i128::from(low) + (i128::from(high) - i128::from(low)) * part / whole) as u64
            }
        }
    }
}
