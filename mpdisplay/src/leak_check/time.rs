//! Times as the formats of CI systems write them.

/// Nanoseconds since 1970-01-01 UTC as `2026-11-30T06:14:27`, without a zone.
pub(super) fn date_time(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Nanoseconds as seconds with three decimals.
pub(super) fn seconds(nanoseconds: u64) -> String {
    format!("{}.{:03}", nanoseconds / 1_000_000_000, nanoseconds / 1_000_000 % 1000)
}

/// The date so many days after 1970-01-01 in the Gregorian calendar. Counted in years that begin in March, so that
/// the leap day is a year's last.
fn date(days: u64) -> (u64, u64, u64) {
    const DAYS_BEFORE_1970: u64 = 719_468; // since 0000-03-01
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let days = days + DAYS_BEFORE_1970;
    let (era, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    // 153 days are five months from March on, and from August on.
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + next_year, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date_time(0), "1970-01-01T00:00:00");
        assert_eq!(date_time(951_782_399_999_999_999), "2000-02-28T23:59:59");
        assert_eq!(date_time(951_782_400_000_000_000), "2000-02-29T00:00:00");
        assert_eq!(date_time(951_868_800_000_000_000), "2000-03-01T00:00:00");
        assert_eq!(date_time(1_767_225_599_000_000_000), "2025-12-31T23:59:59");
        assert_eq!(date_time(4_107_542_400_000_000_000), "2100-03-01T00:00:00");
        assert_eq!(date_time(u64::MAX), "2554-07-21T23:34:33");
    }

    #[test]
    fn seconds_have_three_decimals() {
        assert_eq!(seconds(0), "0.000");
        assert_eq!(seconds(1_234_567_890), "1.234");
    }
}
