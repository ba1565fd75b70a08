"""Standard output of all commands: control characters are shown, and the reader may leave."""

import io
import os
import sys

CONTROLS = {k: f"\\u{k:04x}" for k in (*range(32), *range(127, 160)) if chr(k) not in "\n\t"}
"""How control characters are shown, as in JSON: a name in a table must not steer the terminal."""


class Output(io.TextIOWrapper):
    """Text without control characters."""

    def write(self, text: str) -> int:
        return super().write(text.translate(CONTROLS))


class Pipe(io.FileIO):
    """A file whose reader may leave, as `head` does: that ends the program, which is done."""

    def write(self, data: bytes) -> int:  # type: ignore[override]
        try:
            return super().write(data)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # later writes go nowhere
            raise SystemExit(0) from None


def plain_output() -> None:
    """Put such an output in the place of ``sys.stdout``, if there is one."""
    if sys.stdout is not None:
        pipe = Pipe(sys.stdout.fileno(), "w", closefd=False)
        text_format = {"encoding": sys.stdout.encoding, "errors": sys.stdout.errors}
        sys.stdout = Output(io.BufferedWriter(pipe), **text_format, line_buffering=pipe.isatty())
