//! The views, one file each: what is asked of the control API, and the template it goes to.

pub(super) mod case;
pub(super) mod outbox;
pub(super) mod review;
pub(super) mod today;
pub(super) mod units;

use crate::control::wire::ListQuery;
use crate::model::limits::WEB_ROWS_MAX;

/// What is asked of the API for a list: the newest in this state, so many as a view shows.
pub(super) fn listed(base: &str, state: Option<&str>) -> String {
    ListQuery { state: state.map(str::to_owned), limit: Some(WEB_ROWS_MAX), label: None }.path(base)
}

/// An id or name in the path of a request to the API: nothing in it ends the segment.
pub(super) fn segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one() {
        assert_eq!(segment("../v1/pause?x#y z%2f"), "..%2Fv1%2Fpause%3Fx%23y%20z%252f");
        assert_eq!(segment("inbox.connector"), "inbox.connector");
    }
}
