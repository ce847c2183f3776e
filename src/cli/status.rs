//! `workagent status`: the text.
