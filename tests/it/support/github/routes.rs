//! Requests of the fake, and what they are met with.

use serde_json::{Value, json};
use workagent::model::time::Timestamp;

use super::super::http::{Answer, Seen};
use super::hub::{Asked, Comment, Hub, Issue, ME, Trouble};

/// One request, written down with its answer's status.
pub fn answer(hub: &mut Hub, seen: &Seen) -> Answer {
    let (target, now) = (seen.target.clone(), hub.clock.now());
    let conditional = seen.header("if-none-match").or(seen.header("if-modified-since")).is_some();
    let scripted = hub
        .once
        .iter()
        .position(|(method, begin, _)| *method == seen.method && target.starts_with(begin.as_str()))
        .map(|at| hub.once.remove(at).2);
    let (status, met) = match scripted {
        Some(answer) => (0, answer),
        None => {
            let (status, answer) = respond(hub, seen);
            let lost = seen.method == "POST" && target.ends_with("/comments") && hub.lose_answers > 0;
            if lost {
                hub.lose_answers -= 1;
            }
            // The far side has acted, and nobody hears of it.
            if lost { (status, Answer::cut_after_body()) } else { (status, answer) }
        }
    };
    hub.log.push(Asked {
        at: now,
        method: seen.method.clone(),
        target,
        body: String::from_utf8_lossy(seen.body.as_deref().unwrap_or_default()).into_owned(),
        status,
        conditional,
        headers: seen.headers.clone(),
    });
    met
}

fn respond(hub: &mut Hub, seen: &Seen) -> (u16, Answer) {
    let url: url::Url = format!("http://fake{}", seen.target).parse().unwrap();
    let path: Vec<&str> = url.path().trim_start_matches('/').split('/').collect();
    if let Some((trouble, left)) = hub.trouble() {
        let secondary =
            json!({"message": "You have exceeded a secondary rate limit.", "documentation_url": "x"});
        match trouble {
            Trouble::BadGateway => {
                return (502, Answer::new(502, "<html>Unicorn!").header("Content-Type", "text/html"));
            }
            Trouble::Cut => return (0, Answer::cut_after_body()),
            Trouble::SecondaryWithTime => {
                let seconds = (left.as_secs() + 1).to_string();
                return (403, Answer::new(403, secondary.to_string()).header("Retry-After", &seconds));
            }
            Trouble::Secondary => return (403, Answer::new(403, secondary.to_string())),
            Trouble::Primary => {
                let reset = (hub.clock.now().plus(left).0 / 1000 + 1).to_string();
                let body = json!({"message": "API rate limit exceeded for user ID 1."});
                let answer = Answer::new(403, body.to_string());
                let answer = answer.header("x-ratelimit-remaining", "0").header("x-ratelimit-reset", &reset);
                return (403, answer);
            }
            Trouble::ThreadsFail if path.first() == Some(&"repos") => return (500, Answer::new(500, "{}")),
            Trouble::ThreadsFail => {}
        }
    }
    let hour = hub.clock.now().0 / 3_600_000;
    if hour != hub.hour {
        (hub.hour, hub.used) = (hour, 0);
    }
    let reset = ((hour + 1) * 3600).to_string();
    let limits = |answer: Answer, used: u64, limit: u64| {
        answer
            .header("x-ratelimit-limit", &limit.to_string())
            .header("x-ratelimit-remaining", &limit.saturating_sub(used).to_string())
            .header("x-ratelimit-reset", &reset)
            .header("x-ratelimit-resource", "core")
    };
    let date = hub.now().rfc_2822().replace("+0000", "GMT");
    if hub.used >= hub.limit {
        let body = json!({"message": "API rate limit exceeded for user ID 1."}).to_string();
        return (403, limits(Answer::new(403, body), hub.used, hub.limit).header("Date", &date));
    }
    let body: Value = serde_json::from_slice(seen.body.as_deref().unwrap_or_default()).unwrap_or_default();
    let (status, answer) = route(hub, seen, &url, &path, &body);
    // What has not changed costs nothing.
    hub.used += u64::from(status != 304);
    (status, limits(answer, hub.used, hub.limit).header("Date", &date))
}

