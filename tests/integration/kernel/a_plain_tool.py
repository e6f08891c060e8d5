"""What an ordinary Python tool does in a call: models, an event loop, threads, files, a database, clocks, crypto."""

from __future__ import annotations

import asyncio
import ctypes
import decimal
import json
import os
import shutil
import sqlite3
import ssl
import tempfile
import threading
import uuid
import zoneinfo
from concurrent.futures import ThreadPoolExecutor

import pydantic


class Order(pydantic.BaseModel):
    amount: decimal.Decimal
    label: str = "x"


async def gather() -> list[int]:
    loop = asyncio.get_running_loop()
    later = loop.run_in_executor(None, lambda: 2)
    return [await asyncio.sleep(0, 1), await later]


def copy_a_file(folder: str) -> str:
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        first, second = os.path.join(scratch, "a"), os.path.join(scratch, "b")
        with open(first, "w") as file:
            file.write("text")
        shutil.copy2(first, second)
        os.replace(second, first)
        with open(first) as file:
            return file.read()


def from_a_thread() -> int:
    gave: list[int] = []
    thread = threading.Thread(target=lambda: gave.append(5))
    thread.start()
    thread.join()
    return gave[0]


def square(number: int) -> int:
    return number * number


def one_more(number: int) -> int:
    return number + 1


def work(folder: str) -> dict[str, object]:
    add_one = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(one_more)
    database = sqlite3.connect(":memory:")
    with ThreadPoolExecutor(4) as pool:
        squares = sum(pool.map(square, range(10)))
    gave: dict[str, object] = {
        "model": json.loads(Order.model_validate({"amount": "1.5"}).model_dump_json()),
        "schema": sorted(Order.model_json_schema()["properties"]),
        "loop": asyncio.run(gather()),
        "threads": squares,
        "thread": from_a_thread(),
        "file": copy_a_file(folder),
        "database": database.execute("select 1 + 1").fetchone()[0],
        "zone": str(zoneinfo.ZoneInfo("Europe/Paris")),
        "decimal": str(decimal.Decimal(1) / 3),
        "callback": add_one(4),
        "tls": ssl.create_default_context().check_hostname,
        "random": [len(ssl.RAND_bytes(8)), uuid.uuid4().version],
    }
    database.close()
    return gave
