"""The closed set of refusals, each with one fixed sentence, and the one exception that carries a refusal."""

from enum import StrEnum, unique
from typing import Final

__all__ = ["SENTENCES", "Refusal", "Refused"]


@unique
class Refusal(StrEnum):
    """Why a document, a pin or a command line was not accepted. Apart from the codes of the inspector."""

    # the documents as files and as JSON
    REGISTRY_UNREADABLE = "registry_unreadable"
    REGISTRY_TOO_LARGE = "registry_too_large"
    REGISTRY_CHANGED = "registry_changed"
    REGISTRY_NOT_JSON = "registry_not_json"
    REGISTRY_REPEATS = "registry_repeats"
    CATALOG_UNREADABLE = "catalog_unreadable"
    CATALOG_TOO_LARGE = "catalog_too_large"
    CATALOG_CHANGED = "catalog_changed"
    CATALOG_NOT_JSON = "catalog_not_json"
    CATALOG_REPEATS = "catalog_repeats"
    CALL_UNREADABLE = "call_unreadable"
    CALL_TOO_LARGE = "call_too_large"
    CALL_CHANGED = "call_changed"
    CALL_NOT_JSON = "call_not_json"
    CALL_REPEATS = "call_repeats"
    # the registry
    REGISTRY_MEMBERS = "registry_members"
    REGISTRY_VERSION = "registry_version"
    REGISTRY_ROUTES = "registry_routes"
    ALIAS_REPEATED = "alias_repeated"
    ROUTE_MEMBERS = "route_members"
    ROUTE_IDENTIFIER = "route_identifier"
    ROUTE_PROTOCOL = "route_protocol"
    ROUTE_LIMIT = "route_limit"
    ENDPOINT_MEMBERS = "endpoint_members"
    ENDPOINT_HOST = "endpoint_host"
    ENDPOINT_PATH = "endpoint_path"
    OUTPUT_POLICY = "output_policy"
    PROJECTION_FIELDS = "projection_fields"
    PROJECTION_MEMBERS = "projection_members"
    PROJECTION_IDENTIFIER = "projection_identifier"
    PROJECTION_REPEATED = "projection_repeated"
    PROJECTION_TYPE = "projection_type"
    PROJECTION_MAXIMUM = "projection_maximum"
    PROJECTION_VALUES = "projection_values"
    # the admitted schema
    ADMITTED_ROOT = "admitted_root"
    ADMITTED_TYPE = "admitted_type"
    ADMITTED_KEYWORD = "admitted_keyword"
    ADMITTED_MISSING = "admitted_missing"
    ADMITTED_PROPERTIES = "admitted_properties"
    ADMITTED_REQUIRED = "admitted_required"
    ADMITTED_OPEN = "admitted_open"
    ADMITTED_LENGTH = "admitted_length"
    ADMITTED_ITEMS = "admitted_items"
    ADMITTED_RANGE = "admitted_range"
    ADMITTED_ENUM = "admitted_enum"
    ADMITTED_DEPTH = "admitted_depth"
    ADMITTED_NODES = "admitted_nodes"
    ADMITTED_SIZE = "admitted_size"
    # the upstream schema
    UPSTREAM_ROOT = "upstream_root"
    UPSTREAM_TYPE = "upstream_type"
    UPSTREAM_KEYWORD = "upstream_keyword"
    UPSTREAM_MISSING = "upstream_missing"
    UPSTREAM_PROPERTIES = "upstream_properties"
    UPSTREAM_REQUIRED = "upstream_required"
    UPSTREAM_OPEN = "upstream_open"
    UPSTREAM_LENGTH = "upstream_length"
    UPSTREAM_ITEMS = "upstream_items"
    UPSTREAM_RANGE = "upstream_range"
    UPSTREAM_ENUM = "upstream_enum"
    UPSTREAM_ANNOTATION = "upstream_annotation"
    UPSTREAM_DEPTH = "upstream_depth"
    UPSTREAM_NODES = "upstream_nodes"
    UPSTREAM_SIZE = "upstream_size"
    # the catalog
    CATALOG_SHAPE = "catalog_shape"
    CATALOG_PAGED = "catalog_paged"
    CATALOG_TOOLS = "catalog_tools"
    CATALOG_ENTRY = "catalog_entry"
    # the call
    CALL_MEMBERS = "call_members"
    CALL_OVER_ROUTE = "call_over_route"
    ROUTE_UNKNOWN = "route_unknown"
    ARGUMENTS_NUMBER = "arguments_number"
    ARGUMENTS_NOT_ADMITTED = "arguments_not_admitted"
    ARGUMENTS_NOT_UPSTREAM = "arguments_not_upstream"
    # a pin that is made of what a server lists
    PIN_ENDPOINT = "pin_endpoint"
    PIN_VERSION = "pin_version"
    PIN_TAKEN = "pin_taken"
    PIN_OTHER = "pin_other"
    PIN_MISSING = "pin_missing"
    PIN_REDACTED = "pin_redacted"
    PIN_IMPOSSIBLE = "pin_impossible"
    # the command line
    USAGE = "usage"
    OUTPUT_LOST = "output_lost"
    DEFECT = "defect"


