//! `workagent analyze dot`: the graph for Graphviz, for Mermaid, or as a picture.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::graph::{Graph, Means, State};
use super::{compiled, no_such_unit, svg};
use crate::cli::case::pretty;
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::daemon::exit;

/// `workagent analyze dot`
#[derive(Debug, Args)]
pub struct DotArgs {
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: DotFormat,
    /// Units too that are off and have to do with nothing, and the runtimes
    #[arg(long)]
    all: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Only this unit, what it leads to and what leads to it: `inbox.connector`
    unit: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum DotFormat {
    /// Text for Graphviz
    #[default]
    Dot,
    /// Text for Mermaid
    Mermaid,
    /// A picture
    Svg,
}

/// Runs the command.
///
/// # Errors
/// There is no such unit.
pub fn command(args: &DotArgs, context: &mut Context<'_>) -> Result<u8, CliError> {
    let mut graph = Graph::new(&compiled(context));
    if let Some(unit) = &args.unit {
        let known: Vec<String> = graph.nodes.iter().map(|node| node.id.clone()).collect();
        graph = graph.around(unit).ok_or_else(|| no_such_unit(unit, &known))?;
    } else if !args.all {
        graph = graph.essential();
    }
    let text = match args.format {
        _ if args.json => pretty(&as_json(&graph)),
        DotFormat::Dot => graphviz(&graph),
        DotFormat::Mermaid => mermaid(&graph),
        DotFormat::Svg => svg::draw(&graph),
    };
    context.out.write_all(text.as_bytes())?;
    Ok(exit::OK)
}

fn as_json(graph: &Graph) -> serde_json::Value {
    let id = |at: usize| graph.nodes.get(at).map_or("", |node| node.id.as_str());
    let nodes: Vec<_> = graph
        .nodes
        .iter()
        .map(|node| {
            json!({"id": node.id, "kind": node.kind.word(), "state": node.state.word(), "note": node.note,
                   "reason": node.why})
        })
        .collect();
    let links: Vec<_> = graph
        .links
        .iter()
        .map(|link| json!({"from": id(link.from), "to": id(link.to), "kind": link.means.word()}))
        .collect();
    json!({"version": 1, "nodes": nodes, "links": links})
}

/// A quoted word of the DOT language.
fn quoted(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    format!("\"{}\"", clean.replace('\\', "\\\\").replace('"', "\\\""))
}

fn graphviz(graph: &Graph) -> String {
    let mut out = String::from(
        "digraph workagent {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"monospace\", \
         fontsize=11];\n  edge [fontname=\"monospace\", fontsize=9];\n",
    );
    for node in &graph.nodes {
        let look = match node.state {
            State::On => "color=\"#2e7d32\", fillcolor=\"#edf7ee\"",
            State::Off => "style=\"rounded,filled,dashed\", color=\"#9aa0a6\", fillcolor=\"#f4f5f6\"",
            State::Bad => "color=\"#c62828\", fillcolor=\"#fdecea\"",
            State::Missing => "style=\"rounded,dotted\", color=\"#c62828\"",
        };
        let label = quoted(&node.id);
        let note = quoted(&node.note);
        let label = format!("{}\\n{}", label.trim_matches('"'), note.trim_matches('"'));
        let tooltip = quoted(node.why.as_deref().unwrap_or(&node.id));
        let _ = writeln!(out, "  {} [label=\"{label}\", tooltip={tooltip}, {look}];", quoted(&node.id));
    }
    for link in &graph.links {
        let look = match link.means {
            Means::Cases => "color=\"#1565c0\", penwidth=1.8",
            Means::Uses => "color=\"#37474f\"",
            Means::Secret => "color=\"#8d6e63\", style=dotted",
            Means::Requires => "color=\"#37474f\", style=dashed, penwidth=2",
            Means::Wants => "color=\"#607d8b\", style=dashed",
            Means::PartOf => "color=\"#6a1b9a\", style=dashed",
            Means::After => "color=\"#90a4ae\", style=dotted",
            Means::Conflicts => "color=\"#c62828\", style=dashed, dir=none",
        };
        let id = |at: usize| graph.nodes.get(at).map_or("", |node| node.id.as_str());
        let (from, to) = (quoted(id(link.from)), quoted(id(link.to)));
        let _ = writeln!(out, "  {from} -> {to} [label={}, {look}];", quoted(link.means.word()));
    }
    out.push_str("}\n");
    out
}

fn mermaid(graph: &Graph) -> String {
    let mut out = String::from("flowchart LR\n");
    // Mermaid has entities of its own in place of backslashes.
    let label = |text: &str| {
        let clean: String = text.chars().filter(|c| !c.is_control()).collect();
        clean.replace('&', "#amp;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;")
    };
    for (at, node) in graph.nodes.iter().enumerate() {
        let (id, note, state) = (label(&node.id), label(&node.note), node.state.word());
        let _ = writeln!(out, "  n{at}[\"{id}<br/><small>{note}</small>\"]:::{state}");
    }
    for link in &graph.links {
        let arrow = match link.means {
            Means::Cases | Means::Requires => "==>",
            Means::Uses => "-->",
            Means::Conflicts => "x--x",
            Means::Secret | Means::Wants | Means::PartOf | Means::After => "-.->",
        };
        let _ = writeln!(out, "  n{} {arrow}|{}| n{}", link.from, link.means.word(), link.to);
    }
    out.push_str(
        "  classDef on fill:#edf7ee,stroke:#2e7d32,color:#16321a\n  \
         classDef off fill:#f4f5f6,stroke:#9aa0a6,color:#5f6368,stroke-dasharray:4 3\n  \
         classDef bad fill:#fdecea,stroke:#c62828,color:#5c1212\n  \
         classDef missing fill:#ffffff,stroke:#c62828,color:#8e1b1b,stroke-dasharray:2 3\n",
    );
    out
}

#[cfg(test)]
mod tests {
    use super::super::graph::tests::{HOUSE, compile};
    use super::*;

