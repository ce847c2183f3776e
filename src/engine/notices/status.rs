//! An HTTP status in a text. Pure.

/// What stands before a status in the texts of programs.
const BEFORE: [&str; 9] = [
    "status code ",
    "status: ",
    "status ",
    "statuscode\":",
    "code\":",
    "code: ",
    "api error: ",
    "http ",
    "rejected (",
];

/// The first error status that a lower-case text names as such: numbers elsewhere (ids, sizes) mean nothing.
pub(super) fn status_in(words: &str) -> Option<u16> {
    let found = |before: &&str| {
        words.match_indices(*before).find_map(|(at, _)| {
            let rest = words.get(at + before.len()..)?.trim_start();
            let digits = rest.get(..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
            let ends = !rest.get(3..)?.starts_with(|next: char| next.is_ascii_alphanumeric());
            digits.parse().ok().filter(|status| ends && (400..600).contains(status))
        })
    };
    BEFORE.iter().find_map(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_are_named_a_status() {
        let check = |text: &str, expected| assert_eq!(status_in(text), expected, "{text}");
        check("unexpected status 503 service unavailable", Some(503));
        check("[api error: {\"error\":{\"code\":403,\"message\"", Some(403));
        check("request rejected (429) · this", Some(429));
        check("api error: 400 stub", Some(400));
        check("last status: 429", Some(429));
        check("malformed response (http 200)", None);
        check("request id: req_401", None);
        check("status 4012", None);
        check("status 40", None);
        check("read 500 bytes", None);
    }
}
