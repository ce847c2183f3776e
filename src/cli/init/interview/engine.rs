//! Who answers: the list, and what else must be said of what was chosen.

use std::fmt::Write as _;

use super::{Interview, Way, taken};
use crate::cli::error::CliError;
use crate::cli::init::choices::{Asks, Choice};
use crate::cli::init::draft::Engine;
use crate::cli::init::talk::{Answer, Question};
use crate::cli::look::block;
use crate::secret::SecretValue;
use crate::unit::plan::Standing;

impl Interview<'_, '_> {
    /// Asks who answers.
    pub(super) fn engine(&mut self) -> Result<Way, CliError> {
        let routes = self.here.set.compiled.plan.routes.iter();
        let answers: Vec<String> = routes
            .filter_map(|(name, standing)| match standing {
                Standing::Active(route) => Some(format!("{name}.route → {}", route.engines.join(", "))),
                Standing::Off(_) => None,
            })
            .collect();
        self.talk.say("\nWho answers? (an engine drafts, you decide)\n")?;
        let mut list = String::new();
        for (number, choice) in self.choices.iter().enumerate() {
            let text = format!("{:>3}  {:<10} {}", number + 1, choice.engine.name, choice.told);
            let _ = writeln!(list, "{}", fit(&text, self.talk.width));
        }
        self.talk.say(&list)?;
        if !answers.is_empty() {
            let text = format!("     keep       as it is: {}", answers.join("; "));
            self.talk.say(&format!("{}\n", fit(&text, self.talk.width)))?;
        }
        let first = self.choices.iter().find(|choice| choice.ready).map(|choice| choice.engine.name.as_str());
        let before = self.draft.engine.as_ref().map(|engine| engine.name.as_str());
        let usual =
            before.or((!answers.is_empty()).then_some("keep")).or(first).unwrap_or("template").to_owned();
        let help = "The number or the word. What answers is a unit like any other: `workagent new engine NAME --from …` \
                    makes more of them, and routes say which case goes to which.";
        let keep = !answers.is_empty();
        let choices = self.choices;
        let answer = self.talk.ask(&Question::new("Engine", Some(&usual), help), &mut |typed| {
            if keep && typed == "keep" {
                return Ok(None);
            }
            let by_number =
                typed.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
            let by_name = || choices.iter().find(|choice| choice.engine.name == typed);
            by_number.or_else(by_name).map(Some).ok_or_else(|| "a number or a word of the list".to_owned())
        })?;
        let choice = match answer {
            Answer::Back => return Ok(Way::Back),
            Answer::Leave => return Ok(Way::Leave),
            Answer::Is(None) => {
                self.draft.engine = None;
                return Ok(Way::On);
            }
            Answer::Is(Some(choice)) => choice,
        };
        self.chosen(choice)
    }

    /// What else must be said of the engine.
    fn chosen(&mut self, choice: &Choice) -> Result<Way, CliError> {
        let mut engine = choice.engine.clone();
        let mut local = choice.local;
        let way = match &choice.asks {
            Asks::Nothing => Way::On,
            Asks::Model(models) => self.model(&mut engine, models)?,
            Asks::Key { model, name } => self.vendor(&mut engine, model, name)?,
            Asks::Program => self.program(&mut engine, &mut local)?,
            Asks::Text => self.text(&mut engine)?,
        };
        if way != Way::On {
            // Back to the list.
            return if way == Way::Leave { Ok(way) } else { self.engine() };
        }
        self.draft.engine = Some(engine);
        self.draft.private = false;
        if local && choice.asks != Asks::Text {
            let help = "Then the route says `private = true`: also if you add other engines later, texts of cases go to \
                        none that hands them to another machine.";
            match self.talk.yes("Only ever engines on this machine", true, help)? {
                Answer::Is(private) => self.draft.private = private,
                Answer::Back => return self.engine(),
                Answer::Leave => return Ok(Way::Leave),
            }
        }
        Ok(Way::On)
    }

    fn model(&mut self, engine: &mut Engine, models: &[String]) -> Result<Way, CliError> {
        self.talk.tell("    ", &models.join("  "))?;
        let usual = engine.model.clone().unwrap_or_default();
        let question = Question::new("Model", Some(&usual), "The model, as the server names it");
        let answer = self.talk.ask(&question, &mut |typed| {
            models.iter().find(|model| *model == typed).cloned().ok_or_else(|| "one of those".to_owned())
        })?;
        Ok(taken(answer, |model| engine.model = Some(model)))
    }

    fn vendor(&mut self, engine: &mut Engine, model: &str, name: &str) -> Result<Way, CliError> {
        let help = "The model, as the vendor names it. A budget can be set in the unit: [budget] daily_usd";
        let answer =
            self.talk.ask(&Question::new("Model", Some(model), help), &mut |typed| Ok(typed.to_owned()))?;
        match taken(answer, |model| engine.model = Some(model)) {
            Way::On => {}
            way => return Ok(way),
        }
        let held = self.here.typed.has(name);
        let text = if held { "API key, Enter keeps the one that is there" } else { "API key" };
        let help = format!("It goes into the secret store as {name}.");
        let question = Question { text, usual: held.then_some(""), help: &help, hidden: true };
        let answer = self.talk.ask(&question, &mut |typed| Ok(SecretValue::new(typed.to_owned())))?;
        let typed = &self.here.typed;
        Ok(taken(answer, |value| {
            if !value.is_empty() {
                typed.put(name, value, None);
            }
            engine.secrets.insert("key".to_owned(), name.to_owned());
        }))
    }

    fn program(&mut self, engine: &mut Engine, local: &mut bool) -> Result<Way, CliError> {
        let help = "Its absolute path. It gets a prompt on standard input and prints the reply.";
        let answer = self.talk.ask(&Question::new("Program", None, help), &mut |typed| {
            if typed.starts_with('/') { Ok(typed.to_owned()) } else { Err("its absolute path".to_owned()) }
        })?;
        match taken(answer, |program| *engine = engine.clone().with("program", program)) {
            Way::On => {}
            way => return Ok(way),
        }
        let help = "A program that asks a server elsewhere does; one that runs a model here does not.";
        let answer = self.talk.yes("Does it hand texts to other machines", true, help)?;
        Ok(taken(answer, |hands| {
            *local = !hands;
            if !hands {
                *engine = engine.clone().with("local", true);
            }
        }))
    }

    fn text(&mut self, engine: &mut Engine) -> Result<Way, CliError> {
        let help = "One line in the syntax of Jinja; name, title, body, date and others can stand in {{ }}. Enter alone: \
                    \"Hello NAME, thank you for your message … I have read it and will come back to you soon.\" A longer \
                    one goes into the unit: workagent edit template.engine";
        let question = Question::new("Text, Enter for a short thank-you", Some(""), help);
        let answer = self.talk.ask(&question, &mut |typed| Ok(typed.to_owned()))?;
        Ok(taken(answer, |text| {
            if !text.is_empty() {
                *engine = engine.clone().with("text", text);
            }
        }))
    }
}

/// A line of a list, foreign text made harmless; what does not fit stands under it.
fn fit(text: &str, width: usize) -> String {
    let margin: String = text.chars().take_while(|c| *c == ' ').collect();
    let wrapped = block(text.trim_start(), &margin, width, 4);
    let mut lines = wrapped.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    // What does not fit stands under the text.
    for rest in lines {
        let _ = write!(out, "\n                {}", rest.trim_start());
    }
    out
}
