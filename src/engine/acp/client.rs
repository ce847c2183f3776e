//! Our side of the talk as a machine: lines in, lines out, no I/O, no clock of its own. Whatever comes, it only ever
//! waits for one answer, and an outcome is good only if the end of the turn says so.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::answer::{Answer, micro_usd};
use super::errors;
use super::messages::{
    Chunk, Initialized, ModeUpdate, PermissionRequest, PromptEnd, PromptUsage, Session, UpdateHead,
    UsageUpdate,
};
use super::permission::{self, Policy, Verdict};
use super::settings::{self, Setting, Wanted};
use super::wire::{self, Envelope, Id, RpcError};
use crate::engine::mcp_supply::McpServer;
use crate::model::run::{RunFacts, RunFailure, Usage};
use crate::model::text::one_line;
use crate::model::time::Clock;

/// What is to be done.
#[derive(Debug)]
pub(super) struct Task {
    /// Where the agent works, absolute.
    pub(super) cwd: PathBuf,
    pub(super) servers: Vec<McpServer>,
    pub(super) prompt: String,
    /// The session to go on in, if the agent can.
    pub(super) session: Option<String>,
    pub(super) wanted: Wanted,
    /// Logged in with before the session is opened; empty: never.
    pub(super) auth_method: String,
    /// What a person does when it is not logged in.
    pub(super) login: &'static str,
    pub(super) policy: Policy,
}

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// The work went on.
    Progress,
    /// It is there.
    Life,
    /// Nothing that we know.
    Noise,
}

/// How the turn ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Turn {
    /// The agent says that it is done.
    Done,
    /// It asked for what only the user may allow.
    Asks(String),
    /// It failed, with a sentence for people.
    Failed(RunFailure, String),
}

/// The one answer that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Initialize,
    Authenticate,
    Open(Way),
    Setting,
    Prompt,
    Over,
}

/// How a session is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    New,
    Load,
    Resume,
}

/// The machine.
#[derive(Debug)]
pub(super) struct Client {
    task: Task,
    clock: Clock,
    waiting: Waiting,
    id: u64,
    out: Vec<Vec<u8>>,
    agent: Initialized,
    session: String,
    settings: std::vec::IntoIter<Setting>,
    answer: Answer,
    usage: Usage,
    facts: RunFacts,
    cancelled: bool,
    asks: Option<String>,
    turn: Option<Turn>,
}

impl Client {
    /// Says hello.
    pub(super) fn new(task: Task, clock: Clock) -> Self {
        let mut client = Self {
            task,
            clock,
            waiting: Waiting::Initialize,
            id: 0,
            out: Vec::new(),
            agent: Initialized::default(),
            session: String::new(),
            settings: Vec::new().into_iter(),
            answer: Answer::default(),
            usage: Usage::default(),
            facts: RunFacts::default(),
            cancelled: false,
            asks: None,
            turn: None,
        };
        client.ask(Waiting::Initialize, "initialize", &wire::hello());
        client
    }

