import asyncio
import urllib.request

from ringfence import Network, tool
from ringfence.assembly import open_runtime


@tool(safety="read", needs=[Network("127.0.0.1:28417", "status.example.com")])
def read_status(url: str) -> str:
    """Read a status page."""
    return urllib.request.urlopen(url, timeout=5).read().decode()


NETWORK = {"allow": ["127.0.0.1:28417", "status.example.com"], "private": ["127.0.0.1:28417"]}
CONFIG = {
    "version": 1,
    "people": {"carol": {"roles": ["viewer"]}},
    "agents": {"ana": {"owner": "carol", "allowed_tools": ["*"], "network": NETWORK}},
    "sandbox": {"kind": "local"},
}
URLS = (
    "http://127.0.0.1:28417/",
    "http://169.254.169.254/latest/meta-data/",
    "https://evil.example.net/?q=secret",
)


async def status_page(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nall fine")
    await writer.drain()
    writer.close()


async def main() -> None:
    server = await asyncio.start_server(status_page, "127.0.0.1", 28417)
    async with server, open_runtime(CONFIG, tools=[read_status]) as runtime:
        session = runtime.session(agent="ana")
        for url in URLS:
            outcome = await session.call("read_status", {"url": url})
            print(url, "->", outcome.status, getattr(outcome, "output", ""))
            network = outcome.effects["network"]
            for line in network["hosts"]:
                print(f"  reached {line['host']} at port {line['port']}, {line['way']}, {line['requests']} request")
            for refusal in network["refusals"]:
                print(f"  {refusal['code']}: {refusal['reason']}")


if __name__ == "__main__":
    asyncio.run(main())