fn json_answer(status: u16, value: &Value) -> (u16, Answer) {
    (status, Answer::new(status, value.to_string()).header("Content-Type", "application/json; charset=utf-8"))
}

fn not_found() -> (u16, Answer) {
    json_answer(404, &json!({"message": "Not Found", "documentation_url": "x", "status": "404"}))
}

fn route(hub: &mut Hub, seen: &Seen, url: &url::Url, path: &[&str], body: &Value) -> (u16, Answer) {
    match (seen.method.as_str(), path) {
        ("GET", ["user"]) => {
            let (status, answer) = json_answer(200, &json!({"id": ME.0, "login": ME.1}));
            (status, answer.header("X-OAuth-Scopes", "notifications, repo"))
        }
        ("GET", ["notifications"]) => inbox(hub, seen, url),
        ("PATCH", ["notifications", "threads", _]) => (205, Answer::new(205, "")),
        ("DELETE", ["notifications", "threads", _]) => (204, Answer::new(204, "")),
        ("GET", ["repos", owner, name]) => {
            let full = format!("{owner}/{name}");
            json_answer(
                200,
                &json!({"id": repo_id(&full), "full_name": full, "open_issues_count": hub.issues.len()}),
            )
        }
        ("GET", ["repos", _, _, "labels", label]) => {
            let known = hub.labels.iter().any(|known| known == label);
            if known { json_answer(200, &json!({"name": label})) } else { not_found() }
        }
        (method, ["repos", owner, name, rest @ ..]) => {
            let repo = format!("{owner}/{name}");
            of_repo(hub, method, &repo, rest, url, body)
        }
        _ => not_found(),
    }
}