    /// Lines to be said now.
    pub(super) fn take_out(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.out)
    }

    /// Nothing more is to be said or heard.
    pub(super) fn is_over(&self) -> bool {
        self.turn.is_some()
    }

    /// How it ended, if it did.
    pub(super) fn turn(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    /// What was said in the turn.
    pub(super) fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Tokens and money, as far as it told.
    pub(super) fn usage(&self) -> Usage {
        let mut usage = self.usage.clone();
        if let Some(cost) = self.answer.cost_micro_usd {
            usage.cost_micro_usd = Some(cost);
            usage.cost_source = "engine".to_owned();
        }
        usage
    }

    /// The session, the model, the program.
    pub(super) fn facts(&self) -> RunFacts {
        self.facts.clone()
    }

    /// Ends it in the protocol's words. During the turn its answer is still waited for.
    pub(super) fn cancel(&mut self) {
        // The user is asked, whether the agent says that it stopped or not.
        if self.cancelled
            && let Some(what) = self.asks.take()
        {
            return self.end(Turn::Asks(what));
        }
        if self.turn.is_some() || self.cancelled {
            return;
        }
        self.cancelled = true;
        if self.waiting == Waiting::Prompt {
            let session = json!({ "sessionId": self.session });
            self.out.push(wire::notice("session/cancel", &session));
        } else {
            self.end(Turn::Failed(RunFailure::Cancelled, "it was cancelled".to_owned()));
        }
    }

    /// A line was too long to be read: it may have been the one that is waited for.
    pub(super) fn lost_a_line(&mut self) {
        let (failure, detail) = lost();
        self.fail(failure, detail);
    }

    /// A line came.
    pub(super) fn hear(&mut self, line: &[u8]) -> Sign {
        if self.turn.is_some() {
            return Sign::Life;
        }
        match wire::envelope(line) {
            Envelope::Answer(id) if id == self.id => {
                self.answered(line);
                Sign::Progress
            }
            Envelope::Error(id, error) if id == self.id => {
                self.refused(&error);
                Sign::Progress
            }
            Envelope::Request(id, method) if method == "session/request_permission" => {
                self.permission(&id, line);
                Sign::Progress
            }
            Envelope::Request(id, method) => {
                self.out.push(wire::not_offered(&id, &method));
                Sign::Life
            }
            Envelope::Notice(method) if method == "session/update" => self.update(line),
            // Of a request that is not waited for any more, or an extension.
            Envelope::Answer(_) | Envelope::Error(..) | Envelope::Notice(_) => Sign::Life,
            Envelope::Noise => Sign::Noise,
        }
    }

    fn ask(&mut self, waiting: Waiting, method: &str, params: &Value) {
        self.id += 1;
        self.waiting = waiting;
        self.out.push(wire::request(self.id, method, params));
    }

    fn end(&mut self, turn: Turn) {
        self.waiting = Waiting::Over;
        self.turn.get_or_insert(turn);
    }

    fn fail(&mut self, failure: RunFailure, detail: impl Into<String>) {
        self.end(Turn::Failed(failure, detail.into()));
    }

    fn answered(&mut self, line: &[u8]) {
        match self.waiting {
            Waiting::Initialize => self.initialized(wire::inside(line).unwrap_or_default()),
            Waiting::Authenticate => self.open(),
            Waiting::Open(way) => self.opened(way, wire::inside(line).unwrap_or_default()),
            Waiting::Setting => self.set_next(),
            Waiting::Prompt => self.stopped(line),
            Waiting::Over => {}
        }
    }

    fn initialized(&mut self, agent: Initialized) {
        if agent.protocol_version != wire::VERSION {
            let theirs = agent.protocol_version;
            return self.fail(
                RunFailure::Config,
                format!(
                    "the agent speaks version {theirs} of the protocol, this is version {}",
                    wire::VERSION
                ),
            );
        }
        self.facts.program =
            agent.agent_info.as_ref().map(|info| one_line(&format!("{} {}", info.name, info.version), 80));
        self.agent = agent;
        let method = self.task.auth_method.clone();
        if method.is_empty() {
            return self.open();
        }
        if !self.agent.auth_methods.iter().any(|offered| offered.id == method) {
            let detail =
                format!("the agent has no way to log in called `{method}`; {}", self.ways_to_log_in());
            return self.fail(RunFailure::Config, detail);
        }
        self.ask(Waiting::Authenticate, "authenticate", &json!({ "methodId": method }));
    }

    fn ways_to_log_in(&self) -> String {
        let ways: Vec<String> =
            self.agent.auth_methods.iter().take(8).map(|method| one_line(&method.id, 40)).collect();
        if ways.is_empty() { "it names none".to_owned() } else { format!("it has {}", ways.join(", ")) }
    }

    fn open(&mut self) {
        let can = &self.agent.agent_capabilities;
        let way = match &self.task.session {
            Some(_) if can.session_capabilities.resume.is_some() => Way::Resume,
            Some(_) if can.load_session => Way::Load,
            _ => Way::New,
        };
        self.open_by(way);
    }

    fn open_by(&mut self, way: Way) {
        let servers = wire::servers(&self.task.servers, self.agent.agent_capabilities.mcp_capabilities.http);
        let mut params = json!({ "cwd": self.task.cwd, "mcpServers": servers });
        let method = match way {
            Way::New => "session/new",
            Way::Load => "session/load",
            Way::Resume => "session/resume",
        };
        if let (Way::Load | Way::Resume, Some(session)) = (way, &self.task.session) {
            self.session.clone_from(session);
            params = with(params, "sessionId", session);
        }
        self.ask(Waiting::Open(way), method, &params);
    }

    fn opened(&mut self, way: Way, session: Session) {
        if let Some(id) = session.session_id.clone().filter(|id| !id.is_empty()) {
            self.session = id;
        } else if way == Way::New {
            return self.fail(RunFailure::Protocol, "the agent opened a session without a name");
        }
        self.facts.session = Some(self.session.clone()).filter(|id| id.len() <= 512);
        // What a session that was loaded played back is not of this turn.
        self.answer = Answer::default();
        match settings::needed(&session, &self.task.wanted) {
            Ok(settings) => {
                self.settings = settings.into_iter();
                self.set_next();
            }
            Err(message) => self.fail(RunFailure::Config, message),
        }
    }

    fn set_next(&mut self) {
        if let Some(Setting { method, params }) = self.settings.next() {
            return self.ask(Waiting::Setting, method, &with(params, "sessionId", &self.session));
        }
        let prompt = [json!({ "type": "text", "text": std::mem::take(&mut self.task.prompt) })];
        self.ask(Waiting::Prompt, "session/prompt", &json!({ "sessionId": self.session, "prompt": prompt }));
    }

    /// The end of the turn.
    fn stopped(&mut self, line: &[u8]) {
        let said: Option<PromptUsage> = wire::inside(line);
        if let Some(PromptUsage { usage, meta }) = said {
            let quota = meta.and_then(|meta| meta.quota).unwrap_or_default();
            let model = quota.model_usage.first().map(|usage| one_line(&usage.model, 120));
            self.facts.model = model.filter(|model| !model.is_empty());
            if let Some(tokens) = usage.or(quota.token_count) {
                self.usage.input_tokens = tokens.input_tokens;
                self.usage.output_tokens = tokens.output_tokens;
            }
        }
        let Some(PromptEnd { stop_reason }) = wire::inside(line) else {
            return self.fail(RunFailure::Protocol, "its turn ended without a reason");
        };
        if let Some(what) = self.asks.take() {
            return self.end(Turn::Asks(what));
        }
        match stop_reason.as_str() {
            "end_turn" if self.cancelled => self.fail(RunFailure::Cancelled, "it was cancelled"),
            "end_turn" => self.end(Turn::Done),
            "max_tokens" => self.fail(RunFailure::Cut, "its answer was cut by an output limit"),
            "max_turn_requests" => self.fail(RunFailure::TurnLimit, "it used up its turns"),
            "refusal" => self.fail(RunFailure::Refused, "the model refused"),
            "cancelled" if self.cancelled => self.fail(RunFailure::Cancelled, "it was cancelled"),
            "cancelled" => self.fail(RunFailure::Protocol, "it says that it was cancelled, which nobody did"),
            other => {
                let other = one_line(other, 40);
                self.fail(RunFailure::Protocol, format!("its turn ended with `{other}`, which is not known"));
            }
        }
    }

    /// An error to what is waited for.
    fn refused(&mut self, error: &RpcError) {
        if let Some(what) = self.asks.take() {
            return self.end(Turn::Asks(what));
        }
        if self.cancelled {
            return self.fail(RunFailure::Cancelled, "it was cancelled");
        }
        match self.waiting {
            // The session is gone: work is begun anew, which costs nothing but what it remembered.
            Waiting::Open(Way::Load | Way::Resume) if !errors::wants_login(error) => self.open_by(Way::New),
            waiting => {
                let (failure, words) = errors::classify(error, self.clock.now());
                let detail = match (waiting, &failure) {
                    (_, RunFailure::Auth) => format!("{words}; {}", self.task.login),
                    (Waiting::Initialize, _) => format!("the agent did not start: {words}"),
                    (Waiting::Authenticate, _) => format!("logging in failed: {words}"),
                    (Waiting::Open(_), _) => format!("no session was opened: {words}"),
                    (Waiting::Setting, _) => format!("the session could not be set up: {words}"),
                    _ => words,
                };
                // Whoever cannot be set up as the unit wants is not run at all.
                let failure = match waiting {
                    Waiting::Setting if failure == RunFailure::Protocol => RunFailure::Config,
                    _ => failure,
                };
                self.fail(failure, detail);
            }
        }
    }

    fn permission(&mut self, id: &Id, line: &[u8]) {
        if self.cancelled || self.waiting != Waiting::Prompt {
            return self.out.push(wire::answer(id, &permission::cancelled()));
        }
        let request: PermissionRequest = wire::inside(line).unwrap_or_default();
        match permission::decide(&request, &self.task.policy) {
            Verdict::Allow(answer) => self.out.push(wire::answer(id, &answer)),
            Verdict::Reject(answer, what) => {
                self.answer.denied(what);
                self.out.push(wire::answer(id, &answer));
            }
            Verdict::Ask(what) => {
                self.out.push(wire::answer(id, &permission::cancelled()));
                self.asks = Some(what);
                self.cancel();
            }
        }
    }

    fn update(&mut self, line: &[u8]) -> Sign {
        let Some(head) = wire::inside::<UpdateHead>(line) else { return Sign::Life };
        match head.update.session_update.as_str() {
            "agent_message_chunk" => {
                if let (Waiting::Prompt, Some(Chunk { update })) = (self.waiting, wire::inside(line)) {
                    self.answer.push(&update.content.text, update.message_id.is_some());
                }
                Sign::Progress
            }
            "agent_thought_chunk" | "tool_call" | "tool_call_update" | "plan" => Sign::Progress,
            "usage_update" => {
                if let Some(UsageUpdate { update }) = wire::inside(line) {
                    self.answer.cost_micro_usd = micro_usd(update.cost.amount, &update.cost.currency);
                }
                Sign::Life
            }
            "current_mode_update" => {
                self.mode_is(line);
                Sign::Life
            }
            _ => Sign::Life,
        }
    }

    /// An agent that leaves the mode in which it asks may do anything.
    fn mode_is(&mut self, line: &[u8]) {
        let Some(ModeUpdate { update }) = wire::inside(line) else { return };
        let wanted = &self.task.wanted.mode;
        if self.waiting == Waiting::Prompt && !wanted.is_empty() && update.current_mode_id != *wanted {
            let mode = one_line(&update.current_mode_id, 80);
            self.out.push(wire::notice("session/cancel", &json!({ "sessionId": self.session })));
            self.fail(
                RunFailure::Protocol,
                format!("the agent went from the mode `{wanted}` to `{mode}` by itself"),
            );
        }
    }
}

/// What a line that could not be read comes to.
pub(super) fn lost() -> (RunFailure, String) {
    (RunFailure::Protocol, "line too long: it wrote a line that is longer than any answer".to_owned())
}

/// An object with one more text in it.
fn with(mut object: Value, key: &str, text: &str) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(key.to_owned(), json!(text));
    }
    object
}

#[cfg(test)]
mod tests;
