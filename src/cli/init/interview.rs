//! The talk from the first question to the last. Back and forth as one likes; nothing is written.

mod engine;
pub mod meant;

use std::fmt::Write as _;

use self::meant::{meant, said};
use super::choices::Choice;
use super::draft::{Connect, Draft};
use super::guides::{Ask, GUIDES};
use super::here::{Here, Refused};
use super::log_in;
use super::mail_hosts;
use super::plan::plan;
use super::talk::{Answer, Question, Talk};
use crate::bundle::backlog::Counted;
use crate::cli::error::CliError;
use crate::cli::look::count;
use crate::diag::render::{self, Style};
use crate::model::class::ErrorClass;
use crate::secret::SecretValue;
use crate::unit::plan::{Plan, Standing};

/// Tries of one login before the talk goes on without it.
const LOGINS_MAX: usize = 20;

/// Where the talk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    What,
    Connect(usize),
    Engine,
    Mode,
    Service,
}

/// Where it goes from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    On,
    Back,
    Leave,
}

/// A talk.
pub struct Interview<'a, 't> {
    /// The person.
    pub talk: &'a mut Talk<'t>,
    /// What is there.
    pub here: &'a Here,
    /// The service is asked about.
    pub ask_service: bool,
    /// Who could answer.
    pub choices: &'a [Choice],
    /// What was said.
    pub draft: Draft,
}

impl Interview<'_, '_> {
    /// From the first question (`what`: those words were given for its answer), or, `from_the_end`, from the last.
    /// `false`: the person left.
    ///
    /// # Errors
    /// The terminal.
    pub async fn hold(&mut self, what: &str, from_the_end: bool) -> Result<bool, CliError> {
        let mut stage = if from_the_end { Stage::Service } else { Stage::What };
        let mut way_back = from_the_end;
        if !what.is_empty() && !from_the_end {
            self.draft.connect = self.meant(what).map_err(CliError::usage)?;
            stage = if self.draft.connect.is_empty() { Stage::Engine } else { Stage::Connect(0) };
        }
        loop {
            let way = match stage {
                Stage::What => self.what()?,
                Stage::Connect(index) => self.connect(index).await?,
                Stage::Engine => self.engine()?,
                Stage::Mode => self.mode()?,
                Stage::Service => self.service(way_back)?,
            };
            way_back = way == Way::Back;
            let last = self.draft.connect.len().checked_sub(1);
            stage = match (way, stage) {
                (Way::Leave, _) => return Ok(false),
                (Way::On, Stage::What) if last.is_some() => Stage::Connect(0),
                (Way::On, Stage::What) => Stage::Engine,
                (Way::On, Stage::Connect(index)) if last.is_some_and(|last| index < last) => {
                    Stage::Connect(index + 1)
                }
                (Way::On, Stage::Connect(_)) => Stage::Engine,
                (Way::On, Stage::Engine) => Stage::Mode,
                (Way::On, Stage::Mode) => Stage::Service,
                (Way::On, Stage::Service) => return Ok(true),
                (Way::Back, Stage::Service) => Stage::Mode,
                (Way::Back, Stage::Connect(index)) if index > 0 => Stage::Connect(index - 1),
                (Way::Back, Stage::Engine) => last.map_or(Stage::What, Stage::Connect),
                (Way::Back, Stage::Mode) => Stage::Engine,
                (Way::Back, Stage::What | Stage::Connect(_)) => Stage::What,
            };
        }
    }

    fn what(&mut self) -> Result<Way, CliError> {
        let known = self.here.own_connectors();
        let words: Vec<&str> = GUIDES.iter().map(|guide| guide.what).collect();
        self.talk.say("\nWhat to connect? One of these, or several:\n")?;
        self.talk.tell("    ", &words.join(" "))?;
        if !known.is_empty() {
            let text =
                format!("or one that is there, to change it: {} (one more mailbox: mail+)", known.join(" "));
            self.talk.tell("    ", &text)?;
        }
        let before = self.draft.connect.iter().map(said).collect::<Vec<_>>().join(" ");
        let usual = match (before.as_str(), known.is_empty()) {
            ("", true) => "mail",
            ("", false) => "none",
            (before, _) => before,
        };
        let help = "A word for each account, with blanks between. Of each the keys are asked for that it needs; \
                    `none` goes on without one; a plus behind it, as in mail+, means one more of a kind that is there. Programs of yours and MCP servers are connected by a unit that you \
                    write: workagent new connector NAME --from command";
        let meant = {
            let (draft, here) = (&self.draft, self.here);
            self.talk
                .ask(&Question::new("Connect", Some(usual), help), &mut |typed| meant(draft, here, typed))?
        };
        Ok(match meant {
            Answer::Is(connect) => {
                self.draft.connect = connect;
                Way::On
            }
            // There is nothing before the first question.
            Answer::Back => Way::Back,
            Answer::Leave => Way::Leave,
        })
    }

