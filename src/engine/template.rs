//! The built-in engine: renders a reply from a template. Needs no account and no program, and never leaves the machine.

use std::path::PathBuf;

use minijinja::context;

use super::{EngineContext, EngineSpec, ExecutionEngine, failed};
use crate::model::class::PortError;
use crate::model::item::Item;
use crate::model::limits;
use crate::model::run::{EngineError, EngineOutcome, EngineRequest, EngineResult, RunFailure};
use crate::model::text::cut;
use crate::unit::jinja::{self, Unrendered};
use crate::unit::plan::EngineUnit;
use crate::unit::schema::{KeyProblem, KeySpec, ValueType};
use crate::unit::value::Settings;

/// The row of the catalog.
pub const SPEC: EngineSpec = EngineSpec {
    name: "template",
    summary: "Renders a reply from a template; built in, needs no account",
    keys: &[
        KeySpec::new(
            "text",
            ValueType::Text,
            "The template, in the syntax of Jinja. Names: name, author, address, title, body, lines, date, kind, \
             labels, url, connector, case, attempt, instruction, messages. Renders nothing or SKIP: no reply",
        ),
        KeySpec::new(
            "file",
            ValueType::Path,
            "A file that holds the template, read at each run, instead of `text`",
        ),
    ],
    check,
    is_local: |_| true,
    needs_model: false,
    build,
};

/// Steps of one rendering: far more than any reply takes, reached in a fraction of a second.
const FUEL: u64 = 200_000;

/// A template file; a reply is shorter.
const TEMPLATE_BYTES_MAX: u64 = 64 * 1024;

/// Of the body, what `body` and `lines` hold: enough to quote from.
const BODY_BYTES_MAX: usize = 4 * 1024;

/// Lines of the body in `lines`.
const LINES_LEN_MAX: usize = 40;

/// Used when the unit gives neither `text` nor `file`.
const DEFAULT_TEXT: &str = "\
Hello {{ name }},

thank you for your message{% if title %} about “{{ title }}”{% endif %}. I have read it and will come back to you soon.
";

/// Renders replies.
#[derive(Debug)]
pub struct TemplateEngine {
    source: Source,
}

#[derive(Debug)]
enum Source {
    Text(String),
    File(PathBuf),
}

fn build(unit: &EngineUnit, _context: EngineContext) -> Result<ExecutionEngine, PortError> {
    let source = match (unit.settings.path("file"), unit.settings.text("text")) {
        (Some(file), None) => Source::File(file.clone()),
        (_, text) => Source::Text(text.unwrap_or(DEFAULT_TEXT).to_owned()),
    };
    Ok(ExecutionEngine::Template(TemplateEngine { source }))
}

fn check(settings: &Settings) -> Vec<KeyProblem> {
    let problem = |key, message: String| vec![KeyProblem { key, message }];
    match (settings.text("text"), settings.path("file")) {
        (Some(_), Some(_)) => problem("file", "is not allowed beside `text`".to_owned()),
        (Some(text), None) => match jinja::environment(FUEL).template_from_named_str(NAME, text) {
            Ok(_) => Vec::new(),
            Err(error) => problem("text", format!("is not a template: {}", jinja::said(&error))),
        },
        _ => Vec::new(),
    }
}

/// Shown in error texts.
const NAME: &str = "reply";

impl TemplateEngine {
    pub(super) async fn probe(&self) -> Result<String, EngineError> {
        let text = self.text().await?;
        let environment = jinja::environment(FUEL);
        let read = environment.template_from_named_str(NAME, &text);
        read.map_err(|error| not_rendered(&jinja::said(&error)))?;
        Ok(match &self.source {
            Source::Text(_) => "the template is fine".to_owned(),
            Source::File(file) => format!("the template in {} is fine", file.display()),
        })
    }

