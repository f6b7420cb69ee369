"""What the checks of all SDKs share: the arguments, the report, the script of a tool round."""

import argparse
import base64
import json
import sys
import time
import uuid

# A picture of one dot.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PIXEL_BASE64 = base64.b64encode(PIXEL).decode()
PIXEL_SEEN = f"image/png of {len(PIXEL)} bytes"

# Two calls at once, and what their answers must become.
CALLS = '[[call weather {"city":"Rome"}]] [[call clock {"city":"Oslo"}]]'
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
RESULTS = {"weather": "sunny in Rome", "clock": "noon in Oslo"}
TOLD = "The tool said: sunny in Rome | noon in Oslo"

USAGE = "[[usage input=100 cache_read=40 cache_write=20 output=7 reasoning=3]]"


class Checks:
    """Runs checks one by one and prints a line of JSON for each."""

    def __init__(self, client):
        parser = argparse.ArgumentParser()
        parser.add_argument("--base", required=True, help="the base URL, without /v1")
        parser.add_argument("--token", required=True)
        parser.add_argument("--model", required=True)
        parser.add_argument("--told", action="store_true", help="another dialect answers")
        parser.add_argument(
            "--no-cache-write", action="store_true", help="the provider does not tell cache writes"
        )
        parser.add_argument("--without", action="append", default=[], help="a check to leave out")
        self.arguments = parser.parse_args()
        self.base = self.arguments.base.rstrip("/")
        self.token = self.arguments.token
        self.model = self.arguments.model
        self.told = self.arguments.told
        self.cache_write = 0 if self.arguments.no_cache_write else 20
        self.client = client
        self.failed = False

    def run(self, **checks):
        for name, check in checks.items():
            name = name.replace("_", " ")
            if name in self.arguments.without:
                continue
            try:
                check()
                self.report(name, True, "")
            except Exception as error:  # One broken check must not hide the others.
                self.report(name, False, f"{type(error).__name__}: {error}")
        sys.exit(1 if self.failed else 0)

    def report(self, name, ok, detail):
        self.failed |= not ok
        line = {"name": f"{self.client}: {name}", "ok": ok, "detail": detail[:2000]}
        print(json.dumps(line), flush=True)


def prompt(text):
    """A prompt that no other run has, so that what is counted by prompt is counted anew."""
    return f"{text} ({uuid.uuid4().hex})"


def same(found, expected):
    assert found == expected, f"{found!r} is not {expected!r}"


def has(text, part):
    assert part in (text or ""), f"{part!r} is not in {text!r}"


def refused(call, kinds, status):
    """Makes a call that must be refused, and returns the error."""
    try:
        call()
    except kinds as error:
        found = getattr(error, "status_code", None) or getattr(error, "code", None)
        same(found, status)
        return error
    raise AssertionError("it was not refused")


def waits(call, at_least):
    """Makes a call that must take its time, and returns its result."""
    started = time.monotonic()
    result = call()
    took = time.monotonic() - started
    assert took >= at_least, f"it came back after {took:.2f} s"
    return result
