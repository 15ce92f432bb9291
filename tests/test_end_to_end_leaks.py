"""A bearer token that a server echoes is in no byte of the evidence nor of the output, in whatever form it comes."""

import base64
import json
from urllib.parse import quote

import pytest

from tests.command_line import Assay, Ran

FORMS = ["plain", "nested", "member", "percent", "base64", "error"]

FLOW = """---
name: Echo
providers:
  api: MCP
---

# Echo

```rfl
api.connect
api.call tool="echo_request" arguments={"form":"FORM"} expect={KIND,"redacted":REDACTED}
api.disconnect
```
"""

BINDINGS = json.dumps({"api": {"provider": "MCP", "configuration": {"bearerToken": {"env": "DESK_TOKEN"}}}})


def run(assay: Assay, form: str, redacted: bool, url: str, token: str) -> Ran:
    kind = '"rpcError":-32000' if form == "error" else '"isError":false'
    text = FLOW.replace("FORM", form).replace("KIND", kind).replace("REDACTED", json.dumps(redacted))
    assay.write("bindings.json", BINDINGS)
    flow = assay.write("f.md", text)
    return assay.run(flow, "--target", url, "--bindings", assay.folder / "bindings.json", DESK_TOKEN=token)


def spellings(token: str) -> list[bytes]:
    """The token as it is, percent-encoded in full, and at the three alignments of both base64 alphabets."""
    raw = token.encode()
    found = [raw, "".join(f"%{byte:02X}" for byte in raw).encode(), quote(token, safe="").replace("-", "%2D").encode()]
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + raw)
        # only the characters that no neighbouring byte has a share in
        middle = text[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6]
        found += [middle, middle.translate(bytes.maketrans(b"+/", b"-_"))]
    return found


@pytest.mark.requirement("private.redacted")
@pytest.mark.parametrize("form", FORMS)
def test_an_echoed_token_is_noticed_and_is_nowhere(assay: Assay, protected_server: str, token: str, form: str) -> None:
    ran = run(assay, form, redacted=True, url=protected_server, token=token)
    assert ran.statuses == ["connect succeeded", "call succeeded", "disconnect succeeded"], ran.out
    assert ran.exit == 0
    seen = [path.read_bytes() for path in ran.kept] + [ran.out.encode(), ran.err.encode()]
    seen.append(json.dumps(ran.document, ensure_ascii=False).encode())
    assert len(ran.kept) >= 5
    assert [spelling for spelling in spellings(token) for data in seen if spelling in data] == []


@pytest.mark.requirement("expect.redacted", "exposure.redacted-false")
@pytest.mark.parametrize("form", FORMS)
def test_an_echoed_token_fails_the_assertion_that_nothing_was_redacted(
    assay: Assay, protected_server: str, token: str, form: str
) -> None:
    ran = run(assay, form, redacted=False, url=protected_server, token=token)
    assert ran.statuses[1] == "call failed expectation_failed"
    assert ran.exit == 1


def test_without_its_token_the_variable_is_named_and_nothing_is_contacted(assay: Assay, protected_server: str) -> None:
    assay.write("bindings.json", BINDINGS)
    flow = assay.write(
        "f.md", FLOW.replace("FORM", "plain").replace("KIND", '"isError":false').replace("REDACTED", "true")
    )
    ran = assay.run(flow, "--target", protected_server, "--bindings", assay.folder / "bindings.json")
    assert ran.exit == 2
    assert "DESK_TOKEN" in ran.out + ran.err
    assert ran.kept == []


def test_a_wrong_token_is_a_refused_connection_with_its_challenge(assay: Assay, protected_server: str) -> None:
    ran = run(assay, "plain", redacted=True, url=protected_server, token="some-other-token")
    assert ran.statuses[0] == "connect failed http_status"
    assert ran.steps[0]["facts"]["http"]["status"] == 401
    assert ran.exit == 1


@pytest.mark.requirement("private.not-in-flows")
def test_a_token_in_the_flow_file_refuses_the_flow(assay: Assay, protected_server: str, token: str) -> None:
    assay.write("bindings.json", BINDINGS)
    flow = assay.write(
        "f.md", FLOW.replace("FORM", token).replace("KIND", '"isError":false').replace("REDACTED", "true")
    )
    ran = assay.run(flow, "--target", protected_server, "--bindings", assay.folder / "bindings.json", DESK_TOKEN=token)
    assert ran.exit in {2, 5}
    assert token not in ran.out + ran.err
    assert ran.kept == []
