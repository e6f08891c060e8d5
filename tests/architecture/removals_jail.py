"""The guards of the jail, one line each: take it out, and a test goes red.

Takes: nothing.  Gives: `ROWS`, in the form of the other tables.  Never: removes anything itself.

The walls that only a whole campaign of attacks can miss are in `tests/attack/mechanisms.py`.
"""

from __future__ import annotations

_DECLARE = "tests/acceptance/spine/test_declare.py::test_"
_BLUEPRINT = "tests/unit/sandbox/test_blueprint.py::test_"
_POSTURE = "tests/unit/sandbox/test_posture.py::test_"
_JAIL = "tests/integration/sandbox/test_"

ROWS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        "CON-6",
        "policy/grant.py",
        "        return NOTHING\n",
        "        return Grant(capabilities=(permits.files,))\n",
        (f"{_DECLARE}a_tool_that_declares_no_need_is_granted_nothing",),
    ),
    (
        "CON-13",
        "sandbox/describe.py",
        "if module is None or _is_nested(function):",
        "if module is None:",
        (f"{_DECLARE}a_tool_that_no_jail_could_import_again_is_refused_with_the_remedy",),
    ),
    (
        "SBX-2",
        "sandbox/pool.py",
        "key = Key(agent=request.agent, source",
        'key = Key(agent="", source',
        (f"{_JAIL}isolation.py::test_two_agents_never_share_a_jail",),
    ),
    (
        "SBX-3",
        "sandbox/blueprint.py",
        'Rule(path="/", rights=landlock.READ)',
        'Rule(path="/", rights=landlock.EVERYTHING_BUT_EXECUTE)',
        (f"{_BLUEPRINT}no_rule_lets_anything_execute_and_only_scratch_is_written",),
    ),
    (
        "SBX-3",
        "sandbox/blueprint.py",
        "{**environment, **ENVIRONMENT, **search_path(programs)}",
        "{**ENVIRONMENT, **search_path(programs), **environment}",
        (f"{_BLUEPRINT}a_configured_variable_cannot_replace_one_of_the_jail_s",),
    ),
    (
        "SBX-6",
        "sandbox/posture.py",
        '        "capabilities": (held, 0),\n',
        "",
        (f"{_POSTURE}each_missing_mark_refuses",),
    ),
    (
        "SBX-6",
        "sandbox/posture.py",
        "    problems += _shared(seen, other=zygote.namespaces, kinds=own)\n",
        "",
        (f"{_POSTURE}a_namespace_shared_with_the_zygote_refuses_a_spare",),
    ),
    (
        "SBX-8",
        "sandbox/local.py",
        "peak_memory_bytes=seen.peak_memory_bytes if seen else 0,",
        "peak_memory_bytes=0,",
        (f"{_JAIL}calls.py::test_the_host_measures_time_and_memory",),
    ),
    (
        "SBX-9",
        "sandbox/jail.py",
        "        await self._groups.close()\n",
        "",
        (f"{_JAIL}endings.py::test_closing_leaves_no_process_group_or_descriptor",),
    ),
)
