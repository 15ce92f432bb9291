"""The offline verbs as a program: read the files, write one line, exit with 0 or 2. It quotes nothing that it read."""

import os
import sys
from collections.abc import Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Final, TextIO

from contract.core.prepared import Domain
from contract.core.refusal import SENTENCES, Refusal, Refused
from contract.files import read_file
from contract.verbs import DOMAIN_HELP, INTRODUCTION, VERBS, Verb
from protocol.values.document import encode

__all__ = ["WIDTH", "perform", "refuse", "run"]

#: Exit status after Ctrl-C, as of a program that the signal ended.
INTERRUPTED: Final = 130
#: Columns of a help text, as those of `assay`.
WIDTH: Final = 100


def run(program: str, words: Sequence[str], others: Mapping[str, str] = MappingProxyType({})) -> int:
    """Carry out a command line, the words after ``program``. Returns the exit status.

    ``others`` are verbs that ``program`` has besides, which the help names.
    """
    try:
        name, *rest = words or [""]
        if name in ("--help", "-h"):
            return _print(_usage(program, others))
        if name not in VERBS:
            raise Refused(Refusal.USAGE)
        if {"--help", "-h"} & set(takewhile(lambda word: word != "--", rest)):
            return _print(_usage_of(program, name))
        operands, domain = _parsed(VERBS[name], rest)
    except Refused as refused:
        return refuse(refused.refusal)
    return perform(name, operands, domain)


def perform(name: str, paths: Sequence[str], domain: Domain = Domain.ASSAY) -> int:
    """Carry out a verb with a path for each of its documents. Returns the exit status: 0 or 2."""
    verb = VERBS[name]
    try:
        documents = [read_file(kind, path) for kind, path in zip(verb.documents, paths, strict=True)]
        answer = verb.answer(documents, domain)
        text = encode(answer.document).decode() + "\n"
    except Refused as refused:
        return refuse(refused.refusal)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:  # noqa: BLE001 - a traceback would quote what was read, and exit with another status
        return refuse(Refusal.DEFECT)
    return answer.exit if _put(sys.stdout, text) else refuse(Refusal.OUTPUT_LOST)


def refuse(refusal: Refusal) -> int:
    """Write the refusal's sentence to standard error. Returns the exit status, 2."""
    _put(sys.stderr, SENTENCES[refusal] + "\n")
    return 2


def _parsed(verb: Verb, words: Sequence[str]) -> tuple[list[str], Domain]:
    operands: list[str] = []
    domain = Domain.ASSAY
    waiting = iter(words)
    for word in waiting:
        option, given, value = word.partition("=")
        if word == "--":
            operands += waiting
        elif option == "--domain" and verb.domain:
            domain = _domain(value if given else next(waiting, ""))
        elif word.startswith("-") and word != "-":
            raise Refused(Refusal.USAGE)
        else:
            operands.append(word)
    if len(operands) != len(verb.documents):
        raise Refused(Refusal.USAGE)
    return operands, domain


def _domain(value: str) -> Domain:
    if value not in list(Domain):
        raise Refused(Refusal.USAGE)
    return Domain(value)


def _usage(program: str, others: Mapping[str, str]) -> str:
    verbs = {name: verb.summary for name, verb in VERBS.items()} | dict(others)
    rows = "\n".join(f"  {name:9} {summary}" for name, summary in verbs.items())
    return _paragraphs(f"Usage: {program} VERB FILE...", INTRODUCTION, rows, f"`{program} VERB --help` tells more.")


def _usage_of(program: str, name: str) -> str:
    verb = VERBS[name]
    option = " [--domain assay|opaque]" if verb.domain else ""
    operands = "".join(f" {kind.name.upper()}" for kind in verb.documents)
    told = [f"  --domain  {DOMAIN_HELP}"] if verb.domain else []
    return _paragraphs(f"Usage: {program} {name}{option}{operands}", verb.summary, verb.explanation, *told)


def _paragraphs(*texts: str) -> str:
    from textwrap import fill  # for help alone

    return "\n".join((text if "\n" in text else fill(text, WIDTH)) + "\n" for text in texts)


def _print(text: str) -> int:
    return 0 if _put(sys.stdout, text) else refuse(Refusal.OUTPUT_LOST)


def _put(stream: TextIO | None, text: str) -> bool:
    """Write a text. A stream that is closed, or whose reader left, takes it gladly; False for a full disk."""
    if stream is None:
        return True
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _give_up(stream)
    except OSError:
        _give_up(stream)
        return False
    return True


def _give_up(stream: TextIO) -> None:
    """Drop what is still buffered: it would raise once more when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
