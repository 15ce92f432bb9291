"""What the values of a sign-in show of themselves: nothing that is private, whoever prints one."""

import importlib
import pkgutil
from dataclasses import is_dataclass
from typing import Any, get_type_hints

import pytest

import oauth
import plugin

#: Records that may show all that they hold, and why.
PUBLIC = {
    "oauth.challenge.Demand": "what a refusal says in public",
    "oauth.claims.Claims": "evidence holds them",
    "oauth.discovery._Question": "places of public documents",
    "oauth.metadata.ServerMetadata": "a public document",
    "oauth.registration.Applicant": "what is registered of us",
    "oauth.steps.Listen": "an address on this machine",
    "oauth.steps.NoReply": "a text of the transport's, which names an origin at most",
    "oauth.steps.Wait": "nothing",
    "oauth.support.Lack": "members of a public document",
    "oauth.visit.Door": "an address on this machine",
    "plugin.alias.Ending": "a result, which is redacted on its way out",
    "plugin.answer.Answer": "a reply, which is redacted on its way out",
    "plugin.binding.Contract": "the name of a public document, and of a route in it",
    "plugin.changes.change.Change": "redacted states",
    "plugin.checks.arguments.Checked": "a flow's own text, in which no private value is admitted",
    "plugin.checks.arguments.Surroundings": "names of headers",
    "plugin.checks.assertions.Assertion": "a flow's own text",
    "plugin.checks.contents.Contents": "a reply, which is redacted on its way out",
    "plugin.checks.contents.Reading": "a reply, which is redacted on its way out",
    "plugin.checks.inventory.InventoryFailure": "redacted names",
    "plugin.checks.inventory.Listing": "redacted records",
    "plugin.checks.names.Names": "redacted names",
    "plugin.checks.observation.Observation": "a reply, which is redacted on its way out",
    "plugin.checks.refusal.Refusal": "a flow's own text",
    "plugin.checks.replies.Findings": "a reply, which is redacted on its way out",
    "plugin.checks.selection.Selection": "a public scalar",
    "plugin.commands.Argument": "the description",
    "plugin.commands.Command": "the description",
    "plugin.comparison._Comparer": "functions",
    "plugin.step.Verdict": "a result, which is redacted on its way out",
}
#: Fields that a record shows although it hides the others.
SHOWN = {
    "oauth.authentication.Client": {"origin"},
    "oauth.record.Entry": {"document"},
    "oauth.steps.Fetch": {"method", "document"},
    "oauth.visit.Visit": {"method"},
}


def records() -> dict[str, Any]:
    """Every named tuple and dataclass of the two packages."""
    found = {}
    for package in (oauth, plugin):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                for value in vars(importlib.import_module(module.name)).values():
                    if isinstance(value, type) and value.__module__ == module.name and is_record(value):
                        found[f"{module.name}.{value.__name__}"] = value
    return found


def is_record(value: type) -> bool:
    return is_dataclass(value) or (issubclass(value, tuple) and hasattr(value, "_fields"))


def filled(name: str, hint: Any) -> Any:
    """A value of about the type that a field has, which can be told when it shows."""
    if hint in (int, float, bool):
        return 4711
    if str(hint).startswith("dict"):
        return {f"<{name}>": f"<{name}>"}
    return (f"<{name}>",) if str(hint).startswith("tuple") else f"<{name}>"


@pytest.mark.requirement("oauth.private")
@pytest.mark.parametrize("name", sorted(set(records()) - set(PUBLIC)))
def test_a_record_that_holds_something_private_does_not_show_it(name: str) -> None:
    record = records()[name]
    hints = get_type_hints(record)
    shown = repr(record(**{field: filled(field, hint) for field, hint in hints.items()}))
    assert {field for field in hints if f"<{field}>" in shown} == SHOWN.get(name, set())


def test_what_is_said_to_be_public_is_there() -> None:
    assert set(PUBLIC) | set(SHOWN) <= set(records())
    assert not set(PUBLIC) & set(SHOWN)
