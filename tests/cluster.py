"""A PostgreSQL of the tests' own: a private cluster on a socket in a temporary folder, gone when they end.

Takes: nothing.  Gives: databases with the four roles, migrated, and logins for each.
Never: uses a server that runs already, listens on a network, or passes by where PostgreSQL is missing.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from ringfence.store.postgres.login import Login
from ringfence.store.postgres.migrate import migrate, role_sql

SUPERUSER = "postgres"
LOGINS = {
    "gateway": ("ringfence_application",),
    "person": ("ringfence_application", "ringfence_approver", "ringfence_operator"),
    "voter": ("ringfence_application", "ringfence_approver"),
    "mover": ("ringfence_owner",),
}
MISSING = "PostgreSQL 15 or newer is not installed: `make setup` installs it where apt is there and you are root"
_SETTINGS = ("fsync=off", "listen_addresses=", "autovacuum=off", "max_connections=200", "log_min_messages=fatal")


def binaries() -> Path:
    """Where the newest installed server is."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found and int(found[-1].parts[-3]) >= 15:
        return found[-1].parent
    anywhere = shutil.which("initdb")
    if anywhere is None:
        raise AssertionError(MISSING)
    return Path(anywhere).resolve().parent


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One server; `initdb` refuses root, so it belongs to whoever is not."""

    folder: Path
    owner: int | None
    settings: Sequence[str] = _SETTINGS
    numbers: Any = field(default_factory=lambda: count(1))

    def url(self, database: str, *, user: str = SUPERUSER) -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(binaries() / program), *arguments],
            user=self.owner,
            group=None if self.owner is None else pwd.getpwuid(self.owner).pw_gid,
            extra_groups=None if self.owner is None else [],
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=60,
        )

    def create(self) -> None:
        self.run("initdb", "-D", str(self.folder / "data"), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        options = " ".join(f"-c {setting}" for setting in (*self.settings, f"unix_socket_directories={self.folder}"))
        log = str(self.folder / "log")
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-l", log, "-w", "-o", options, "start")

    def stop(self, *, mode: str = "fast") -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-m", mode, "stop")

    def execute(self, statement: str, *, database: str = "postgres", user: str = SUPERUSER) -> None:
        with psycopg.connect(self.url(database, user=user), autocommit=True) as connection:
            connection.execute(statement.encode())

    def furnish(self) -> None:
        """Roles, logins, and a migrated database that others are copied from."""
        self.execute("CREATE DATABASE furnished")
        self.execute(role_sql(), database="furnished")
        for login, roles in LOGINS.items():
            self.execute(f"CREATE ROLE {login} LOGIN; GRANT {', '.join(roles)} TO {login}")
        migrate(Login(url=self.url("furnished", user="mover")), at="2030")

    def database(self, *, template: str = "furnished") -> str:
        name = f"store_{next(self.numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop(self, database: str) -> None:
        self.execute(f"DROP DATABASE {database} WITH (FORCE)")


def _other_user() -> int | None:
    """Whom the server runs as: us, unless we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    raise AssertionError("root needs an ordinary user to run PostgreSQL as, and there is neither postgres nor nobody")


@contextmanager
def running_cluster(*, settings: Sequence[str] = _SETTINGS, furnished: str = "yes") -> Generator[Cluster, None, None]:
    # A socket's path is short by law, and the folder must be reachable for whoever the server runs as.
    folder = Path(tempfile.mkdtemp(prefix="rfpg-", dir="/tmp"))
    owner = _other_user()
    if owner is not None:
        os.chown(folder, owner, -1)
    cluster = Cluster(folder=folder, owner=owner, settings=settings)
    try:
        cluster.create()
        cluster.start()
        try:
            if furnished == "yes":
                cluster.furnish()
            yield cluster
        finally:
            if (folder / "data" / "postmaster.pid").exists():
                cluster.stop(mode="immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster() -> Generator[Cluster, None, None]:
    with running_cluster() as one:
        yield one


@pytest.fixture
def database(cluster: Cluster) -> Generator[str, None, None]:
    name = cluster.database()
    yield name
    cluster.drop(name)