    pub(super) async fn run(&self, request: &EngineRequest) -> Result<EngineOutcome, EngineError> {
        let text = self.text().await?;
        let reply = render(&text, request)?;
        let reply = reply.trim();
        let mut remarks = Vec::new();
        if !request.notes.is_empty() {
            remarks.push("a template does not learn from notes on rejected drafts".to_owned());
        }
        let result = match reply {
            "" => EngineResult::NothingToDo("the template rendered nothing".to_owned()),
            "SKIP" => EngineResult::NothingToDo("the template said SKIP".to_owned()),
            reply => EngineResult::Reply(reply.to_owned()),
        };
        Ok(EngineOutcome { remarks, ..EngineOutcome::of(result) })
    }

    async fn text(&self) -> Result<String, EngineError> {
        let file = match &self.source {
            Source::Text(text) => return Ok(text.clone()),
            Source::File(file) => file,
        };
        let unreadable =
            |why: String| failed(RunFailure::Config, format!("read the template {}: {why}", file.display()));
        let size = tokio::fs::metadata(file).await.map_err(|error| unreadable(error.to_string()))?.len();
        if size > TEMPLATE_BYTES_MAX {
            return Err(unreadable(format!("it has {size} bytes, more than {TEMPLATE_BYTES_MAX}")));
        }
        tokio::fs::read_to_string(file).await.map_err(|error| unreadable(error.to_string()))
    }
}

fn render(text: &str, request: &EngineRequest) -> Result<String, EngineError> {
    let (environment, most) = (jinja::environment(FUEL), limits::DRAFT_BYTES_MAX);
    jinja::render(&environment, NAME, text, values(request), most).map_err(|why| match why {
        Unrendered::TooLong => {
            failed(RunFailure::Config, format!("the template renders more than {most} bytes"))
        }
        Unrendered::Faulty(said) => not_rendered(&said),
    })
}

fn values(request: &EngineRequest) -> minijinja::Value {
    let messages: Vec<_> = request.items.iter().map(message).collect();
    let newest = request.items.last();
    let of_newest = |field: fn(&Item) -> String| newest.map(field).unwrap_or_default();
    let lines: Vec<String> = of_newest(body).lines().take(LINES_LEN_MAX).map(str::to_owned).collect();
    context! {
        name => newest.map_or_else(|| NOBODY.to_owned(), called),
        author => of_newest(|item| item.author.clone().unwrap_or_default().name),
        address => of_newest(|item| item.author.clone().unwrap_or_default().address),
        title => of_newest(|item| item.title.clone()),
        body => of_newest(body),
        lines => lines,
        date => of_newest(date),
        kind => of_newest(|item| item.kind.clone()),
        labels => newest.map(|item| item.labels.clone()).unwrap_or_default(),
        url => of_newest(|item| item.url.clone().unwrap_or_default()),
        connector => request.connector.clone(),
        case => request.case.to_string(),
        attempt => request.attempt,
        instruction => request.instruction.clone(),
        messages => messages,
    }
}

fn message(item: &Item) -> minijinja::Value {
    context! { name => called(item), title => item.title.clone(), body => body(item), date => date(item) }
}

fn body(item: &Item) -> String {
    cut(&item.body, BODY_BYTES_MAX).to_owned()
}

fn date(item: &Item) -> String {
    item.at.map(|at| at.to_string()).unwrap_or_default()
}

/// How an author without a name is called.
const NOBODY: &str = "there";

/// How to address the author: the name, else what stands before the `@`, else "there".
fn called(item: &Item) -> String {
    let author = item.author.clone().unwrap_or_default();
    let local = author.address.split('@').next().unwrap_or_default();
    [author.name.trim(), local.trim()].into_iter().find(|name| !name.is_empty()).unwrap_or(NOBODY).to_owned()
}

