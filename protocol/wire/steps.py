"""What a step answers: the result of ``run``, written by a plugin and read by a host."""

from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec

__all__ = ["ARTIFACT_LIMIT", "RESULT_LIMIT", "Artifact", "Effect", "Status", "StepResult"]

Status: TypeAlias = Literal["succeeded", "failed", "unknown"]
Effect: TypeAlias = Literal["observe", "mutate"]

#: Largest encoded state, and largest encoded artifact, in bytes (the seed's limit).
ARTIFACT_LIMIT: Final = 7 * 1024 * 1024
#: Largest encoded step result, in bytes: it has to fit the 32 MiB line with its envelope.
RESULT_LIMIT: Final = 31 * 1024 * 1024


class Artifact(msgspec.Struct, frozen=True):
    """A JSON document kept beside the observation. ``name`` matches ``[a-z0-9][a-z0-9_.-]{0,63}``."""

    name: str
    json: Any


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
        status, effect = value.get("status"), value.get("effect")
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
    if not isinstance(value, dict) or not isinstance(value.get("name"), str) or "json" not in value:
        raise ValueError("an artifact needs a `name` and a `json` member")
    return Artifact(value["name"], value["json"])
