"""From a command line to flows ready to be checked: files, settings, plugins, bindings, with all refusals at once."""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

from host.bindings import BINDINGS_LIMIT, Bindings, Bound, bind, read_bindings, stand_in
from host.consent import Grant, read_grant
from host.description import Description, read_description
from host.discovery import path_text
from host.executable import Executable, describe, find, without
from host.exposure import exposed_inputs, exposed_text
from host.files import find_settings, read_private_file
from host.flow import Flow
from host.inputs import read_inputs, require_taken
from host.origins import admitted_origins
from host.outcome import FlowOutcome
from host.problems import Problem, closest, render
from host.reading import PROVIDERS, Draft, check_flow
from host.refusals import innocent, refuse
from host.selection import read_flows, select
from host.settings import Choices, choose, read_settings
from host.terminal import standard_input
from protocol.failures import Code, Failed, Failure
from protocol.values.redaction import Redactor

__all__ = [
    "Job",
    "Options",
    "Prepared",
    "describe_providers",
    "harmless",
    "load_choices",
    "prepare",
]

#: Stands for the target of a plan that has none: commands are checked, nothing is contacted.
PLANNED_TARGET: Final = "https://target.invalid/mcp"
#: Characters of the shortest credential, where nothing says which fields hold one.
CREDENTIAL_MINIMUM: Final = 16
#: What a child that only describes itself needs of the environment. Bindings are not read yet, so the variables that
#: they name are not known, and none of them may reach a child.
_HARMLESS: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH")


class Options(NamedTuple):
    """What a command line says about the flows to plan or run; None and empty where it says nothing."""

    flows: tuple[str, ...]
    target: str | None = None
    bindings: str | None = None
    allow_origins: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    plugin: str | None = None
    evidence: str | None = None
    tags: tuple[str, ...] = ()
    planning: bool = False


class Job(NamedTuple):
    """A flow that nothing refused so far. ``file`` is its path as runs record it: relative to the project's folder.

    ``unresolved`` says which bindings could not be looked at when planning.
    """

    flow: Flow
    path: Path
    file: str
    bound: Bound
    unresolved: tuple[str, ...] = ()


class Prepared(NamedTuple):
    """Everything that runs share. When ``refused`` is not empty, nothing may be contacted.

    ``private`` is every private value of the bindings file as far as its variables are set. The repr shows none.
    """

    jobs: tuple[Job, ...]
    refused: tuple[FlowOutcome, ...]
    choices: Choices
    origins: tuple[str, ...]
    executables: Mapping[str, Executable]
    descriptions: Mapping[str, Description]
    hidden: frozenset[str]
    private: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Prepared with {len(self.jobs)} flows>"

    @property
    def codes(self) -> dict[str, int]:
        """The exit status of each failure code that a plugin describes."""
        return {code: status for each in self.descriptions.values() for code, status in each.codes.items()}


def prepare(options: Options, environment: Mapping[str, str]) -> Prepared:
    """Read everything that the flows need and look at it. Contacts nothing; plugins only describe themselves.

    Raises Failed for what concerns the command line as a whole: its settings, paths, inputs, origins.
    """
    folder, choices = load_choices(options, environment)
    origins = admitted_origins(choices.target, choices.allow_origins)
    given = read_inputs(options.inputs)
    read = select(read_flows(options.flows), options.tags)
    drafts = [draft for draft in read.values() if isinstance(draft, Draft)]
    if drafts:
        require_taken(given, {name for draft in drafts for name in draft.inputs})
    providers = {provider for draft in drafts for provider in draft.providers.values()}
    executables, descriptions, failures = describe_providers(sorted(providers), options.plugin, environment)
    bindings: Bindings | None = None
    try:
        bindings = _bindings(choices, descriptions)
    except Failed as failed:
        failures["bindings"] = failed.failure
    binder = _Binder(
        bindings,
        choices.target,
        environment,
        descriptions,
        planning=options.planning,
        refused="bindings" in failures,
    )
    declared = frozenset(alias for draft in drafts for alias in draft.providers)
    made = [
        _job(entry, Path(path), folder, descriptions, given, binder, failures, declared)
        if isinstance(entry, Draft)
        else entry
        for path, entry in read.items()
    ]
    jobs = tuple(outcome for outcome in made if isinstance(outcome, Job))
    refused = [innocent(outcome.flow) if isinstance(outcome, Job) else outcome for outcome in made]
    if len(jobs) == len(made):
        refused = []
    hidden = bindings.names if bindings else frozenset()
    return Prepared(jobs, tuple(refused), choices, origins, executables, descriptions, hidden, binder.known)


