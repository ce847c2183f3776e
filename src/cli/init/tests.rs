//! Whole talks by a script, in a home of their own. No network but a look at three ports of this machine.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::talk::{Lines, Typed};
use super::*;
use crate::cli::context::{ColourChoice, GlobalArgs};
use crate::model::environment::Environment;
use crate::model::time::Clock;

const CANARY: &str = "canary-f3Kq9Zt7";

/// Says these lines, then is gone; a terminal shows them.
struct Script(VecDeque<String>, Screen);

impl Lines for Script {
    fn line(&mut self, hidden: bool) -> io::Result<Typed> {
        let shown = self.0.front().filter(|_| !hidden).cloned().unwrap_or_default();
        writeln!(self.1, "{shown}")?;
        Ok(self.0.pop_front().map_or(Typed::Gone, Typed::Line))
    }
}

/// What is shown is kept.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A home with a Maildir `in` that holds one mail.
struct Home(tempfile::TempDir);

/// What came of a command.
#[derive(Debug)]
struct Came {
    result: Result<u8, CliError>,
    said: String,
    out: String,
}

impl Came {
    fn error(&self) -> &str {
        &self.result.as_ref().unwrap_err().message
    }
}

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::Builder::new().prefix("wa-").tempdir().unwrap());
        let mail = "From: Pat <pat@example.org>\nTo: me@example.org\nSubject: One\nMessage-ID: <1@example.org>\n\nhello\n";
        for dir in ["cur", "tmp", "new"] {
            std::fs::create_dir_all(home.at("in").join(dir)).unwrap();
        }
        home.write("in/new/1700000000.M1P1.host", mail);
        home
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn unit(&self, file: &str) -> String {
        std::fs::read_to_string(self.at(&format!(".config/workagent/units/{file}"))).unwrap()
    }

    /// Every file but the mail that is read, by its path below the home.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let (mut found, mut todo) = (Vec::new(), vec![self.0.path().to_owned()]);
        while let Some(dir) = todo.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    todo.push(path);
                } else {
                    let name = path.strip_prefix(self.0.path()).unwrap().display().to_string();
                    found.push((name, std::fs::read(path).unwrap()));
                }
            }
        }
        found.retain(|(name, _)| !name.starts_with("in/") && name != "answers.toml");
        found.sort();
        found
    }

    fn run(&self, args: InitArgs, lines: &[&str]) -> Came {
        let home = self.0.path().display().to_string();
        let pairs = [("HOME", home.as_str()), ("PATH", "/nowhere"), ("USER", "me"), ("SECRET", CANARY)];
        let global =
            GlobalArgs { unit_dir: Vec::new(), state_dir: None, color: ColourChoice::Never, no_pager: true };
        let (mut out, screen) = (Vec::new(), Screen::default());
        let lines = lines.iter().map(|line| line.replace("{home}", &home)).collect();
        let environment = Environment::of(pairs);
        let (pages, scrubber) = (String::new(), crate::secret::Scrubber::default());
        let result = {
            let mut context =
                Context { environment, global, clock: Clock::system(), out: &mut out, pages, scrubber };
            let threads = crate::cli::threads(1).unwrap();
            threads.block_on(async {
                if args.answers.is_some() {
                    return command(args, &mut context).await;
                }
                let paint = Paint { colour: false };
                let mut talk =
                    Talk::new(Box::new(Script(lines, screen.clone())), Box::new(screen.clone()), paint, 80);
                by_talk(&args, &mut talk, &mut context).await
            })
        };
        let said = String::from_utf8(screen.0.lock().unwrap().clone()).unwrap();
        Came { result, said, out: String::from_utf8(out).unwrap() }
    }

    fn talk(&self, lines: &[&str]) -> Came {
        self.run(InitArgs { no_service: true, ..InitArgs::default() }, lines)
    }

    fn answers(&self, text: &str) -> Came {
        self.write("answers.toml", &text.replace("{home}", &self.0.path().display().to_string()));
        let answers = Some(self.at("answers.toml"));
        self.run(InitArgs { answers, ..InitArgs::default() }, &[])
    }

    /// Errors in unit files, by the compiler of `validate`.
    fn errors(&self) -> usize {
        let home = self.0.path().display().to_string();
        let environment = Environment::of([("HOME", home.as_str())]);
        let args = crate::cli::validate::ValidateArgs::default();
        let style = Style { colour: false, width: 80 };
        let mut out = Vec::new();
        let code = crate::cli::validate::validate(&args, &environment, style, &mut out).unwrap();
        assert_eq!(code == 0, !String::from_utf8_lossy(&out).contains("error:"));
        usize::from(code)
    }
}