    fn meant(&self, typed: &str) -> Result<Vec<Connect>, String> {
        meant(&self.draft, self.here, typed)
    }

    /// The keys of one connector, until its login works or the person wants it all the same.
    async fn connect(&mut self, index: usize) -> Result<Way, CliError> {
        let Some(mut connect) = self.draft.connect.get(index).cloned() else { return Ok(Way::On) };
        let guide = connect.guide;
        let name = format!("{}.connector", connect.name);
        self.talk.say(&format!("\n{} ({name})\n", self.talk.paint.bold(guide.title)))?;
        self.talk.tell("    ", guide.needs)?;
        let mut from = 0;
        for _ in 0..LOGINS_MAX {
            match self.keys(&mut connect, from).await? {
                Way::On => {}
                way => return Ok(way),
            }
            if let Some(slot) = self.draft.connect.get_mut(index) {
                *slot = connect.clone();
            }
            let Some(plan) = self.compiled(&connect)? else {
                from = 0;
                continue;
            };
            self.talk.say("    trying it …\n")?;
            match self.here.log_in(&plan, &connect.name).await {
                Ok(text) => {
                    self.talk.tell("    ", &format!("it works: {text}"))?;
                    return self.backlog(index, &plan).await;
                }
                Err(refused) => match self.refused(&mut connect, &refused)? {
                    Some(again) => from = again,
                    None => return Ok(self.kept(index, connect)),
                },
            }
        }
        Ok(self.kept(index, connect))
    }

    fn kept(&mut self, index: usize, connect: Connect) -> Way {
        if let Some(slot) = self.draft.connect.get_mut(index) {
            *slot = connect;
        }
        Way::On
    }

    /// What after a login that did not work: from which question on it is asked again, or `None` to go on with it.
    fn refused(&mut self, connect: &mut Connect, refused: &Refused) -> Result<Option<usize>, CliError> {
        let mark = self.talk.paint.red("it does not work").to_string();
        self.talk.say(&format!("    {mark}\n"))?;
        self.talk.tell("      ", &refused.text)?;
        let certificate = refused.text.to_lowercase().contains("certificate");
        connect.wants_ca = connect.wants_ca || certificate;
        let help = "again: the questions once more, Enter takes what you said. keep: goes on with it as it is; the unit \
                    waits until you mend it, and `workagent status` says so.";
        let answer =
            self.talk.ask(
                &Question::new("again or keep", Some("again"), help),
                &mut |typed| match typed {
                    "again" | "a" => Ok(true),
                    "keep" | "k" => Ok(false),
                    _ => Err("again or keep".to_owned()),
                },
            )?;
        let asks = connect.guide.asks;
        let first_secret = asks.iter().position(|ask| connect.is_secret(ask.key)).unwrap_or(0);
        Ok(match answer {
            Answer::Is(false) => None,
            // A wrong password is the usual reason; < leads to the others.
            Answer::Is(true) if refused.class == Some(ErrorClass::Auth) => Some(first_secret),
            Answer::Is(true) if certificate => {
                Some(asks.iter().position(|ask| ask.key == "ca_file").unwrap_or(0))
            }
            Answer::Is(true) | Answer::Back | Answer::Leave => Some(0),
        })
    }

    /// Asks for the keys from the given one on.
    async fn keys(&mut self, connect: &mut Connect, from: usize) -> Result<Way, CliError> {
        let asks = connect.guide.asks;
        let mut at = from;
        while let Some(ask) = asks.get(at) {
            let answered = if !(ask.shown)(connect) {
                Answer::Is(())
            } else if connect.is_secret(ask.key) {
                self.secret(connect, ask).await?
            } else {
                self.key(connect, ask)?
            };
            match answered {
                Answer::Is(()) => at += 1,
                Answer::Leave => return Ok(Way::Leave),
                Answer::Back => {
                    match (0..at).rev().find(|at| asks.get(*at).is_some_and(|ask| (ask.shown)(connect))) {
                        Some(before) => at = before,
                        None => return Ok(Way::Back),
                    }
                }
            }
            if at == 1 && connect.guide.platform == "imap" {
                self.provider(connect)?;
            }
        }
        Ok(Way::On)
    }