def load_choices(options: Options, environment: Mapping[str, str]) -> tuple[str, Choices]:
    """Return the project's folder, and what holds after options, environment and assay.toml."""
    folder, data = find_settings(os.curdir)
    settings, problems = read_settings(str(Path(folder) / "assay.toml"), data or b"")
    if problems:
        shown = render("assay.toml", str(data or b"", "utf-8", "replace"), problems)
        raise Failed(Code.INVALID_ARGUMENTS, shown.rstrip())
    return folder, choose(
        settings,
        folder,
        environment,
        target=options.target,
        bindings=options.bindings,
        allow_origins=options.allow_origins,
        evidence=options.evidence,
    )


def describe_providers(
    providers: Sequence[str], plugin: str | None, environment: Mapping[str, str]
) -> tuple[dict[str, Executable], dict[str, Description], dict[str, Failure]]:
    """Find each provider's executable and have it describe itself; failures are by provider."""
    executables: dict[str, Executable] = {}
    descriptions: dict[str, Description] = {}
    failures: dict[str, Failure] = {}
    for provider in providers:
        try:
            executable = executables[provider] = find(provider, plugin, environment)
            described = read_description(describe(executable, without(harmless(environment), frozenset(), executable)))
            if described.provider != provider:
                raise Failed(
                    Code.PROVIDER_MISSING,
                    f"The plugin executable is for the provider `{described.provider}`; `{provider}` is needed.",
                )
            descriptions[provider] = described
        except Failed as failed:
            failures[provider] = failed.failure
    return executables, descriptions, failures


