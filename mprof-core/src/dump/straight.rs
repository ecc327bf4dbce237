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

    /// Whether all points before the last of these may be left out.
    fn is_straight(&self, points: &[Point]) -> bool {
        let Some((to, between)) = points.split_last() else { return true };
        let from = &self.from;
        let tolerance = &self.tolerance;
        let height = from.live_bytes.max(to.live_bytes).saturating_add(tolerance.most_bytes);
        let passed = |point: &Point| i128::from(point.passed()) - i128::from(from.passed());
        let length = passed(to).max(1);
        let is_near = |point: &Point, number: fn(&Point) -> u64| {
            let rise = i128::from(number(to)) - i128::from(number(from));
            let on_line = i128::from(number(from)) + rise.saturating_mul(passed(point)) / length;
            on_line.abs_diff(number(point).into()) <= number(tolerance).into()
        };
        points.iter().all(|point| point.most_bytes <= height)
            && between.iter().all(|point| {
                is_near(point, |point| point.time)
                    && is_near(point, |point| point.live_bytes)
                    && is_near(point, |point| point.live_objects)
                    && is_near(point, |point| point.bytes)
                    && is_near(point, |point| point.objects)
            })
    }
}

impl Iterator for Straight<'_> {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        let longest = self.rest.len().min(LONGEST);
        let count =
            (2..=longest).find(|&count| !self.is_straight(&self.rest[..count])).unwrap_or(longest + 1) - 1;
        let (these, rest) = self.rest.split_at(count);
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
