"""Tells what the plugin has imported by then: `python -m tests.fakes.imports STAGE [URL]` prints names of modules."""

import contextlib
import io
import json
import sys

#: What other libraries import where it happens to be installed, and packaging/plugin.spec leaves out.
OPTIONAL = ("anyio", "sniffio", "typing_extensions")


def initialize(url, oauth):
    """Answer `initialize` as the process does, but without its thread that imports the rest."""
    import plugin.__main__  # noqa: F401 - as the process does
    import protocol.wire.serving  # noqa: F401 - as the process does
    from plugin.inspector import Inspector
    from protocol.values.document import encode, parse
    from protocol.wire.params import read_params

    inspector = Inspector(lambda method, params: None)
    inspector.context.ask = lambda method, params, stop: {}
    configuration = {"endpoint": url} | ({"oauth": {"issuer": "endpoint", "allowLoopbackHttp": True}} if oauth else {})
    origin = url.removesuffix("/mcp")
    opening = {"host": {"name": "tests", "version": "1"}, "origins": [origin], "bindings": {"api": configuration}}
    inspector.initialize(read_params("initialize", parse(encode({"protocol": 1} | opening)).value))
    return inspector


def run(url, command):
    params = {"alias": "api", "command": command, "arguments": {}}
    inspector = initialize(url, oauth=command == "oauth_begin")
    result = json.loads(inspector.run(params, 1, lambda: False))
    assert result["status"] == "succeeded", result


def flag(name):
    from plugin.__main__ import main

    sys.argv = ["plugin", name]
    with contextlib.redirect_stdout(io.StringIO()):
        assert main() == 0


def main():
    stage, url = sys.argv[1], "".join(sys.argv[2:])
    for name in OPTIONAL:
        sys.modules[name] = None  # type: ignore[assignment]  # which makes its import fail
    if stage.startswith("--"):
        flag(stage)
    elif stage == "initialize":
        initialize(url, oauth=False)
    else:
        run(url, stage)
    print(*(sys.modules.keys() - set(OPTIONAL)))


if __name__ == "__main__":
    main()
