"""What was tried where a bar is hard to meet, by how the row's work begins; a page shows it only for a bar missed."""

from typing import Final

__all__ = ["MISSES"]

MISSES: Final[dict[str, str]] = {
    "`plugin --": (
        "tried and kept: files stored instead of compressed, no start-up hooks, stripped libraries, lazy imports. "
        "`packaging/plugin.spec` says what each is worth. What remains is unpacking one file and loading its libraries."
    ),
    "start, connect": (
        "a third passes before the first answer (see the rows above), and a third in `connect`, most of it importing "
        "the HTTP stack (httpx, httpcore, h11, ssl: 60 ms of processor time). The plugin imports it on a thread once "
        "`initialize` is answered, so that a host which thinks before its first step does not wait for it; this "
        "measurement sends `connect` at once. httpcore alone would be 10 ms lighter."
    ),
    "one call, keep-alive, JSON reply": (
        "on the edge of the bar: 0.40 on a busy machine, 0.52 on a quiet one. Tried: httpx's transport without its "
        "client (in), httpcore's connections without the queue of its pool (in), JSON readers kept for the next text "
        "(in), short texts proved to hold nothing private before anything else looks at them (in). What is left was "
        "not taken apart."
    ),
    "5,000 tools, 7.9 MiB, schemas different": (
        "the plugin keeps a hash for each of 60,000 places in the schemas, so that a later change can be judged though "
        "no text is kept. Tried: one pass over a place's keywords (in), hashes of pointers remembered (in), hashes of "
        "whole places remembered (costs more than it saves where all texts differ), BLAKE2 and the interpreter's own "
        "SHA-256 (a fifth faster, of what is a quarter of it). A place takes 0.8 µs to find, 0.5 µs to sort and 0.9 µs "
        "to encode and hash, nearly all of it calls that Python cannot make cheaper. Schemas that repeat are hashed "
        "once."
    ),
    "8 MiB as 50,000 small events": (
        "an event takes 1.2 µs to take apart and 0.9 µs to be told from a reply, while JSON of that size is a single "
        "call into C. Tried: a regular expression over whole events, `bytes.find` of blank lines, splitting by them "
        "(each as slow as the lines, or slower), and reading over a notification's params without making them (in)."
    ),
}
