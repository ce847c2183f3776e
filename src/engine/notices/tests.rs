use super::*;

/// Monday, 2026-11-30 08:00:00 UTC, nine o'clock in Berlin.
const NOW: Timestamp = Timestamp(1_796_025_600_000);

fn moment(zone: &str) -> Moment {
    let zone = if zone == "UTC" { TimeZone::UTC } else { TimeZone::get(zone).unwrap() };
    Moment { now: NOW, zone }
}

fn check(text: &str, zone: &str, expected: &str) {
    let at = reset_time(text, &moment(zone)).map_or("unknown".to_owned(), |at| at.to_string());
    assert_eq!(at, expected, "{text}");
}

#[test]
fn reset_times_of_real_texts() {
    let utc = |text: &str, expected: &str| check(text, "UTC", expected);
    utc("You've hit your 5-hour limit · resets 9:13am (UTC)", "2026-11-30T09:13:00Z");
    utc("5-hour limit reached ∙ resets 2am", "2026-12-01T02:00:00Z");
    utc("Claude AI usage limit reached|1796029200", "2026-11-30T09:00:00Z");
    utc("Claude AI usage limit reached|1796029200000", "2026-11-30T09:00:00Z");
    utc("You're out of extra usage · resets 5pm (Europe/Berlin)", "2026-11-30T16:00:00Z");
    utc("You’ve hit your usage limit. Upgrade or try again at 9:16 AM.", "2026-11-30T09:16:00Z");
    utc("limit reached, resets 12am (UTC)", "2026-12-01T00:00:00Z");
    utc("limit reached, resets 12pm (UTC)", "2026-11-30T12:00:00Z");
    utc("try again at 14:30", "2026-11-30T14:30:00Z");
    utc("limit, resets at 2026-11-30T10:00:00+01:00.", "2026-11-30T09:00:00Z");
    utc("Try again in 3 hours 9 minutes.", "2026-11-30T11:09:00Z");
    utc("try again in 1h30m", "2026-11-30T09:30:00Z");
}

#[test]
fn times_without_a_zone_are_local_and_the_next() {
    check("resets 9:13am", "Europe/Berlin", "2026-11-30T08:13:00Z");
    check("resets 8:30am", "Europe/Berlin", "2026-12-01T07:30:00Z");
    check("try again at 2:59 AM", "America/New_York", "2026-11-30T08:01:00Z");
    check("try again at 2:54 AM", "America/New_York", "2026-12-01T07:54:00Z");
}

#[test]
fn longer_than_a_day_is_asked_about_again_in_a_day() {
    let tomorrow = "2026-12-01T08:00:00Z";
    check("You've hit your weekly limit · resets Dec 3 at 2pm (UTC)", "UTC", tomorrow);
    check("try again at Dec 3rd, 2026 9:16 AM.", "UTC", tomorrow);
    check("resets Jan 2 at 2pm (UTC)", "UTC", tomorrow);
    check("try again in 4 days 3 hours 9 minutes", "UTC", tomorrow);
    check("resets Nov 30 at 2pm (UTC)", "UTC", "2026-11-30T14:00:00Z");
}

#[test]
fn what_is_not_understood_is_unknown() {
    let none = |text: &str| check(text, "UTC", "unknown");
    none("");
    none("usage limit reached for this plan");
    none("resets soon");
    none("resets 14");
    none("resets 13pm");
    none("resets 25:99");
    none("resets 9:13am (Nowhere/Land)");
    none("resets 9:13am (PST)");
    none("limit reached|12345");
    none("limit reached|1600000000");
    none("resets Feb 31 at 2pm");
    none("try again at ");
    none("resets Dec 3, 2020 at 2pm (UTC)");
}

#[test]
fn a_clock_that_is_set_back_does_not_break_it() {
    // On 2026-11-01 two o'clock comes twice in New York; 2:30 on 2026-03-08 never.
    let at = |now: &str, text: &str| {
        let now = Timestamp::from_rfc3339(now).unwrap();
        let moment = Moment { now, zone: TimeZone::get("America/New_York").unwrap() };
        reset_time(text, &moment).unwrap().to_string()
    };
    assert_eq!(at("2026-11-01T04:30:00Z", "resets 1:30am"), "2026-11-01T05:30:00Z");
    assert_eq!(at("2026-03-08T05:30:00Z", "resets 2:30am"), "2026-03-08T07:30:00Z");
}

#[test]
fn waits() {
    let check = |text: &str, expected| assert_eq!(wait_named(text).map(|wait| wait.as_millis()), expected);
    check("Please try again in 1s.", Some(1000));
    check("Suggested retry after 20 seconds", Some(20_000));
    check("try again in 7.66s", Some(7660));
    check("try again in 6ms.", Some(6));
    check("try again in a while", None);
    check("try again in 99999999999999999999999999 days", None);
    check("again in ", None);
}

fn means(text: &str) -> &'static str {
    failure(text, None, &moment("UTC")).map_or("unknown", |failure| failure.word())
}

#[test]
fn texts_of_people_who_have_to_do_something() {
    let check = |text: &str, expected: &str| assert_eq!(means(text), expected, "{text}");
    check("Not logged in. Run the login command.", "auth");
    check("Could not authenticate: the session has ended and could not be renewed", "auth");
    check(r#"{"error":{"type":"forbidden","message":"request not allowed"}}"#, "auth");
    check("This folder is not trusted and the check was not switched off", "config");
    check("key store is locked", "auth");
    check("(question: Do you trust the files in this folder? 1. yes 2. no)", "config");
    check("getaddrinfo failed for api.example.com", "network");
    check("unknown option --output-formt", "config");
    check("connect: connection refused", "network");
    check("no capacity for this model right now", "overloaded");
    check("usage limit reached for this plan", "usage-limit");
    check("something else", "unknown");
}

#[test]
fn a_rate_limit_is_until_then() {
    let until = |text: &str| match failure(text, None, &moment("UTC")) {
        Some(RunFailure::RateLimited(until)) => until.since(NOW).as_secs(),
        other => panic!("{other:?}"),
    };
    assert_eq!(until("Rate limit reached for m. Please try again in 20s."), 20);
    assert_eq!(until("exceeded retry limit, last status: 429 Too Many Requests"), 60);
    assert_eq!(until("rate limit: try again in 900 days"), 24 * 3600);
}

#[test]
fn a_status_counts_where_words_say_no_more() {
    let check = |text: &str, status, expected: &str| {
        assert_eq!(failure(text, Some(status), &moment("UTC")).unwrap().word(), expected);
    };
    check("Credit balance is too low", 400, "billing");
    check("odd", 400, "bad-request");
    check("odd", 429, "rate-limited");
    check("odd", 529, "overloaded");
    check("connection reset", 503, "overloaded");
}

#[test]
fn a_reset_in_a_field_lies_ahead_within_the_longest_window() {
    assert_eq!(reset_field(1_796_029_200, NOW), Some(Timestamp(1_796_029_200_000)));
    assert_eq!(reset_field(1_796_025_600, NOW), None);
    assert_eq!(reset_field(i64::MAX, NOW), None);
    assert_eq!(reset_field(-5, NOW), None);
}
