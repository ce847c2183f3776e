//! Templates, embedded; every value is escaped as text of HTML, and every answer is scrubbed of secrets.

use std::time::Duration;

use minijinja::value::Serde;
use minijinja::{Environment, Value};
use serde_json::Value as Json;

use crate::model::limits::WEB_RENDER_FUEL;
use crate::model::time::{Timestamp, short_span};
use crate::secret::Scrubber;

/// Name and text. Names end in `.html`, by which values are escaped.
const TEMPLATES: &[(&str, &str)] = &[
    ("frame.html", include_str!("assets/frame.html")),
    ("parts.html", include_str!("assets/parts.html")),
    ("today.html", include_str!("assets/today.html")),
    ("review.html", include_str!("assets/review.html")),
    ("case.html", include_str!("assets/case.html")),
    ("cases.html", include_str!("assets/cases.html")),
    ("outbox.html", include_str!("assets/outbox.html")),
    ("units.html", include_str!("assets/units.html")),
    ("trouble.html", include_str!("assets/trouble.html")),
    ("bare.html", include_str!("assets/bare.html")),
    ("outside.html", include_str!("assets/outside.html")),
    ("entered.html", include_str!("assets/entered.html")),
];

/// The page's templates.
#[derive(Debug)]
pub(super) struct Templates {
    environment: Environment<'static>,
    scrubber: Scrubber,
}

impl Templates {
    /// # Errors
    /// A template of ours has a fault: never after the tests.
    pub fn new(scrubber: Scrubber) -> Result<Self, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_fuel(Some(WEB_RENDER_FUEL));
        environment.add_filter("span", |ms: i64| short_span(millis(ms)));
        environment.add_filter("local", |at: i64, now: i64| Timestamp(at).local(Timestamp(now)));
        environment.add_filter("ago", |at: i64, now: i64| {
            format!("{} ago", short_span(Timestamp(now).since(Timestamp(at))))
        });
        environment.add_filter("iso", |at: i64| Timestamp(at).to_string());
        environment.add_filter("weblink", |url: &str| is_weblink(url));
        environment.add_filter("size", bytes);
        for (name, text) in TEMPLATES {
            environment.add_template(name, text)?;
        }
        Ok(Self { environment, scrubber })
    }

    /// A template's text with values.
    ///
    /// # Errors
    /// Ours: a value that the template expects is not there.
    pub fn render(&self, name: &str, mut values: Json, now: Timestamp) -> Result<String, minijinja::Error> {
        if let Some(values) = values.as_object_mut() {
            values.insert("now".to_owned(), now.0.into());
        }
        let text = self.environment.get_template(name)?.render(Value::from(Serde(values)))?;
        Ok(self.scrubber.scrub_owned(text))
    }
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

/// May be a link: nothing but plain web addresses, which run nothing.
fn is_weblink(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn bytes(size: u64) -> String {
    match size {
        0..1024 => format!("{size} B"),
        1024..1_048_576 => format!("{} kB", size / 1024),
        _ => format!("{} MB", size / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_templates_are_well_formed() {
        Templates::new(Scrubber::new()).unwrap();
    }

    #[test]
    fn only_plain_web_addresses_are_links() {
        for url in ["https://example.org/a", "http://example.org"] {
            assert!(is_weblink(url), "{url}");
        }
        for url in [
            "javascript:alert(1)",
            " JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "//example.org",
            "",
            "file:///etc",
        ] {
            assert!(!is_weblink(url), "{url}");
        }
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!([bytes(12), bytes(2048), bytes(3_145_728)], ["12 B", "2 kB", "3 MB"]);
    }
}
