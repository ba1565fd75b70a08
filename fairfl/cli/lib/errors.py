"""How every command ends: errors as one line on stderr, and exit codes.

Exit codes: 0 done, or the reader of standard output has left; 1 a check failed, or what was asked
for could not be done; 2 wrong usage or bad input; 130 stopped.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from fairfl._support.extras import MissingExtra, extras_named
from fairfl.cli.lib.output import CONTROLS

FAILED, USAGE, STOPPED = 1, 2, 130
MOST = 1200
"""Characters of a message: some name all that could have been meant."""
# the class of all errors in a command line, which typer gives no name
_Usage = cast(type[typer.BadParameter], typer.BadParameter.__bases__[0])


class Command(TyperCommand):
    """A command whose errors name its options as they are typed."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        options = [
            param for param in self.params if "{notions}" in (getattr(param, "help", "") or "")
        ]
        if options:  # the table of notions is numpy's, for which the other help does not wait
            from fairfl.theory.populations.notions import in_short

            for param in options:
                param.help = param.help.replace("{notions}", in_short())
        super().format_options(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As usual, but an option of one value is refused twice: the first would be lost."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for param in order:
            single = param.param_type_name == "option" and not (param.multiple or param.is_flag)
            if single and order.count(param) > 1:
                raise _Usage(f"{param.opts[0]} must be given once, got {order.count(param)} values")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        options = [param for param in self.params if param.param_type_name == "option"]
        with one_line({str(param.name).rstrip("s"): param.opts[0] for param in options}):
            return super().invoke(ctx)


class Commands(TyperGroup):
    """Commands whose command lines are checked in one line, too."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with one_line():
            return super().invoke(ctx)


HELP = {"no_args_is_help": True, "context_settings": {"help_option_names": ["-h", "--help"]}}
PLAIN = {"pretty_exceptions_enable": False, "rich_markup_mode": None}
SETTINGS: dict[str, Any] = {"cls": Commands, **HELP, **PLAIN}


@contextmanager
def one_line(options: dict[str, str] | None = None) -> Iterator[None]:
    """Errors as one line on stderr and an exit code; a traceback only for a fault of ours, not for
    one in a file of ``--import``. ``options``: by the arguments' names in Python, without an s.
    """
    try:
        with extras_named():
            yield
    except typer.Exit:  # an exit code, which is a RuntimeError
        raise
    except _Usage as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help, which no line is
            raise
        raise _exit(_usage_message(error), USAGE) from None
    except (NotImplementedError, RecursionError):  # a RuntimeError that is a fault of ours
        raise
    except (
        ValueError,
        MissingExtra,
        FileNotFoundError,
        IsADirectoryError,
        NotADirectoryError,
    ) as error:
        raise _exit(_typed(str(error), options or {}), USAGE) from None
    except (OSError, RuntimeError) as error:
        # unreadable, unavailable, not certified, no score to be fitted
        raise _exit(str(error), FAILED) from None
    except KeyboardInterrupt:
        raise _exit("stopped", STOPPED) from None
    except Exception as error:
        from fairfl._support.own_parts import place_of  # numpy: help does without

        place = place_of(error)
        if place is None:  # a fault of ours
            raise
        raise _exit(f"{place}: {type(error).__name__}: {error}", FAILED) from None


def _usage_message(error: typer.BadParameter) -> str:
    """What typer says of a command line, and the value that was given, which pydantic knows."""
    message = error.format_message().rstrip(".")
    errors = getattr(error.__cause__, "errors", list)()
    value = str(errors[0]["input"]) if errors else ""
    return f"{message}, got {value}" if errors and repr(value) not in message else message


def _typed(message: str, options: dict[str, str]) -> str:
    """An error that begins with arguments, as "at must be", with options in their place."""
    names = re.match(r"[\w, ]+?(?= (must|goes) | ')", message)
    if names is None:
        return message
    named = re.sub(r"\w+", lambda word: options.get(word[0].rstrip("s"), word[0]), names[0])
    return named + message[names.end() :]


def _exit(message: str, code: int) -> typer.Exit:
    prefix = "" if code == STOPPED else "error: "
    line = " ".join(message.split()).translate(CONTROLS)
    if len(line) > MOST:
        line = f"{line[: MOST // 2]} ... {line[-MOST // 2 :]}"
    typer.echo(f"fairfl: {prefix}{line}", err=True)
    return typer.Exit(code)
