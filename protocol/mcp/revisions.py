"""The revisions of MCP that open with ``initialize``, and what each of them changes for a client."""

from typing import Final, NamedTuple

__all__ = ["ACCEPTED", "LATEST", "REVISIONS", "Revision"]


class Revision(NamedTuple):
    """One protocol revision.

    ``version_header``: requests after ``initialize`` carry ``MCP-Protocol-Version``. ``batches``: a reply may be an
    array of messages. ``resumes``: a server may end a reply stream early, to be polled. ``tool_results``: members of
    which a tool result must have one.
    """

    name: str
    version_header: bool
    batches: bool
    resumes: bool
    tool_results: tuple[str, ...]


# Read from the schema and the transport chapter of each revision. Servers that answer 2024-10-07 today send the result
# of its successor, so both are taken there.
_TABLE: Final = (
    Revision("2025-11-25", version_header=True, batches=False, resumes=True, tool_results=("content",)),
    Revision("2025-06-18", version_header=True, batches=False, resumes=False, tool_results=("content",)),
    Revision("2025-03-26", version_header=False, batches=True, resumes=False, tool_results=("content",)),
    Revision("2024-11-05", version_header=False, batches=False, resumes=False, tool_results=("content",)),
    Revision("2024-10-07", version_header=False, batches=False, resumes=False, tool_results=("toolResult", "content")),
)

#: Revision by name, the newest first.
REVISIONS: Final[dict[str, Revision]] = {revision.name: revision for revision in _TABLE}
#: Names of the revisions that a server may choose, the newest first.
ACCEPTED: Final = tuple(REVISIONS)
#: The revision that ``initialize`` proposes.
LATEST: Final = ACCEPTED[0]
