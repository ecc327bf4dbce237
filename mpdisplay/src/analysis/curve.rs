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

/// The curve in so many columns of equal time. Between points the heap counts as it was at the last one, but for what
/// was allocated, which spreads evenly.
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
    let mut last = Point::default();
    for point in points {
        let (from, to) = (place(clock.of(&last)), place(clock.of(point)));
        for column in &mut columns[from..=to] {
            column.most_bytes = column.most_bytes.max(last.live_bytes);
            column.most_objects = column.most_objects.max(last.live_objects);
        }
        let column = &mut columns[to];
        column.most_bytes = column.most_bytes.max(point.most_bytes);
        column.most_objects = column.most_objects.max(point.live_objects);
        let bytes = point.bytes.saturating_sub(last.bytes);
        let objects = point.objects.saturating_sub(last.objects);
        spread(&mut columns[from..=to], bytes, |column| &mut column.bytes);
        spread(&mut columns[from..=to], objects, |column| &mut column.objects);
        last = *point;
    }
    columns
}

/// Adds a sum to columns, to each as much as to the others, but for a rest.
fn spread(columns: &mut [Column], sum: u64, part: impl Fn(&mut Column) -> &mut u64) {
    let (count, mut given) = (columns.len() as u128, 0);
    for (index, column) in (1..).zip(columns) {
        let until = (u128::from(sum) * index / count) as u64;
        let part = part(column);
        *part = part.saturating_add(until - given);
        given = until;
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
    fn columns_keep_maxima_and_hold_what_was_last() {
        let columns = columns(&curve(), Clock::Time, 4);
        let most: Vec<u64> = columns.iter().map(|column| column.most_bytes).collect();
        assert_eq!(most, [0, 80, 50, 60]);
        let bytes: Vec<u64> = columns.iter().map(|column| column.bytes).collect();
        assert_eq!(bytes, [50, 150, 100, 100]);
        assert_eq!(columns.iter().map(|column| column.objects).sum::<u64>(), 40);
        let by_bytes = super::columns(&curve(), Clock::Bytes, 4);
        assert_eq!(by_bytes.iter().map(|column| column.bytes).collect::<Vec<_>>(), [50, 150, 100, 100]);
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
