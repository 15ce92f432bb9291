"""Turns lines of the host wire into calls of a service, and answers each of them exactly once."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from protocol.failures import Code, Failed
from protocol.wire.framing import HOST_LINE_LIMIT, TooLong
from protocol.wire.messages import (
    FAILURE,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Id,
    Malformed,
    Notification,
    Request,
    Response,
    decode,
    encode_error,
    encode_result,
)
from protocol.wire.params import InvalidParams, read_params
from protocol.wire.service import Service
from protocol.wire.steps import Effect

__all__ = ["Job", "Router"]

_STOPPING: Final = "The plugin is ending; nothing further is carried out."


class Job:
    """One request that is carried out in its turn: a `run`, or one of the service's own."""

    def __init__(self, request: Request, params: dict[str, Any]) -> None:
        self.id = request.id
        self.method = request.method
        self.params = params
        self.cancelled = False


class Router:
    """Reads lines and gives replies. ``enqueue`` takes a job that :meth:`carry_out` will be called with.

    ``cancel`` is told the id of a request that the host gives up; ``answered`` takes a response of the host and tells
    whether it answers a request of the plugin. ``stopping`` is set by a `shutdown`, and by whoever
    ends the plugin; every request after it is answered with `cancelled`.
    """

    def __init__(
        self,
        service: Service,
        *,
        enqueue: Callable[[Job], None],
        cancel: Callable[[Id], None],
        answered: Callable[[Response], bool] = lambda _: False,
    ) -> None:
        self._service = service
        self._enqueue = enqueue
        self._cancel = cancel
        self._answers = answered
        self.stopping = False

    def receive(self, line: bytes | TooLong) -> bytes | None:
        """Take one line and return the reply to write at once, or None: no reply is due, or not yet."""
        if isinstance(line, TooLong):
            text = f"The line has {line.size} bytes; at most {HOST_LINE_LIMIT} are read."
            return encode_error(None, INVALID_REQUEST, text)
        match decode(line):
            case Request() as request:
                return self._answered(request.id, lambda: self._request(request))
            case Notification(method, params):
                return self._notification(method, params)
            case Response() as response:
                if self._answers(response):
                    return None
                return encode_error(None, INVALID_REQUEST, "The response answers no request of the plugin.")
            case Malformed(identity, code, message):
                return encode_error(identity, code, message)

    def carry_out(self, job: Job, cancelled: Callable[[], bool]) -> bytes:
        """Do a job in its turn and return its reply."""
        reply = self._answered(job.id, lambda: encode_result(job.id, self._do(job, cancelled)))
        assert reply is not None
        return reply

    def _do(self, job: Job, cancelled: Callable[[], bool]) -> Any:
        if job.method == "run":
            try:
                return msgspec.Raw(self._service.run(job.params, job.id, cancelled))
            except (Failed, InvalidParams):
                raise
            except Exception as error:  # noqa: BLE001 - the loop's last line: a defect is an outcome of its own
                effect, facts = self._service.effect(job.params["command"]), self._service.facts(job.params["alias"])
                return _defect(effect, facts, error)
        if cancelled():
            raise Failed(Code.CANCELLED, _STOPPING if self.stopping else "The request was cancelled.")
        return self._service.requests[job.method](job.params)

    def _request(self, request: Request) -> bytes | None:
        answer = Router._queue if request.method in self._service.requests else _METHODS.get(request.method)
        if answer is None:
            text = f"There is no such method; there are {', '.join((*_METHODS, *self._service.requests))}."
            return encode_error(request.id, METHOD_NOT_FOUND, text)
        if self.stopping:
            raise Failed(Code.CANCELLED, _STOPPING)
        return answer(self, request, read_params(request.method, request.params))

    def _initialize(self, request: Request, params: dict[str, Any]) -> bytes:
        return encode_result(request.id, self._service.initialize(params))

    def _check(self, request: Request, params: dict[str, Any]) -> bytes:
        return encode_result(request.id, self._service.check(params))

    def _queue(self, request: Request, params: dict[str, Any]) -> None:
        if request.method == "run" and not self._service.initialized:
            raise InvalidParams("Send `initialize` first.")
        self._enqueue(Job(request, params))

    def _end(self, request: Request, _params: dict[str, Any]) -> bytes:
        self.stopping = True
        return encode_result(request.id, {})

    def _notification(self, method: str, params: dict[str, Any]) -> bytes | None:
        try:
            if method == "secrets/learnt":
                self._service.learn(read_params(method, params))
            elif method == "cancel":
                self._cancel(read_params(method, params)["id"])
        except InvalidParams as error:
            # Not a valid notification, so it is answered like any other line that is wrong.
            return encode_error(None, INVALID_PARAMS, str(error))
        return None

    def _answered(self, identity: Id, answer: Callable[[], bytes | None]) -> bytes | None:
        """Turn whatever ``answer`` raises into an error reply; messages pass redaction."""
        clean = self._service.context.message
        try:
            return answer()
        except InvalidParams as error:
            return encode_error(identity, INVALID_PARAMS, clean(str(error)))
        except Failed as failed:
            data = {"code": str(failed.code)}
            if failed.failure.where is not None:
                data["where"] = clean(failed.failure.where)
            return encode_error(identity, FAILURE, clean(failed.failure.message), data)
        except Exception as error:  # noqa: BLE001 - the loop's last line: every line gets its reply
            text = f"A defect in the plugin ({type(error).__name__}); report it."
            return encode_error(identity, INTERNAL_ERROR, text, {"code": str(Code.INTERNAL)})


_METHODS: Final[dict[str, Callable[[Router, Request, dict[str, Any]], bytes | None]]] = {
    "initialize": Router._initialize,
    "check": Router._check,
    "run": Router._queue,
    "shutdown": Router._end,
}


def _defect(effect: Effect, facts: dict[str, Any], error: Exception) -> dict[str, Any]:
    """A step whose handler broke: what it had sent is not known, so a mutation is unknown. No error text is shown."""
    return {
        "status": "unknown" if effect == "mutate" else "failed",
        "code": str(Code.INTERNAL),
        "message": f"A defect in the plugin ({type(error).__name__}); report it.",
        "effect": effect,
        "state": None,
        "facts": facts,
        "capture": None,
        "artifacts": [],
        "display": None,
    }
