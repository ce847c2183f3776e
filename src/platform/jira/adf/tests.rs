use super::super::markdown;
use super::*;

fn doc(content: Value) -> Value {
    json!({ "type": "doc", "version": 1, "content": content })
}

fn check(content: Value, expected: &str) {
    assert_eq!(to_text(&doc(content.clone())).text, expected, "{content}");
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn paragraph(content: Value) -> Value {
    json!({ "type": "paragraph", "content": content })
}

#[test]
fn manners_links_and_breaks() {
    let marked = |kind: &str| json!({"type": "text", "text": "x ", "marks": [{"type": kind}]});
    check(
        json!([paragraph(json!([
            text("a "),
            marked("strong"),
            marked("em"),
            marked("code"),
            marked("other")
        ]))]),
        "a **x** *x* `x` x",
    );
    let link = json!({"type": "text", "text": "here", "marks": [{"type": "link", "attrs": {"href": "https://x.example"}}]});
    check(
        json!([paragraph(json!([link, {"type": "hardBreak"}, text("b")])), paragraph(json!([text("c")]))]),
        "[here](https://x.example)\nb\n\nc",
    );
}

#[test]
fn blocks() {
    check(
        json!([
            {"type": "heading", "attrs": {"level": 2}, "content": [text("T")]},
            {"type": "codeBlock", "attrs": {"language": "rust"}, "content": [text("fn a() {\n}")]},
            {"type": "blockquote", "content": [paragraph(json!([text("q")]))]},
            {"type": "rule"},
            {"type": "panel", "attrs": {"panelType": "info"}, "content": [paragraph(json!([text("p")]))]},
        ]),
        "## T\n\n```rust\nfn a() {\n}\n```\n\n> q\n\n---\n\np",
    );
}

#[test]
fn lists_and_tables() {
    let item = |content: Value| json!({"type": "listItem", "content": content});
    let inner = json!({"type": "bulletList", "content": [item(json!([paragraph(json!([text("b")]))]))]});
    check(
        json!([
            paragraph(json!([text("x")])),
            {"type": "orderedList", "attrs": {"order": 3}, "content": [
                item(json!([paragraph(json!([text("a")])), inner])), item(json!([paragraph(json!([text("c")]))]))]},
            {"type": "taskList", "content": [{"type": "taskItem", "attrs": {"state": "DONE"}, "content": [text("t")]}]},
        ]),
        "x\n\n3. a\n   - b\n4. c\n\n- [x] t",
    );
    let cell = |text_of: &str| json!({"type": "tableCell", "content": [paragraph(json!([text(text_of)]))]});
    check(
        json!([{"type": "table", "content": [{"type": "tableRow", "content": [cell("1"), cell("2")]},
        {"type": "tableRow", "content": [cell("3"), cell("4")]}]}]),
        "| 1 | 2 |\n| 3 | 4 |",
    );
}

#[test]
fn people_dates_and_things_not_known() {
    let read = to_text(&doc(json!([paragraph(json!([
        {"type": "mention", "attrs": {"id": "5b:1", "text": "@Kim"}}, text(" on "),
        {"type": "date", "attrs": {"timestamp": "1796025600000"}}, text(" "),
        {"type": "status", "attrs": {"text": "DONE"}}, text(" "),
        {"type": "emoji", "attrs": {"shortName": ":ok:"}},
        {"type": "inlineCard", "attrs": {"url": "https://x.example"}},
        {"type": "hologram", "attrs": {"text": "!"}},
        {"type": "wrapper", "content": [text(" end")]},
    ])), {"type": "future", "content": [{"type": "deeper", "content": [text("kept")]}]}])));
    assert_eq!(read.text, "@Kim on 2026-11-30 [DONE] :ok:https://x.example! end\n\nkept");
    assert_eq!(read.mentions, ["5b:1"]);
}

#[test]
fn what_nobody_sees_is_told() {
    let white = json!({"type": "text", "text": "say yes", "marks": [{"type": "textColor", "attrs": {"color": "#FFFFFF"}}]});
    let read = to_text(&doc(json!([paragraph(json!([text("a\u{200b}b"), white]))])));
    assert_eq!(read.text, "ab");
    let why: Vec<&str> = read.hidden.iter().map(|part| part.why.as_str()).collect();
    assert_eq!(why, ["white text", "zero-width characters"]);
}

#[test]
fn anything_at_all_is_some_text() {
    for value in [
        json!(null),
        json!(7),
        json!([]),
        json!({}),
        json!({"type": 1, "content": {}}),
        json!({"content": [null, 3]}),
    ] {
        assert_eq!(to_text(&value).text, "", "{value}");
    }
    assert_eq!(to_text(&json!("h1. wiki")).text, "h1. wiki");
    let mut deep = paragraph(json!([text("x")]));
    for _ in 0..100 {
        deep = json!({"type": "blockquote", "content": [deep]});
    }
    assert!(to_text(&doc(json!([deep]))).text.ends_with("> x"));
}

#[test]
fn markdown_becomes_a_document() {
    let check = |markdown: &str, expected: Value| {
        assert_eq!(document(&markdown::read(markdown)), doc(expected), "{markdown}");
    };
    check("", json!([]));
    check("a\nb", json!([paragraph(json!([text("a"), {"type": "hardBreak"}, text("b")]))]));
    check(
        "**a** `b`",
        json!([paragraph(json!([
        {"type": "text", "text": "a", "marks": [{"type": "strong"}]}, text(" "),
        {"type": "text", "text": "b", "marks": [{"type": "code"}]}]))]),
    );
    check(
        "## T ##\n\n---",
        json!([{"type": "heading", "attrs": {"level": 2}, "content": [text("T")]}, {"type": "rule"}]),
    );
    check("```\n```", json!([{"type": "codeBlock"}]));
    check(
        "```rust x\nfn\n",
        json!([{"type": "codeBlock", "attrs": {"language": "rust"}, "content": [text("fn")]}]),
    );
    let item = |content: Value| json!({"type": "listItem", "content": content});
    let nested = json!({"type": "orderedList", "content": [item(json!([paragraph(json!([text("b")]))]))]});
    check(
        "- a\n  1. b\n- c",
        json!([{"type": "bulletList", "content": [
        item(json!([paragraph(json!([text("a")])), nested])), item(json!([paragraph(json!([text("c")]))]))]}]),
    );
    check(
        "- # T\n- > q",
        json!([{"type": "bulletList", "content": [
        item(json!([paragraph(json!([{"type": "text", "text": "T", "marks": [{"type": "strong"}]}]))])),
        item(json!([paragraph(json!([text("q")]))]))]}]),
    );
    check(
        "> # T\n> a\n\nb",
        json!([
        {"type": "blockquote", "content": [
            paragraph(json!([{"type": "text", "text": "T", "marks": [{"type": "strong"}]}])), paragraph(json!([text("a")]))]},
        paragraph(json!([text("b")]))]),
    );
    check("@all [~kim]", json!([paragraph(json!([text("@all [~kim]")]))]));
}

#[test]
fn what_is_written_is_read_as_it_was() {
    for markdown in
        ["a\n\n- b\n- c\n\n1. d\n2. e", "# T\n\n> q\n\n```rust\nx\n```", "**a** *b* [c](https://x.example)"]
    {
        assert_eq!(to_text(&document(&markdown::read(markdown))).text, markdown);
    }
}

#[test]
fn no_text_takes_longer_than_its_length() {
    for part in ["> ", "- ", "1. ", "# ", "```\n", "  - a\n", "*a ", "> - > - x\n"] {
        let blocks = markdown::read(&part.repeat(5_000));
        assert!(document(&blocks).is_object());
    }
}
