"""`bindings.json`: which identity each alias is, its `{"env": NAME}` references, and what of it is private."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, NoReturn

from host.description import Description
from host.literals import Misread, Path, read_object
from host.private_fields import private_leaves, private_values
from host.problems import closest
from host.rfl import NAME
from host.source import Source
from host.unknown_field import is_plain, unknown_field
from protocol.failures import Code, Failed
from protocol.values.document import JsonError, has_lone_surrogate, parse

__all__ = ["BINDINGS_LIMIT", "VARIABLE", "Binding", "Bindings", "Bound", "bind", "read_bindings", "stand_in"]

#: Largest bindings file, in bytes.
BINDINGS_LIMIT: Final = 1024 * 1024
_MEMBERS: Final = ("provider", "configuration")
#: The name of an environment variable.
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SAFE_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


class Binding:
    """One alias as its plugin gets it, and the private values in it. Its repr shows neither."""

    __slots__ = ("alias", "configuration", "private", "provider")

    def __init__(self, alias: str, provider: str, configuration: dict[str, Any], private: tuple[str, ...]) -> None:
        self.alias = alias
        self.provider = provider
        self.configuration = configuration
        self.private = private

    def __repr__(self) -> str:
        return f"<Binding of {self.alias} to {self.provider}>"


class Bindings:
    """A bindings file as read, its references not yet resolved. Its repr shows nothing of it.

    ``names`` are the environment variables that it names: children must get the environment without any of them,
    whether their alias is used or not.
    """

    __slots__ = ("_entries", "names")

    def __init__(self, entries: dict[str, tuple[str, dict[str, Any]]]) -> None:
        self._entries = entries
        self.names = frozenset(
            name for _, configuration in entries.values() for _, name in _references(configuration, ())
        )

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every alias that the file names, in its order."""
        return tuple(self._entries)

    def entry(self, alias: str) -> tuple[str, dict[str, Any]] | None:
        """Return provider and configuration of an alias as written, or None."""
        return self._entries.get(alias)

    def private(
        self, environment: Mapping[str, str], descriptions: Mapping[str, Description], *, least: int = 1
    ) -> tuple[str, ...]:
        """Return every private value of the whole file, as far as its variables are set: what no message may show.

        ``least`` is the shortest that is taken from an alias whose provider has no description: all of it counts as
        private, and not everything in it is a secret.
        """
        found: dict[str, None] = {}
        for provider, configuration in self._entries.values():
            description = descriptions.get(provider)
            schema = description.configuration if description else None
            values = private_values(_resolved(configuration, environment), schema)
            found.update(dict.fromkeys(value for value in values if schema is not None or len(value) >= least))
        return tuple(found)

    def __repr__(self) -> str:
        return f"<Bindings of {len(self._entries)} aliases>"