fn not_rendered(said: &str) -> EngineError {
    failed(RunFailure::Config, format!("render the template: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixtures::{item, request};
    use crate::model::item::Party;
    use crate::unit::value::Value;

    async fn run(text: &str) -> String {
        let engine = TemplateEngine { source: Source::Text(text.into()) };
        match engine.run(&request(vec![item("Friday", "At ten?\nOr eleven?")])).await {
            Ok(EngineOutcome { result: EngineResult::Reply(reply), .. }) => reply,
            Ok(outcome) => format!("{:?}", outcome.result),
            Err(error) => format!("{}: {error}", error.failure.word()),
        }
    }

    #[tokio::test]
    async fn the_default_reply() {
        insta::assert_snapshot!(run(DEFAULT_TEXT).await, @r#"
        Hello Pat,

        thank you for your message about “Friday”. I have read it and will come back to you soon.
        "#);
    }

    #[tokio::test]
    async fn names_of_the_template() {
        assert_eq!(
            run("{{ author }} {{ address }} {{ kind }} {{ case }} {{ lines[1] }} {{ messages|length }}")
                .await,
            "Pat pat@example.org mail c7 Or eleven? 1"
        );
    }

    #[tokio::test]
    async fn nothing_and_skip_are_no_reply() {
        assert_eq!(
            run("{% if kind == 'entry' %}x{% endif %}\n").await,
            r#"NothingToDo("the template rendered nothing")"#
        );
        assert_eq!(run(" SKIP\n").await, r#"NothingToDo("the template said SKIP")"#);
    }

    #[tokio::test]
    async fn faults_of_the_template_are_faults_of_the_unit() {
        assert_eq!(run("{{ nmae }}").await, "config: render the template: undefined value (line 1)");
        assert_eq!(run("a\n{% if %}").await, "config: render the template: unexpected end of block (line 2)");
        assert_eq!(
            run("{% for a in range(10000) %}{% for b in range(10000) %}{% set c = 1 %}{% endfor %}{% endfor %}").await,
            "config: render the template: it does not come to an end"
        );
        assert_eq!(
            run("{% for a in range(9999) %}0123456789012345678901234567890123456789{% endfor %}").await,
            "config: the template renders more than 262144 bytes"
        );
    }

    #[tokio::test]
    async fn foreign_text_is_not_a_template() {
        let engine = TemplateEngine { source: Source::Text("{{ title }}".into()) };
        let outcome = engine.run(&request(vec![item("{{ 7 * 7 }}", "")])).await.unwrap();
        assert_eq!(outcome.result, EngineResult::Reply("{{ 7 * 7 }}".into()));
    }

    #[tokio::test]
    async fn a_file_is_read_at_each_run() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("reply.txt");
        let engine = TemplateEngine { source: Source::File(file.clone()) };
        let missing = engine.probe().await.unwrap_err();
        assert_eq!(missing.failure, RunFailure::Config);
        for text in ["one", "two"] {
            std::fs::write(&file, text).unwrap();
            let outcome = engine.run(&request(vec![item("t", "b")])).await.unwrap();
            assert_eq!(outcome.result, EngineResult::Reply(text.into()));
        }
    }

    #[test]
    fn an_author_is_always_called_something() {
        let called = |name: &str, address: &str| {
            let author = Some(Party { name: name.into(), address: address.into() });
            called(&Item { author, ..item("t", "b") })
        };
        assert_eq!([called("Pat", "p@x"), called("", "kim@x"), called("", "")], ["Pat", "kim", "there"]);
    }

    #[test]
    fn problems_of_keys() {
        let check = |pairs: &[(&str, Value)]| {
            check(&Settings(pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()))
        };
        let text = |text: &str| ("text", Value::Text(text.into()));
        assert_eq!(check(&[]), []);
        assert_eq!(check(&[text("{{ name }}")]), []);
        assert_eq!(check(&[text("{{ name }}"), ("file", Value::Path("/x".into()))])[0].key, "file");
        assert_eq!(
            check(&[text("{{ name ")])[0].message,
            "is not a template: unexpected end of input, expected end of variable block (line 1)"
        );
    }
}
