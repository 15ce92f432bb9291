"""The closed set of failure codes, and the one exception that carries a failure.

Callers switch on ``code``; there are no subclasses. ``contract`` and ``workflow`` have sets of their own.
This module is on the path of ``plugin --describe``: it imports nothing but ``enum`` and ``typing``.
"""

from enum import StrEnum, unique
from typing import Any, NamedTuple

__all__ = ["CODES", "Code", "CodeEntry", "Failed", "Failure"]


@unique
class Code(StrEnum):
    """Why a step, a request or a run did not succeed."""

    # refused before anything is contacted
    INVALID_ARGUMENTS = "invalid_arguments"
    INVALID_EXPECTATION = "invalid_expectation"
    PRIVATE_OPERAND = "private_operand"
    INVALID_BINDING = "invalid_binding"
    NOT_CONNECTED = "not_connected"
    DISCONNECTED = "disconnected"
    BINDING_FIXED = "binding_fixed"
    ORIGIN_NOT_ADMITTED = "origin_not_admitted"
    TOKEN_FILE_REFUSED = "token_file_refused"
    OAUTH_REQUIRED = "oauth_required"
    # the way to the server
    UNREACHABLE = "unreachable"
    TLS_FAILED = "tls_failed"
    TIMEOUT = "timeout"
    REPLY_LOST = "reply_lost"
    REPLY_AMBIGUOUS = "reply_ambiguous"
    HTTP_STATUS = "http_status"
    REDIRECT_REFUSED = "redirect_refused"
    PROTOCOL_ERROR = "protocol_error"
    RESPONSE_TOO_LARGE = "response_too_large"
    VERSION_UNSUPPORTED = "version_unsupported"
    SESSION_LOST = "session_lost"
    INVENTORY_INCOMPLETE = "inventory_incomplete"
    INVENTORY_INVALID = "inventory_invalid"
    SCHEMA_DRIFT = "schema_drift"
    INPUT_REQUIRED = "input_required"
    # a known outcome that is not the expected one
    EXPECTATION_FAILED = "expectation_failed"
    UNEXPECTED_REFUSAL = "unexpected_refusal"
    TOOL_ERROR = "tool_error"
    SELECTION_FAILED = "selection_failed"
    GATEWAY_NAMES_UNAVAILABLE = "gateway_names_unavailable"
    CLEANUP_UNCONFIRMED = "cleanup_unconfirmed"
    # signing in
    OAUTH_DISCOVERY_FAILED = "oauth_discovery_failed"
    OAUTH_UNSUPPORTED = "oauth_unsupported"
    OAUTH_REGISTRATION_FAILED = "oauth_registration_failed"
    OAUTH_CONSENT_DENIED = "oauth_consent_denied"
    OAUTH_CONSENT_TIMEOUT = "oauth_consent_timeout"
    OAUTH_CALLBACK_INVALID = "oauth_callback_invalid"
    OAUTH_STATE_MISMATCH = "oauth_state_mismatch"
    OAUTH_ISSUER_MISMATCH = "oauth_issuer_mismatch"
    OAUTH_EXCHANGE_FAILED = "oauth_exchange_failed"
    # the run itself
    CANCELLED = "cancelled"
    EVIDENCE_TOO_LARGE = "evidence_too_large"
    EVIDENCE_LEAK = "evidence_leak"
    PLUGIN_DIED = "plugin_died"
    PROVIDER_MISSING = "provider_missing"
    BROWSER_MISSING = "browser_missing"
    INTERNAL = "internal"


class CodeEntry(NamedTuple):
    """What a code means, what to do about it, and the exit status that it leads to (flows.md, exit codes)."""

    meaning: str
    remedy: str
    exit: int


