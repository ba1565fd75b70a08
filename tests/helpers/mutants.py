"""The changes that :mod:`mutate` makes: one node of a module's syntax tree, replaced or removed."""

from __future__ import annotations

import ast
import builtins
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

PAIRS = ((ast.Eq, ast.NotEq), (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or))
SWAPS: dict[type, tuple[type, ...]] = {a: (b,) for pair in PAIRS for a, b in (pair, pair[::-1])}
SWAPS |= {ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt)}
SWAPS |= {ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt)}
NAMES = {"min": "max", "minimum": "maximum", "any": "all", "argmin": "argmax", "floor": "ceil"}
NAMES |= {new: old for old, new in NAMES.items()}
RELATIONS = {"<=": ("<", "=="), "<": ("<=", "!="), "==": ("<=", "!="), "!=": ("==",)}
TEXTS = {"Claim", "Mutant", "Paper", "field", "TypeVar"}
BUDGETS = {"pick", "examples", "seed", "steps", "maxiter", "maxfev", "strict"}
PROSE = {"summary", "__repr__", "__str__"}
NUDGED = "__nudged__"
TABLE = 12
"""A literal of so many numbers at the top of a module is data."""


@dataclass(frozen=True)
class Mutant:
    """A module in which ``old``, at ``line``, is ``new``; the ``number``-th such change in
    ``scope``. Of all that change one ``place`` one is drawn.
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
        return self.module, id(self.change[0]), *self.change[1:3]

    def rank(self, seed: int) -> str:
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()

    def install(self) -> None:
        """From here on this process imports the changed module. Once: the tree is changed."""
        parent, name, index, new = self.change
        if index is None:
            setattr(parent, name, new)
        else:
            getattr(parent, name)[index : index + 1] = [new] if new else []
        code = compile(ast.fix_missing_locations(self.tree), self.file, "exec", dont_inherit=True)
        plain = SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, name: str) -> Any:
            return code if name == self.module else plain(loader, name)

        SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
        setattr(builtins, NUDGED, nudged)


def nudged(value: Any, percent: int) -> Any:
    """``percent`` of a number of any kind; exact where that is."""
    return value * Fraction(percent, 100) if isinstance(value, int) else value * percent / 100


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
            for less, relation in zip(_less(elements), elements, strict=True):
                if _is_relation(relation):
                    yield ast.Tuple(less, ast.Load())
        case ast.Dict(keys, values) if len(keys) > 1:
            for names, less, relation in zip(_less(keys), _less(values), values, strict=True):
                if isinstance(relation, ast.Compare | ast.BoolOp):  # a premise
                    yield ast.Dict(names, less)
        case ast.If(orelse=[]) | ast.AugAssign() | ast.Expr(ast.Call()):
            yield ast.Pass()
        case ast.expr() if name == "ifs":
            yield None


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    """Other calls: of the opposite, with an argument less; of a relation another or a nudge."""
    func, args, keywords = node.func, node.args, node.keywords
    base, _, called = ast.unparse(func).rpartition(".")
    if called in NAMES:
        opposite = f"{base}.{NAMES[called]}".lstrip(".")
        yield ast.Call(ast.parse(opposite, mode="eval").body, args, keywords)
    if called in ("min", "max") and len(args) > 1:
        yield from args[:2]
    if _is_relation(node):
        left, operator, right, *rest = args
        news = [ast.Constant(new) for new in RELATIONS[getattr(operator, "value", "==")]]
        yield from (ast.Call(func, [left, new, right, *rest], keywords) for new in news)
        for percent in (99, 101) if getattr(right, "value", 1) else ():  # 0 stays 0
            yield ast.Call(func, [left, operator, _nudge(right, percent), *rest], keywords)
    elif ast.unparse(func).startswith("Evidence") and len(args) > 1:
        yield from (ast.Call(func, less, keywords) for less in _less(args))
    for less, keyword in zip(_less(keywords), keywords, strict=True):
        if keyword.arg not in BUDGETS:
            yield ast.Call(func, args, less)


def _less(many: list[Any]) -> list[list[Any]]:
    """The list without each of its parts."""
    return [[*many[:k], *many[k + 1 :]] for k in range(len(many))]


def _nudge(node: ast.expr, percent: int) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        return ast.Constant(node.value * percent / 100)
    return ast.Call(ast.Name(NUDGED, ast.Load()), [node, ast.Constant(percent)], [])


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_relation(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "Relation"
