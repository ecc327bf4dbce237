//! The curve with fewer points where it is straight.

use crate::curve::Point;

/// Points that one may stand for.
const LONGEST: usize = 64;

/// Those points of a curve that are needed to draw it.
#[derive(Debug, Clone)]
pub(super) struct Straight<'a> {
    /// The last point kept.
    from: Point,
    rest: &'a [Point],
    /// How far from the straight line a point may be that is left out.
    tolerance: Point,
}

impl<'a> Straight<'a> {
    /// `start`: the point before the first. A point may be left out if none of its numbers is farther from the line than
    /// that of `scale` divided by `parts`.
    pub(super) fn new(start: Point, points: &'a [Point], scale: Point, parts: u64) -> Straight<'a> {
        let part = |number: u64| number / parts.max(1);
        let tolerance = Point {
            time: part(scale.time),
            live_bytes: part(scale.live_bytes),
            live_objects: part(scale.live_objects),
            bytes: part(scale.bytes),
            objects: part(scale.objects),
            most_bytes: part(scale.live_bytes),
        };
        Straight { from: start, rest: points, tolerance }
    }

    /// How many of the rest the next point kept stands for, itself included.
    fn reach(&self) -> usize {
        let mut cones = NUMBERS.map(|number| Cone::new(number(&self.from), number(&self.tolerance)));
        let mut highest = 0;
        for (count, point) in self.rest.iter().take(LONGEST).enumerate() {
            let passed = point.passed().saturating_sub(self.from.passed()).max(1) as f64;
            let height = self.from.live_bytes.max(point.live_bytes).saturating_add(self.tolerance.most_bytes);
            highest = highest.max(point.most_bytes);
            let mut is_straight = highest <= height;
            for (cone, number) in cones.iter_mut().zip(NUMBERS) {
                is_straight &= cone.narrow(number(point), passed);
            }
            if count > 0 && !is_straight {
                return count;
            }
        }
        self.rest.len().min(LONGEST)
    }
}

/// The numbers of a point, but for the most bytes.
const NUMBERS: [fn(&Point) -> u64; 5] = [
    |point| point.time,
    |point| point.live_bytes,
    |point| point.live_objects,
    |point| point.bytes,
    |point| point.objects,
];

/// The straight lines from a point that pass all later ones within the tolerance, by their slopes. (What a floating point
/// number rounds away is far less than the tolerance.)
#[derive(Debug, Clone, Copy)]
struct Cone {
    from: u64,
    tolerance: f64,
    lowest: f64,
    highest: f64,
}

impl Cone {
    fn new(from: u64, tolerance: u64) -> Cone {
        Cone { from, tolerance: tolerance as f64, lowest: f64::NEG_INFINITY, highest: f64::INFINITY }
    }

    /// Keeps those lines that pass by this number after so many bytes; returns whether the one right through it was one.
    fn narrow(&mut self, number: u64, passed: f64) -> bool {
        let rise = number.wrapping_sub(self.from) as i64 as f64;
        let slope = rise / passed;
        let was_in = (self.lowest..=self.highest).contains(&slope);
        self.lowest = self.lowest.max((rise - self.tolerance) / passed);
        self.highest = self.highest.min((rise + self.tolerance) / passed);
        was_in
    }
}

impl Iterator for Straight<'_> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        let (these, rest) = self.rest.split_at(self.reach());
        let last = *these.last()?;
        let most_bytes = these.iter().map(|point| point.most_bytes).max()?;
        // Where the curve falls the point before has the most.
        let is_higher = most_bytes > self.from.most_bytes.max(last.most_bytes);
        self.rest = rest;
        self.from = if is_higher { Point { most_bytes, ..last } } else { last };
        Some(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn point(step: u64, live_bytes: u64) -> Point {
        Point {
            time: 100 * step,
            live_bytes,
            live_objects: 1,
            bytes: (1000 * step + live_bytes) / 2,
            objects: step,
            most_bytes: live_bytes,
        }
    }

    fn kept(points: &[Point], parts: u64) -> Vec<(u64, u64, u64)> {
        let last = points.last().unwrap();
        let scale = Point { live_bytes: 1000, ..*last };
        Straight::new(Point::default(), points, scale, parts)
            .map(|point| (point.time, point.live_bytes, point.most_bytes))
            .collect()
    }

    #[test]
    fn straight_parts_have_no_points() {
        // Up to 500 by 10 each, then down by 10 each.
        let points: Vec<Point> = (1..=100).map(|step| point(step, 10 * step.min(100 - step))).collect();
        assert_eq!(kept(&points, 1000), [(100, 10, 10), (5000, 500, 500), (10_000, 0, 0)]);
    }

    #[test]
    fn what_sticks_out_stays() {
        let mut points: Vec<Point> = (1..=50).map(|step| point(step, 100)).collect();
        points[30].most_bytes = 900;
        let kept = kept(&points, 100);
        assert!(kept.len() < 6);
        assert!(kept.contains(&(3100, 100, 900)), "{kept:?}");
        assert_eq!(kept.last(), Some(&(5000, 100, 100)));
    }

    #[test]
    fn no_point_stands_for_more_than_64() {
        let points: Vec<Point> = (1..=1000).map(|step| point(step, 0)).collect();
        let kept = kept(&points, 1);
        assert_eq!(kept.len(), 1000usize.div_ceil(LONGEST));
    }
}
