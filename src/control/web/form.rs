//! Forms: fields in their order, taken only with the session's own mark.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;

use super::answer::Trouble;
use super::doors::{Session, same_text};

/// Fields of one form.
const FIELDS_MAX: usize = 200;

/// The fields of a form that was sent by the page itself. Whoever takes a `Form` has had its mark checked.
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// The first field of that name; lines end as everywhere else.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All fields of that name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Name after `prefix`, and value, of the fields that begin with it.
    pub fn beginning<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(key, value)| Some((key.strip_prefix(prefix)?, value.as_str())))
    }

    fn read(body: &[u8]) -> Self {
        let fields = url::form_urlencoded::parse(body).take(FIELDS_MAX);
        // Browsers send line ends of forms as CRLF, whatever the text had.
        Self(fields.map(|(key, value)| (key.into_owned(), value.replace("\r\n", "\n"))).collect())
    }
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Trouble;

    async fn from_request(request: Request, state: &S) -> Result<Self, Trouble> {
        let session = request.extensions().get::<Session>().cloned();
        let body = Bytes::from_request(request, state).await.map_err(|error| Trouble {
            status: error.status(),
            text: "the form is too large, or did not arrive".to_owned(),
            hint: None,
        })?;
        let form = Self::read(&body);
        let mark = form.get("csrf").unwrap_or_default();
        if !session.is_some_and(|session| same_text(&session.csrf, mark)) {
            return Err(Trouble {
                status: StatusCode::FORBIDDEN,
                text: "the form is not of this session".to_owned(),
                hint: Some("go back, load the page again, and decide once more".to_owned()),
            });
        }
        Ok(form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_order_with_plain_line_ends() {
        let form = Form::read(b"body=a%0D%0Ab&effect=close&effect=label%3A+bug&free:label=x");
        assert_eq!(form.get("body"), Some("a\nb"));
        assert_eq!(form.all("effect").collect::<Vec<_>>(), ["close", "label: bug"]);
        assert_eq!(form.beginning("free:").collect::<Vec<_>>(), [("label", "x")]);
        assert_eq!(form.get("none"), None);
    }
}
