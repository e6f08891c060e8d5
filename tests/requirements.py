"""Every promise Ringfence makes, with its id: what is held by a test today and what waits, and why.

Takes: nothing.  Gives: `REQUIREMENTS` (the product's promises) and `HOUSE` (the laws of this code base).
Never: lists an id without a behaviour; an id is a name for good and is not reused.

`deferred` gives the reason why nothing holds the id yet; `partly` names what is still out of a live one.
`tests/architecture/test_requirements.py` keeps this table and the `req` markers equal in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """One promise: where it comes from, what it says, and whether a test holds it."""

    id: str
    source: str
    behaviour: str
    deferred: str | None = None
    partly: str | None = None


def _live(id_: str, source: str, behaviour: str, *, partly: str | None = None) -> Requirement:
    return Requirement(id=id_, source=source, behaviour=behaviour, partly=partly)


def _later(id_: str, source: str, behaviour: str, reason: str) -> Requirement:
    return Requirement(id=id_, source=source, behaviour=behaviour, deferred=reason)


_CON = "seed 000 §1-2-5, seed 002, seed 003, seed 004"
_REG = "seed 000 §4"
_VIEW = "seed 001, seed 004 point 1"
_POL = "seed 000 §2, seed 001, seed 002, seed 003"
_APR = "seed 000 §2, seed 002, seed 003"
_SBX = "seed 000 §3, seed 002 «future», seed 003, seed 004"
_NET = _SBX
_SEC = "seed 003, seed 004"
_STO = "seed 004"
_IDM = "seed 000 §5, seed 003"
_SAN = "seed 000 §6, seed 003"
_AUD = "seed 000, seed 003"
_DB = "seed 002"
_IMP = "seed 000 §4, seed 003"
_OWN = "this project"
_HOUSE = "the house rules in CONTRIBUTING.md"

_NEEDS_JAIL = "needs the kernel jail"
_NEEDS_GATEWAY = "needs the MCP gateway"
_NEEDS_CONSOLE = "needs the web console"
_NEEDS_IMPORTERS = "needs the importers"
_NEEDS_POSTGRES = "needs the PostgreSQL store"

REQUIREMENTS: tuple[Requirement, ...] = (
    _live("CON-1", _CON, "decorating a plain or async function yields a complete contract whose parts come from its name, docstring, annotations and arguments to the decorator", partly="a tool is hidden for a missing secret or binary; checking that a server exists waits for the importers"),
    _live("CON-2", _CON, "a declaration that leaves a type or a text open is refused with the parameter's name, and sizes nobody stated get a ceiling"),
    _live("CON-3", _CON, "arguments are checked strictly before any later stage sees them, and a reply that misses its schema is withheld whole", partly="the author's own validators run once there is a jail to run them in"),
    _live("CON-4", _CON, "every tool names one of five safety classes, and one table gives the least decision for each"),
    _live("CON-5", _CON, "the egress class follows from the needs and the safety class, and a declaration that contradicts itself is refused", partly="holding methods and routes on the wire waits for the network edge"),
    _live("CON-6", _CON, "there are five kinds of capability, and a tool that declares none is granted nothing"),
    _live("CON-7", _CON, "a tool with consequences has to say whether an idempotency key is required or optional"),
    _live("CON-8", _CON, "a tool's approval route can add votes to its floor and can never take one away"),
    _live("CON-9", _CON, "a call is repeated without being asked only when repeating it cannot do harm twice"),
    _live("CON-10", _CON, "a contract has one reproducible SHA-256 over its canonical JSON, and each call records it beside the digest of the source"),
    _live("CON-11", _CON, "a folder with a TOOL.md and an executable in any language is a tool that speaks JSON on its standard streams"),
    _live("CON-12", _CON, "the context handed to a tool carries exactly what was declared and granted", partly="what `ctx.progress` says goes nowhere yet"),
    _live("CON-13", _CON, "the host does not import tool code that a config file names, and a tool that the jail could not import by name is refused with the remedy"),
    _live("CON-14", _CON, "each call is granted what tool, agent and binding all permit, in all five categories, and an emptied need stops the call"),
    _live("REG-1", _REG, "a tool's contract and source are remembered, and a changed contract takes the tool out of use in every process at once until an operator accepts it", partly="MCP servers as sources wait for the importers"),
    _live("REG-2", _REG, "every string that a model would read in a definition is bounded and searched for injected instructions", partly="imported definitions wait for the importers"),
    _live("REG-3", _REG, "tool names have one plain alphabet, and two names that a reader could confuse cannot be registered together", partly="prefixes of imported names wait for the importers"),
    _live("REG-4", _REG, "the trail holds each description with its hash at registration and again at each call"),
    _live("VIEW-1", _VIEW, "agents live in one YAML file whose every mistake is reported with file, line and the nearest known key"),
    _live("VIEW-2", _VIEW, "a tool outside the view and a tool that was never there get the same answer by the same path"),
    _live("VIEW-3", _VIEW, "a binding narrows what its agent sees and comes from the credential, never from the model", partly="tokens that name a binding wait for the gateway"),
    _live("VIEW-4", _VIEW, "a tool whose needs do not fit the agent's policy is hidden, and the misfit is kept as a record"),
    _live("VIEW-5", _VIEW, "`ringfence status` names the tools an agent can use and the reason for each that it cannot"),
    _live("VIEW-6", _VIEW, "workspace, storage and memory of one agent are out of reach for every other"),
    _live("VIEW-7", _VIEW, "the account a tool acts with follows from agent and binding, and the whole set is checked at load"),
    _later("VIEW-8", _VIEW, "a changed config is checked and then swapped in every process, and a bad one leaves the old in force", "needs a long-running process to reload"),
    _live("POL-1", _POL, "one truth table decides every call and lists all reasons, and `ringfence explain` prints them without running anything", partly="quotas and provenance add their rows later"),
    _live("POL-2", _POL, "rules match calls by linear-time conditions, prove their own examples at load, hold when an argument is absent, and deny when they fail", partly="time windows and call counts"),
    _live("POL-3", _POL, "profiles and named packs tighten an agent's decisions", partly="the shipped packs"),
    _live("POL-4", _POL, "call rates are counted together by all processes, and refusals have a bucket of their own"),
    _live("POL-5", _POL, "a marked recipient is one well-formed address that the operator listed"),
    _later("POL-6", _POL, "values that stem from untrusted content cannot steer a consequential call without a person's approval", "needs provenance tracking"),
    _live("APR-1", _APR, "a call that needs votes is a durable row, and any process can pick it up again"),
    _live("APR-2", _APR, "a vote counts for exactly what the voter was shown, and resuming decides everything anew"),
    _live("APR-3", _APR, "permission to run is used up in the very transaction that starts the call"),
    _live("APR-4", _APR, "whoever proposed a call cannot vote on it, and two votes come from two people"),
    _live("APR-5", _APR, "a rejection carries a reason to the model, settles that call and its like for the session, and three in a row stop the session's calls to the tool", partly="a process that joins a session late knows like calls from the newest 20,000 events; the same call it knows for good"),
    _live("APR-6", _APR, "an approval nobody answered in time is a refusal"),
    _later("APR-7", _APR, "console, REST and signed webhooks are further doors for votes and show the bytes that will run", _NEEDS_CONSOLE),
    _live("APR-8", _APR, "an operator can approve in advance within bounds, for named reasons, until a date", partly="reasons of packs and provenance, which wait for those"),
    _later("APR-9", _APR, "calls, quarantined definitions and calls in doubt wait in one inbox", "needs quarantine and settlement"),
    _live("SBX-1", _SBX, "without a configured sandbox nothing runs, and a conformance suite ships for every implementation", partly="gVisor and remote sandboxes"),
    _live("SBX-2", _SBX, "each call has a process of its own that leaves nothing to the next", partly="long-lived servers wait for the importers"),
    _live("SBX-3", _SBX, "the grant becomes namespaces, Landlock, a syscall allowlist and limits, so that the undeclared is out of reach"),
    _live("SBX-4", _SBX, "no path trick leaves the granted root, and some paths can never be granted"),
    _live("SBX-5", _SBX, "only listed binaries execute, known by the file and not by its name"),
    _live("SBX-6", _SBX, "what the jail enforces is measured on this machine and kept with the call", partly="the confined posture serves no tool with processes"),
    _live("SBX-7", _SBX, "a tool with needs and no backend for them is refused by name"),
    _live("SBX-8", _SBX, "the host measures what a call did and what it cost"),
    _live("SBX-9", _SBX, "ending a call in any way leaves no process, mount, group, socket or file", partly="shutdown under load"),
    _live("SBX-10", _SBX, "the calls of one turn run side by side within a bound that is fair to every agent", partly="fair queueing over a pool of jails"),
    _later("SBX-11", _SBX, "writes can be staged and applied only when the call completes", "planned for a later release"),
    _later("SBX-12", _SBX, "an undeclared access can become a question to a person", "planned for a later release"),
    _live("NET-1", _NET, "the jail has no route, and the edge makes every connection on behalf of one call"),
    _live("NET-2", _NET, "common network libraries work in the jail without changes", partly="curl and git in the confined posture, which holds no processes"),
    _live("NET-3", _NET, "one matcher reads host patterns everywhere: exact names, true sub-domains, stated ports, and nothing as broad as a public suffix"),
    _live("NET-4", _NET, "metadata, link-local, private and loopback addresses stay closed in every spelling and at every hop"),
    _live("NET-5", _NET, "every way out is named mediated, inspected or opaque, and read-only is held on the wire"),
    _live("NET-6", _NET, "only listed names resolve, and name lookups cannot carry much out"),
    _live("SEC-1", _SEC, "a secret shows its name and never its value, wherever it is printed or stored", partly="Vault is not tested against a real one"),
    _live("SEC-2", _SEC, "the jail holds a placeholder that the edge replaces in one declared slot for declared hosts"),
    _live("SEC-3", _SEC, "known values are scrubbed from everything that leaves, in their usual encodings too", partly="what people type into votes and reasons is kept as typed"),
    _live("STO-1", _STO, "tools keep rows in scopes that never cross agents, within quotas"),
    _live("IDM-1", _IDM, "every call has an idempotency key, given or derived from what it is, within its agent and tool", partly="turns are counted by one process"),
    _live("IDM-2", _IDM, "a key is reserved, then committed or released, once across all processes"),
    _live("IDM-3", _IDM, "a consequential call without a valid reply is in doubt until effects or a person settle it", partly="the effects of a call that was cancelled are not asked for, so it is in doubt"),
    _live("IDM-4", _IDM, "replaying a session from the trail causes nothing"),
    _live("SAN-1", _SAN, "output loses terminal escapes, hidden characters, role tokens, Markdown that fetches and credentials, and is cut with the count of bytes cut"),
    _live("SAN-2", _SAN, "each cleaning pass reports what it found, only the clean text goes to the model, and the trail keeps the raw one sealed", partly="scrubbing known secrets from what is sealed waits for the secret sources"),
    _live("SAN-3", _SAN, "structured output is cleaned in every leaf and key and must still fit its schema"),
    _live("SAN-4", _SAN, "cleaning twice is cleaning once, takes linear time, and leaves harmless text of any script alone"),
    _live("SAN-5", _SAN, "whatever text reaches a model or a person has been cleaned", partly="progress and upstream errors wait for the gateway"),
    _live("AUD-1", _AUD, "each step of a call is an event with a schema and the tool's safety class, chained to the one before"),
    _live("AUD-2", _AUD, "`ringfence audit verify` finds any change, removal or roll-back by chain, signature and outside anchor; old bodies can go and a signed bundle verifies elsewhere", partly="syslog and command anchors"),
    _live("AUD-3", _AUD, "nothing runs while the trail cannot be written, and output whose end cannot be recorded is withheld"),
    _later("AUD-4", _AUD, "calls and stages are OpenTelemetry spans without arguments", "needs the telemetry extra"),
    _live("DB-1", _DB, "the store passes its conformance suite and has the start of a call on disk before the call starts"),
    _live("DB-2", _DB, "the database itself refuses illegal states, self-approval, running without a warrant and edits of history"),
    _live("DB-3", _DB, "each database role can do its own part and none can bypass"),
    _later("IMP-1", _IMP, "tools come in from MCP servers, OpenAPI, LangChain and OpenAI functions", _NEEDS_IMPORTERS),
    _later("IMP-2", _IMP, "one gate checks every foreign definition and believes no annotation that loosens", _NEEDS_IMPORTERS),
    _later("IMP-3", _IMP, "a view can be handed to the common agent libraries through the same pipeline", "needs the exporters"),
    _later("GTW-1", _OWN, "the gateway speaks two MCP revisions over both transports and passes the official suite", _NEEDS_GATEWAY),
    _later("GTW-2", _OWN, "an opaque token decides agent, binding, user and scope at every request", _NEEDS_GATEWAY),
    _later("GTW-3", _OWN, "a waiting call answers as pending and picks up its decision when asked again", _NEEDS_GATEWAY),
    _later("GTW-4", _OWN, "`ringfence wrap` jails, pins and filters one stdio server", _NEEDS_GATEWAY),
    _live("OPS-1", _OWN, "the command line covers a tool's life from `init` to `audit verify`", partly="commands of rooms that are not built"),
    _later("OPS-2", _OWN, "the console shows approvals, agents, calls and the trail live, and works without outside resources", _NEEDS_CONSOLE),
    _later("OPS-3", _OWN, "`ringfence lint` finds raw effects in tool modules", "needs the lint rules"),
    _later("OPS-4", _OWN, "`ringfence learn` prints the smallest declaration that covers a run", _NEEDS_JAIL),
    _later("OPS-5", _OWN, "`ringfence redteam` tries known attacks on the user's own tools and config", _NEEDS_JAIL),
    _live("OPS-6", _OWN, "`ringfence.testing` lets a project test its tools and policy without a store or people", partly="an in-memory store, a scripted approver and the pytest plugin"),
    _live("OPS-7", _OWN, "every error has a stable code, a reader and a remedy, and one page lists them all"),
    _live("OPS-8", _OWN, "an operator can stop an agent, a tool or everything within a second", partly="refusing tokens, which wait for the gateway"),
    _live("OPS-9", _OWN, "a ready toolbox shows what good contracts look like"),
    _live("SCL-1", _OWN, "any number of processes and machines share one database and run each call once"),
    _later("SCL-2", _OWN, "execution spreads over an existing job engine that one machine never needs", _NEEDS_POSTGRES),
)  # fmt: skip

HOUSE: tuple[Requirement, ...] = (
    _live("HOUSE-1", _HOUSE, "the import graph is the pipeline: a room imports only rooms below it"),
    _live("HOUSE-2", _HOUSE, "stages touch no database, socket or process"),
    _live("HOUSE-3", _HOUSE, "the code beside the tool loads kernel, contract, errors and nothing else"),
    _live("HOUSE-4", _HOUSE, "adapters know invocations, never the pipeline or a session"),
    _live("HOUSE-5", _HOUSE, "files, functions and comments stay small enough to read"),
    _live("HOUSE-6", _HOUSE, "a module is named for its idea"),
    _live("HOUSE-7", _HOUSE, "no source evaluates text, unpickles, or starts a shell"),
    _live("HOUSE-8", _HOUSE, "no error is swallowed in silence"),
    _live("HOUSE-9", _HOUSE, "nothing in the tree names the machine or the index it was made with"),
    _live("HOUSE-10", _HOUSE, "each live requirement has a test and each test a requirement"),
    _live("HOUSE-11", _HOUSE, "a figure is a ratio of two things measured in turns in one run"),
    _live("HOUSE-12", _HOUSE, "every test shows what it asserts, and a function that asserts says so in its name"),
)  # fmt: skip

LIVE = tuple(row for row in REQUIREMENTS if row.deferred is None)
DEFERRED = tuple(row for row in REQUIREMENTS if row.deferred is not None)
