//! The keys of `[linear]`.

use crate::platform::{Guarantee, PlatformSpec, address_problems};
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The catalog's row.
pub const SPEC: PlatformSpec = PlatformSpec {
    name: "linear",
    summary: "Linear: the inbox and comments on your issues; replies with comments",
    keys: &[
        KeySpec::new("workspace", ValueType::Text, "The workspace, as it stands in its address: linear.app/WORKSPACE")
            .specifiers()
            .required(),
        KeySpec::new("key", ValueType::Secret, "A personal API key (Settings, Security & access)"),
        KeySpec::new("token", ValueType::Secret, "An OAuth access token in place of a key"),
        KeySpec::new(
            "comments",
            ValueType::Choice(&["mine", "all", "none"]),
            "Which comments are read besides the inbox: those on issues you made, are assigned or subscribed to, all \
             that you can see, or none",
        )
        .default("\"mine\""),
        KeySpec::new("base_url", ValueType::Url, "The API's address").default("\"https://api.linear.app/graphql\""),
    ],
    every_min_s: 60,
    every_default_s: 60,
    guarantee: Guarantee::Marker("an id for the comment chosen beforehand"),
    check,
    build: super::build,
};

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let mut problems = address_problems(settings, "base_url", "`key` or `token`");
    let message = match (settings.secret("key"), settings.secret("token")) {
        (Some(_), Some(_)) => "`key` and `token` are both given; Linear takes one",
        (None, None) => "a `key` or a `token` is needed",
        _ => return problems,
    };
    problems.push(KeyProblem { key: "key", message: message.to_owned() });
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret_ref::SecretRef;
    use crate::unit::value::Value;

    #[test]
    fn keys_go_to_nobody_in_the_open() {
        let check_url = |url: &str, expected: &[&str]| {
            let key = Value::Secret(SecretRef::Stored("linear".into()));
            let url = Value::Text(url.into());
            let settings = Settings([("key".to_owned(), key), ("base_url".to_owned(), url)].into());
            let problems = check(&settings);
            assert_eq!(problems.iter().map(|problem| problem.key).collect::<Vec<_>>(), expected);
        };
        check_url("https://api.linear.app/graphql", &[]);
        check_url("http://127.0.0.1:1/graphql", &[]);
        check_url("http://linear.example.org/graphql", &["base_url"]);
        check_url("https://me:CANARY@linear.example.org/graphql", &["base_url"]);
    }
}
