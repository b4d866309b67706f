"""Convert one document with LibreOffice's library: ``convert.py PROGRAMS SOURCE TARGET FORMAT PROFILE OPTIONS``.

A process of its own, started by the parser's child with its limits, its files and without a network. It uses the
library and not the program ``soffice``, which needs sockets to find out whether it runs already. Exit code 3: the
document can't be opened.

Not imported by anything: it knows the standard library alone.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

# Source: LibreOfficeKit/LibreOfficeKit.h: places of functions in the tables of an office and of a document.
_LOAD, _SAVE_AS = 2, 2
_NOT_OPENED, _NOT_SAVED = 3, 4
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse">\
<value>ja-JP</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse">\
<value>3</value></prop><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
</oor:items>
"""


def main(programs: str, source: str, target: str, format_name: str, profile: str, options: str) -> int:
    settings = Path(profile, "user", "registrymodifications.xcu")
    settings.parent.mkdir(parents=True)
    settings.write_text(_PROFILE, encoding="utf-8")
    start = ctypes.CDLL(f"{programs}/libmergedlo.so").libreofficekit_hook_2
    start.restype, start.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_char_p]
    office = start(programs.encode(), Path(profile).as_uri().encode())
    load = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(_function(office, _LOAD))
    document = load(office, Path(source).as_uri().encode())
    if not document:
        return _NOT_OPENED
    texts = [ctypes.c_char_p] * 3
    save = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *texts)(_function(document, _SAVE_AS))
    return 0 if save(document, Path(target).as_uri().encode(), format_name.encode(), options.encode()) else _NOT_SAVED


def _function(thing: int, place: int) -> int:
    """The address of a function: a thing begins with the address of its table, a table with its size."""
    table = ctypes.cast(thing, ctypes.POINTER(ctypes.c_void_p))[0]
    return int(ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[place] or 0)


if __name__ == "__main__":
    # Taking LibreOffice down takes longer than the conversion, and now and then never ends.
    os._exit(main(*sys.argv[1:]))
