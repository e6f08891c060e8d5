import asyncio
from pathlib import Path

from ringfence import tool
from ringfence.assembly import open_runtime
from ringfence.errors import ConfigInvalid


@tool(safety="write", idempotency="optional")
def post_note(channel: str, text: str) -> None:
    """Post a note on the team's board."""


CONFIG = """
version: 1
people: {alice: {roles: [approver]}}
agents:
  ana: {allowed_tools: [post_note]}
policy:
  rules:
    - match: {tool: post_note}
      when: {args.channel: {glob: "board-*"}}
      decision: approve
      because: a person reads what the board will read
      holds: [{tool: post_note, args: {channel: board-main, text: hello}}]
      not_holds: [{tool: post_note, args: {channel: lunch, text: hello}}]
    - match: {class: write}
      when: {args.text: {matches: "(?i)password"}}
      decision: deny
      because: no passwords in notes
"""


async def main() -> None:
    Path("ringfence.yaml").write_text(CONFIG)
    async with open_runtime("ringfence.yaml", tools=[post_note]) as runtime:
        for channel, text in (("lunch", "soup"), ("board-main", "soup"), ("board-main", "the password is soup")):
            explained = await runtime.explain("ana", "post_note", {"channel": channel, "text": text})
            print(explained.decision.word, "|", "; ".join(reason.because for reason in explained.reasons[2:]) or "-")

    Path("ringfence.yaml").write_text(CONFIG.replace("channel: lunch", "channel: board-lunch"))
    try:
        async with open_runtime("ringfence.yaml", tools=[post_note]):
            pass
    except ConfigInvalid as invalid:
        print(invalid.code, "|", invalid.message)


if __name__ == "__main__":
    asyncio.run(main())