/// From nothing to a Maildir that is answered by a template, in a rehearsal.
const BOX: [&str; 9] = ["maildir", "{home}/in", "me@example.org", "", "all", "template", "", "yes", "yes"];

#[test]
fn from_nothing_to_a_setup_that_compiles() {
    let home = Home::new();
    let came = home.talk(&BOX);
    assert_eq!(*came.result.as_ref().unwrap(), exit::OK, "{came:#?}");
    assert_eq!(home.errors(), 0);
    let text = home.unit("maildir.connector.toml");
    assert!(text.starts_with("#:schema ../schema/connector.json\n"), "{text}");
    assert!(text.contains("backlog = \"all\""), "{text}");
    assert!(home.unit("workagent.daemon.toml").contains("mode = \"rehearsal\""));
    assert!(home.unit("all.route.toml").contains("engines = [\"template\"]"));
    assert!(home.at(".config/workagent/schema/connector.json").is_file());
    for told in ["it works: ", "1 to work on (1 case)", "This will be written:", "it is a rehearsal"] {
        assert!(came.said.contains(told), "{told}: {}", came.said);
    }
    assert!(came.out.contains("workagent review"), "{}", came.out);
    assert!(came.said.lines().all(|line| line.chars().count() <= 80), "{}", came.said);
}

#[test]
fn a_second_run_has_nothing_to_do_and_says_so() {
    let home = Home::new();
    home.talk(&BOX);
    let before = home.files();
    let again = home.talk(&["none", "keep", ""]);
    assert_eq!(again.result.unwrap(), exit::OK, "{}", again.said);
    assert!(again.said.contains("nothing to do"), "{}", again.said);
    assert_eq!(home.files(), before);
}

#[test]
fn whoever_leaves_at_any_question_leaves_nothing_behind() {
    for answered in 0..BOX.len() {
        let home = Home::new();
        let came = home.talk(&BOX[..answered]);
        assert_eq!(came.result.unwrap(), exit::FAILURE);
        assert!(came.said.ends_with("nothing was written\n"), "{}", came.said);
        assert_eq!(home.files(), [], "after {answered} answers");
    }
    let home = Home::new();
    let mut refused = BOX;
    refused[8] = "no";
    assert_eq!(home.talk(&refused).result.unwrap(), exit::FAILURE);
    assert_eq!(home.files(), []);
}

#[test]
fn one_goes_back_and_answers_stay() {
    let home = Home::new();
    // Back from the engine over the backlog's question, which is asked anew with its login, and from the summary.
    let lines = [
        "maildir",
        "<",
        "",
        "{home}/in",
        "me@example.org",
        "",
        "all",
        "<",
        "",
        "",
        "",
        "",
        "template",
        "",
        "yes",
        "<",
        "no",
        "yes",
    ];
    let came = home.talk(&lines);
    assert_eq!(*came.result.as_ref().unwrap(), exit::OK, "{came:#?}");
    assert!(home.unit("maildir.connector.toml").contains("backlog = \"all\""));
    assert!(!home.at(".config/workagent/units/workagent.daemon.toml").exists());
}

#[test]
fn what_does_not_work_is_told_and_asked_again() {
    let home = Home::new();
    let lines = [
        "maildir",
        "{home}/not-there",
        "me@example.org",
        "",
        "",
        "{home}/in",
        "",
        "",
        "new",
        "template",
        "",
        "",
        "",
    ];
    let came = home.talk(&lines);
    assert_eq!(*came.result.as_ref().unwrap(), exit::OK, "{came:#?}");
    assert!(came.said.contains("it does not work"), "{}", came.said);
    assert!(home.unit("maildir.connector.toml").contains("/in\""));
}

