"""A small MCP server on the reference SDK: issues that can be listed and answered."""

import sys

from mcp.server import MCPServer

server = MCPServer("garden")
comments: list[dict] = []


@server.tool()
def list_issues(page: int = 1) -> dict:
    """Issues of the garden."""
    pages = [[{"number": 7, "title": "Roof", "body": "It leaks."}], [{"number": 8, "title": "Gate"}]]
    return {"issues": pages[page - 1], "next": page + 1 if page < len(pages) else None}


@server.tool()
def comment(issue: int, text: str) -> dict:
    """Answers an issue."""
    comments.append({"id": 700 + len(comments), "issue": issue, "body": text})
    return comments[-1]


@server.tool()
def list_comments(issue: int) -> dict:
    """What was answered."""
    return {"comments": [one for one in comments if one["issue"] == issue]}


if sys.argv[1:2] == ["http"]:
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
else:
    server.run(transport="stdio")
