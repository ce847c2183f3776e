//! Sums of money as whole millionths of a US dollar: a sum never drifts, and a cap is a cap.

/// Of a dollar.
pub const MICRO: u64 = 1_000_000;

/// The most that a unit file or an engine may say: beyond it somebody made a slip.
pub const USD_MAX: u64 = 1_000_000;

/// `"5"`, `"0.50"`, `"0.000042"`: at most six digits behind the point, at most [`USD_MAX`]. Millionths of a dollar.
#[must_use]
pub fn parse_usd(text: &str) -> Option<u64> {
    let text = text.trim();
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && part.is_empty() || !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    let micro = whole.checked_mul(MICRO)?.checked_add(part)?;
    (micro <= USD_MAX * MICRO).then_some(micro)
}

/// A number of dollars as JSON and TOML have it, to the nearest millionth.
#[must_use]
pub fn from_usd(dollars: f64) -> Option<u64> {
    #[expect(clippy::cast_precision_loss, reason = "a million is exact")]
    let most = USD_MAX as f64;
    if !(0.0..=most).contains(&dollars) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    let micro = (dollars * 1e6).round() as u64;
    Some(micro)
}

/// As a number of dollars, for programs that are told so.
#[must_use]
pub fn to_usd(micro: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "sums are far below 2^53")]
    let micro = micro as f64;
    micro / 1e6
}

/// For people, with two digits behind the point, or four where two would hide what there is: `0.50`, `12.34`, `0.0042`.
/// What is not nothing never shows as nothing.
#[must_use]
pub fn shown_usd(micro: u64) -> String {
    let rounded = |step: u64| micro.saturating_add(step / 2) / step;
    if micro == 0 || micro >= MICRO || micro.is_multiple_of(10_000) {
        let cents = rounded(10_000);
        return format!("{}.{:02}", cents / 100, cents % 100);
    }
    let parts = rounded(100).max(1);
    format!("{}.{:04}", parts / 10_000, parts % 10_000)
}

/// With four digits behind the point, for columns of small sums; two from a hundred dollars on.
#[must_use]
pub fn column_usd(micro: u64, most: u64) -> String {
    let cents = most >= 100 * MICRO;
    let step = if cents { 10_000 } else { 100 };
    let parts = (micro.saturating_add(step / 2) / step).max(u64::from(micro > 0));
    if cents {
        format!("{}.{:02}", parts / 100, parts % 100)
    } else {
        format!("{}.{:04}", parts / 10_000, parts % 10_000)
    }
}

/// To the last digit, for files: `0.5`, `0.000042`.
#[must_use]
pub fn exact_usd(micro: u64) -> String {
    let text = format!("{}.{:06}", micro / MICRO, micro % MICRO);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dollars() {
        let check = |text: &str, expected: Option<u64>| assert_eq!(parse_usd(text), expected, "{text}");
        check("5", Some(5 * MICRO));
        check(" 0.50 ", Some(500_000));
        check(".25", Some(250_000));
        check("0.000042", Some(42));
        check("1000000", Some(MICRO * MICRO));
        for wrong in ["", ".", "-1", "1e3", "0.0000001", "1000001", "1,50", "99999999999999999999", "$5"] {
            check(wrong, None);
        }
    }

    #[test]
    fn takes_numbers() {
        assert_eq!(from_usd(0.00042), Some(420));
        assert_eq!(from_usd(0.1 + 0.2), Some(300_000));
        for wrong in [-0.1, f64::NAN, f64::INFINITY, 1e7] {
            assert_eq!(from_usd(wrong), None);
        }
    }

    #[test]
    fn shows_dollars() {
        let shown = [0, 1, 42, 4_200, 500_000, 123_456, 12_345_678].map(shown_usd);
        assert_eq!(shown, ["0.00", "0.0001", "0.0001", "0.0042", "0.50", "0.1235", "12.35"]);
        assert_eq!([500_000, 42, 0, 3_000_000].map(exact_usd), ["0.5", "0.000042", "0", "3"]);
    }
}
