"""Single lines that a hostile module runs while it is imported or described, and what each is called.

Takes: nothing.  Gives: tables of Python text, for a test to put into modules.  Never: runs any of it here.
"""

from __future__ import annotations

# Bodies of the function that lists a module's contracts, replaced by the module itself.
FORGERIES = {
    "not a list": "return {'name': 'forger'}",
    "not contracts": "return [1, 2, 3]",
    "too many": "return [tool.document() for tool in tools.values()] * 5000",
    "too deep": "deep = []; [deep := [deep] for _ in range(500)]; return [{**forger.document(), 'labels': deep}]",
    "an unknown field": "return [{**forger.document(), 'trusted': True}]",
    "a class that does not exist": "return [{**forger.document(), 'safety': 'harmless'}]",
    "a need that does not exist": "return [{**forger.document(), 'needs': [{'kind': 'everything'}]}]",
    "a description that is a book": "return [{**forger.document(), 'description': 'x' * 100000}]",
    "a schema that points outside": "return [{**forger.document(), 'input_schema': {'$ref': 'file:///etc/passwd'}}]",
    "an exception": "raise SystemExit(0)",
    "a frame of its own": "import os; os.write(3, wire.pack(wire.Kind.OUTPUT, b'[]')); return []",
    "nothing, for ever less than the limit": "import os; os._exit(0)",
}

# Tricks that get a module nothing, and cost nobody else anything.
IN_VAIN = {
    "kill everybody": "import os\ntry:\n    os.kill(-1, 9)\nexcept ProcessLookupError:\n    print('nobody')",
    "kill the warden": "import os\nos.kill(1, 9)",
    "leave the group": "import os\nos.setsid()",
    "block every signal": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))",
    "keep a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
    "change folders": "import os\nos.chdir('/proc/self')\nos.umask(0o777)",
    "break the collector": "import gc\ngc.freeze = gc.collect = lambda *_: None",
}

# Imports that end in another way than by declaring tools.
ENDINGS = {
    "raise": "raise RuntimeError('no import today')",
    "exit": "raise SystemExit(0)",
    "leave": "import os; os._exit(0)",
    "abort": "import os; os.abort()",
    "talk nonsense": "import os; os.write(3, b'nonsense' * 4); os._exit(0)",
    "say too much": "import os; os.write(3, b'RF' + bytes([1, 7]) + b'\\xff\\xff\\xff\\xff')",
    "say deep things": "import os; os.write(3, b'RF' + bytes([1, 7]) + (90000).to_bytes(4, 'big') + b'[' * 90000)",
    "close the door": "import os; os.close(3)",
    "kill the warden": "import os; os.kill(1, 9); raise RuntimeError('it lives')",
    "hold more descriptors than there are": "import os; KEPT = [os.pipe() for _ in range(2000)]",
    "fill memory": "hoard = bytearray(1 << 30)",
    "recurse": "def again(): again()\nagain()",
    "syntax": "def (:",
    "no such module": "import no_such_module",
}
