//! `workagent validate`: all findings of all unit files in one run.

mod fix;
pub(in crate::cli) mod probe;

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::context::Context;
use super::error::CliError;
use crate::catalog::CATALOG;
use crate::daemon::paths::Paths;
use crate::daemon::{assembly, exit};
use crate::diag::render::Style;
use crate::diag::{Counts, Finding, SourceMap, json, render, short};
use crate::model::environment::Environment;
use crate::model::limits;
use crate::unit::search::{SearchEnv, SearchPath};
use crate::unit::{self, CompileEnv, Compiled, Loaded};

pub use fix::replace;

/// Check unit files and show everything that is wrong with them
#[derive(Debug, Default, Args)]
pub struct ValidateArgs {
    /// From `--unit-dir`, an option of all commands.
    #[arg(skip)]
    pub unit_dirs: Vec<PathBuf>,
    /// Print one JSON document; the same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// How to print findings
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Exit with 3 if there are warnings
    #[arg(long)]
    pub strict: bool,
    /// Make the edits that leave no choice, show them, and check what is left
    #[arg(long, conflicts_with_all = ["stdin_name", "root"])]
    pub fix: bool,
    /// Try live, too: programs, secrets, logins; exit with 1 if something is missing
    #[arg(long, conflicts_with_all = ["stdin_name", "root", "fix"])]
    pub probe: bool,
    /// Check the system below this directory: an image, a package being built
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// What the text on standard input (`-`) is called: `inbox.connector.toml`, or the path of the file being edited
    #[arg(long, value_name = "NAME")]
    pub stdin_name: Option<PathBuf>,
    /// Tell what a finding means, and check nothing
    #[arg(long, value_name = "CODE")]
    pub explain: Option<String>,
    /// Files or directories to check as if they lay above all others; only their findings are shown
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The text of `stdin_name`.
    #[arg(skip)]
    pub stdin: Option<Arc<str>>,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// With the lines they are about, for people
    #[default]
    Human,
    /// One line each
    Short,
    /// Workflow commands for GitHub's CI
    Github,
    /// One JSON document, stable
    Json,
}