class Bound(NamedTuple):
    """The bindings of one flow, by alias. Its repr shows no value."""

    bindings: Mapping[str, Binding]

    @property
    def configurations(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Each provider's aliases with their configurations: what `initialize` is sent."""
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for binding in self.bindings.values():
            found.setdefault(binding.provider, {})[binding.alias] = binding.configuration
        return found

    @property
    def private(self) -> dict[str, tuple[str, ...]]:
        """The private values by provider."""
        found: dict[str, tuple[str, ...]] = {}
        for binding in self.bindings.values():
            found[binding.provider] = found.get(binding.provider, ()) + binding.private
        return found


def read_bindings(data: bytes, descriptions: Mapping[str, Description], *, trusted: bool) -> Bindings:
    """Read the text of a bindings file, at most 1 MiB. ``descriptions`` is by provider.

    ``trusted``: owned by the user and 0600 or stricter, or read from stdin. Any other file is refused unless every
    private field in it is `{"env": "NAME"}`; all of a provider without a description is private.
    Raises Failed (`invalid_binding`) with line and column. Nothing of the file is quoted but aliases and field names.
    """
    text = _text(data)
    places = _Places(text)
    root = places.value
    entries: dict[str, tuple[str, dict[str, Any]]] = {}
    for alias, entry in root.items():
        if not NAME.fullmatch(alias):
            places.refuse(
                (alias,),
                "an alias is a-z, then a-z, 0-9 or _, 64 characters at most",
                "Name it as the flow's `providers` does.",
            )
        provider, configuration = entries[alias] = _entry(places, alias, entry)
        description = descriptions.get(provider)
        if unknown := description and unknown_field(configuration, description.configuration):
            places.refuse((alias, "configuration", *unknown.path), unknown.reason(alias), unknown.advice)
    bindings = Bindings(entries)
    if not trusted:
        _require_references(entries, descriptions)
    return bindings


def bind(
    providers: Mapping[str, str],
    bindings: Bindings | None,
    target: str | None,
    environment: Mapping[str, str],
    descriptions: Mapping[str, Description],
) -> Bound:
    """Resolve what one flow's aliases (alias to provider) are bound to.

    An alias whose provider has an `endpoint` field and whose binding names none gets ``target``; an alias without a
    binding is anonymous there. Raises Failed (`invalid_binding`): another provider in the file than in the flow, a
    missing or empty environment variable (named, with its alias and field), no endpoint and no target.
    """
    bound = {}
    missing: list[str] = []
    for alias, provider in providers.items():
        bound_to, written = (bindings.entry(alias) if bindings else None) or (provider, {})
        if bound_to != provider:
            raise Failed(
                Code.INVALID_BINDING,
                f"The alias `{alias}` is {provider} in the flow and bound to {_bound_to(bound_to, provider)} Make them"
                " agree, or use another alias.",
            )
        missing += _missing(alias, written, environment)
        configuration = _resolved(written, environment)
        description = descriptions.get(provider)
        schema = description.configuration if description else None
        private = private_values(configuration, schema)
        if schema is not None and "endpoint" in schema.get("properties", {}) and "endpoint" not in configuration:
            configuration = {**configuration, "endpoint": _required(target, alias)}
        bound[alias] = Binding(alias, provider, configuration, private)
    if missing:
        raise Failed(
            Code.INVALID_BINDING,
            f"The bindings file names environment variables that are not set: {'; '.join(missing)}."
            " Set them, not empty, for this command; in CI, check that the job may read these secrets.",
        )
    return Bound(bound)


def _bound_to(written: str, provider: str) -> str:
    shown = f"`{written}`" if is_plain(written) else "another provider"
    return f"{shown} in the bindings file." + (f" Did you mean `{provider}`?" if closest(written, (provider,)) else "")


def _required(target: str | None, alias: str) -> str:
    if target is None:
        raise Failed(
            Code.INVALID_BINDING,
            f"The alias `{alias}` has no server: there is no target, and its binding has no `endpoint`."
            " Give `--target URL`, set ASSAY_TARGET, or write `target` into assay.toml.",
        )
    return target


def stand_in(binding: Binding, descriptions: Mapping[str, Description]) -> Binding:
    """Return a binding for a plan that knows nothing of it: required fields hold the first example of their schema."""
    description = descriptions.get(binding.provider)
    schema: Mapping[str, Any] = description.configuration if description else {}
    fields = schema.get("properties", {})
    examples = {name: fields[name].get("examples") for name in schema.get("required", []) if name in fields}
    known = {name: found[0] for name, found in examples.items() if isinstance(found, list) and found}
    return Binding(binding.alias, binding.provider, known | binding.configuration, binding.private)


class _Places:
    """The value of a bindings file, and where each of its members stands."""

    def __init__(self, text: str) -> None:
        self._source = Source("bindings", text)
        start = len(text) - len(text.lstrip(" \t\r\n"))
        self._members: dict[Path, int] = {}
        try:
            if text[start : start + 1] != "{":
                raise Misread(start, 1, "", "")
            _, strings = read_object(text, start)
            self._members = {string.member: string.start for string in strings if string.member is not None}
            document = parse(text)
        except Misread as wrong:
            self._refuse_at(wrong.index, _reason(text), "Compare this place with the example in docs/flows.md.")
        except JsonError as error:
            self._refuse_at(error.offset or 0, error.reason, "The file holds one JSON object and nothing after it.")
        self.value: dict[str, Any] = document.value

    def refuse(self, path: Path, reason: str, advice: str) -> NoReturn:
        self._refuse_at(self._members.get(path, 0), reason, advice)

    def _refuse_at(self, index: int, reason: str, advice: str) -> NoReturn:
        line, column = self._source.place(index)
        raise Failed(
            Code.INVALID_BINDING,
            f"Bindings file, line {line}, column {column}: {reason}. {advice}",
            where=f"bindings:{line}:{column}",
        )


def _reason(text: str) -> str:
    """Say what is wrong with a text that is no JSON object, in words that quote nothing of it."""
    try:
        document = parse(text)
    except JsonError as error:
        return error.reason
    if document.repeated:
        return "an object repeats a member"
    return "the file is no JSON object" if not isinstance(document.value, dict) else "a value is nested too deeply"


def _text(data: bytes) -> str:
    if len(data) > BINDINGS_LIMIT:
        raise Failed(Code.INVALID_BINDING, f"The bindings file is longer than {BINDINGS_LIMIT} bytes. Make it shorter.")
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError as error:
        raise Failed(
            Code.INVALID_BINDING, f"The bindings file is not UTF-8 at byte {error.start}. Save it as UTF-8."
        ) from None


def _entry(places: _Places, alias: str, entry: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(entry, dict):
        places.refuse((alias,), "an alias is bound to an object", 'Write {"provider": …, "configuration": {…}}.')
    for name in entry:
        if name not in _MEMBERS:
            meant = closest(name, _MEMBERS)
            advice = f"Did you mean `{meant}`? " if meant else ""
            places.refuse(
                (alias, name), "this member is not known here", f"{advice}An alias has `provider` and `configuration`."
            )
    provider, configuration = entry.get("provider"), entry.get("configuration", {})
    if not isinstance(provider, str) or not provider:
        places.refuse((alias,), "an alias needs its `provider`, a string", 'Write, for example, "provider": "MCP".')
    if not isinstance(configuration, dict) or configuration.keys() == {"env"}:
        where = (alias, "configuration")
        places.refuse(where, "`configuration` is an object of fields", 'Only a string may be {"env": "NAME"}.')
    for path, name in _references(configuration, ()):
        if not isinstance(name, str) or not VARIABLE.fullmatch(name):
            reason = '{"env": …} takes the name of an environment variable'
            places.refuse(
                (alias, "configuration", *path, "env"), reason, "A name is letters, digits and _, no digit first."
            )
    return provider, configuration


def _references(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield each `{"env": NAME}` below a value, with the way to it."""
    if isinstance(value, dict):
        if path and value.keys() == {"env"}:
            yield path, value["env"]
        else:
            for name, member in value.items():
                yield from _references(member, (*path, name))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _references(entry, (*path, index))


def _require_references(
    entries: Mapping[str, tuple[str, dict[str, Any]]], descriptions: Mapping[str, Description]
) -> None:
    written = []
    for alias, (provider, configuration) in entries.items():
        description = descriptions.get(provider)
        schema = description.configuration if description else None
        fields = {_name(leaf.path) for leaf in private_leaves(_without_references(configuration), schema)}
        written += [f"{alias}.{field}" for field in sorted(fields)]
    if written:
        raise Failed(
            Code.INVALID_BINDING,
            "The bindings file holds private values and is not private: it has to be yours, with mode 0600."
            f' Run `chmod 600` on it, or write {{"env": "NAME"}} for each of: {", ".join(written)}.',
        )


def _without_references(value: Any) -> Any:
    if isinstance(value, dict):
        return None if value.keys() == {"env"} else {name: _without_references(each) for name, each in value.items()}
    return [_without_references(entry) for entry in value] if isinstance(value, list) else value


def _name(path: Path) -> str:
    """Name a field for a message; a member that looks like no field's name may be a value in the wrong place."""
    return ".".join(str(part) if isinstance(part, int) or _SAFE_NAME.fullmatch(part) else "…" for part in path)


def _missing(alias: str, configuration: dict[str, Any], environment: Mapping[str, str]) -> list[str]:
    return [
        f"`{name}` ({alias}.{_name(path)})"
        for path, name in _references(configuration, ())
        if not _is_text(environment.get(name, ""))
    ]


def _is_text(value: str) -> bool:
    """Tell whether a variable has a value that is text: bytes that are not UTF-8 arrive as lone surrogates."""
    return bool(value) and not has_lone_surrogate(value)


def _resolved(value: Any, environment: Mapping[str, str], depth: int = 0) -> Any:
    if isinstance(value, dict):
        if depth and value.keys() == {"env"}:
            return environment.get(value["env"], "")
        return {name: _resolved(member, environment, depth + 1) for name, member in value.items()}
    if isinstance(value, list):
        return [_resolved(entry, environment, depth + 1) for entry in value]
    return value
