"""How a command ends: its exit code, and for every error one line that says what happened and one that says what to do.

Takes: the words of the command line.  Gives: an exit code.
Never: shows a traceback, unless `RINGFENCE_DEBUG` asks for it.
"""

from __future__ import annotations

import os
import sys
import traceback

import click

from ringfence.cli.group import ringfence
from ringfence.errors import CallFailed, CallRefused, OperatorRequired, RingfenceError, TrailUnavailable, VoteRefused
from ringfence.sanitise import visible

COMPLETED, PROBLEMS, MISUSE, WAITING, REFUSED, FAILED, WARNINGS, DEFECT = 0, 1, 2, 3, 4, 5, 6, 70

_CODES: tuple[tuple[type[RingfenceError], int], ...] = (
    (CallRefused, REFUSED),
    (VoteRefused, REFUSED),
    (OperatorRequired, REFUSED),
    (CallFailed, FAILED),
    (TrailUnavailable, FAILED),
    (RingfenceError, MISUSE),
)


def run_to_exit(words: list[str]) -> int:
    """Run one command line; a command returns its exit code, or nothing for success."""
    try:
        with ringfence.make_context("ringfence", words) as context:
            code = ringfence.invoke(context)
        return code if isinstance(code, int) else COMPLETED
    except click.exceptions.Exit as done:
        return done.exit_code
    except RingfenceError as error:
        _complain(error.code, error.message, remedy=error.remedy)
        return _exit_code(error)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return MISUSE
    except click.ClickException as error:
        _complain("misuse", _in_house_style(error.format_message()), remedy=_usage_remedy(error))
        return MISUSE
    except click.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        raise
    except Exception as error:
        return _defect(error)


def _exit_code(error: RingfenceError) -> int:
    if error.code == "audit_broken":
        return PROBLEMS
    return next(code for kind, code in _CODES if isinstance(error, kind))


def complete() -> int:
    """Answer a shell that asks how a line could go on; the question is in the environment."""
    ringfence.main(args=[], prog_name="ringfence", complete_var="_RINGFENCE_COMPLETE", standalone_mode=False)
    return COMPLETED


def _complain(code: str, message: str, *, remedy: str) -> None:
    print(f"error[{code}]: {visible(message, lines='many')}", file=sys.stderr)
    print(f"remedy: {visible(remedy)}", file=sys.stderr)


def _in_house_style(message: str) -> str:
    line = message.strip().rstrip(".").replace("'", "`")
    return line[:1].lower() + line[1:]


def _usage_remedy(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"`{context.command_path if context else 'ringfence'} --help` shows how it is used"


def _defect(error: Exception) -> int:
    if os.environ.get("RINGFENCE_DEBUG"):
        traceback.print_exception(error)
    print(f"error: an unexpected {type(error).__name__} ended the command; this is a defect", file=sys.stderr)
    print("remedy: set RINGFENCE_DEBUG=1 to see where it happened, and report it", file=sys.stderr)
    return DEFECT
