"""Decides, while building, what the executable unpacks at each start and what it keeps until somebody asks for it.

Unpacking was half of a start. So a library that no first answer needs travels behind the archive of modules, from where
entry.py copies it when it is first imported; and what the flags print is made once, here.
"""

import marshal
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

from PyInstaller.building.utils import process_collected_binary
from PyInstaller.depend.bindepend import get_imports, get_python_library_path

__all__ = ["append", "describe", "process", "split", "trim"]

#: A line of a table of contents: name inside, path outside, kind.
Entry = tuple[str, str, str]

#: Flags whose answers cannot change once the executable is built.
ANSWERED = ("--describe", "--version", "--help")
#: What `initialize` needs.
FIRST = "plugin.__main__, plugin.inspector, protocol.wire.serving"
#: Extension modules that the executable's own importer needs.
IMPORTER = frozenset({"_struct", "zlib"})
#: Codecs that stay, beside all of Unicode: for host names, HTTP, certificates, pickles and archives. What goes are a
#: hundred tables of other character sets.
ENCODINGS = frozenset({"ascii", "cp437", "idna", "latin_1", "punycode", "raw_unicode_escape", "unicode_escape"})


def split(binaries: list[Entry], root: Path, unused: list[str]) -> tuple[list[Entry], list[Entry]]:
    """Part the binaries into what a first answer needs and what can wait. ``unused`` are modules that stay out."""
    modules = IMPORTER | _imported_first(root, unused)
    extensions = [entry for entry in binaries if entry[2] == "EXTENSION"]
    names = _libraries([path for name, path, _ in extensions if _module(name) in modules])
    waiting = [entry for entry in extensions if _module(entry[0]) not in modules]
    waiting += [entry for entry in binaries if entry[2] == "BINARY" and PurePosixPath(entry[0]).name not in names]
    return [entry for entry in binaries if entry not in waiting], waiting


def process(waiting: list[Entry], **options: object) -> list[tuple[str, Path]]:
    """Return names and paths of binaries, stripped, signed or what else EXE does, by ``options``, to its own."""
    done = [
        (name, process_collected_binary(path, name, strict_arch_validation=kind == "EXTENSION", **options))
        for name, path, kind in sorted(waiting)
    ]
    return [(name, Path(path)) for name, path in done]


def describe(waiting: list[tuple[str, Path]], root: Path, folder: Path) -> Entry:
    """Write the module `kept` and return its entry: answers, what can be imported once the rest is there, its files."""
    answers = {flag: _run(root, "-m", "plugin", flag) for flag in ANSWERED}
    modules = {_module(name) for name, _ in waiting}
    files = [(name, path.stat().st_size) for name, path in waiting]
    text = f"ANSWERS = {answers!r}\nMODULES = frozenset({sorted(modules)!r})\nFILES = {files!r}\n"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kept.py").write_text(text, encoding="utf-8")
    return "kept", str(folder / "kept.py"), "PYMODULE"


def append(waiting: list[tuple[str, Path]], archive: Path) -> None:
    """Put files behind an archive of modules, which its readers take to end with its table of contents."""
    with archive.open("r+b") as file:
        file.seek(8)
        file.seek(int.from_bytes(file.read(4), "big"))
        marshal.load(file)
        file.truncate()
        for _, path in waiting:
            file.write(path.read_bytes())


def trim(library: Path) -> None:
    """Take out of the library of Python's own start the codecs that nothing looks up."""
    with zipfile.ZipFile(library) as old:
        members = {name: old.read(name) for name in old.namelist() if _used(PurePosixPath(name))}
    with zipfile.ZipFile(library, "w") as new:
        for name, content in members.items():
            new.writestr(zipfile.ZipInfo(name), content)


def _used(member: PurePosixPath) -> bool:
    codec = member.stem if member.parts[0] == "encodings" else ""
    return codec in ENCODINGS | {"", "__init__", "aliases"} or codec.startswith("utf_")


def _imported_first(root: Path, unused: list[str]) -> frozenset[str]:
    code = f"import sys; sys.modules.update(dict.fromkeys({unused!r})); import {FIRST}; print(*sys.modules)"
    return frozenset(_run(root, "-c", code).split())


def _module(name: str) -> str:
    """Return the module of an extension's file: `_ssl` of `python3.12/lib-dynload/_ssl.….so`."""
    path = PurePosixPath(name)
    package = () if path.parent.name == "lib-dynload" else path.parent.parts
    return ".".join((*package, path.name.partition(".")[0]))


def _libraries(paths: list[str]) -> set[str]:
    """Return the file names of Python's library and of what it and ``paths`` load, directly or not."""
    python = get_python_library_path()
    names, found, rest = {Path(python).name, Path(python).resolve().name}, set(paths), [*paths, python]
    while rest:
        for name, path in get_imports(rest.pop()):
            names.add(PurePosixPath(name).name)
            if path and path not in found:
                found.add(path)
                rest.append(path)
    return names


def _run(root: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=root, capture_output=True, encoding="utf-8", check=True)
    return done.stdout
