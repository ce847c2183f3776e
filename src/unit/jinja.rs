//! Templates in the syntax of Jinja, as every place that has them takes them: unknown names are errors, a rendering comes
//! to an end, and no error quotes a template or a value.

use std::io;

use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

/// Where templates are rendered; `fuel` is the number of steps of one rendering.
#[must_use]
pub fn environment(fuel: u64) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(fuel));
    environment.set_recursion_limit(50);
    environment
}

/// Why there is no text.
#[derive(Debug, PartialEq, Eq)]
pub enum Unrendered {
    /// It is longer than it may be.
    TooLong,
    /// For people, see [`said`].
    Faulty(String),
}

/// A template's text, of `bytes_max` at most. `name` is its name in errors.
///
/// # Errors
/// See [`Unrendered`].
pub fn render(
    environment: &Environment<'_>,
    name: &str,
    text: &str,
    values: Value,
    bytes_max: usize,
) -> Result<String, Unrendered> {
    let faulty = |error: &minijinja::Error| Unrendered::Faulty(said(error));
    let template = environment.template_from_named_str(name, text).map_err(|error| faulty(&error))?;
    let mut out = Capped { bytes: Vec::new(), bytes_max, over: false };
    let rendered = template.render_captured_to(values, &mut out).map(|_| ());
    if out.over {
        return Err(Unrendered::TooLong);
    }
    rendered.map_err(|error| faulty(&error))?;
    Ok(String::from_utf8_lossy(&out.bytes).into_owned())
}

/// Kind, detail and line; never the source line, which holds the user's own text, nor values of foreign text.
#[must_use]
pub fn said(error: &minijinja::Error) -> String {
    let line = error.line().map(|line| format!(" (line {line})")).unwrap_or_default();
    match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => "it does not come to an end".to_owned(),
        (ErrorKind::SyntaxError | ErrorKind::UnknownFilter | ErrorKind::UnknownFunction, Some(detail)) => {
            format!("{detail}{line}")
        }
        (kind, _) => format!("{kind}{line}"),
    }
}

/// Takes as much as a text may have.
struct Capped {
    bytes: Vec<u8>,
    bytes_max: usize,
    over: bool,
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.bytes_max {
            self.over = true;
            return Err(io::Error::other("too long"));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
