//! Where nodes are, and areas of the plane.

use alloc::vec::Vec;

/// A point of the plane, in millimetres.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position {
    /// To the east.
    pub x: i32,
    /// To the north.
    pub y: i32,
}

impl Position {
    /// The square of the distance to another point, in square millimetres.
    pub fn distance_squared(self, other: Position) -> u64 {
        let square = |a: i32, b: i32| {
            let side = u64::from(a.abs_diff(b));
            side.saturating_mul(side)
        };
        square(self.x, other.x).saturating_add(square(self.y, other.y))
    }
}

/// The most corners of an area.
pub const MOST_CORNERS: usize = 16;

/// A part of the plane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Area {
    /// All points no farther from the centre than this.
    Disc {
        /// Its centre.
        centre: Position,
        /// Millimetres.
        radius: u32,
    },
    /// All points inside these corners, in order, and on the sides.
    Polygon(Vec<Position>),
}

impl Area {
    /// Whether the point is in it.
    pub fn contains(&self, point: Position) -> bool {
        match self {
            Area::Disc { centre, radius } => {
                point.distance_squared(*centre) <= u64::from(*radius).saturating_mul((*radius).into())
            }
            Area::Polygon(corners) => polygon(corners, point),
        }
    }
}

/// Whether a ray to the east leaves the polygon an odd number of times, or the point lies on a side.
fn polygon(corners: &[Position], point: Position) -> bool {
    let mut inside = false;
    let Some(&last) = corners.last() else { return false };
    let mut from = last;
    for &to in corners {
        // On which side of the way from one corner to the next the point is.
        let [fx, fy, tx, ty, px, py] = [from.x, from.y, to.x, to.y, point.x, point.y].map(i128::from);
        let side = (tx - fx) * (py - fy) - (ty - fy) * (px - fx);
        let between = |a: i128, b: i128, it: i128| a.min(b) <= it && it <= a.max(b);
        if side == 0 && between(fx, tx, px) && between(fy, ty, py) {
            return true;
        }
        if (fy > py) != (ty > py) && (side > 0) == (ty > fy) {
            inside = !inside;
        }
        from = to;
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn at(x: i32, y: i32) -> Position {
        Position { x, y }
    }

    #[test]
    fn a_polygon_holds_its_sides_and_no_notch() {
        // An L.
        let room = Area::Polygon(vec![at(0, 0), at(4, 0), at(4, 2), at(2, 2), at(2, 4), at(0, 4)]);
        let inside: Vec<(i32, i32)> =
            (-1..6).flat_map(|y| (-1..6).map(move |x| (x, y))).filter(|(x, y)| room.contains(at(*x, *y))).collect();
        let expected: Vec<(i32, i32)> =
            (0..=4).flat_map(|y| (0..=4).map(move |x| (x, y))).filter(|(x, y)| *x <= 2 || *y <= 2).collect();
        assert_eq!(inside, expected);
        assert!(!Area::Polygon(Vec::new()).contains(at(0, 0)));
    }

    #[test]
    fn a_disc_ends_at_its_radius_and_no_number_is_too_large() {
        let disc = Area::Disc { centre: at(1, 1), radius: 5 };
        assert!(disc.contains(at(4, 5)) && !disc.contains(at(5, 5)));
        let all = Area::Disc { centre: at(0, 0), radius: u32::MAX };
        assert!(all.contains(at(i32::MAX, i32::MIN)));
        let wide = [at(i32::MIN, i32::MIN), at(i32::MAX, i32::MIN), at(i32::MAX, i32::MAX), at(i32::MIN, i32::MAX)];
        assert!(Area::Polygon(wide.to_vec()).contains(at(7, -7)));
    }
}