/// Why nothing was checked.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// A path on the command line does not exist.
    #[error("there is no `{}`", path.display())]
    NoSuchPath {
        /// As given.
        path: PathBuf,
    },
    /// The name of what stands on standard input says no kind, or there is none.
    #[error("{0}")]
    Name(&'static str),
    /// Standard input cannot be read.
    #[error("read standard input: {0}")]
    Input(String),
    /// A mended file could not be written.
    #[error("write {}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The result could not be written.
    #[error("write the findings")]
    Output(#[from] io::Error),
}

impl ValidateError {
    /// The exit code: 2 for the command line, 1 for the output.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoSuchPath { .. } | Self::Name(_) => exit::USAGE,
            Self::Input(_) | Self::Write { .. } | Self::Output(_) => exit::FAILURE,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// See [`validate`].
pub fn command(mut args: ValidateArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    if let Some(code) = &args.explain {
        return super::explain::one(code, args.json, context);
    }
    args.unit_dirs.clone_from(&context.global.unit_dir);
    let failed = |error: ValidateError| CliError {
        code: error.exit_code(),
        ..CliError::doing("check the unit files", &error)
    };
    take_stdin(&mut args).map_err(failed)?;
    let style = Style { colour: context.colour(), width: context.width() };
    let environment = context.environment.clone();
    if !args.probe {
        return validate(&args, &environment, style, context.out).map_err(failed);
    }
    let mut findings = Vec::new();
    let code = validate(&args, &environment, style, &mut findings).map_err(failed)?;
    let seen = probe::look(context)?;
    let told = if args.json || args.format == Format::Json {
        probe::with_findings(&seen, &findings)
    } else {
        context.out.write_all(&findings)?;
        probe::shown(&seen, context.paint(), context.width())
    };
    context.out.write_all(told.as_bytes())?;
    let missing = seen.iter().any(|look| look.result.is_err());
    Ok(if missing { code.max(exit::FAILURE) } else { code })
}

/// Reads standard input, where `-` asks for it.
fn take_stdin(args: &mut ValidateArgs) -> Result<(), ValidateError> {
    let asked = args.paths.iter().any(|path| path.as_os_str() == "-");
    args.paths.retain(|path| path.as_os_str() != "-");
    let Some(name) = &args.stdin_name else {
        return if asked {
            Err(ValidateError::Name("`-` needs `--stdin-name NAME.KIND.toml`"))
        } else {
            Ok(())
        };
    };
    let mut text = String::new();
    let most = limits::UNIT_FILE_BYTES_MAX;
    io::stdin()
        .take(most + 1)
        .read_to_string(&mut text)
        .map_err(|error| ValidateError::Input(error.to_string()))?;
    if text.len() as u64 > most {
        return Err(ValidateError::Input(format!("more than {most} bytes")));
    }
    args.stdin = Some(text.into());
    args.paths.push(name.clone());
    Ok(())
}

/// Checks, prints to `out`, and returns the exit code: 0 fine, 1 errors, 3 warnings under `--strict`.
///
/// # Errors
/// [`ValidateError`]; it has the exit code for its case.
pub fn validate(
    args: &ValidateArgs,
    environment: &Environment,
    style: Style,
    out: &mut dyn Write,
) -> Result<u8, ValidateError> {
    let given = args.unit_dirs.iter().chain(&args.paths).chain(&args.root);
    let mut on_disk = given.filter(|path| args.stdin.is_none() || Some(*path) != args.stdin_name.as_ref());
    if let Some(path) = on_disk.find(|path| !path.exists()) {
        return Err(ValidateError::NoSuchPath { path: path.clone() });
    }
    let search = search(args, environment);
    let registry = CATALOG.registry();
    let env = compile_env(environment);
    let mut loaded = unit::load(&search, registry.shipped);
    if let (Some(name), Some(text)) = (&args.stdin_name, &args.stdin)
        && !loaded.put(name, Arc::clone(text))
    {
        return Err(ValidateError::Name("the name given with `--stdin-name` is not that of a unit file"));
    }
    let mut compiled = unit::compile(&loaded, &registry, &env);
    let wanted =
        |path: &Path| args.paths.is_empty() || args.paths.iter().any(|given| path.starts_with(given));
    if args.fix {
        let fixed = fix::fix(&mut loaded, &compiled, &registry, &env, &wanted)?;
        if fixed.files > 0 {
            compiled = unit::compile(&loaded, &registry, &env);
        }
        told(&fixed, args, out)?;
    }
    compiled.findings.retain(|finding| touches(finding, &compiled.sources, &wanted));
    compiled.cut.retain(|(source, _)| wanted(compiled.sources.path(*source)));
    let files = count_files(&loaded, &wanted);
    print(args, &compiled, files, style, out)?;
    if files == 0 && args.paths.is_empty() && !args.json && args.format == Format::Human {
        writeln!(out, "looked in, the highest first (`workagent paths` says more):")?;
        for dir in search.dirs.iter().rev() {
            writeln!(out, "  {}", dir.display())?;
        }
    }
    let counts = Counts::of(&compiled.findings);
    Ok(match counts {
        Counts { errors: 1.., .. } => exit::FAILURE,
        Counts { warnings: 1.., .. } if args.strict => exit::NOT_WELL,
        _ => exit::OK,
    })
}

/// What values may refer to, as the daemon sees it.
#[must_use]
pub fn compile_env(environment: &Environment) -> CompileEnv {
    // Without a home there is no state directory either; the daemon would not start, but units can be checked.
    let state = Paths::resolve(environment, None).map(|paths| paths.state);
    assembly::compile_env(environment, state.unwrap_or_else(|_| PathBuf::from("/var/lib/workagent")))
}

fn search(args: &ValidateArgs, environment: &Environment) -> SearchPath {
    let mut search = SearchPath::new(&SearchEnv::read(environment), &args.unit_dirs);
    if let Some(root) = &args.root {
        search = search.below(root);
    }
    for path in args.paths.iter().filter(|path| args.stdin_name.as_ref() != Some(*path)) {
        if path.is_dir() {
            search.dirs.push(path.clone());
        } else {
            search.files.push(path.clone());
        }
    }
    search
}

/// The edits that were made; for machines on standard error, so that standard output stays one document.
fn told(fixed: &fix::Fixed, args: &ValidateArgs, out: &mut dyn Write) -> Result<(), ValidateError> {
    let edits = super::look::counted(fixed.edits, "edit", "edits");
    let files = super::look::counted(fixed.files, "file", "files");
    let text = match fixed.files {
        0 => "nothing here can be mended without a choice\n\n".to_owned(),
        _ => format!("{}{edits} in {files}\n\n", fixed.diff),
    };
    if args.json || args.format != Format::Human {
        super::masked::stderr(&crate::secret::Scrubber::default()).write_all(text.as_bytes())?;
    } else {
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

fn touches(finding: &Finding, sources: &SourceMap, wanted: &dyn Fn(&Path) -> bool) -> bool {
    let mut spans = std::iter::once(finding.span).chain(finding.labels.iter().map(|label| label.span));
    spans.any(|span| wanted(sources.path(span.source)))
}

/// Files that were read or should have been, without those in the binary.
fn count_files(loaded: &Loaded, wanted: &dyn Fn(&Path) -> bool) -> usize {
    let read = loaded.files.iter().filter(|file| file.level > 0).map(|file| file.path.as_path());
    let troubled = loaded.notices.iter().filter(|notice| !notice.is_about_directory());
    let all: BTreeSet<&Path> = read.chain(troubled.map(|notice| notice.path.as_path())).collect();
    all.into_iter().filter(|path| wanted(path)).count()
}

fn print(
    args: &ValidateArgs,
    compiled: &Compiled,
    files: usize,
    style: Style,
    out: &mut dyn Write,
) -> Result<(), ValidateError> {
    let Compiled { findings, sources, cut, .. } = compiled;
    let cut_all = cut.iter().map(|(_, count)| count).sum();
    match if args.json { Format::Json } else { args.format } {
        Format::Json => {
            let report = json::report(findings, sources, files, cut_all);
            serde_json::to_writer_pretty(&mut *out, &report).map_err(io::Error::from)?;
            writeln!(out)?;
        }
        Format::Github => out.write_all(short::github(findings, sources).as_bytes())?,
        format => {
            let text = match format {
                Format::Short => short::lines(findings, sources),
                _ => render::render(findings, sources, style),
            };
            out.write_all(text.as_bytes())?;
            for (source, count) in cut {
                writeln!(out, "{count} more in {} are not shown", sources.path(*source).display())?;
            }
            writeln!(out, "{}", summary(files, Counts::of(findings)))?;
        }
    }
    Ok(out.flush()?)
}

/// "3 files, 12 errors, 1 warning"
fn summary(files: usize, counts: Counts) -> String {
    let count = |number: usize, one: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    };
    let mut text = format!("{}, ", count(files, "file"));
    text.push_str(&if counts.errors == 0 { "no errors".to_owned() } else { count(counts.errors, "error") });
    if counts.warnings > 0 {
        text.push_str(&format!(", {}", count(counts.warnings, "warning")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts() {
        let counts = |errors, warnings| Counts { errors, warnings, infos: 5 };
        assert_eq!(summary(3, counts(12, 1)), "3 files, 12 errors, 1 warning");
        assert_eq!(summary(1, counts(0, 0)), "1 file, no errors");
    }
}
