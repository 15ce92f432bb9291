"""The names that a gateway's reply lists: read completely, or not at all."""

from typing import Any, Final, NamedTuple

from plugin.checks.observation import Observation, only_block
from protocol.values.pointer import MISSING

__all__ = ["NAME_KEYS", "Names", "read_names"]

#: Keys of `expect` that look at the names.
NAME_KEYS: Final = ("present", "absent", "only")

#: Members that hold the list where the reply is an object.
_LISTS: Final = ("servers", "tools", "result")
#: Members that name an entry; the first one that is a string does.
_NAMES: Final = ("slug", "name")
#: `status` of a member server that did not answer.
_FAILED: Final = ("error", "failed")


class Names(NamedTuple):
    """The names in the order sent, unredacted, or the fixed reason why they cannot be read; exactly one is None."""

    names: list[str] | None
    reason: str | None


def read_names(observation: Observation) -> Names:
    """Read the names of structured content, else of the only text block as JSON.

    They stand in the top-level array, or in the only array among ``servers``, ``tools`` and ``result``: strings, or
    objects with a string ``slug``, else ``name``. A reply that is no success, a list that is missing or not the only
    one, an entry without a name, and a member server that failed make the whole unreadable: an incomplete list would
    prove an absence that may not be one.
    """
    if observation.kind != "result":
        return Names(None, "refused" if observation.kind == "rpc-error" else "reply-unavailable")
    if observation.is_error:
        return Names(None, "tool-error")
    source = only_block(observation)
    if source is MISSING:
        return Names(None, "source-unavailable")
    return _listed(source)


def _listed(source: Any) -> Names:
    if isinstance(source, dict):
        lists = [source[name] for name in _LISTS if isinstance(source.get(name), list)]
        if len(lists) != 1:
            return Names(None, "several-lists" if lists else "no-list")
        source = lists[0]
    if not isinstance(source, list):
        return Names(None, "no-list")
    if any(_has_failed(entry) for entry in source):
        return Names(None, "member-failed")
    names = [_name(entry) for entry in source]
    readable = [name for name in names if name is not None]
    return Names(readable, None) if len(readable) == len(names) else Names(None, "entry-without-a-name")


def _has_failed(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    # Servers write null or false where there is no error.
    if entry.get("error") not in (None, False):
        return True
    status = entry.get("status")
    return isinstance(status, str) and status.casefold() in _FAILED


def _name(entry: Any) -> str | None:
    if isinstance(entry, str):
        return entry
    members = [entry.get(member) for member in _NAMES] if isinstance(entry, dict) else []
    return next((member for member in members if isinstance(member, str)), None)