CODES: dict[Code, CodeEntry] = {
    Code.INVALID_ARGUMENTS: CodeEntry(
        "An argument is missing, unknown, repeated or of the wrong form.",
        "Compare the command with `assay plugins`; the message names the argument.",
        2,
    ),
    Code.INVALID_EXPECTATION: CodeEntry(
        "An expectation has an unknown key, a wrong operand, or could never fail.",
        "Use only the keys that `assay plugins` lists for the command, each with something to check.",
        2,
    ),
    Code.PRIVATE_OPERAND: CodeEntry(
        "An argument or operand holds a private value of the binding.",
        'Take it out of the flow; use `"redacted": false` to assert that no secret came back.',
        2,
    ),
    Code.INVALID_BINDING: CodeEntry(
        "A field of the binding is unknown, missing, of the wrong form, or may not stand beside another.",
        "Mend the field that the message names in the bindings file.",
        2,
    ),
    Code.NOT_CONNECTED: CodeEntry(
        "The alias has no session: its connection was refused, or closed after a lost or unusable reply.",
        "Look at the first step of the alias that failed; give a refusal check an alias of its own.",
        1,
    ),
    Code.DISCONNECTED: CodeEntry(
        "The alias was disconnected by an earlier step.",
        "Move the command before `disconnect`, or use a second alias.",
        1,
    ),
    Code.BINDING_FIXED: CodeEntry(
        "A later command names another path or token file than its alias's first command fixed, or connects once more.",
        "Name `path` and `tokenFile` on the first command, and connect once; use a second alias for anything else.",
        2,
    ),
    Code.ORIGIN_NOT_ADMITTED: CodeEntry(
        "A request would leave the admitted origins.",
        "Make it the target, or add `--allow-origin ORIGIN` if this origin is meant.",
        2,
    ),
    Code.TOKEN_FILE_REFUSED: CodeEntry(
        "The token directory or token file is missing or not safe to read.",
        "Directory 0700, file 0600, yours, one link, at most 16 KiB, one printable token of 8 characters or more.",
        2,
    ),
    Code.OAUTH_REQUIRED: CodeEntry(
        "The alias signs in with OAuth and has not finished signing in.",
        "Run `oauth_begin`, the consent steps and `oauth_finish` first.",
        1,
    ),
    Code.UNREACHABLE: CodeEntry(
        "No connection to the server could be made.",
        "Check host and port, and that the server is running and has finished starting.",
        4,
    ),
    Code.TLS_FAILED: CodeEntry(
        "The TLS handshake failed, or the certificate is not trusted.",
        "Check that the port speaks TLS, and the certificate's name and chain; `caFile` adds a private authority.",
        4,
    ),
    Code.TIMEOUT: CodeEntry(
        "The reply was not complete within the deadline; keepalives do not extend it.",
        "Raise `timeoutMs` in the binding if the server may take that long.",
        1,
    ),
    Code.REPLY_LOST: CodeEntry(
        "The request was sent and the connection or stream ended before its reply.",
        "Look at the server's log: the request may have been carried out.",
        1,
    ),
    Code.REPLY_AMBIGUOUS: CodeEntry(
        "What came back cannot be attributed to the request: another id, two responses, or a batch.",
        "The server breaks JSON-RPC here; the facts say what was seen.",
        1,
    ),
    Code.HTTP_STATUS: CodeEntry(
        "The server answered with an HTTP error instead of an MCP reply or a page.",
        "The status says why, and so may challenge and body in the facts of a step. A flow can assert a refusal"
        ' (`expect={"status":401}`).',
        1,
    ),
    Code.REDIRECT_REFUSED: CodeEntry(
        "The server answered with a redirect, which is never followed.",
        "If the new address is right, put it into `endpoint` or the target.",
        1,
    ),
    Code.PROTOCOL_ERROR: CodeEntry(
        "The reply is not what MCP over Streamable HTTP allows.",
        "The message names the rule; the server has to change.",
        1,
    ),
    Code.RESPONSE_TOO_LARGE: CodeEntry(
        "The reply passed `maxResponseBytes` and reading stopped there.",
        "Ask for less, or raise `maxResponseBytes` (8 MiB at most).",
        1,
    ),
    Code.VERSION_UNSUPPORTED: CodeEntry(
        "The server chose a protocol revision that this client does not speak.",
        "The message names the server's revision and the ones that can be used.",
        1,
    ),
    Code.SESSION_LOST: CodeEntry(
        "The server no longer knows the session.",
        "Run the flow again; if it happens at once, the server or a balancer before it loses sessions.",
        1,
    ),
    Code.INVENTORY_INCOMPLETE: CodeEntry(
        "The inventory could not be read to its end.",
        "See the facts: a refusal, a repeated cursor, or a limit (`maxPages`, `maxItems`, `maxResponseBytes`).",
        1,
    ),
    Code.INVENTORY_INVALID: CodeEntry(
        "An inventory page holds a malformed or repeated entry.",
        "The message names the entry by index; entries are never dropped or merged.",
        1,
    ),
    Code.SCHEMA_DRIFT: CodeEntry(
        "The tool is missing, listed twice, or not the one that the contract pins; it was not called.",
        "Review the change, then renew the pin: `assay contract pin URL TOOL --registry FILE --renew`.",
        1,
    ),
    Code.INPUT_REQUIRED: CodeEntry(
        "The server asks for more input before it answers.",
        "The requests are recorded; supply what it asks for in the arguments if it can be.",
        1,
    ),
    Code.EXPECTATION_FAILED: CodeEntry(
        "The reply is known and is not what the step expects.",
        "Compare the reply (`assay call` shows it) with what failed: mend the server, or the step's `expect`.",
        1,
    ),
    Code.UNEXPECTED_REFUSAL: CodeEntry(
        "The server refused with a JSON-RPC error and the step has no `expect`.",
        'If the refusal is right, assert it: `expect={"rpcError":CODE}`.',
        1,
    ),
    Code.TOOL_ERROR: CodeEntry(
        "The tool answered `isError: true` and the step has no `expect`.",
        'If that is right, assert it: `expect={"isError":true}`.',
        1,
    ),
    Code.SELECTION_FAILED: CodeEntry(
        "The reply holds no public scalar at the pointer.",
        "The message gives the reason; the tool was called once and is not called again.",
        1,
    ),
    Code.GATEWAY_NAMES_UNAVAILABLE: CodeEntry(
        "The gateway's reply holds no readable set of names.",
        "See the reason; a failed member server or a refusal never counts as an empty set.",
        1,
    ),
    Code.CLEANUP_UNCONFIRMED: CodeEntry(
        "The server did not confirm the end of the session.",
        'For servers that refuse DELETE with 405, set `sessionCleanup: "server-managed"`.',
        1,
    ),
    Code.OAUTH_DISCOVERY_FAILED: CodeEntry(
        "The authorization server could not be found from the endpoint.",
        "The sign-in record names the document, its status and the reason.",
        1,
    ),
    Code.OAUTH_UNSUPPORTED: CodeEntry(
        "The authorization server does not support what a safe sign-in needs.",
        "The message says what is missing: in most cases a member of the metadata.",
        1,
    ),
    Code.OAUTH_REGISTRATION_FAILED: CodeEntry(
        "The client could not be registered.",
        "Register a client by hand and bind `clientId` with its `callbackPath`.",
        1,
    ),
    Code.OAUTH_CONSENT_DENIED: CodeEntry("The authorization server said no.", "Grant consent in the browser steps.", 1),
    Code.OAUTH_CONSENT_TIMEOUT: CodeEntry(
        "No consent arrived within `consentTimeoutMs`.",
        "Check the browser steps between begin and finish, or raise the limit.",
        1,
    ),
    Code.OAUTH_CALLBACK_INVALID: CodeEntry(
        "The callback is not the one that was asked for, or its parameters are missing or contradictory.",
        "The authorization server has to change.",
        1,
    ),
    Code.OAUTH_STATE_MISMATCH: CodeEntry(
        "The callback's `state` is not the one that was sent.",
        "Start the sign-in again; if it repeats, someone else's callback reaches this client.",
        1,
    ),
    Code.OAUTH_ISSUER_MISMATCH: CodeEntry(
        "An issuer is not the one that the sign-in began with.",
        "Compare the binding's `issuer` with the metadata, character by character.",
        1,
    ),
    Code.OAUTH_EXCHANGE_FAILED: CodeEntry(
        "The token endpoint did not give a usable token.",
        "See status and error in the sign-in record; the code is spent, start again.",
        1,
    ),
    Code.CANCELLED: CodeEntry("The step was cancelled.", "Run it again.", 1),
    Code.EVIDENCE_TOO_LARGE: CodeEntry(
        "The step's evidence passes the limits (7 MiB for state and for each artifact).",
        "Ask for less in one step.",
        1,
    ),
    Code.EVIDENCE_LEAK: CodeEntry(
        "A private value was about to be kept, or was found in what was kept.",
        "A tombstone stands in its place; report the step, and treat the value as exposed until you know.",
        5,
    ),
    Code.PLUGIN_DIED: CodeEntry(
        "The plugin ended, or answered outside the protocol.",
        "Its last words stand beside the message, if it left any; report it.",
        4,
    ),
    Code.PROVIDER_MISSING: CodeEntry(
        "No plugin executable is known for the provider.",
        "Install it, or name it with `--plugin PATH`.",
        4,
    ),
    Code.BROWSER_MISSING: CodeEntry(
        "No Chromium was found.",
        "Run `playwright install chromium`, install Chromium, or set ASSAY_CHROMIUM.",
        4,
    ),
    Code.INTERNAL: CodeEntry(
        "A defect in Assay, or a file that it has to write cannot be written.",
        "Make room for a file that the message names, or make it writable; report anything else with the message.",
        4,
    ),
}


class Failure(NamedTuple):
    """One failure as data. ``where`` names the place in the input; ``data`` holds redacted facts."""

    code: Code
    message: str
    where: str | None = None
    data: dict[str, Any] | None = None


class Failed(Exception):
    """Carries one :class:`Failure`. Its text is the failure's message, which must hold no private value."""

    def __init__(
        self, code: Code, message: str, *, where: str | None = None, data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.failure = Failure(code, message, where, data)

    @property
    def code(self) -> Code:
        return self.failure.code
