//! Questions and answers, line by line: they work over ssh, on a screen of 80 by 24, without colour.

use std::io::{self, Write};

use crate::cli::error::CliError;
use crate::cli::look::{Paint, block, line};

/// Tries for one question before the talk is given up: a script that answers nonsense must not loop.
const TRIES_MAX: usize = 50;

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C, or there is nobody any more.
    Gone,
}

/// Where lines come from.
pub trait Lines {
    /// The next line; `hidden`: without echo.
    ///
    /// # Errors
    /// The terminal.
    fn line(&mut self, hidden: bool) -> io::Result<Typed>;
}

/// A question.
pub struct Question<'a> {
    /// What is asked.
    pub text: &'a str,
    /// What Enter takes.
    pub usual: Option<&'a str>,
    /// What `?` shows.
    pub help: &'a str,
    /// The answer is a secret: it is not shown, nor what Enter takes.
    pub hidden: bool,
}

impl<'a> Question<'a> {
    /// A plain question.
    #[must_use]
    pub fn new(text: &'a str, usual: Option<&'a str>, help: &'a str) -> Self {
        Self { text, usual, help, hidden: false }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// This.
    Is(T),
    /// Back to the question before.
    Back,
    /// The person leaves.
    Leave,
}

/// What the check of an answer says.
pub type Checked<T> = Result<T, String>;

/// The talk with a person.
pub struct Talk<'a> {
    lines: Box<dyn Lines + 'a>,
    out: Box<dyn Write + 'a>,
    /// Colours.
    pub paint: Paint,
    /// Columns.
    pub width: usize,
}

impl<'a> Talk<'a> {
    /// Over these lines.
    #[must_use]
    pub fn new(lines: Box<dyn Lines + 'a>, out: Box<dyn Write + 'a>, paint: Paint, width: usize) -> Self {
        Self { lines, out, paint, width: width.min(100) }
    }

    /// Says our own text as it is.
    ///
    /// # Errors
    /// The terminal.
    pub fn say(&mut self, text: &str) -> Result<(), CliError> {
        self.out.write_all(text.as_bytes())?;
        Ok(self.out.flush()?)
    }

    /// Says a text of many words, broken into lines.
    ///
    /// # Errors
    /// The terminal.
    pub fn tell(&mut self, margin: &str, text: &str) -> Result<(), CliError> {
        let text = block(text, margin, self.width, 40);
        self.say(&text)
    }

    /// Asks until the answer passes the check.
    ///
    /// # Errors
    /// The terminal, or nothing passes.
    pub fn ask<T>(
        &mut self,
        question: &Question<'_>,
        check: &mut dyn FnMut(&str) -> Checked<T>,
    ) -> Result<Answer<T>, CliError> {
        for _ in 0..TRIES_MAX {
            let usual = match question.usual {
                Some(usual) if !question.hidden && !usual.is_empty() => format!(" [{}]", line(usual, 60)),
                _ => String::new(),
            };
            let hidden = if question.hidden { " (not shown)" } else { "" };
            self.say(&format!("{}{hidden}{usual}: ", question.text))?;
            let Typed::Line(typed) = self.lines.line(question.hidden)? else { return Ok(Answer::Leave) };
            let typed = typed.trim();
            let answer = match typed {
                "?" => {
                    self.tell("    ", question.help)?;
                    self.tell("    ", "Enter takes what stands in brackets, < goes back, Ctrl-C leaves.")?;
                    continue;
                }
                "<" => return Ok(Answer::Back),
                "" => match question.usual {
                    Some(usual) => usual,
                    None => {
                        self.say("    this needs an answer; ? tells more\n")?;
                        continue;
                    }
                },
                typed => typed,
            };
            match check(answer) {
                Ok(value) => return Ok(Answer::Is(value)),
                Err(why) => self.tell("    ", &why)?,
            }
        }
        Err(CliError::usage(format!("no answer to \"{}\" that fits", question.text)))
    }

    /// Yes or no.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn yes(&mut self, text: &str, usual: bool, help: &str) -> Result<Answer<bool>, CliError> {
        let word = if usual { "yes" } else { "no" };
        self.ask(&Question::new(text, Some(word), help), &mut |answer| match answer {
            "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => Err("yes or no".to_owned()),
        })
    }
}
