"""Where a route leads: an HTTPS endpoint on port 443, named by a public host and a plain path."""

import re
from typing import Any, Final, NamedTuple

from contract.core.members import members
from contract.core.refusal import Refusal, Refused

__all__ = ["HOST_LIMIT", "PATH_LIMIT", "Endpoint", "read_endpoint"]

#: Characters of a host name (RFC 1035, section 2.3.4, without the root's point) and of a label.
HOST_LIMIT: Final = 253
LABEL_LIMIT: Final = 63
#: Characters of a path: a person reads it whole in a review.
PATH_LIMIT: Final = 256

# Scheme, port, user information, query and percent-encoding cannot be written at all.
_LABEL: Final = re.compile(r"(?!-)[a-z0-9-]+(?<!-)\Z")
_LETTER: Final = re.compile(r"[a-z]")
_PATH: Final = re.compile(r"/[A-Za-z0-9/_.~-]*\Z")
#: Last labels of names that are answered inside of a machine or a network only (RFC 6761, RFC 6762).
_LOCAL: Final = frozenset({"localhost", "local", "internal"})


class Endpoint(NamedTuple):
    """``https://HOST/PATH``; the path begins with a slash."""

    host: str
    path: str


def read_endpoint(value: Any) -> Endpoint:
    """Read an endpoint. Raises Refused for another member, and for a host or a path of another form.

    The last label has a letter, so that no address in digits is a host.
    """
    place = members(value, {"host", "path"}, set(), Refusal.ENDPOINT_MEMBERS)
    if not _is_host(place["host"]):
        raise Refused(Refusal.ENDPOINT_HOST)
    if not _is_path(place["path"]):
        raise Refused(Refusal.ENDPOINT_PATH)
    return Endpoint(place["host"], place["path"])


def _is_host(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > HOST_LIMIT:
        return False
    labels = value.split(".")
    if len(labels) < 2 or not all(len(label) <= LABEL_LIMIT and _LABEL.match(label) for label in labels):
        return False
    return labels[-1] not in _LOCAL and _LETTER.search(labels[-1]) is not None


def _is_path(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > PATH_LIMIT or not _PATH.match(value):
        return False
    return "//" not in value and not {".", ".."} & set(value.split("/"))
