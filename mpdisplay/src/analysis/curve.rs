//! The heap's curve, divided into columns of equal time, by one of three clocks.

use mprof_format::model::Point;

/// What time is measured in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clock {
    /// Nanoseconds since the start of the recording.
    #[default]
    Time,
    /// Bytes allocated.
    Bytes,
    /// Objects allocated.
    Allocations,
}

impl Clock {
    /// The time of a point.
    pub fn of(self, point: &Point) -> u64 {
        match self {
            Clock::Time => point.ns,
            Clock::Bytes => point.bytes,
            Clock::Allocations => point.objects,
        }
    }
}

/// A part of the curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Column {
    /// Most bytes alive.
    pub most_bytes: u64,
    /// Most objects alive at one of its points.
    pub most_objects: u64,
    /// Bytes allocated.
    pub bytes: u64,
    /// Objects allocated.
    pub objects: u64,
}

/// The curve in so many columns of equal time. Between points it is straight.
pub fn columns(points: &[Point], clock: Clock, count: usize) -> Vec<Column> {
    let end = points.last().map_or(0, |point| clock.of(point));
    let mut columns = vec![Column::default(); count];
    if end == 0 || count == 0 {
        return columns;
    }
    let place = |time: u64| {
        let place = u128::from(time) * count as u128 / u128::from(end);
        (place as usize).min(count - 1)
    };
    let start = |column: usize| (column as u128 * u128::from(end)).div_ceil(count as u128) as u64;
    let mut last = Point::default();
    for point in points {
        let segment = Segment { clock, from: last, to: *point };
        let (first, to) = (place(clock.of(&last)), place(clock.of(point)));
        let mut before = last;
        for (index, column) in (first..).zip(&mut columns[first..=to]) {
            let after = if index == to { *point } else { segment.at(start(index + 1)) };
            column.extend(&before, &after);
            before = after;
        }
        columns[to].most_bytes = columns[to].most_bytes.max(point.most_bytes);
        last = *point;
    }
    columns
}

impl Column {
    /// The curve goes on in this column from one point to another.
    fn extend(&mut self, from: &Point, to: &Point) {
        self.most_bytes = self.most_bytes.max(from.live_bytes).max(to.live_bytes);
        self.most_objects = self.most_objects.max(from.live_objects).max(to.live_objects);
        self.bytes = self.bytes.saturating_add(to.bytes.saturating_sub(from.bytes));
        self.objects = self.objects.saturating_add(to.objects.saturating_sub(from.objects));
    }
}

/// The curve between two of its points.
struct Segment {
    clock: Clock,
    from: Point,
    to: Point,
}

impl Segment {
    /// The curve at a time between the two.
    fn at(&self, time: u64) -> Point {
        let start = self.clock.of(&self.from);
        let length = i128::from(self.clock.of(&self.to).saturating_sub(start)).max(1);
        let passed = i128::from(time.saturating_sub(start)).min(length);
        let number = |of: fn(&Point) -> u64| {
            let (from, to) = (i128::from(of(&self.from)), i128::from(of(&self.to)));
            (from + (to - from).saturating_mul(passed) / length).max(0) as u64
        };
        Point {
            ns: number(|point| point.ns),
            live_bytes: number(|point| point.live_bytes),
            live_objects: number(|point| point.live_objects),
            most_bytes: 0,
            bytes: number(|point| point.bytes),
            objects: number(|point| point.objects),
        }
    }
}

/// The curve with at most so many points: neighbours are made one, which keeps the maximum.
pub fn thinned(points: &[Point], most: usize) -> Vec<Point> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    let merged = |points: &[Point]| {
        let last = *points.last()?;
        Some(Point { most_bytes: points.iter().map(|point| point.most_bytes).max()?, ..last })
    };
    points.chunks(step).filter_map(merged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(ns: u64, live_bytes: u64, most_bytes: u64, bytes: u64) -> Point {
        Point { ns, live_bytes, live_objects: live_bytes / 10, most_bytes, bytes, objects: bytes / 10 }
    }

    fn curve() -> Vec<Point> {
        vec![point(0, 0, 0, 0), point(10, 50, 80, 100), point(40, 20, 60, 400)]
    }

    #[test]
    fn columns_keep_maxima_and_are_straight_between_points() {
        let columns = columns(&curve(), Clock::Time, 4);
        let most: Vec<u64> = columns.iter().map(|column| column.most_bytes).collect();
        assert_eq!(most, [50, 80, 40, 60]);
        let bytes: Vec<u64> = columns.iter().map(|column| column.bytes).collect();
        assert_eq!(bytes, [100, 100, 100, 100]);
        assert_eq!(columns.iter().map(|column| column.objects).sum::<u64>(), 40);
        let by_bytes = super::columns(&curve(), Clock::Bytes, 4);
        assert_eq!(by_bytes.iter().map(|column| column.bytes).collect::<Vec<_>>(), [100; 4]);
    }

    #[test]
    fn no_time_has_no_curve() {
        assert_eq!(columns(&[], Clock::Time, 2), [Column::default(); 2]);
        assert_eq!(columns(&[Point::default()], Clock::Bytes, 2), [Column::default(); 2]);
        assert!(columns(&curve(), Clock::Time, 0).is_empty());
    }

    #[test]
    fn thinning_keeps_the_maximum() {
        let thin = thinned(&curve(), 2);
        assert_eq!(thin, [point(10, 50, 80, 100), point(40, 20, 60, 400)]);
        assert_eq!(thinned(&curve(), 1), [point(40, 20, 80, 400)]);
        assert_eq!(thinned(&curve(), 9), curve());
    }
}