#[test]
fn a_unit_that_is_there_is_changed_in_place_and_shown_as_a_difference() {
    let home = Home::new();
    home.talk(&BOX);
    let path = ".config/workagent/units/maildir.connector.toml";
    let edited = home.unit("maildir.connector.toml").replace("[maildir]", "[maildir] # mine, do not touch");
    home.write(path, &edited);
    for dir in ["cur", "tmp", "new"] {
        std::fs::create_dir_all(home.at("other").join(dir)).unwrap();
    }
    let came = home.talk(&["maildir", "{home}/other", "", "", "keep", "yes", "yes"]);
    assert_eq!(*came.result.as_ref().unwrap(), exit::OK, "{came:#?}");
    let text = home.unit("maildir.connector.toml");
    assert!(text.contains("[maildir] # mine, do not touch") && text.contains("/other\""), "{text}");
    assert!(came.said.contains("-path = ") && came.said.contains("+path = "), "{}", came.said);
    // A second one gets a unit of its own.
    let came = home.talk(&["maildir+", "{home}/in", "me@example.org", "", "new", "keep", "yes", "yes"]);
    assert!(came.out.contains("maildir-2.connector.toml"), "{came:#?}");
    assert_eq!(home.unit("maildir.connector.toml"), text);
}

#[test]
fn going_live_is_one_question() {
    let home = Home::new();
    home.talk(&BOX);
    let live = || InitArgs { live: true, ..InitArgs::default() };
    let came = home.run(live(), &["yes"]);
    assert_eq!(*came.result.as_ref().unwrap(), exit::OK, "{came:#?}");
    assert!(home.unit("workagent.daemon.toml").contains("mode = \"live\""));
    assert!(home.run(live(), &[]).said.contains("nothing to do"));
}