    /// A well-known provider's servers are not asked for.
    fn provider(&mut self, connect: &mut Connect) -> Result<(), CliError> {
        if mail_hosts::is_unknown(connect) {
            return Ok(());
        }
        let Some(provider) = connect.text("user").and_then(|user| mail_hosts::provider(&user)) else {
            return Ok(());
        };
        connect.put("host", provider.imap);
        connect.put("smtp_host", &format!("{}:{}", provider.smtp, provider.smtp_port));
        self.talk.say(&format!("    servers: {}, {}\n", provider.imap, provider.smtp))?;
        if !provider.note.is_empty() {
            self.talk.tell("    ", &format!("The provider {}.", provider.note))?;
        }
        Ok(())
    }

    fn key(&mut self, connect: &mut Connect, ask: &Ask) -> Result<Answer<()>, CliError> {
        let usual = shown_value(connect, ask.key).or_else(|| (ask.usual)(connect));
        let usual = usual.or_else(|| ask.optional.then(String::new));
        let help = connect.spec(ask.key).map_or("", |spec| spec.doc);
        let question =
            if ask.optional { format!("{} (may be empty)", ask.question) } else { ask.question.to_owned() };
        let wants_address = connect.guide.platform == "imap" && ask.key == "user";
        let question = Question::new(&question, usual.as_deref(), help);
        let answer = self.talk.ask(&question, &mut |typed| {
            if wants_address && !typed.contains('@') {
                return Err("a mail address has an @".to_owned());
            }
            Ok(typed.to_owned())
        })?;
        Ok(match answer {
            Answer::Is(typed) => {
                connect.put(ask.key, &typed);
                Answer::Is(())
            }
            Answer::Back => Answer::Back,
            Answer::Leave => Answer::Leave,
        })
    }

    async fn secret(&mut self, connect: &mut Connect, ask: &Ask) -> Result<Answer<()>, CliError> {
        let name = connect.secret_name(ask.key);
        let held = self.here.typed.is_there(&name).await;
        let can_log_in = ask.key == "token" && log_in::is_known(connect.guide.platform);
        let mut text = ask.question.to_owned();
        if held {
            text.push_str(", Enter keeps the one that is there");
        } else if can_log_in {
            text.push_str(", Enter alone logs in with an OAuth app of yours");
        } else if ask.optional {
            text.push_str(", may be empty");
        }
        let usual = (held || can_log_in || ask.optional).then_some("");
        let doc = connect.spec(ask.key).map_or("", |spec| spec.doc);
        let help = format!("{doc}. It goes into the secret store as {name}, and the unit names it.");
        let question = Question { text: &text, usual, help: &help, hidden: true };
        match self.talk.ask(&question, &mut |typed| Ok(SecretValue::new(typed.to_owned())))? {
            Answer::Back => return Ok(Answer::Back),
            Answer::Leave => return Ok(Answer::Leave),
            Answer::Is(value) if value.is_empty() => {
                if !held && can_log_in {
                    return log_in::by_client(self.talk, self.here, connect, ask.key).await;
                }
                if !held {
                    connect.secrets.remove(ask.key);
                    return Ok(Answer::Is(()));
                }
            }
            Answer::Is(value) => self.here.typed.put(&name, value, None),
        }
        connect.secrets.insert(ask.key.to_owned(), name);
        Ok(Answer::Is(()))
    }

    /// The plan with this connector in it; `None` after saying what is wrong with what was typed.
    fn compiled(&mut self, connect: &Connect) -> Result<Option<Plan>, CliError> {
        let draft = Draft { connect: vec![connect.clone()], ..Draft::default() };
        let files: Vec<_> = plan(&draft, self.here)?.into_iter().map(|one| one.file).collect();
        let (compiled, errors) = self.here.errors(&files);
        if errors.is_empty() {
            return Ok(Some(compiled.plan));
        }
        let style = Style { colour: self.talk.paint.colour, width: self.talk.width };
        let text = render::render(&errors, &compiled.sources, style);
        self.talk.say(&text)?;
        Ok(None)
    }

