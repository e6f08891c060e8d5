"""Each source gives its value as it is now, and says why it cannot without saying what it found."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Any

import keyring
import keyring.backend
import keyring.backends.fail
import keyring.errors
import pytest

from ringfence.execution.secrets import SecretSource, SecretUnavailable, SecretValue
from ringfence.secret_sources.aws import field_of
from ringfence.secret_sources.command import CommandSource
from ringfence.secret_sources.env import EnvSource
from ringfence.secret_sources.files import DirectorySource, FileSource
from ringfence.secret_sources.keyring import KeyringSource
from ringfence.secret_sources.vault import VaultSource

pytestmark = pytest.mark.req("SEC-1")

VALUE = "zebra-orchid-41-lantern"


def written(path: Path, text: str = VALUE + "\n", *, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def refusal(source: SecretSource) -> SecretUnavailable:
    """Why the source gave nothing; the value is nowhere in it, nor in the locals of its traceback."""
    with pytest.raises(SecretUnavailable) as raised:
        source.fetch()
    told = traceback.TracebackException.from_exception(raised.value, capture_locals=True)
    ours = [frame for frame in told.stack if "secret_sources" in frame.filename]
    assert VALUE not in f"{raised.value}{raised.value.remedy}" + "".join(str(frame.locals) for frame in ours)
    return raised.value


def test_an_environment_variable_is_read_as_it_is_now() -> None:
    environment = {"CRM": VALUE}
    source = EnvSource("CRM_KEY", variable="CRM", environment=environment)
    assert source.fetch().value.revealed() == VALUE
    environment["CRM"] = "another-value"
    assert source.fetch().value.revealed() == "another-value"
    del environment["CRM"]
    assert refusal(source).message == "the environment variable `CRM` is not set"


@pytest.mark.parametrize("text", [VALUE, VALUE + "\n", VALUE + "\r\n"])
def test_a_file_is_its_text_without_the_line_end(tmp_path: Path, text: str) -> None:
    source = FileSource("CRM_KEY", path=written(tmp_path / "key", text))
    assert source.fetch().value.revealed() == VALUE


def test_replacing_the_file_gives_another_value_and_another_version(tmp_path: Path) -> None:
    source = FileSource("CRM_KEY", path=written(tmp_path / "key"))
    before = source.fetch()
    source.store(SecretValue("CRM_KEY", "a-value-set-later"))
    after = source.fetch()
    assert after.value.revealed() == "a-value-set-later"
    assert before.version != after.version
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_file_that_others_can_open_is_not_read(tmp_path: Path, mode: int) -> None:
    source = FileSource("CRM_KEY", path=written(tmp_path / "key", mode=mode))
    assert refusal(source).message == f"`{tmp_path}/key` is open to others than its owner"


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_file_in_a_folder_where_others_can_swap_it_is_not_read(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    source = FileSource("CRM_KEY", path=written(folder / "key"))
    folder.chmod(mode)
    assert refusal(source).message == f"others can write to the folder `{folder}`"


def test_a_file_or_folder_of_somebody_else_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = FileSource("CRM_KEY", path=written(tmp_path / "key"))
    answers = iter([(os.geteuid(), 0), (12345, 12345), (12345, 12345)])
    monkeypatch.setattr("ringfence.secret_sources.private_file.trusted_owners", lambda: next(answers))
    assert refusal(source).message == f"`{tmp_path}/key` belongs to somebody else"
    assert refusal(source).message == f"the folder `{tmp_path}` belongs to somebody else"


def test_a_pipe_a_folder_and_nothing_are_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "folder").mkdir(mode=0o700)
    assert "not a regular file" in refusal(FileSource("CRM_KEY", path=tmp_path / "pipe")).message
    assert "not a regular file" in refusal(FileSource("CRM_KEY", path=tmp_path / "folder")).message
    assert "cannot be opened" in refusal(FileSource("CRM_KEY", path=tmp_path / "absent")).message
    assert "cannot be looked at" in refusal(FileSource("CRM_KEY", path=tmp_path / "absent" / "key")).message


def test_bytes_that_are_no_text_are_refused_without_being_shown(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(VALUE.encode() + b"\xff")
    (tmp_path / "key").chmod(0o600)
    assert "holds no text" in refusal(FileSource("CRM_KEY", path=tmp_path / "key")).message


def test_a_directory_holds_a_file_of_the_secrets_own_name(tmp_path: Path) -> None:
    written(tmp_path / "CRM_KEY")
    source = DirectorySource("CRM_KEY", folder=tmp_path)
    assert (source.fetch().value.revealed(), source.kind) == (VALUE, "directory")
    assert "cannot be opened" in refusal(DirectorySource("OTHER_KEY", folder=tmp_path)).message


def test_a_program_is_run_word_by_word_and_no_shell_reads_it() -> None:
    said = CommandSource("CRM_KEY", argv=("printf", "%s", f"{VALUE}; echo $HOME `id`")).fetch()
    assert said.value.revealed() == f"{VALUE}; echo $HOME `id`"


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (f"print('{VALUE}'); raise SystemExit(3)", "ended with exit status 3"),
        (f"print('{VALUE}' * 9000)", "printed more than 65536 bytes"),
        (f"import os; os.write(1, b'{VALUE}\\xff')", "printed something that is not UTF-8 text"),
        ("import time; time.sleep(60)", "did not end within 0.5 seconds"),
    ],
)
def test_a_program_that_fails_is_named_and_its_words_are_not(program: str, why: str) -> None:
    source = CommandSource("CRM_KEY", argv=(sys.executable, "-Sc", program), seconds=0.5)
    assert refusal(source).message == f"`{Path(sys.executable).name}` {why}"


def test_a_program_that_is_not_there_is_named() -> None:
    source = CommandSource("CRM_KEY", argv=("/nowhere/at/all", VALUE))
    assert refusal(source).message == "`all` could not be started: no such file or directory"


class Drawer(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}
        self.locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.locked:
            raise keyring.errors.KeyringLocked(VALUE)
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise keyring.errors.KeyringLocked(password)
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture
def drawer(monkeypatch: pytest.MonkeyPatch) -> Drawer:
    made = Drawer()
    monkeypatch.setattr(keyring.core, "_keyring_backend", made)
    return made


def test_a_keyring_keeps_the_secret_under_its_name(drawer: Drawer) -> None:
    source = KeyringSource("CRM_KEY", entry="ringfence")
    assert "no such entry" in refusal(source).message
    source.store(SecretValue("CRM_KEY", VALUE))
    assert drawer.kept == {("ringfence", "CRM_KEY"): VALUE}
    assert source.fetch().value.revealed() == VALUE


def test_a_locked_keyring_is_said_to_be_and_its_words_are_not_repeated(drawer: Drawer) -> None:
    drawer.locked = True
    source = KeyringSource("CRM_KEY", entry="ringfence")
    assert refusal(source).message == "the keyring refused: KeyringLocked"
    with pytest.raises(SecretUnavailable) as raised:
        source.store(SecretValue("CRM_KEY", VALUE))
    assert VALUE not in str(raised.value)


def test_a_login_without_a_keyring_is_told_what_else_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]
    refused = refusal(KeyringSource("CRM_KEY", entry="ringfence"))
    assert refused.message == "this login has no keyring that keeps secrets"
    assert "use a `file`" in refused.remedy


@pytest.mark.parametrize(
    ("source", "extra"),
    [(KeyringSource("K", entry="x"), "keyring"), (VaultSource("K", path="x", field="y"), "vault")],
)
def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, source: SecretSource, extra: str) -> None:
    def absent(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(f"ringfence.secret_sources.{extra}.import_module", absent)
    assert refusal(source).remedy == f"install `ringfence[{extra}]`"


def test_one_field_of_a_secret_that_is_json_is_taken_and_nothing_else() -> None:
    def taken(text: object, field: str | None) -> str | None:
        found = field_of(text, field=field, name="K")
        return None if found is None else found.revealed()

    assert taken('{"token": "abc"}', "token") == "abc"
    assert taken('{"token": "abc"}', None) == '{"token": "abc"}'
    assert [taken(text, "token") for text in ("{}", "[]", "x", '{"token": 5}', None, b"x")] == [None] * 6