def harmless(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what a plugin that only describes itself gets of the environment."""
    return {name: environment[name] for name in _HARMLESS if name in environment}


class _Binder:
    """Binds the aliases of one flow after another; when planning, without what is not known yet.

    ``refused``: there is a bindings file, and what it holds is not known.
    """

    def __init__(
        self,
        bindings: Bindings | None,
        target: str | None,
        environment: Mapping[str, str],
        descriptions: Mapping[str, Description],
        *,
        planning: bool,
        refused: bool,
    ) -> None:
        self._bindings = bindings
        self._target = target
        self._environment = environment
        self._descriptions = descriptions
        self._planning = planning
        self._refused = refused

    @property
    def planning(self) -> bool:
        return self._planning

    @cached_property
    def private(self) -> tuple[str, ...]:
        """Every private value of the bindings file, as far as it can be resolved."""
        return self._bindings.private(self._environment, self._descriptions) if self._bindings else ()

    @property
    def known(self) -> tuple[str, ...]:
        """Return what evidence is kept free of. Of what no description tells apart, only what may be a credential."""
        least = CREDENTIAL_MINIMUM
        return self._bindings.private(self._environment, self._descriptions, least=least) if self._bindings else ()

    def redact(self, text: str) -> str:
        """Return a text without any of them: a flow that is refused is shown line by line."""
        return str(self._redactor.text(text).value)

    @cached_property
    def _redactor(self) -> Redactor:
        return Redactor(self.private)

    def warnings(self, providers: Mapping[str, str], declared: frozenset[str]) -> list[Problem]:
        """Warn of each MCP alias without a binding while the file names one that no flow has: most often a slip."""
        strangers = [alias for alias in self._bindings.aliases if alias not in declared] if self._bindings else []
        if self._bindings is None or not strangers:
            return []
        unbound = [name for name, provider in providers.items() if provider == "MCP" and not self._bindings.entry(name)]
        return [_unbound(alias, strangers) for alias in unbound]

    def grants(self, providers: Mapping[str, str]) -> dict[str, Grant]:
        """Return how each alias signs in, as far as is known: a plan may be made before an alias is bound."""
        if self._refused:
            return dict.fromkeys(providers, "unknown")
        found: dict[str, Grant] = {}
        for alias in providers:
            if entry := self._bindings.entry(alias) if self._bindings else None:
                found[alias] = read_grant(entry[1], self._environment)
            elif not self._planning:
                found[alias] = "none"
        return found

    def bind(self, providers: Mapping[str, str]) -> tuple[Bound, tuple[str, ...]]:
        """Return what the aliases are bound to, and why some of it had to be left out of a plan. Raises Failed."""
        if not self._planning:
            return bind(providers, self._bindings, self._target, self._environment, self._descriptions), ()
        found: dict[str, Any] = {}
        unresolved = []
        for alias, provider in providers.items():
            target = self._target or PLANNED_TARGET
            entry = self._bindings.entry(alias) if self._bindings else None
            try:
                bound = bind({alias: provider}, self._bindings, target, self._environment, self._descriptions)
            except Failed as failed:
                if entry is None or entry[0] != provider:
                    raise
                unresolved.append(failed.failure.message)
                entry = None
                bound = bind({alias: provider}, None, target, self._environment, self._descriptions)
            binding = bound.bindings[alias]
            found[alias] = binding if entry else stand_in(binding, self._descriptions)
        return Bound(found), tuple(unresolved)


def _unbound(alias: str, strangers: Sequence[str]) -> Problem:
    meant = closest(alias, strangers) or strangers[0]
    told = f"The alias `{alias}` has no binding and is anonymous; the bindings file names `{meant}`, which no flow has."
    return Problem(0, 0, 0, told, f"If `{alias}` is meant, name it so in the bindings file.")


def _recorded(path: Path, folder: str) -> str:
    """Return a flow's path as runs record it: the same from wherever in the project a command is given."""
    whole, root = path.absolute(), Path(folder).absolute()
    return path_text(os.path.normpath(whole.relative_to(root) if whole.is_relative_to(root) else whole))


def _bindings(choices: Choices, descriptions: Mapping[str, Description]) -> Bindings | None:
    if choices.bindings == "-":
        return read_bindings(standard_input(BINDINGS_LIMIT), descriptions, trusted=True)
    found = read_private_file(choices.bindings, BINDINGS_LIMIT) if choices.bindings else None
    if found is not None:
        return read_bindings(found.data, descriptions, trusted=found.trusted)
    if choices.bindings_named:
        told = f"The bindings file {path_text(choices.bindings or '')} does not exist. Check the path."
        raise Failed(Code.INVALID_BINDING, told)
    return None


def _job(
    draft: Draft,
    path: Path,
    folder: str,
    descriptions: Mapping[str, Description],
    given: Mapping[str, str],
    binder: _Binder,
    failures: Mapping[str, Failure],
    declared: frozenset[str],
) -> Job | FlowOutcome:
    grants = binder.grants(draft.providers)
    reading = check_flow(draft, descriptions, given, planning=binder.planning, grants=grants)
    # That a flow names a provider which nobody knows is a problem of the flow, and told with its place.
    known = [provider for provider in draft.providers.values() if provider in PROVIDERS]
    failure = next((failures[name] for name in ("bindings", *known) if name in failures), None)
    if reading.flow is None or failure is not None:
        exposed = exposed_text(reading.text, binder.private)
        problems = sorted((*reading.problems, *exposed), key=lambda problem: problem[:2])
        name = reading.flow and reading.flow.name
        return refuse(name, draft.file, reading.text, problems, failure, redact=binder.redact)
    flow = reading.flow
    try:
        bound, unresolved = binder.bind(flow.providers)
    except Failed as failed:
        return refuse(flow.name, flow.file, flow.text, (), failed.failure, redact=binder.redact)
    # The whole file's: evidence of one flow must not hold the secrets of another.
    private = [*binder.private, *(value for values in bound.private.values() for value in values)]
    exposed = (*exposed_text(flow.text, private), *exposed_inputs(flow.values, private))
    if exposed:
        told = "The flow holds a private value of a binding; it would be kept as evidence."
        failure = Failure(Code.PRIVATE_OPERAND, told)
        return refuse(flow.name, flow.file, flow.text, exposed, failure, redact=binder.redact)
    flow = flow._replace(warnings=(*flow.warnings, *binder.warnings(flow.providers, declared)))
    return Job(flow, path, _recorded(path, folder), bound, unresolved)
