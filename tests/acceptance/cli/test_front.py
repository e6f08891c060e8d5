"""The command line itself: help, errors and exit codes, before any command does its work."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ringfence import cli
from ringfence.cli.table import COMMANDS
from tests.acceptance.cli.typed import ENVIRONMENT, PROGRAM, Shop, typed

pytestmark = pytest.mark.req("OPS-1")

HEAVY = {"click", "rich", "yaml", "pydantic", "jsonschema_rs", "cryptography", "sqlite3"}
HELP = "sys.argv = ['ringfence', '--help']\nfrom ringfence.cli import main\ntry: main()\nexcept SystemExit: pass"


def loaded_after(statements: str) -> set[str]:
    script = f"import sys\n{statements}\nprint(*{{name.split('.')[0] for name in sys.modules}}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_help_names_every_command_with_its_line(tmp_path: Path) -> None:
    came = typed("--help", cwd=tmp_path)
    assert came.code == 0
    for name, entry in COMMANDS.items():
        assert f"  {name} " in came.out
        assert entry.help in came.out


def test_help_loads_no_parser_no_drawing_and_no_validator() -> None:
    assert HEAVY & loaded_after(HELP) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_table_explains_itself(command: str, tmp_path: Path) -> None:
    came = typed(command, "--help", cwd=tmp_path)
    assert (came.code, came.err) == (0, "")
    assert came.out.startswith(f"Usage: ringfence {command}")


def test_the_module_is_the_same_program(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ringfence.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == typed("--version", cwd=tmp_path).out
    assert done.stdout.startswith("ringfence 0.")


def test_a_group_without_a_command_shows_its_help_and_is_misuse(tmp_path: Path) -> None:
    came = typed("audit", cwd=tmp_path)
    assert came.code == 2
    assert "verify" in came.out


def test_a_misspelt_command_is_misuse_and_gets_the_nearest_name(tmp_path: Path) -> None:
    came = typed("statsu", cwd=tmp_path)
    assert (came.code, came.out) == (2, "")
    assert came.err.startswith("error[misuse]: there is no command `statsu`; did you mean `status`?\nremedy: ")


def test_an_unknown_option_is_misuse_in_the_same_form(tmp_path: Path) -> None:
    came = typed("status", "--colour", cwd=tmp_path)
    assert came.code == 2
    assert came.err.startswith("error[misuse]: no such option")
    assert came.err.splitlines()[1] == "remedy: `ringfence status --help` shows how it is used"


def test_a_missing_config_file_says_how_to_make_one(tmp_path: Path) -> None:
    came = typed("status", cwd=tmp_path)
    assert came.code == 2
    assert came.err.splitlines() == [
        "error[misuse]: there is no config file `ringfence.yaml`",
        "remedy: `ringfence init` makes one here; `--config FILE` names another",
    ]


def test_a_config_error_has_its_line_and_exit_code_two(new_shop: Shop) -> None:
    new_shop.edit("ringfence.yaml", "allowed_tools: [greet", "alowed_tools: [greet")
    came = new_shop.typed("status")
    assert came.code == 2
    assert came.err.startswith("error[config_invalid]: ringfence.yaml:20:5: ")
    assert "`allowed_tools`" in came.err


@pytest.mark.parametrize("place", ["before", "after", "environment"])
def test_the_config_file_can_be_named_before_the_command_after_it_and_by_environment(
    place: str, new_shop: Shop
) -> None:
    (new_shop.folder / "ringfence.yaml").rename(new_shop.folder / "other.yaml")
    words = {
        "before": ["--config", "other.yaml", "audit", "verify", "--json"],
        "after": ["audit", "verify", "--json", "--config", "other.yaml"],
        "environment": ["audit", "verify", "--json"],
    }[place]
    extra = {"RINGFENCE_CONFIG": "other.yaml"} if place == "environment" else {}
    came = typed(*words, cwd=new_shop.folder, **extra)
    assert came.code == 0, came
    assert came.document["ok"] is True


def test_the_option_is_nearer_than_the_environment(new_shop: Shop) -> None:
    came = typed(
        "audit", "verify", "--config", "ringfence.yaml", cwd=new_shop.folder, RINGFENCE_CONFIG="elsewhere.yaml"
    )
    assert came.code == 0, came


@pytest.mark.req("SAN-1")
def test_what_a_stranger_wrote_cannot_act_on_the_terminal(new_shop: Shop) -> None:
    came = new_shop.typed("calls", "show", "\x1b]0;owned\x07[red]x\u202e")
    assert came.code == 2
    assert "there is no call `\\u{1b}]0;owned\\u{7}[red]x\\u{202e}` on record" in came.err
    assert "\x1b" not in came.err


def test_output_that_is_not_for_a_terminal_has_no_colour(tmp_path: Path) -> None:
    assert "\x1b" not in typed("doctor", cwd=tmp_path).out


def test_a_terminal_without_the_characters_gets_their_numbers(tmp_path: Path) -> None:
    came = typed("doctor", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert came.code in (0, 1)
    assert came.out.isascii()


def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [PROGRAM, "schema"], stdout=write_end, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, "")


def test_an_interrupt_ends_the_command_with_one_word(shop: Shop) -> None:
    # A shell that starts the tests in the background has them ignore interrupts, and all that they start.
    heeding = ["/usr/bin/env", "--default-signal=INT"]
    with subprocess.Popen(
        [*heeding, PROGRAM, "audit", "tail", "--follow"],
        cwd=shop.folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as following:
        assert following.stdout is not None
        assert following.stderr is not None
        assert "tool_registered" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        following.stdout.read()
        assert (following.stderr.read(), following.wait(timeout=30)) == ("interrupted\n", 130)


BROKEN = (
    "from ringfence.cli import main, table\nimport sys\n"
    "table.COMMANDS['schema'] = table.Entry('not_there', '')\nsys.argv = ['ringfence', 'schema']\nmain()"
)


def test_a_defect_is_two_lines_and_exit_code_seventy() -> None:
    done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stdout) == (70, "")
    assert done.stderr.splitlines() == [
        "error: an unexpected ModuleNotFoundError ended the command; this is a defect",
        "remedy: set RINGFENCE_DEBUG=1 to see where it happened, and report it",
    ]


def test_a_defect_shows_its_traceback_only_when_asked() -> None:
    environment = {**ENVIRONMENT, "RINGFENCE_DEBUG": "1"}
    done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 70
    assert "Traceback" in done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_completion_for_each_shell(shell: str, tmp_path: Path) -> None:
    came = typed("completion", shell, cwd=tmp_path)
    assert came.code == 0
    assert "_RINGFENCE_COMPLETE" in came.out


def test_completion_offers_commands(tmp_path: Path) -> None:
    came = typed(cwd=tmp_path, _RINGFENCE_COMPLETE="bash_complete", COMP_WORDS="ringfence app", COMP_CWORD="1")
    assert came.out == "plain,approvals\n"


def test_the_schema_of_the_config_file_is_printed_as_json(tmp_path: Path) -> None:
    came = typed("schema", cwd=tmp_path)
    assert came.document["title"] == "ringfence.yaml"
    assert came.document["additionalProperties"] is False


def test_a_measurement_that_is_not_there_is_misuse(tmp_path: Path) -> None:
    came = typed("bench", "no_such_figure", cwd=tmp_path)
    assert came.code == 2
    assert came.err.startswith("error[misuse]: there is no measurement `no_such_figure`\nremedy: choose one of ")


def test_an_installed_package_says_that_it_has_no_measurements(tmp_path: Path) -> None:
    shutil.copytree(Path(cli.__file__).parents[1], tmp_path / "site" / "ringfence")
    done = subprocess.run(
        [sys.executable, "-m", "ringfence.cli", "bench"],
        env={**ENVIRONMENT, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error[misuse]: the measurements are not part of the installed package\nremedy: ")