const MAIL: &str = "\
[[connect]]
what = \"mail\"
user = \"me@example.org\"
host = \"127.0.0.1:9\"
smtp_host = \"smtp.example.org\"
password = { env = \"SECRET\" }
[engine]
use = \"template\"
[init]
verify = false
";

#[test]
fn a_file_answers_all_and_its_secrets_are_only_in_the_store() {
    let home = Home::new();
    let came = home.answers(MAIL);
    // Nobody listens there: it is written as was asked for, and said to be not well.
    assert_eq!(*came.result.as_ref().unwrap(), exit::NOT_WELL, "{came:#?}");
    assert_eq!(home.errors(), 0);
    assert!(home.unit("inbox.connector.toml").contains("password = { secret = \"mail/me@example.org\" }"));
    for (name, bytes) in home.files() {
        assert!(!String::from_utf8_lossy(&bytes).contains(CANARY), "{name}");
    }
    assert!(!format!("{came:?}").contains(CANARY));
    let before = home.files();
    let again = home.answers(MAIL);
    assert_eq!(*again.result.as_ref().unwrap(), exit::OK, "{again:#?}");
    assert_eq!((again.out.as_str(), home.files()), ("nothing to do: it is all there already\n", before));
}

#[test]
fn a_secret_goes_where_the_plan_keeps_secrets_or_nowhere() {
    let home = Home::new();
    home.write(".config/workagent/units/workagent.daemon.toml", "[secrets]\nbackend = \"env\"\n");
    let before = home.files();
    let came = home.answers(&format!("{MAIL}change_existing = true\n"));
    assert!(came.error().contains("all is as it was"), "{came:#?}");
    assert!(
        came.error().contains("it cannot be set from here: it comes from the daemon's environment"),
        "{came:#?}"
    );
    assert_eq!(home.files(), before);
}

#[test]
fn a_file_changes_nothing_that_is_there_unless_it_says_so() {
    let home = Home::new();
    home.answers(MAIL);
    let before = home.files();
    let other = MAIL.replace("smtp.example.org", "mx.example.org");
    let came = home.answers(&other);
    assert!(came.error().contains("is there already"), "{came:#?}");
    assert!(came.out.contains("+smtp_host = \"mx.example.org\""), "{}", came.out);
    assert_eq!(home.files(), before);
    let came = home.answers(&format!("{other}change_existing = true\n"));
    assert_eq!(came.result.unwrap(), exit::NOT_WELL);
    assert!(home.unit("inbox.connector.toml").contains("mx.example.org"));
}

#[test]
fn a_login_that_does_not_work_leaves_nothing_behind() {
    let home = Home::new();
    let came = home.answers(&MAIL.replace("verify = false", "verify = true"));
    assert!(came.error().contains("nothing was written"), "{came:#?}");
    assert_eq!(home.files(), []);
}

#[test]
fn a_file_that_says_something_else_is_refused_without_a_value() {
    let check = |from: &str, to: &str, expected: &str| {
        let home = Home::new();
        let text = MAIL.replace(from, to);
        assert_ne!(text, MAIL, "{from}");
        let came = home.answers(&text);
        assert!(came.error().contains(expected), "{came:#?}");
        assert!(!format!("{came:?}").contains(CANARY), "{came:?}");
        assert_eq!(home.files(), []);
    };
    check("{ env = \"SECRET\" }", &format!("\"{CANARY}\""), "never written here");
    check("{ env = \"SECRET\" }", &format!("\"{CANARY}"), "line 6");
    check("{ env = \"SECRET\" }", "{ env = \"NOT_THERE\" }", "NOT_THERE is not set");
    check("{ env = \"SECRET\" }", "{ stored = \"nothing\" }", "workagent secret set nothing");
    check("what = \"mail\"", "what = \"fax\"", "github");
    check("smtp_host", "smtphost", "no key `smtphost`");
    check("use = \"template\"", "use = \"oracle\"", "template");
    check("verify", "verifie", "no key `verifie`");
    check("[init]", "[inti]", "`inti`");
}

#[test]
fn the_template_is_a_file_of_answers() {
    let home = Home::new();
    let text =
        answers::template().replace("MAIL_PASSWORD", "SECRET").replace("imap.example.org", "127.0.0.1:9");
    let came = home.answers(&text.replace("verify = true ", "verify = false "));
    assert_eq!(*came.result.as_ref().unwrap(), exit::NOT_WELL, "{came:#?}");
    assert!(home.unit("workagent.daemon.toml").contains("rehearsal"));
}

#[test]
fn answers_that_were_given_can_be_given_again() {
    let home = Home::new();
    let args = InitArgs { dry_run: true, print_answers: true, no_service: true, ..InitArgs::default() };
    let given = home.run(args, &BOX[..8]);
    assert_eq!(*given.result.as_ref().unwrap(), exit::OK, "{given:#?}");
    assert_eq!(home.files(), []);
    let came = home.answers(&given.out);
    assert_eq!(*came.result.as_ref().unwrap(), exit::OK, "{came:#?}\n{}", given.out);
    let other = Home::new();
    other.talk(&BOX);
    let names = |home: &Home| home.files().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&home), names(&other));
}

#[test]
fn what_cannot_be_written_is_taken_back() {
    let home = Home::new();
    // The last file that is written cannot be: its name leads to a device.
    let units = home.at(".config/workagent/units");
    std::fs::create_dir_all(&units).unwrap();
    std::os::unix::fs::symlink("/dev/null", units.join("inbox.connector.toml")).unwrap();
    let came = home.answers(MAIL);
    assert!(came.result.is_err(), "{came:#?}");
    let names: Vec<String> = std::fs::read_dir(&units)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["inbox.connector.toml"], "{came:#?}");
    let secrets =
        home.run(InitArgs { no_service: true, ..InitArgs::default() }, &["mail", "me@example.org", "", ""]);
    assert!(!secrets.said.contains("Enter keeps the one that is there"), "{}", secrets.said);
}
