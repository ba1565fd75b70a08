"""The changes that :mod:`mutate` makes: one node of a module's syntax tree, replaced or removed."""

from __future__ import annotations

import ast
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

SWAPS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
NAMES = {"min": "max", "minimum": "maximum", "any": "all", "argmin": "argmax", "floor": "ceil"}
NAMES |= {new: old for old, new in NAMES.items()}
RELATIONS = {"<=": ("<", "=="), "<": ("<=", "!="), "==": ("<=", "!="), "!=": ("==",)}
TEXTS = {"Claim", "Mutant", "Paper", "field", "TypeVar"}
BUDGETS = {"pick", "examples", "seed", "seed_", "restarts", "steps", "maxiter", "maxfev", "strict"}
PROSE = {"summary", "__repr__", "__str__"}
TABLE = 12
"""A literal of so many numbers at the top of a module is data."""


@dataclass(frozen=True)
class Mutant:
    """A module in which ``old``, at ``line``, is ``new``; the ``number``-th such change in
    ``scope``.
    """

    module: str
    file: Path
    line: int
    scope: str
    old: str
    new: str
    number: int
    tree: ast.Module = field(repr=False, compare=False)
    change: tuple[ast.AST, str, int | None, ast.AST | None] = field(repr=False, compare=False)

    @property
    def key(self) -> str:
        return f"{self.module}:{self.scope}: {self.old} -> {self.new} #{self.number}"

    @property
    def place(self) -> tuple[Any, ...]:
        """The node that is changed: of its mutants one is drawn."""
        parent, name, index, _ = self.change
        return self.module, id(parent), name, index

    def rank(self, seed: int) -> str:
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()

    def install(self) -> None:
        """From here on this process imports the changed module. Once: the tree is changed."""
        parent, name, index, new = self.change
        if index is None:
            setattr(parent, name, new)
        elif new is None:
            del getattr(parent, name)[index]
        else:
            getattr(parent, name)[index] = new
        ast.fix_missing_locations(self.tree)
        sys.meta_path.insert(0, _Finder(self))  # pyright: ignore[reportArgumentType]


class _Finder:
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.mutant.module:
            return None
        file = str(self.mutant.file)
        return spec_from_file_location(name, file, loader=_Loader(name, file, self.mutant.tree))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, file: str, tree: ast.Module) -> None:
        super().__init__(name, file)
        self.tree = tree

    def get_code(self, fullname: str) -> Any:
        return compile(self.tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: Any) -> None:
        module.__nudged__ = nudged
        super().exec_module(module)


def nudged(value: Any, percent: int) -> Any:
    """``percent`` of a number of any kind; exact where that is."""
    return (
        value
        * (Fraction(percent, 100) if isinstance(value, int) else percent)
        / (1 if isinstance(value, int) else 100)
    )


def variants(module: str, file: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree = ast.parse(file.read_text("utf-8"))
    seen: Counter[tuple[str, str, str]] = Counter()
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        node, scope = todo.pop()
        for name, value in ast.iter_fields(node):
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST) or _left_out(child, name, node):
                    continue
                named = isinstance(child, ast.FunctionDef | ast.ClassDef)
                todo.append((child, f"{scope}.{child.name}".strip(".") if named else scope))
                for new in _options(child, name, node):
                    texts = scope, _text(child), _text(new)
                    seen[texts] += 1
                    line = getattr(child, "lineno", 0)
                    change = node, name, index, new
                    yield Mutant(module, file, line, *texts, seen[texts], tree, change)


def _text(node: ast.AST | None) -> str:
    if node is None or isinstance(node, ast.Pass):
        return "nothing"
    return " ".join(ast.unparse(node).split())


