use super::*;

fn at(text: &str) -> Timestamp {
    Timestamp::from_rfc3339(text).unwrap()
}

/// The next times, in UTC.
fn times(expression: &str, after: &str, count: usize) -> Vec<String> {
    let calendar: Calendar = expression.parse().unwrap();
    let mut moment = at(after);
    let mut found = Vec::new();
    while found.len() < count {
        let Some(next) = calendar.next(moment) else { break };
        assert!(next > moment, "{expression}");
        found.push(next.to_string());
        moment = next;
    }
    found
}

#[track_caller]
fn check(expression: &str, after: &str, expected: &[&str]) {
    assert_eq!(times(expression, after, expected.len().max(1)), expected, "{expression}");
}

const MONDAY: &str = "2026-11-30T08:00:00Z";

#[test]
fn the_normal_form_is_that_of_systemd() {
    for (text, normal) in [
        ("mon-fri 8:00:00 europe/berlin", "Mon..Fri *-*-* 08:00:00 Europe/Berlin"),
        ("minutely", "*-*-* *:*:00"),
        ("hourly", "*-*-* *:00:00"),
        ("daily", "*-*-* 00:00:00"),
        ("weekly UTC", "Mon *-*-* 00:00:00 UTC"),
        ("monthly", "*-*-01 00:00:00"),
        ("quarterly", "*-01,04,07,10-01 00:00:00"),
        ("semiannually", "*-01,07-01 00:00:00"),
        ("yearly", "*-01-01 00:00:00"),
        ("*-*-01 00:00", "*-*-01 00:00:00"),
        ("*:0/15", "*-*-* *:00/15:00"),
        ("*:*/15", "*-*-* *:00/15:00"),
        ("Mon,Wed 9:30", "Mon,Wed *-*-* 09:30:00"),
        ("2026-12-24 18:00", "2026-12-24 18:00:00"),
        ("26-1-1", "2026-01-01 00:00:00"),
        ("*-02~01", "*-02~01 00:00:00"),
        ("Mon *-05~07/1", "Mon *-05~07/1 00:00:00"),
        ("*-*~*", "*-*-* 00:00:00"),
        ("8..18/3:00", "*-*-* 08..17/3:00:00"),
        ("5,1,3,1:00", "*-*-* 01,03,05:00:00"),
        ("12..12:00", "*-*-* 12:00:00"),
        ("Sat,Sun,Mon,Tue 12:00", "Mon,Tue,Sat,Sun *-*-* 12:00:00"),
        ("Mon, 12:00", "Mon *-*-* 12:00:00"),
        ("Mon..Sun 3:0", "*-*-* 03:00:00"),
        ("2020..2030/2-1-1", "2020..2030/2-01-01 00:00:00"),
        ("*:*:0/10", "*-*-* *:*:00/10"),
    ] {
        let calendar: Calendar = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(calendar.to_string(), normal, "{text}");
        assert_eq!(normal.parse::<Calendar>().unwrap(), calendar, "{text}");
    }
}

#[test]
fn says_what_is_wrong() {
    let wrong = |text: &str| text.parse::<Calendar>().unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            "", "noon", "Mon Tue", "25:00", "*-13-01", "*:58/5", "0/24:00", "Fri..Mon 10:00", "*-*~3..1", "9",
            "10:20:30.5", "9:30 Mars/Base", "9:30 10:30", "*-*-0", "9:5x", "1:2:3:4", "2200-01-01", "*:0/0", "9:",
        ]
        .map(|text| format!("{text:?}: {}", wrong(text)))
        .join("\n"),
        @r#"
        "": is empty
        "noon": `noon` is no day of the week
        "Mon Tue": `Tue` is neither a date (`*-*-01`) nor a time (`09:30`)
        "25:00": there is no hour 25; it goes from 0 to 23
        "*-13-01": there is no month 13; it goes from 1 to 12
        "*:58/5": `58/5` never repeats: the last minute is 59
        "0/24:00": `0/24` never repeats: the last hour is 23
        "Fri..Mon 10:00": the days in `Fri..Mon` run backwards; a week begins on Monday: write two ranges with a comma
        "*-*~3..1": the range `3..1` runs backwards
        "9": `9` is neither a date (`*-*-01`) nor a time (`09:30`)
        "10:20:30.5": knows no parts of a second
        "9:30 Mars/Base": this machine knows no time zone `Mars/Base`
        "9:30 10:30": does not know what `10:30` means there
        "*-*-0": there is no day 0; it goes from 1 to 31
        "9:5x": `5x` is no minute
        "1:2:3:4": `1:2:3:4` is no time; write `09:30` or `09:30:00`
        "2200-01-01": there is no year 2200; it goes from 1970 to 2199
        "*:0/0": `0/0` steps by nothing
        "9:": a minute is missing
        "#
    );
}

#[test]
fn dates_and_days_of_the_week_both_hold() {
    check("Mon..Fri 09:00 UTC", MONDAY, &["2026-11-30T09:00:00Z", "2026-12-01T09:00:00Z"]);
    check("Fri *-*-13 12:00 UTC", MONDAY, &["2027-08-13T12:00:00Z", "2028-10-13T12:00:00Z"]);
    check("*-*-1..7 18:00 UTC", "2026-12-07T18:00:00Z", &["2027-01-01T18:00:00Z"]);
}

