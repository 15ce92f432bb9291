"""What a step answers: the result of ``run``, written by a plugin and read by a host."""

import binascii
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

from protocol.values.document import encode

__all__ = ["ARTIFACT_LIMIT", "RESULT_LIMIT", "Artifact", "Effect", "Status", "StepResult"]

Status: TypeAlias = Literal["succeeded", "failed", "unknown"]
Effect: TypeAlias = Literal["observe", "mutate"]

#: Largest encoded state, and largest encoded artifact, in bytes (the seed's limit).
ARTIFACT_LIMIT: Final = 7 * 1024 * 1024
#: Largest encoded step result, in bytes: it has to fit the 32 MiB line with its envelope.
RESULT_LIMIT: Final = 31 * 1024 * 1024


class Artifact(msgspec.Struct, frozen=True):
    """A document kept beside the observation: JSON, or other bytes in ``base64``; exactly one of the two is set.

    ``name`` matches ``[a-z0-9][a-z0-9_.-]{0,63}``; the names of other bytes do not end in `.json`.
    """

    name: str
    json: Any = msgspec.UNSET
    base64: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def content(self) -> bytes | None:
        """The bytes of an artifact that is no JSON; None for one that is."""
        return None if isinstance(self.base64, msgspec.UnsetType) else binascii.a2b_base64(self.base64)

    @property
    def size(self) -> int:
        """Bytes of the document on the wire, without its name."""
        return len(self.written()[0])

    def written(self) -> tuple[bytes, "Artifact"]:
        """Return the document as it stands on the wire, and the artifact holding it so that it is not written again."""
        if isinstance(self.base64, str):
            return self.base64.encode(), self
        text = encode(self.json)
        return text, Artifact(self.name, msgspec.Raw(text))

    def redacted(self, redact: Callable[[Any], Any]) -> "Artifact":
        """Return it with its JSON redacted. Other bytes are left as they are: what they show cannot be looked into."""
        return Artifact(self.name, redact(self.json)) if isinstance(self.base64, msgspec.UnsetType) else self


class StepResult(msgspec.Struct, kw_only=True):
    """One step's outcome, failures included; a JSON-RPC error says that the request itself could not be taken.

    ``state`` is what two runs are compared by; ``facts`` is what happened (``http``, timings, ``connection``, the
    sign-in record); ``display`` is redacted and for the terminal only. A host never writes ``display`` to disk.
    """

    status: Status
    code: str | None
    message: str
    effect: Effect
    state: Any = None
    facts: dict[str, Any] = {}
    capture: str | None = None
    artifacts: list[Artifact] = []
    display: Any = None

    @classmethod
    def read(cls, value: Any) -> "StepResult":
        """Read a strict value (numbers are still spelled as they came). Raises ValueError naming the member."""
        if not isinstance(value, dict):
            raise ValueError("a step result must be an object")
        status: Any = value.get("status")
        effect: Any = value.get("effect")
        code, capture = value.get("code"), value.get("capture")
        if status not in get_args(Status) or effect not in get_args(Effect):
            raise ValueError("a step result needs a known `status` and `effect`")
        if not isinstance(value.get("message"), str) or not isinstance(value.get("facts", {}), dict):
            raise ValueError("a step result needs a string `message` and an object `facts`")
        if not (code is None or isinstance(code, str)) or (code is None) != (status == "succeeded"):
            raise ValueError("a step result has a `code` exactly when it did not succeed")
        if not (capture is None or isinstance(capture, str)):
            raise ValueError("`capture` must be a string")
        if not isinstance(value.get("artifacts", []), list):
            raise ValueError("`artifacts` must be an array")
        return cls(
            status=value["status"],
            code=code,
            message=value["message"],
            effect=value["effect"],
            state=value.get("state"),
            facts=value.get("facts", {}),
            capture=capture,
            artifacts=[_artifact(entry) for entry in value.get("artifacts", [])],
            display=value.get("display"),
        )


def _artifact(value: Any) -> Artifact:
    if (
        not isinstance(value, dict)
        or not isinstance(value.get("name"), str)
        or ("json" in value) == ("base64" in value)
    ):
        raise ValueError("an artifact needs a `name` and a `json` or a `base64` member")
    name, base64 = value["name"], value.get("base64")
    if "json" in value:
        return Artifact(name, value["json"])
    if not isinstance(base64, str) or name.endswith(".json"):
        raise ValueError("`base64` of an artifact must be a string, and its name may not end in `.json`")
    try:
        binascii.a2b_base64(base64, strict_mode=True)
    except (binascii.Error, ValueError):
        raise ValueError("`base64` of an artifact must be strict base64 (RFC 4648, section 4)") from None
    return Artifact(name, base64=base64)
