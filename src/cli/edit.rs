//! `workagent edit`: a unit in the user's editor. Only a text that brings no new error takes the file's place, and no
//! text is lost.

mod draft;

use std::ffi::OsString;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::context::Context;
use super::error::CliError;
use super::units::{UnitSet, names, write};
use crate::daemon::exit;
use crate::diag::render::{self, Style};
use crate::model::limits;
use crate::process::{ChildEnv, EnvValue, editor, lookup};
use crate::unit::plan::UnitName;
use draft::{Draft, Look};

/// Rounds through the editor: a script in its place must come to an end.
const ROUNDS_MAX: usize = 100;

/// Editors to look for where neither variable says which.
const EDITORS: [&str; 5] = ["editor", "nano", "vim", "vi", "emacs"];

/// `workagent edit UNIT`
#[derive(Debug, Args)]
pub struct EditArgs {
    /// The unit
    unit: String,
    /// Edit a whole copy in your own directory instead of a drop-in with the keys that differ
    #[arg(long)]
    full: bool,
    /// Only until the machine is switched off: write into the runtime directory
    #[arg(long)]
    runtime: bool,
    /// Let a text with new errors be saved, if you say so when asked
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub fn command(args: EditArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let set = UnitSet::read(context);
    let name = names::find(&set, &args.unit)?;
    let draft = Draft::new(&set, &set.own(args.runtime)?, &name, args.full)?;
    let copy = Copy::new(&name, &draft.offered())?;
    let editor = editor(context)?;
    for _ in 0..ROUNDS_MAX {
        let opened = editor::open(&editor, &copy.path);
        let text = copy.read()?;
        if let Err(error) = opened {
            let failed = CliError::doing("edit the unit", &error);
            return Err(if draft.is_as_offered(&text) { failed } else { failed.hint(copy.keep()) });
        }
        let edited = text;
        let text = draft.kept(&edited);
        if draft.is_unchanged(&text) {
            writeln!(context.out, "nothing was changed")?;
            if draft.is_below_the_mark(&edited) {
                let kept = copy.keep();
                context.note(&format!("note: what stands below the mark is not taken; {kept}\n"));
            }
            return Ok(exit::OK);
        }
        let look = draft.look(&set, &text);
        show(context, &look);
        if look.new_errors == 0 {
            return save(context, &set, &draft, &text, copy);
        }
        let errors = super::look::count(look.new_errors, "new error");
        match ask(context, &format!("this brings {errors}."), args.force)? {
            Answer::Again => {}
            Answer::Save => return save(context, &set, &draft, &text, copy),
            Answer::Discard => {
                writeln!(context.out, "{} is as it was", set.short(&draft.file.path))?;
                context.note(&format!("note: {}\n", copy.keep()));
                return Ok(exit::FAILURE);
            }
        }
    }
    Err(CliError::new(exit::FAILURE, "edited too often without coming to an end").hint(copy.keep()))
}

fn show(context: &Context<'_>, look: &Look) {
    let style = Style { colour: context.colour_err(), width: context.width() };
    context.note(&render::render(&look.findings, &look.compiled.sources, style));
}

fn save(
    context: &mut Context<'_>,
    set: &UnitSet,
    draft: &Draft,
    text: &str,
    copy: Copy,
) -> Result<u8, CliError> {
    let path = &draft.file.path;
    if draft.changed_meanwhile() {
        let error = format!("{} was changed by somebody else meanwhile", set.short(path));
        return Err(CliError::new(exit::FAILURE, error).hint(copy.keep()));
    }
    let written = if text.trim().is_empty() {
        // An empty drop-in says nothing; who empties it wants it gone.
        write::remove(path).map(|()| "removed")
    } else {
        write::write(path, text).map(|()| "wrote")
    };
    match written {
        Ok(word) => {
            writeln!(context.out, "{word} {}", set.short(path))?;
            Ok(exit::OK)
        }
        Err(error) => {
            let kept = copy.keep();
            Err(CliError { hint: Some(kept), ..error })
        }
    }
}

enum Answer {
    Again,
    Save,
    Discard,
}

fn ask(context: &mut Context<'_>, what: &str, force: bool) -> Result<Answer, CliError> {
    let save = if force { "  [s]ave anyway" } else { "" };
    for _ in 0..ROUNDS_MAX {
        context.out.flush()?;
        context.note(&format!("{what} [e]dit again  [d]iscard{save}: "));
        let mut answer = String::new();
        if std::io::stdin().lock().read_line(&mut answer)? == 0 {
            context.note("\n");
            return Ok(Answer::Discard);
        }
        match answer.trim() {
            "e" | "edit" => return Ok(Answer::Again),
            "d" | "discard" => return Ok(Answer::Discard),
            "s" | "save" if force => return Ok(Answer::Save),
            _ => {}
        }
    }
    Ok(Answer::Discard)
}

/// The editor that the user wants.
fn editor(context: &Context<'_>) -> Result<OsString, CliError> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| context.environment.get_os(name));
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        return Ok(named.to_owned());
    }
    let path = context.environment.get_os("PATH").unwrap_or_default().to_owned();
    let env = ChildEnv([("PATH".to_owned(), EnvValue::Plain(path))].into());
    let found = EDITORS.iter().find_map(|name| lookup::find(name.as_ref(), &env).ok());
    found
        .map(PathBuf::into_os_string)
        .ok_or_else(|| CliError::new(exit::FAILURE, "no editor was found").hint("set VISUAL or EDITOR"))
}

/// The copy that is edited, in a directory of its own so that it has the unit's name.
struct Copy {
    dir: tempfile::TempDir,
    path: PathBuf,
}

impl Copy {
    fn new(name: &UnitName, text: &str) -> Result<Self, CliError> {
        let failed = |error: std::io::Error| {
            CliError::new(exit::FAILURE, format!("write a copy for the editor: {error}"))
        };
        use std::os::unix::fs::PermissionsExt as _;
        // Who put a token into a unit file does not get it spread; without this the directory is anybody's to read.
        let dir = tempfile::Builder::new()
            .prefix("workagent-edit-")
            .permissions(std::fs::Permissions::from_mode(0o700))
            .tempdir()
            .map_err(failed)?;
        let path = dir.path().join(format!("{name}.toml"));
        std::fs::write(&path, text).map_err(failed)?;
        Ok(Self { dir, path })
    }

    fn read(&self) -> Result<String, CliError> {
        use std::io::Read as _;
        let mut text = String::new();
        let limit = limits::UNIT_FILE_BYTES_MAX + 1;
        std::fs::File::open(&self.path)
            .and_then(|file| file.take(limit).read_to_string(&mut text))
            .map_err(|error| CliError::new(exit::FAILURE, format!("read what the editor saved: {error}")))?;
        Ok(text)
    }

    /// Leaves the text where it is, and says where.
    fn keep(self) -> String {
        let path: &Path = &self.path;
        let text = format!("your text is kept in {}", path.display());
        let _ = self.dir.keep();
        text
    }
}
