"""The data of a federation: concatenated samples, sorted by client."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from fairfl._support.checks import as_array, as_floats
from fairfl.sims.data.checks import codes
from fairfl.sims.data.federated.data import PARTS, FederatedData
from fairfl.sims.engine.task import sound


@dataclass(frozen=True, eq=False)
class ClientData:
    """N samples of K clients: client k owns the rows offsets[k] to offsets[k + 1] of ``x`` and
    ``y``.

    Parameters
    ----------
    x : (N, ...) inputs: floats, or integers where the model wants codes.
    y : (N,) or (N, m) classes 0, 1, ... as int64, or floats to be regressed on.
    offsets : (K + 1,) 0 = offsets[0] <= ... <= offsets[K] = N.
    ids : (K,) keys of the clients' random numbers: distinct, >= 0; 0..K-1 by default. Clients may
        be listed in any order: each ends the same as long as it keeps its id. Options with a value
        for each client (``budgets``, ``groups``) are in the order of the list.
    group : (N,) a sensitive attribute, codes 0, 1, ...: what group-fair algorithms ask for.

    Raises
    ------
    ValueError : for shapes that do not fit, offsets that do not rise from 0 to N, ids that are
        negative or repeated, and inputs or targets that are NaN or infinite.
    """

    x: Tensor
    y: Tensor
    offsets: NDArray[np.int64]
    ids: NDArray[np.int64] | None = None
    group: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        x, y = (torch.as_tensor(rows).detach() for rows in (self.x, self.y))
        offsets = np.asarray(self.offsets)
        if x.ndim < 1 or y.ndim < 1 or len(x) != len(y):
            raise ValueError(
                f"x and y must have one row a sample, (N, ...) both, got shapes {tuple(x.shape)} "
                f"and {tuple(y.shape)}"
            )
        if offsets.ndim != 1 or len(offsets) < 2 or offsets.dtype.kind not in "iu":
            raise ValueError(f"offsets must be K + 1 whole numbers, K >= 1, got {self.offsets!r}")
        offsets = offsets.astype(np.int64, copy=offsets.flags.writeable)
        if offsets[0] != 0 or offsets[-1] != len(x) or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must rise from 0 to N = {len(x)}, got {_short(offsets)}")
        for name, tensor in (("x", x), ("y", y)):
            if tensor.is_floating_point() and not sound(tensor):
                row = int((~torch.isfinite(tensor.reshape(len(tensor), -1))).any(1).nonzero()[0])
                raise ValueError(f"{name} must be finite, got NaN or an infinity in row {row}")
        n_clients = len(offsets) - 1
        ids = codes("ids", np.arange(n_clients) if self.ids is None else self.ids, n_clients)
        if len(np.unique(ids)) < len(ids):
            raise ValueError(f"ids must be distinct, got {_short(ids)}")
        group = None if self.group is None else codes("group", self.group, len(x))
        offsets.flags.writeable = ids.flags.writeable = False
        fields = {"x": x, "y": y, "offsets": offsets, "ids": ids, "group": group}
        for field, value in fields.items():
            # the only way to set a field of a frozen dataclass
            object.__setattr__(self, field, value)

    @classmethod
    def from_owner(
        cls,
        x: ArrayLike | Tensor,
        y: ArrayLike | Tensor,
        owner: ArrayLike,
        clients: int | None = None,
        group: ArrayLike | None = None,
    ) -> ClientData:
        """Sort samples by their owners (N,), codes 0..K-1; rows of one client keep their order."""
        rows, labels = (
            values
            if isinstance(values, Tensor)
            else torch.as_tensor(np.require(as_array(name, values), requirements="W"))
            for name, values in (("x", x), ("y", y))
        )
        groups = None if group is None else codes("group", group, len(rows))
        owners = codes("owner", owner, len(rows), clients)
        order = np.argsort(owners, kind="stable")
        offsets = np.append(0, np.cumsum(np.bincount(owners, minlength=clients or 0)))
        index = torch.from_numpy(order)
        return cls(
            rows[index], labels[index], offsets, group=None if groups is None else groups[order]
        )

    @classmethod
    def from_clients(cls, parts: list[tuple[ArrayLike | Tensor, ArrayLike | Tensor]]) -> ClientData:
        """One (x, y) a client."""
        if not parts:
            raise ValueError("parts must hold at least one client, got none")
        xs, ys = zip(*((torch.as_tensor(x), torch.as_tensor(y)) for x, y in parts), strict=True)
        return cls(torch.cat(xs), torch.cat(ys), np.append(0, np.cumsum([len(x) for x in xs])))

    @property
    def clients(self) -> int:
        """K."""
        return len(self.offsets) - 1

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Samples of each client (K,)."""
        return np.diff(self.offsets)

    @cached_property
    def lengths(self) -> Tensor:
        """``sizes`` on the device of the samples."""
        return torch.from_numpy(self.sizes).to(self.x.device)

    @cached_property
    def plans(self) -> dict[Any, Any]:
        """Plans of steps that stay from round to round: ``plan.py`` fills it."""
        return {}

    @property
    def names(self) -> NDArray[np.int64]:
        """The ids, given or not (K,)."""
        assert self.ids is not None  # filled in when the object was made
        return self.ids

    def to(self, device: torch.device | str, dtype: torch.dtype) -> ClientData:
        """The data on ``device``; floats become ``dtype``, whole numbers stay int64."""
        x, y = (
            t.to(device, dtype if t.is_floating_point() else torch.int64) for t in (self.x, self.y)
        )
        is_same = x is self.x and y is self.y
        return self if is_same else ClientData(x, y, self.offsets, self.ids, self.group)

    def take(self, clients: ArrayLike) -> ClientData:
        """The data of the listed clients, in the order of the list, each with its id."""
        chosen = np.asarray(clients, dtype=np.int64)
        rows = self.rows(chosen)
        index = torch.from_numpy(rows).to(self.x.device)
        offsets = np.append(0, np.cumsum(self.sizes[chosen]))
        group = None if self.group is None else self.group[rows]
        return ClientData(self.x[index], self.y[index], offsets, self.names[chosen], group)

    def rows(self, clients: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the listed clients, one after the other."""
        lengths = self.sizes[clients]
        shift = self.offsets[:-1][clients] - (np.cumsum(lengths) - lengths)
        return np.arange(lengths.sum()) + np.repeat(shift, lengths)

    def index(self, clients: NDArray[np.int64]) -> Tensor | None:
        """The same on the device of the samples; None for all clients in their order."""
        if np.array_equal(clients, np.arange(self.clients)):
            return None
        return torch.from_numpy(self.rows(clients)).to(self.x.device)

    def fingerprint(self) -> str:
        """SHA-256 of all arrays, in hexadecimal: a resumed run compares it."""
        digest = hashlib.sha256()
        groups = () if self.group is None else (self.group,)
        rows = self.x.cpu().numpy(), self.y.cpu().numpy()
        for array in (*rows, self.offsets, self.names, *groups):
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class Parts:
    """A federation's training data, and parts to measure on.

    Parameters
    ----------
    train : at least one sample a client.
    test, validation : the same clients with the same ids; a client may have none, and its measures
        there are NaN.
    weights : (K,) the client weights p_k > 0, sum one; n_k / N by default (q-FFL, section 3.1).
    """

    train: ClientData
    test: ClientData | None = None
    validation: ClientData | None = None
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        sizes = self.train.sizes
        if (sizes == 0).any():
            raise ValueError(
                "train must hold a sample of every client, got none of client "
                f"{int(np.argmin(sizes))}"
            )
        for name, part in (("test", self.test), ("validation", self.validation)):
            if part is not None and not np.array_equal(part.names, self.train.names):
                raise ValueError(
                    f"{name} must have the clients of train, got {part.clients} with other ids"
                )
        weights = sizes / sizes.sum() if self.weights is None else self.weights
        weights = as_floats("weights", weights).copy()
        if weights.shape != sizes.shape or not (np.isfinite(weights) & (weights > 0)).all():
            raise ValueError(
                f"weights must be {len(sizes)} numbers > 0, one for each client, got "
                f"{_short(weights)}"
            )
        if abs(weights.sum() - 1) > 1e-10:
            raise ValueError(
                f"weights must sum to one (within 1e-10), got a sum of {weights.sum():.12g}"
            )
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    @classmethod
    def of(cls, data: FederatedData) -> Parts:
        """The parts of a data set with rows, uint8 as x / 255; clients must have training rows."""
        parts = {}
        for name in PARTS:
            rows = data.rows(name)
            if len(rows) or name == "train":
                x, y = data.x[rows], data.y[rows]
                x = np.float32(1 / 255) * x if x.dtype == np.uint8 else x
                y = y.astype(np.int64) if y.dtype.kind in "iu" else y
                group = None if data.group is None else data.group[rows]
                parts[name] = ClientData.from_owner(x, y, data.owner[rows], data.n_clients, group)
        return cls(**parts)

    @property
    def p(self) -> NDArray[np.float64]:
        """The client weights p_k, given or not (K,)."""
        assert self.weights is not None  # filled in when the object was made
        return self.weights

    @property
    def parts(self) -> dict[str, ClientData]:
        """The parts that are not None, by name."""
        parts = {"train": self.train, "validation": self.validation, "test": self.test}
        return {name: part for name, part in parts.items() if part is not None}

    def fingerprint(self) -> str:
        """SHA-256 of all parts and the weights."""
        digest = hashlib.sha256(self.p.tobytes())
        for name, part in self.parts.items():
            digest.update(f"{name}{part.fingerprint()}".encode())
        return digest.hexdigest()


def _short(array: NDArray[np.generic]) -> str:
    return np.array2string(array, threshold=8, edgeitems=3).replace("\n", "")