fn of_repo(
    hub: &mut Hub,
    method: &str,
    repo: &str,
    rest: &[&str],
    url: &url::Url,
    body: &Value,
) -> (u16, Answer) {
    let base = hub.base.clone();
    let text = body.get("body").and_then(Value::as_str).map(str::to_owned);
    let with = |number: &str| number.parse::<u64>().ok().map(|number| (repo.to_owned(), number));
    match (method, rest) {
        ("GET", ["issues"]) => {
            let all = hub.issues.iter().filter(|((of, _), _)| of == repo);
            page(
                url,
                all.map(|((_, number), issue)| (issue.updated_at, issue_json(&base, repo, *number, issue))),
                true,
            )
        }
        ("GET", [kind @ ("issues" | "pulls"), "comments"]) => {
            let all = hub.issues.iter().filter(|((of, _), _)| of == repo);
            let all = all.flat_map(|((_, number), issue)| {
                let comments = if *kind == "issues" { &issue.comments } else { &issue.diff };
                comments.iter().map(|comment| {
                    (comment.updated_at, comment_json(&base, repo, *number, comment, *kind == "pulls"))
                })
            });
            page(url, all, true)
        }
        ("GET", ["issues", number]) => {
            let Some(issue) = with(number).and_then(|at| hub.issues.get(&at)) else { return not_found() };
            json_answer(200, &issue_json(&base, repo, number.parse().unwrap(), issue))
        }
        ("GET", [kind @ ("issues" | "pulls"), number, "comments"]) => {
            let Some(issue) = with(number).and_then(|at| hub.issues.get(&at)) else { return not_found() };
            let (comments, diff) =
                if *kind == "issues" { (&issue.comments, false) } else { (&issue.diff, true) };
            let number = number.parse().unwrap();
            let all = comments.iter();
            page(url, all.map(|one| (one.updated_at, comment_json(&base, repo, number, one, diff))), false)
        }
        ("GET", ["pulls", number, "reviews"]) => {
            let Some(issue) = with(number).and_then(|at| hub.issues.get(&at)) else { return not_found() };
            let all = issue.reviews.iter().map(|review| {
                let value = json!({
                    "id": review.id, "user": user_json(&review.user), "body": review.body, "state": review.state,
                    "submitted_at": review.submitted_at.map(|at| at.to_string()),
                });
                (Timestamp(i64::MAX), value)
            });
            page(url, all, false)
        }
        ("POST", ["issues", number, "comments"]) => {
            let (Some(at), Some(text)) = (with(number), text) else { return not_found() };
            let id = hub.comment(repo, at.1, ME.1, &text);
            let comment = hub.issue(repo, at.1).comments.last().unwrap().clone();
            assert_eq!(comment.id, id);
            json_answer(201, &comment_json(&base, repo, at.1, &comment, false))
        }
        ("POST", ["pulls", number, "comments", below, "replies"]) => {
            let (Some(at), Some(text), Ok(below)) = (with(number), text, below.parse()) else {
                return not_found();
            };
            let top =
                hub.issue(repo, at.1).diff.iter().any(|one| one.id == below && one.in_reply_to.is_none());
            if !top {
                return not_found();
            }
            hub.diff_comment(repo, at.1, ME.1, &text, Some(below));
            let comment = hub.issue(repo, at.1).diff.last().unwrap().clone();
            json_answer(201, &comment_json(&base, repo, at.1, &comment, true))
        }
        (_, ["issues", number, rest @ ..]) => {
            let Some(issue) = with(number).and_then(|at| hub.issues.get_mut(&at)) else { return not_found() };
            let words = |key: &str| -> Vec<String> {
                let list = body.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
                list.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
            };
            match (method, rest) {
                ("PATCH", []) => {
                    issue.state = if body.get("state") == Some(&json!("closed")) { "closed" } else { "open" };
                }
                ("GET", ["labels"]) => {
                    let labels: Vec<Value> =
                        issue.labels.iter().map(|name| json!({ "name": name })).collect();
                    return json_answer(200, &json!(labels));
                }
                ("POST", ["labels"]) => issue.labels.extend(words("labels")),
                ("DELETE", ["labels", label]) => {
                    if !issue.labels.iter().any(|known| known == label) {
                        return not_found();
                    }
                    issue.labels.retain(|known| known != label);
                }
                // Strangers are left out without a word.
                ("POST", ["assignees"]) => {
                    issue
                        .assignees
                        .extend(words("assignees").into_iter().filter(|login| login != "stranger"));
                }
                ("DELETE", ["assignees"]) => {
                    let gone = words("assignees");
                    issue.assignees.retain(|login| !gone.contains(login));
                }
                _ => return not_found(),
            }
            let issue = issue.clone();
            json_answer(
                if method == "POST" { 201 } else { 200 },
                &issue_json(&base, repo, number.parse().unwrap(), &issue),
            )
        }
        _ => not_found(),
    }
}

