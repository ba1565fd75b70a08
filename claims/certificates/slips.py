"""Slips of an author: in one place a number is one larger, or + is -, or * is /, or the reverse.

They change both sides of a vacuous identity alike, and no value that is saturated.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from copy import deepcopy
from textwrap import dedent
from types import CodeType, FunctionType
from typing import Any, TypeVar

T = TypeVar("T")
PAIRS: Any = ((ast.Add, ast.Sub), (ast.Mult, ast.Div))
OTHERS = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}


def slipped(function: Any, evaluate: Callable[[], T]) -> Iterator[T]:
    """What ``evaluate`` returns with each slip in ``function``, or in one of its folder's."""
    used: list[FunctionType] = [function]
    for changed in used:
        plain = changed.__code__
        names = [changed.__globals__.get(name) for name in _names(plain)]
        called = (f for f in names if isinstance(f, FunctionType) and f not in used)
        used += [f for f in called if _folder(f) == _folder(function)]
        for code in _codes(changed):
            changed.__code__ = code
            try:
                value = evaluate()
            except Exception:
                continue
            finally:
                changed.__code__ = plain
            yield value


def _folder(function: FunctionType) -> str:
    return function.__module__.rpartition(".")[0]


def _names(code: CodeType) -> list[str]:
    """The names that it reads, within comprehensions too."""
    inner = (_names(part) for part in code.co_consts if isinstance(part, CodeType))
    return sum(inner, list(code.co_names))


def _codes(function: FunctionType) -> Iterator[CodeType]:
    tree = ast.parse(dedent(inspect.getsource(function)))
    definition: Any = tree.body[0]
    for node in (node for part in definition.body for node in ast.walk(part)):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            field, new = "value", node.value + 1
        elif isinstance(node, ast.BinOp) and type(node.op) in OTHERS:
            field, new = "op", OTHERS[type(node.op)]()
        else:
            continue
        plain, scope = getattr(node, field), dict[str, Any]()
        setattr(node, field, new)
        exec(compile(tree, __file__, "exec", dont_inherit=True), {**function.__globals__}, scope)
        setattr(node, field, plain)
        yield scope[function.__name__].__code__


def copied(function: Any) -> list[str]:
    """The left sides in a function's source that stand in right ones, its locals written out."""
    tree = ast.parse(dedent(inspect.getsource(function)))
    values: dict[str, list[ast.expr]] = {}
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], value):
                values.setdefault(name, []).append(value)
            case ast.Call(ast.Name("Relation"), [left, ast.Constant("=="), right, *_]):
                pairs.append((left, right))
            case ast.Dict(_, sides):
                pairs += [(v.elts[0], v.elts[1]) for v in sides if isinstance(v, ast.Tuple)]
    texts: list[str] = []
    for sides in pairs:
        left, right = (ast.unparse(_Whole(values).visit(deepcopy(side))) for side in sides)
        is_inner = isinstance(sides[0], ast.BinOp | ast.Call) and left in right
        texts += [left] if left == right or is_inner else []
    return texts


class _Whole(ast.NodeTransformer):
    """Writes out the locals that are assigned once."""

    def __init__(self, values: dict[str, list[ast.expr]]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = self.values.get(node.id, [])
        rest = {name: value for name, value in self.values.items() if name != node.id}
        return _Whole(rest).visit(deepcopy(known[0])) if len(known) == 1 else node
