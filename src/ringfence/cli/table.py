"""Every command, where its code is and what it does, so that help needs none of that code.

Takes: nothing.  Gives: `COMMANDS` and the text of `ringfence --help`.  Never: imports a command.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One command: the module under `ringfence.cli` that defines `command`, and its line of help."""

    module: str
    help: str


COMMANDS: dict[str, Entry] = {
    "tour": Entry("tour", "Show everything once, in a scratch folder that is removed again."),
    "init": Entry("init", "Write a small working project into a folder."),
    "check": Entry("check", "Check the config, the tools and the rules; accept the tools."),
    "status": Entry("status", "Show what an agent can use, and why it cannot use the rest."),
    "explain": Entry("explain", "Show every reason for a decision, without making the call."),
    "call": Entry("call", "Make one call as an agent."),
    "calls": Entry("calls", "List and show recorded calls; resume, settle or take back one."),
    "tools": Entry("tools", "List the registered tools, or show one contract."),
    "pins": Entry("pins", "List accepted contracts, show what changed, accept the change."),
    "scan": Entry("scan", "Look for injected, hidden and dangerous text in a tool list or any text."),
    "approvals": Entry("approvals", "List, show, approve and reject calls that wait."),
    "grants": Entry("grants", "Approve calls in advance, within bounds; list, sign and revoke that."),
    "freeze": Entry("freeze", "Stop an agent, a tool or everything, at once and everywhere."),
    "unfreeze": Entry("unfreeze", "Let calls start again."),
    "secrets": Entry("secrets", "List secrets by name, check that each can be read, set one."),
    "audit": Entry("audit", "Read, prove, export, bundle, replay and prune the audit trail."),
    "db": Entry("db", "Show and bring forward the store's schema; print PostgreSQL roles."),
    "doctor": Entry("doctor", "Try what this machine can enforce, and say how to get the rest."),
    "schema": Entry("schema", "Print the JSON Schema of the config file, for editors."),
    "bench": Entry("bench", "Measure, in a source checkout."),
    "completion": Entry("completion", "Print the completion script of a shell."),
}

OPTIONS: dict[str, str] = {
    "--config FILE": "The config file; also RINGFENCE_CONFIG. [default: ringfence.yaml]",
    "--version": "Show the version.",
    "--help": "Show this help.",
}


def help_text() -> str:
    """What `ringfence --help` prints."""
    width = max(map(len, (*COMMANDS, *OPTIONS))) + 2
    commands = [f"  {name:<{width}}{entry.help}" for name, entry in COMMANDS.items()]
    options = [f"  {name:<{width}}{meaning}" for name, meaning in OPTIONS.items()]
    return "\n".join(
        [
            "Usage: ringfence [OPTIONS] COMMAND [ARGS]...",
            "",
            "  Ringfence stands between AI agents and their tools.",
            "",
            "Options:",
            *options,
            "",
            "Commands:",
            *commands,
            "",
            "`ringfence COMMAND --help` says more. Start with `ringfence tour`, or `ringfence init`.",
        ]
    )