def _left_out(node: ast.AST, name: str, parent: ast.AST) -> bool:
    """Whether nothing is changed below a node: types, texts, data, what is drawn and how much."""
    if name in ("annotation", "returns", "decorator_list", "targets", "target", "exc", "msg"):
        return True
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom | ast.arg):
        return True
    if isinstance(node, ast.FunctionDef):
        drawing = any("st.composite" in ast.unparse(d) for d in node.decorator_list)
        gives = ast.unparse(node.returns) if node.returns else ""
        return node.name in PROSE or drawing or gives.startswith(("Picture", "st.SearchStrategy"))
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        return called.rpartition(".")[2] in TEXTS | BUDGETS or called.startswith("st.")
    if isinstance(node, ast.keyword):
        return node.arg in BUDGETS
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(parent, ast.Module):
        numbers = sum(isinstance(n, ast.Constant) and _number(n) for n in ast.walk(node))
        return numbers >= TABLE or ast.unparse(node).startswith(("CLAIMS", "PAPER"))
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _number(node: ast.Constant) -> bool:
    return type(node.value) in (int, float)


def _options(node: ast.AST, name: str, parent: ast.AST) -> Iterator[ast.AST | None]:
    """What may stand in place of a node; None: nothing."""
    match node:
        case ast.Constant(value=int() | float() as value) if _number(node):
            if isinstance(value, int):
                yield from (ast.Constant(value + 1), ast.Constant(value - 1))
            power = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow)
            factor = isinstance(parent, ast.BinOp | ast.Compare | ast.UnaryOp) and not power
            fraction = isinstance(parent, ast.Call) and ast.unparse(parent.func) == "Fraction"
            if value and (isinstance(value, float) or factor or fraction):
                yield from (_nudge(node, 101), _nudge(node, 99))
        case ast.Compare(left, ops, comparators):
            for k, op in enumerate(ops):
                for new in SWAPS.get(type(op), ()):
                    yield ast.Compare(left, [*ops[:k], new(), *ops[k + 1 :]], comparators)
        case ast.BinOp(left, op, right) if not _is_text(left) and not _is_text(right):
            yield from (ast.BinOp(left, new(), right) for new in SWAPS.get(type(op), ()))
        case ast.BoolOp(op, values):
            yield from (ast.BoolOp(new(), values) for new in SWAPS[type(op)])
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield operand
        case ast.IfExp(_, body, orelse):
            yield from (body, orelse)
        case ast.Call():
            yield from _calls(node)
        case ast.Tuple(elements) if len(elements) > 1 and any(_is_relation(e) for e in elements):
            for k, one in enumerate(elements):
                if _is_relation(one):
                    yield ast.Tuple([*elements[:k], *elements[k + 1 :]], ast.Load())
        case ast.Dict(keys, values) if len(keys) > 1:
            for k, one in enumerate(values):  # a premise
                if isinstance(one, ast.Compare | ast.BoolOp):
                    yield ast.Dict([*keys[:k], *keys[k + 1 :]], [*values[:k], *values[k + 1 :]])
        case ast.If(orelse=[]) | ast.AugAssign() | ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.expr() if name == "ifs":
            yield None


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    """Other calls: of the opposite, with an argument less; of a relation another or a nudge."""

    def other(**changes: Any) -> ast.Call:
        new = copy(node)
        for key, value in changes.items():
            setattr(new, key, value)
        return new

    called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    if called in NAMES:
        func = copy(node.func)
        setattr(func, "attr" if isinstance(func, ast.Attribute) else "id", NAMES[called])
        yield other(func=func)
    if called in ("min", "max") and len(node.args) > 1:
        yield from node.args[:2]
    if _is_relation(node):
        left, operator, right, *rest = node.args
        yield from (other(args=[left, operator, _nudge(right, p), *rest]) for p in (99, 101))
        for new in RELATIONS[getattr(operator, "value", "==")]:
            yield other(args=[left, ast.Constant(new), right, *rest])
    elif ast.unparse(node.func).startswith("Evidence") and len(node.args) > 1:
        for k in range(len(node.args)):
            yield other(args=[*node.args[:k], *node.args[k + 1 :]])
    for k, one in enumerate(node.keywords):
        if one.arg not in BUDGETS:
            yield other(keywords=[*node.keywords[:k], *node.keywords[k + 1 :]])


def _nudge(node: ast.expr, percent: int) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return ast.Constant(node.value * percent / 100)
    return ast.Call(ast.Name("__nudged__", ast.Load()), [node, ast.Constant(percent)], [])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_relation(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "Relation"
