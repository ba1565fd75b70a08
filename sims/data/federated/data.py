"""Samples with a client: what the simulator trains on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl._support.checks import as_array, in_range, one_of, whole
from fairfl.sims.data.checks import codes, frozen, generator

PARTS = ("train", "validation", "test")
"""Parts of the data, in the order of their codes."""


@dataclass(frozen=True, eq=False)
class FederatedData:
    """N samples of K clients.

    Parameters
    ----------
    x : (N, ...) features. Floating point, or uint8 pixels, which are trained on as x / 255 in
        float32; int64 for tokens.
    y : (N,) or (N, ...) labels: whole numbers (classes, tokens), or floating point (regression).
    owner : (N,) the client of every row, 0..n_clients-1. A client may have no row.
    n_clients : default: those that ``owner`` names, its largest code + 1.
    part : (N,) 0 train, 1 validation, 2 test; default: all train. See ``split``.
    group : (N,) a sensitive attribute, 0..A-1.
    note : where the data come from and what was done to them.

    Raises
    ------
    ValueError : if shapes do not match, a code is out of range, or x or y is not finite.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    owner: NDArray[np.int64]
    n_clients: int = -1
    part: NDArray[np.int8] | None = None
    group: NDArray[np.int64] | None = None
    client_names: tuple[str, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        x, y = as_array("x", self.x), as_array("y", self.y)
        if x.ndim < 2 or x.shape[0] == 0:
            raise ValueError(f"x must have shape (N, ...) with N >= 1, got shape {x.shape}")
        n = x.shape[0]
        if y.ndim < 1 or y.shape[0] != n:
            raise ValueError(f"y must have shape ({n}, ...), got shape {y.shape}")
        for name, array in (("x", x), ("y", y)):
            if array.dtype.kind not in "fiu":
                raise ValueError(f"{name} must be numbers, got {array.dtype}")
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                row = int(np.argwhere(~np.isfinite(array))[0, 0])
                raise ValueError(f"{name} must be finite, got NaN or infinity in row {row}")
        part = np.zeros(n, np.int8) if self.part is None else self.part
        part = codes("part", part, n, len(PARTS)).astype(np.int8)
        group = None if self.group is None else codes("group", self.group, n, None)
        is_inferred = self.n_clients == -1
        owner = codes(
            "owner", self.owner, n, None if is_inferred else whole("n_clients", self.n_clients, 1)
        )
        clients = int(owner.max()) + 1 if is_inferred else self.n_clients
        names = tuple(self.client_names) or tuple(str(k) for k in range(clients))
        if len(names) != clients:
            raise ValueError(f"client_names must name {clients} clients, got {len(names)} names")
        arrays = {"x": x, "y": y, "owner": owner, "part": part, "group": group}
        for field, value in arrays.items():
            object.__setattr__(self, field, None if value is None else frozen(value))
        object.__setattr__(self, "n_clients", clients)
        object.__setattr__(self, "client_names", names)

    def __len__(self) -> int:
        return self.x.shape[0]

    def __repr__(self) -> str:
        counts = ", ".join(f"{int((self._part == k).sum())} {name}" for k, name in enumerate(PARTS))
        summary = f"{self.n_clients} clients, x {self.x.shape[1:]}, {counts}"
        return f"FederatedData({self.name!r}: {summary})"

    @property
    def _part(self) -> NDArray[np.int8]:
        assert self.part is not None
        return self.part

    def rows(self, part: str = "train") -> NDArray[np.int64]:
        """The rows of a part ("train", "validation", "test" or "all"), in their order."""
        if one_of("part", part, (*PARTS, "all")) == "all":
            return np.arange(len(self))
        return np.flatnonzero(self._part == PARTS.index(part))

    def sizes(self, part: str = "train") -> NDArray[np.int64]:
        """The number of rows of every client, shape (n_clients,)."""
        return np.bincount(self.owner[self.rows(part)], minlength=self.n_clients)

    def at(self, rows: NDArray[np.int64]) -> FederatedData:
        """The samples of these rows, in their order, with the same clients."""
        columns = ("x", "y", "owner", "part", "group")
        present = [name for name in columns if getattr(self, name) is not None]
        return replace(self, **{name: getattr(self, name)[rows] for name in present})

    def split(self, validation: float = 0.1, test: float = 0.1, seed: int = 0) -> FederatedData:
        """Split each client's rows at random; test rows stay test rows.

        Of a client's n other rows, round(test n) go to test if the set has no test rows yet,
        round(validation n) to validation; the rest, at least one row, is for training.
        """
        in_range("validation", validation, 0.0, 1.0)
        in_range("test", test, 0.0, 1.0)
        if float(validation) + float(test) >= 1:
            raise ValueError(
                f"validation + test must be less than 1, got {float(validation) + float(test):g}"
            )
        rng = generator(seed)
        part = np.array(self._part)
        has_test = bool((part == 2).any())
        split_rows = np.flatnonzero(part != 2)
        split_rows = split_rows[np.argsort(self.owner[split_rows], kind="stable")]
        ends = np.cumsum(np.bincount(self.owner[split_rows], minlength=self.n_clients))
        for rows in np.split(split_rows, ends[:-1]):  # of one client, in the data set's order
            shuffled = rng.permutation(rows)
            n_test = 0 if has_test else int(np.rint(float(test) * shuffled.size))
            n_validation = int(np.rint(float(validation) * shuffled.size))
            spare = max(shuffled.size - 1, 0)  # one row is left to train on
            n_test = min(n_test, spare)
            n_validation = min(n_validation, spare - n_test)
            part[shuffled] = 0
            part[shuffled[:n_test]] = 2
            part[shuffled[n_test : n_test + n_validation]] = 1
        return replace(self, part=part)

    def assigned(self, owner: ArrayLike, n_clients: int = -1) -> FederatedData:
        """The same samples with other clients, of ``fairfl.sims.data.partition`` for instance."""
        return replace(self, owner=np.asarray(owner), n_clients=n_clients, client_names=())
