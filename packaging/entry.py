"""Where the built executable starts: prints what was kept for a flag, or runs the plugin.

It leaves without tearing the interpreter down, which saves some 30 ms.
"""

import marshal
import os
import sys
from _thread import allocate_lock  # built in: `threading` is a file more to read before a flag is answered

import pyimod02_importers
from kept import ANSWERS, FILES, MODULES


class KeptFiles:
    """A finder that finds nothing: it writes out what bundle.py kept, when a module is first imported from there."""

    def __init__(self) -> None:
        self._writing = allocate_lock()
        self._written = False

    def find_spec(self, name: str, *_: object) -> None:
        """Have the files there before the finders after this one look. Raises ImportError when there is no room."""
        if name not in MODULES:
            return
        with self._writing:
            if not self._written:
                try:
                    self._write()
                except OSError as error:
                    text = f"The temporary folder does not take the plugin's files ({error.strerror})."
                    raise ImportError(text) from None
                self._written = True

    def _write(self) -> None:
        modules = pyimod02_importers.pyz_archive
        with open(modules._filename, "rb") as program:
            # An archive of modules ends with its table of contents, whose place its third word tells.
            program.seek(modules._start_offset + 8)
            program.seek(modules._start_offset + int.from_bytes(program.read(4), "big"))
            marshal.load(program)
            for name, size in FILES:
                path = os.path.join(vars(sys)["_MEIPASS"], name)
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o700), "wb") as file:
                    file.write(program.read(size))
        for finder in list(sys.path_importer_cache.values()):
            invalidate = getattr(finder, "invalidate_caches", None)  # some entries are None
            if invalidate is not None:
                invalidate()


def start() -> int:
    if len(sys.argv) == 2 and sys.argv[1] in ANSWERS:
        sys.stdout.write(ANSWERS[sys.argv[1]])
        return 0
    sys.meta_path.insert(0, KeptFiles())

    from plugin.__main__ import main

    return main()


status = start()
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)