    /// What is there already, and what of it is worked on.
    async fn backlog(&mut self, index: usize, plan: &Plan) -> Result<Way, CliError> {
        let Some(name) = self.draft.connect.get(index).map(|connect| connect.name.clone()) else {
            return Ok(Way::On);
        };
        let counted = match self.here.count(plan, &name).await {
            Ok(counted) => counted,
            Err(refused) => {
                let text = format!("what is there already could not be counted: {}", refused.text);
                self.talk.tell("    ", &text)?;
                return Ok(Way::On);
            }
        };
        if counted.items == 0 {
            self.talk.say("    nothing is there yet that would be worked on\n")?;
            self.set_backlog(index, "new");
            return Ok(Way::On);
        }
        let before = self.draft.connect.get(index).and_then(|connect| connect.backlog.clone());
        let usual = before.unwrap_or_else(|| "new".to_owned());
        self.talk.say(&told(&counted))?;
        let help = "new: what is there already is recorded and left alone. 7d: what came within a week is worked on. \
                    all: everything is. A time such as 30d does, too. A draft is made for each case; nothing is sent \
                    without you.";
        let question = Question::new("    Work on", Some(&usual), help);
        let answer = self.talk.ask(&question, &mut |typed| match typed {
            "new" | "all" => Ok(typed.to_owned()),
            _ if crate::unit::parse_duration(typed).is_some() => Ok(typed.to_owned()),
            _ => Err("new, all, or a time such as 7d".to_owned()),
        })?;
        Ok(match answer {
            Answer::Is(backlog) => {
                self.set_backlog(index, &backlog);
                Way::On
            }
            Answer::Back => Way::Back,
            Answer::Leave => Way::Leave,
        })
    }

    fn set_backlog(&mut self, index: usize, backlog: &str) {
        if let Some(connect) = self.draft.connect.get_mut(index) {
            connect.backlog = Some(backlog.to_owned());
        }
    }

    fn mode(&mut self) -> Result<Way, CliError> {
        let plan = &self.here.set.compiled.plan;
        let first = !plan.connectors.values().any(|standing| matches!(standing, Standing::Active(_)));
        if !first && !plan.daemon.rehearsal && self.draft.rehearsal.is_none() {
            // It is live, and the person saw to that; `--answers` and `workagent edit` can change it.
            return Ok(Way::On);
        }
        let usual = self.draft.rehearsal.unwrap_or(true);
        self.talk.say("\n")?;
        let help = "In a rehearsal everything happens but the sending: it reads, drafts, and you decide; what you approve \
                    is held. `workagent init --live` ends it.";
        let answer = self.talk.yes("Rehearse first, sending nothing", usual, help)?;
        Ok(taken(answer, |rehearsal| self.draft.rehearsal = Some(rehearsal)))
    }

    /// Whether the daemon is to run by itself from now on.
    fn service(&mut self, way_back: bool) -> Result<Way, CliError> {
        if !self.ask_service || !self.here.can_install || self.here.daemon {
            return Ok(passed_over(way_back));
        }
        let help = "The daemon starts now and at each login, and is started again if it falls over: what `workagent service \
                    install` does, and `workagent service uninstall` takes back. Without it: workagent run";
        let usual = self.draft.service || self.draft.rehearsal.is_some();
        let answer = self.talk.yes("Run it as a service of yours, from now on", usual, help)?;
        Ok(taken(answer, |service| self.draft.service = service))
    }
}

/// Where nothing is to be asked, it goes on the way it came.
fn passed_over(way_back: bool) -> Way {
    if way_back { Way::Back } else { Way::On }
}

fn taken<T>(answer: Answer<T>, take: impl FnOnce(T)) -> Way {
    match answer {
        Answer::Is(value) => {
            take(value);
            Way::On
        }
        Answer::Back => Way::Back,
        Answer::Leave => Way::Leave,
    }
}

/// What a key holds, with the port where it has another than usual.
fn shown_value(connect: &Connect, key: &str) -> Option<String> {
    let port = match (connect.guide.platform, key) {
        ("imap", "host") => connect.text("port"),
        ("imap", "smtp_host") => connect.text("smtp_port"),
        _ => None,
    };
    let value = connect.text(key)?;
    Some(port.map_or_else(|| value.clone(), |port| format!("{value}:{port}")))
}

/// Of what is there already.
fn told(counted: &Counted) -> String {
    let week = counted.younger.first().copied().unwrap_or(0);
    let more = if counted.whole { "" } else { "+" };
    let Counted { items, cases, passed_over, .. } = counted;
    let usize_of = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut text = format!(
        "    there already: {items}{more} to work on ({}{more}), {week} of them from the last 7 days\n",
        count(usize_of(*cases), "case")
    );
    if *passed_over > 0 {
        let _ = writeln!(text, "    {passed_over} more are bulk, automatic or your own: never for an engine");
    }
    text
}