    #[test]
    fn graphviz_text() {
        let graph = Graph::new(&compile(HOUSE)).around("mail.route").unwrap();
        insta::assert_snapshot!(graphviz(&graph), @r##"
        digraph workagent {
          rankdir=LR;
          node [shape=box, style="rounded,filled", fontname="monospace", fontsize=11];
          edge [fontname="monospace", fontsize=9];
          "$KEY" [label="$KEY\nthe daemon's environment", tooltip="$KEY", color="#2e7d32", fillcolor="#edf7ee"];
          "inbox.connector" [label="inbox.connector\nimap · reviewed", tooltip="inbox.connector", color="#2e7d32", fillcolor="#edf7ee"];
          "local.engine" [label="local.engine\nqwen3:8b · here", tooltip="local.engine", color="#2e7d32", fillcolor="#edf7ee"];
          "mail.route" [label="mail.route\nroute", tooltip="mail.route", color="#2e7d32", fillcolor="#edf7ee"];
          "news.connector" [label="news.connector\ndisabled", tooltip="[install] enabled is not set", style="rounded,filled,dashed", color="#9aa0a6", fillcolor="#f4f5f6"];
          "secret work/token" [label="secret work/token\nin the secret store", tooltip="secret work/token", color="#2e7d32", fillcolor="#edf7ee"];
          "work.env" [label="work.env\n2 variables", tooltip="work.env", color="#2e7d32", fillcolor="#edf7ee"];
          "inbox.connector" -> "mail.route" [label="cases", color="#1565c0", penwidth=1.8];
          "local.engine" -> "$KEY" [label="secret", color="#8d6e63", style=dotted];
          "local.engine" -> "work.env" [label="uses", color="#37474f"];
          "mail.route" -> "local.engine" [label="uses", color="#37474f"];
          "mail.route" -> "news.connector" [label="after", color="#90a4ae", style=dotted];
          "work.env" -> "secret work/token" [label="secret", color="#8d6e63", style=dotted];
        }
        "##);
    }

    #[test]
    fn mermaid_text() {
        let graph = Graph::new(&compile(HOUSE)).around("mail.route").unwrap();
        insta::assert_snapshot!(mermaid(&graph), @r#"
        flowchart LR
          n0["$KEY<br/><small>the daemon's environment</small>"]:::on
          n1["inbox.connector<br/><small>imap · reviewed</small>"]:::on
          n2["local.engine<br/><small>qwen3:8b · here</small>"]:::on
          n3["mail.route<br/><small>route</small>"]:::on
          n4["news.connector<br/><small>disabled</small>"]:::off
          n5["secret work/token<br/><small>in the secret store</small>"]:::on
          n6["work.env<br/><small>2 variables</small>"]:::on
          n1 ==>|cases| n3
          n2 -.->|secret| n0
          n2 -->|uses| n6
          n3 -->|uses| n2
          n3 -.->|after| n4
          n6 -.->|secret| n5
          classDef on fill:#edf7ee,stroke:#2e7d32,color:#16321a
          classDef off fill:#f4f5f6,stroke:#9aa0a6,color:#5f6368,stroke-dasharray:4 3
          classDef bad fill:#fdecea,stroke:#c62828,color:#5c1212
          classDef missing fill:#ffffff,stroke:#c62828,color:#8e1b1b,stroke-dasharray:2 3
        "#);
    }

    #[test]
    fn foreign_words_stay_words() {
        assert_eq!(quoted("a\"]; b\\\n"), "\"a\\\"]; b\\\\\"");
    }
}