#[test]
fn the_end_of_a_month_is_where_it_is() {
    check("*-*~01 UTC", MONDAY, &["2026-12-31T00:00:00Z", "2027-01-31T00:00:00Z", "2027-02-28T00:00:00Z"]);
    check("*-02~01 UTC", MONDAY, &["2027-02-28T00:00:00Z", "2028-02-29T00:00:00Z"]);
    check("Mon *-05~07/1 UTC", MONDAY, &["2027-05-31T00:00:00Z", "2028-05-29T00:00:00Z"]);
    check("*-*~1..3 UTC", MONDAY, &["2026-12-29T00:00:00Z", "2026-12-30T00:00:00Z", "2026-12-31T00:00:00Z"]);
}

#[test]
fn leap_days_come_every_four_years() {
    check("*-02-29 UTC", MONDAY, &["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]);
    check("Tue *-02-29 UTC", MONDAY, &["2028-02-29T00:00:00Z", "2056-02-29T00:00:00Z"]);
}

#[test]
fn a_time_left_out_in_spring_is_the_moment_after_the_gap() {
    let spring = "2026-03-28T12:00:00Z";
    let nights = ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"];
    check("02:30 Europe/Berlin", spring, &nights);
    check("02:00 Europe/Berlin", spring, &["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"]);
    check("03:00 Europe/Berlin", spring, &["2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"]);
    // Both are the same moment, which comes once.
    check("02,03:00 Europe/Berlin", spring, &["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"]);
    // Half an hour there.
    check(
        "02:15 Australia/Lord_Howe",
        "2026-10-03T00:00:00Z",
        &["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"],
    );
}

#[test]
fn a_time_that_comes_twice_in_autumn_is_meant_once() {
    let autumn = "2026-10-24T12:00:00Z";
    check("02:30 Europe/Berlin", autumn, &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]);
    check(
        "hourly Europe/Berlin",
        "2026-10-24T22:30:00Z",
        &["2026-10-24T23:00:00Z", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"],
    );
    // Asked in the second hour.
    check("02:30 Europe/Berlin", "2026-10-25T01:10:00Z", &["2026-10-26T01:30:00Z"]);
    check("*:*:* Europe/Berlin", "2026-10-25T01:10:00Z", &["2026-10-25T02:00:00Z"]);
}

#[test]
fn a_day_that_a_place_left_out_is_passed_over_in_a_moment() {
    check("2011-12-30 12:00 Pacific/Apia", "2011-12-29T00:00:00Z", &["2011-12-30T10:00:00Z"]);
}

#[test]
fn what_never_comes_ends() {
    for text in ["*-02-30", "2025-02-29", "Mon 2026-12-01", "*-04-31 10:00", "2026-01-01 UTC", "*-02~31"] {
        check(text, MONDAY, &[]);
    }
    check("*-*-* UTC", "2199-12-30T12:00:00Z", &["2199-12-31T00:00:00Z"]);
    assert_eq!(times("*-*-* UTC", "2199-12-31T12:00:00Z", 1), Vec::<String>::new());
}

mod laws {
    use proptest::prelude::*;

    use super::*;

    fn expression() -> impl Strategy<Value = String> {
        let days = prop::sample::select(vec!["", "Mon ", "Mon..Fri ", "Sat,Sun ", "Tue,Thu..Sat "]);
        let dates =
            prop::sample::select(vec!["", "*-*-* ", "*-*-1/10 ", "*-2~1 ", "*-1/2-1..7 ", "*-*~1..5 "]);
        let times = ("(|0/)[0-9]|1[0-9]|\\*", "[0-5]?[0-9]|\\*|0/7", "0|30|0/25");
        let zones = prop::sample::select(vec![
            "UTC",
            "Europe/Berlin",
            "America/New_York",
            "Asia/Kolkata",
            "Pacific/Apia",
        ]);
        (days, dates, times, zones).prop_filter_map(
            "steps by nothing",
            |(days, date, (hour, minute, second), zone)| {
                let text = format!("{days}{date}{hour}:{minute}:{second} {zone}");
                text.parse::<Calendar>().is_ok().then_some(text)
            },
        )
    }

    proptest! {
        #[test]
        fn times_rise_and_the_normal_form_means_the_same(text in expression(), from in 0_i64..4_000_000_000) {
            let calendar: Calendar = text.parse().unwrap();
            let normal: Calendar = calendar.to_string().parse().unwrap();
            prop_assert_eq!(&normal, &calendar);
            let mut moment = Timestamp::from_seconds(from);
            for _ in 0..5 {
                let Some(next) = calendar.next(moment) else { break };
                prop_assert!(next > moment);
                prop_assert_eq!(normal.next(moment), Some(next));
                // Nothing lies between.
                let between = Timestamp(moment.0 + (next.0 - moment.0) / 2);
                prop_assert_eq!(calendar.next(between.max(moment)), Some(next));
                moment = next;
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}|[-~*:./,0-9 MonTueUTC]{0,40}") {
            if let Ok(calendar) = text.parse::<Calendar>() {
                prop_assert_eq!(calendar.to_string().parse::<Calendar>(), Ok(calendar));
            }
        }
    }
}