#: Refusal -> the sentence that a person reads. None of them quotes what was read.
SENTENCES: Final[dict[Refusal, str]] = {
    Refusal.REGISTRY_UNREADABLE: (
        "The registry cannot be read: name a regular file that is there and that you may read, and no link."
    ),
    Refusal.REGISTRY_TOO_LARGE: "The registry has more than 1 MiB: split its routes over several.",
    Refusal.REGISTRY_CHANGED: "The registry changed while it was read: try again when nothing writes to it.",
    Refusal.REGISTRY_NOT_JSON: "The registry is not one strict JSON text in UTF-8, nested at most 128 deep.",
    Refusal.REGISTRY_REPEATS: "An object in the registry holds two members of one name.",
    Refusal.CATALOG_UNREADABLE: (
        "The catalog cannot be read: name a regular file that is there and that you may read, and no link."
    ),
    Refusal.CATALOG_TOO_LARGE: "The catalog has more than 256 KiB.",
    Refusal.CATALOG_CHANGED: "The catalog changed while it was read: try again when nothing writes to it.",
    Refusal.CATALOG_NOT_JSON: "The catalog is not one strict JSON text in UTF-8, nested at most 128 deep.",
    Refusal.CATALOG_REPEATS: "An object in the catalog holds two members of one name.",
    Refusal.CALL_UNREADABLE: (
        "The call cannot be read: name a regular file that is there and that you may read, and no link."
    ),
    Refusal.CALL_TOO_LARGE: "The call has more than 64 KiB.",
    Refusal.CALL_CHANGED: "The call changed while it was read: try again when nothing writes to it.",
    Refusal.CALL_NOT_JSON: "The call is not one strict JSON text in UTF-8, nested at most 128 deep.",
    Refusal.CALL_REPEATS: "An object in the call holds two members of one name.",
    Refusal.REGISTRY_MEMBERS: "A registry is an object of `version` and `routes`, and nothing else.",
    Refusal.REGISTRY_VERSION: "The `version` of a registry is 1 or 2.",
    Refusal.REGISTRY_ROUTES: "The `routes` of a registry are an array of 1 to 128.",
    Refusal.ALIAS_REPEATED: "Two routes of the registry have one alias.",
    Refusal.ROUTE_MEMBERS: "A route lacks a member, or has one that its version of the registry does not know.",
    Refusal.ROUTE_IDENTIFIER: (
        "The `alias`, `server_id`, `tool` and `credential_binding` of a route have 1 to 64 characters"
        " out of letters, digits, `_`, `.` and `-`."
    ),
    Refusal.ROUTE_PROTOCOL: "The `protocol_version` of a route is 2025-06-18, or left out.",
    Refusal.ROUTE_LIMIT: (
        "A limit of a route is out of its range: `max_request_bytes` 1 to 65536, `max_response_bytes` 1 to 262144,"
        " `timeout_ms` 1 to 120000."
    ),
    Refusal.ENDPOINT_MEMBERS: "The `endpoint` of a route is an object of `host` and `path`, and nothing else.",
    Refusal.ENDPOINT_HOST: (
        "The `host` of an endpoint is a public DNS name in lower case, without a port: at most 253 characters, two"
        " labels or more, the last one with a letter and not localhost, local or internal."
    ),
    Refusal.ENDPOINT_PATH: (
        "The `path` of an endpoint begins with `/` and has at most 256 characters out of letters, digits and"
        " `/ _ . ~ -`, without `//` and without a segment `.` or `..`."
    ),
    Refusal.OUTPUT_POLICY: (
        "The `output_policy` of a route is `withhold` without an `output_projection`, or, in version 2,"
        " `typed_fields` with one."
    ),
    Refusal.PROJECTION_FIELDS: "An `output_projection` is an object of `fields` alone, an array of 1 to 8.",
    Refusal.PROJECTION_MEMBERS: "A field of a projection is an object of `source`, `name` and `value_type`.",
    Refusal.PROJECTION_IDENTIFIER: (
        "The `source` and the `name` of a projection's field have 1 to 64 characters out of letters, digits, `_`, `.`"
        " and `-`."
    ),
    Refusal.PROJECTION_REPEATED: "Two fields of a projection have one `source` or one `name`.",
    Refusal.PROJECTION_TYPE: (
        'A `value_type` is {"kind": "integer_id", "maximum": N} or {"kind": "status", "values": [TOKEN, ...]}.'
    ),
    Refusal.PROJECTION_MAXIMUM: "The `maximum` of an integer_id is an integer from 1 to 9007199254740991.",
    Refusal.PROJECTION_VALUES: (
        "The `values` of a status are 1 to 16 different tokens, each of 1 to 32 characters out of letters, digits,"
        " `_`, `.` and `-`."
    ),
    Refusal.ADMITTED_ROOT: "An admitted schema is an object whose `type` is object.",
    Refusal.ADMITTED_TYPE: (
        "Every part of an admitted schema is an object whose `type` is object, string, integer, boolean or array."
    ),
    Refusal.ADMITTED_KEYWORD: "An admitted schema holds a keyword that its subset does not know beside that type.",
    Refusal.ADMITTED_MISSING: (
        "An admitted schema lacks a bound: object `properties` and `additionalProperties`, string `maxLength`,"
        " integer `minimum` and `maximum`, array `items` and `maxItems`."
    ),
    Refusal.ADMITTED_PROPERTIES: (
        "The `properties` of an admitted schema are an object of at most 64, named by 1 to 64 characters out of"
        " letters, digits, `_`, `.` and `-`."
    ),
    Refusal.ADMITTED_REQUIRED: "The `required` of an admitted schema are different names out of its `properties`.",
    Refusal.ADMITTED_OPEN: "The `additionalProperties` of an admitted schema are false.",
    Refusal.ADMITTED_LENGTH: (
        "The lengths of an admitted string are integers: `minLength` from 0 to `maxLength`, which is at most 4096."
    ),
    Refusal.ADMITTED_ITEMS: (
        "The counts of an admitted array are integers: `minItems` from 0 to `maxItems`, which is at most 256."
    ),
    Refusal.ADMITTED_RANGE: "The bounds of an admitted integer are 64-bit integers, `minimum` at most `maximum`.",
    Refusal.ADMITTED_ENUM: "The `enum` of an admitted schema is an array of 1 to 64 values of its type.",
    Refusal.ADMITTED_DEPTH: "An admitted schema is nested more than 8 deep.",
    Refusal.ADMITTED_NODES: "An admitted schema has more than 1024 parts.",
    Refusal.ADMITTED_SIZE: "An admitted schema has more than 64 KiB in its canonical form.",
    Refusal.UPSTREAM_ROOT: "An upstream schema is an object whose `type` is object.",
    Refusal.UPSTREAM_TYPE: (
        "Every part of an upstream schema is an object whose `type` is object, string, integer, number, boolean or"
        " array."
    ),
    Refusal.UPSTREAM_KEYWORD: "An upstream schema holds a keyword that its subset does not know beside that type.",
    Refusal.UPSTREAM_MISSING: "An upstream schema lacks the `properties` of an object or the `items` of an array.",
    Refusal.UPSTREAM_PROPERTIES: (
        "The `properties` of an upstream schema are an object of at most 64, named by 1 to 64 characters out of"
        " letters, digits, `_`, `.` and `-`."
    ),
    Refusal.UPSTREAM_REQUIRED: "The `required` of an upstream schema are different names out of its `properties`.",
    Refusal.UPSTREAM_OPEN: "The `additionalProperties` of an upstream schema are true or false, or left out.",
    Refusal.UPSTREAM_LENGTH: "The lengths of an upstream string are integers from 0 to 9223372036854775807.",
    Refusal.UPSTREAM_ITEMS: "The counts of an upstream array are integers from 0 to 9223372036854775807.",
    Refusal.UPSTREAM_RANGE: (
        "The bounds of an upstream number are numbers of at most 1000 digits and an exponent of at most six."
    ),
    Refusal.UPSTREAM_ENUM: "The `enum` of an upstream schema is an array of 1 to 128 strings, numbers or booleans.",
    Refusal.UPSTREAM_ANNOTATION: "A `title` or `description` of an upstream schema is a string of at most 4 KiB.",
    Refusal.UPSTREAM_DEPTH: "An upstream schema is nested more than 8 deep.",
    Refusal.UPSTREAM_NODES: "An upstream schema has more than 1024 parts.",
    Refusal.UPSTREAM_SIZE: "An upstream schema has more than 64 KiB in its canonical form.",
    Refusal.CATALOG_SHAPE: "A catalog is the result of a `tools/list` request, or the JSON-RPC response that holds it.",
    Refusal.CATALOG_PAGED: "The catalog has a `nextCursor`: it is one page of several, and only a whole one counts.",
    Refusal.CATALOG_TOOLS: "The catalog lists more than 128 tools.",
    Refusal.CATALOG_ENTRY: "An entry of the catalog is not an object with a string `name`.",
    Refusal.CALL_MEMBERS: "A call is an object of a string `route` and an object `arguments`, and nothing else.",
    Refusal.CALL_OVER_ROUTE: "The call has more bytes than the `max_request_bytes` of its route.",
    Refusal.ROUTE_UNKNOWN: "The registry has no route of that alias.",
    Refusal.ARGUMENTS_NUMBER: "A number in the arguments is not a 64-bit integer written without fraction or exponent.",
    Refusal.ARGUMENTS_NOT_ADMITTED: "The arguments are not what the route's `input_schema` admits.",
    Refusal.ARGUMENTS_NOT_UPSTREAM: "The arguments are not what the tool's own schema accepts.",
    Refusal.PIN_ENDPOINT: (
        "The URL cannot be the endpoint of a route, which is https on port 443 with a public host and a plain path:"
        " name the one that the route is for, `--endpoint https://HOST/PATH`."
    ),
    Refusal.PIN_VERSION: "The registry is of version 1, and a pin is a route of version 2: name another file.",
    Refusal.PIN_TAKEN: (
        "The registry has a route of that alias: give another, `--alias NAME`, or renew its pin, `--renew`."
    ),
    Refusal.PIN_OTHER: "The route of that alias is of another tool.",
    Refusal.PIN_MISSING: "The server lists no tool of that name: `assay inspect URL` shows what it lists.",
    Refusal.PIN_REDACTED: (
        "Something private, or a terminal control, was taken out of what the server lists of the tool:"
        " what is left is not what it advertises, and cannot be pinned."
    ),
    Refusal.PIN_IMPOSSIBLE: "No arguments can be admitted: a required one has no value that an admitted schema knows.",
    Refusal.USAGE: (
        "Give one of `validate REGISTRY`, `qualify REGISTRY CATALOG`,"
        " `prepare [--domain assay|opaque] REGISTRY CALL`, or with `assay` also `pin URL TOOL`; `--help` tells more."
    ),
    Refusal.OUTPUT_LOST: "The answer could not be written to standard output.",
    Refusal.DEFECT: "A defect in Assay: please report it.",
}


class Refused(Exception):
    """Carries one :class:`Refusal`. Its text is the refusal's sentence."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(SENTENCES[refusal])
        self.refusal = refusal