fn query(url: &url::Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// One page of a list, with the link to the next.
fn page(url: &url::Url, all: impl Iterator<Item = (Timestamp, Value)>, sorted: bool) -> (u16, Answer) {
    let since = query(url, "since").and_then(|at| Timestamp::from_rfc3339(&at)).unwrap_or_default();
    let mut all: Vec<(Timestamp, Value)> = all.filter(|(at, _)| *at >= since).collect();
    if sorted {
        all.sort_by_key(|(at, _)| *at);
    }
    cut_page(url, all.len(), all.into_iter().map(|(_, value)| value))
}

fn cut_page(url: &url::Url, count: usize, all: impl Iterator<Item = Value>) -> (u16, Answer) {
    let number = |name: &str, default: usize| query(url, name).map_or(default, |text| text.parse().unwrap());
    let (size, nth) = (number("per_page", 30), number("page", 1));
    let pages = count.div_ceil(size).max(1);
    let values: Vec<Value> = all.skip((nth - 1) * size).take(size).collect();
    let (status, mut answer) = json_answer(200, &json!(values));
    if nth < pages {
        let other = |nth: usize| {
            let pairs = url.query_pairs().filter(|(key, _)| key != "page");
            let mut other = url.clone();
            other.query_pairs_mut().clear().extend_pairs(pairs).append_pair("page", &nth.to_string());
            format!("{}?{}", other.path(), other.query().unwrap())
        };
        answer = answer
            .header("Link", &format!("<{}>; rel=\"next\", <{}>; rel=\"last\"", other(nth + 1), other(pages)));
    }
    (status, answer)
}

fn inbox(hub: &mut Hub, seen: &Seen, url: &url::Url) -> (u16, Answer) {
    let modified = hub.changed_at.rfc_2822().replace("+0000", "GMT");
    let interval = hub.poll_interval.to_string();
    if seen.header("if-modified-since") == Some(modified.as_str()) {
        return (304, Answer::new(304, "").header("X-Poll-Interval", &interval));
    }
    let mut all: Vec<_> = hub.threads.iter().collect();
    all.sort_by_key(|(id, thread)| (std::cmp::Reverse(thread.updated_at), **id));
    let base = &hub.base;
    let count = all.len();
    let values = all.into_iter().map(|(id, thread)| {
        let kind = if thread.kind == "PullRequest" { "pulls" } else { "issues" };
        let subject = thread.number.map(|number| format!("{base}/repos/{}/{kind}/{number}", thread.repo));
        let latest = thread.latest.as_ref().map(|at| format!("{base}{at}"));
        let latest = latest.or_else(|| subject.clone());
        json!({
            "id": id.to_string(), "unread": true, "reason": thread.reason, "updated_at": thread.updated_at.to_string(),
            "last_read_at": thread.last_read_at.map(|at| at.to_string()),
            "subject": {
                "title": thread.title, "type": thread.kind, "url": subject, "latest_comment_url": latest,
            },
            "repository": {
                "id": repo_id(&thread.repo), "full_name": thread.repo,
                "html_url": format!("https://github.example/{}", thread.repo),
            },
        })
    });
    let (status, answer) = cut_page(url, count, values);
    (status, answer.header("Last-Modified", &modified).header("X-Poll-Interval", &interval))
}

fn repo_id(repo: &str) -> u64 {
    repo.bytes().map(u64::from).sum()
}

fn user_json((id, login): &(u64, String)) -> Value {
    json!({"id": id, "login": login, "type": "User"})
}

fn issue_json(base: &str, repo: &str, number: u64, issue: &Issue) -> Value {
    let mut value = json!({
        "id": issue.id, "number": number, "title": issue.title, "body": issue.body, "user": user_json(&issue.user),
        "state": issue.state, "locked": false, "author_association": "MEMBER",
        "labels": issue.labels.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
        "assignees": issue.assignees.iter().map(|login| json!({"login": login, "id": 9})).collect::<Vec<_>>(),
        "created_at": issue.created_at.to_string(), "updated_at": issue.updated_at.to_string(),
        "html_url": format!("https://github.example/{repo}/issues/{number}"),
        "url": format!("{base}/repos/{repo}/issues/{number}"),
    });
    if issue.pull
        && let Some(table) = value.as_object_mut()
    {
        table.insert("pull_request".into(), json!({"url": format!("{base}/repos/{repo}/pulls/{number}")}));
    }
    value
}

fn comment_json(base: &str, repo: &str, number: u64, comment: &Comment, diff: bool) -> Value {
    let anchor = if diff { "discussion_r" } else { "issuecomment-" };
    let mut value = json!({
        "id": comment.id, "user": user_json(&comment.user), "body": comment.body, "author_association": "CONTRIBUTOR",
        "created_at": comment.created_at.to_string(), "updated_at": comment.updated_at.to_string(),
        "html_url": format!("https://github.example/{repo}/issues/{number}#{anchor}{}", comment.id),
    });
    let table = value.as_object_mut().unwrap();
    if diff {
        table.insert("pull_request_url".into(), json!(format!("{base}/repos/{repo}/pulls/{number}")));
        table.insert("path".into(), json!("src/a.rs"));
        table.insert("line".into(), json!(3));
        if let Some(below) = comment.in_reply_to {
            table.insert("in_reply_to_id".into(), json!(below));
        }
    } else {
        table.insert("issue_url".into(), json!(format!("{base}/repos/{repo}/issues/{number}")));
    }
    value
}
