"""A table of people: features, label, group and client of every row, and the codes' names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairfl.sims.data.checks import codes, frozen, numbers_table


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of people, ready for a federation: n rows, d features, k groups, I clients.

    The arrays are checked when the object is made and are read-only afterwards. Rows keep the order
    of the file they were read from. A value that does not fit raises `ValueError`.

    Parameters
    ----------
    name : the name under which the data set is registered, or of its file.
    features : (n, d) finite numbers; n >= 1. The sensitive attribute is among them where the
        preparation keeps it.
    feature_names : (d,) distinct.
    label : (n,) 0 or 1; 1 is the favourable outcome.
    group, client : (n,) codes into `group_names` and `client_names`.
    group_names, client_names : distinct. A name may have no row (after `select`).
    is_test : (n,) True for the rows held out for testing, False for the training rows.
    note : what was done to the published data, in a sentence or two.
    label_names : what 0 and 1 were in the file.
    columns : of a file of your own: the columns that made the label, the group, the client, the
        score and the features.
    score_names : of a categorical score: what its values 0, 1, ... are.
    by : (n,) codes into `by_names`, of parts of the people by which a report is repeated.
    weight : (n,) of the rows, positive; None: 1.
    """

    name: str
    features: NDArray[np.float64]
    feature_names: tuple[str, ...]
    label: NDArray[np.int64]
    group: NDArray[np.int64]
    group_names: tuple[str, ...]
    client: NDArray[np.int64]
    client_names: tuple[str, ...]
    is_test: NDArray[np.bool_]
    note: str = ""
    label_names: tuple[str, str] = ("0", "1")
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    score_names: tuple[str, ...] = ()
    by: NDArray[np.int64] | None = None
    by_names: tuple[str, ...] = ()
    weight: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        features = numbers_table("features", self.features)
        n, d = features.shape
        names = _names("feature_names", self.feature_names)
        if len(names) != d:
            raise ValueError(
                f"feature_names must have one name per column of features ({d}), got {len(names)}"
            )
        group_names = _names("group_names", self.group_names)
        client_names = _names("client_names", self.client_names)
        is_test = np.asarray(self.is_test)
        if is_test.dtype != np.bool_ or is_test.shape != (n,):
            raise ValueError(
                f"is_test must be bool of shape ({n},), got {is_test.dtype} of shape "
                f"{is_test.shape}"
            )
        checked = {
            "features": frozen(features),
            "feature_names": names,
            "label": frozen(codes("label", self.label, n, 2)),
            "group": frozen(codes("group", self.group, n, len(group_names))),
            "group_names": group_names,
            "client": frozen(codes("client", self.client, n, len(client_names))),
            "client_names": client_names,
            "is_test": frozen(is_test),
        }
        for name, value in checked.items():
            # the only way to set a field of a frozen dataclass
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        rows = f"{len(self)} rows ({int(self.is_test.sum())} test), "
        rows += f"{self.features.shape[1]} features"
        names = f"groups {self.group_names}, clients {self.client_names}"
        return f"Dataset({self.name!r}: {rows}, {names})"

    def select(self, mask: ArrayLike) -> "Dataset":
        """Return the data set of the rows where `mask` (n,) is true, at least one; codes and names
        stay as they are. `data.select(~data.is_test)` are the training rows.
        """
        is_selected = np.asarray(mask)
        if is_selected.dtype != np.bool_ or is_selected.shape != (len(self),):
            raise ValueError(
                f"mask must be bool of shape ({len(self)},), got {is_selected.dtype} of shape "
                f"{is_selected.shape}"
            )
        if not is_selected.any():
            raise ValueError("mask must select at least one row, got none")
        fields = ("features", "label", "group", "client", "is_test", "by", "weight")
        rows = [name for name in fields if getattr(self, name) is not None]
        return replace(self, **{name: getattr(self, name)[is_selected] for name in rows})

    def binary_groups(
        self, zero: Sequence[str], one: Sequence[str], names: tuple[str, str]
    ) -> "Dataset":
        """Return a data set of two groups with `names`: `zero` and `one` are the groups merged.

        Rows of a group named in neither are left out. The features stay as they are: a sensitive
        attribute among them keeps its finer codes.
        """
        unknown = {*zero, *one} - {*self.group_names}
        if unknown:
            raise ValueError(
                f"zero and one must be among the groups {self.group_names}, got {min(unknown)!r}"
            )
        codes = [0 if name in zero else 1 if name in one else -1 for name in self.group_names]
        group = np.array(codes)[self.group]
        belongs = group >= 0
        note = f"{self.note} Two groups: 0 = {names[0]}, 1 = {names[1]}."
        if not belongs.all():
            note += f" {int((~belongs).sum())} rows of other groups left out."
        merged = replace(
            self, group=np.where(belongs, group, 0), group_names=names, note=note.strip()
        )
        return merged.select(belongs)


def _names(argument: str, value: Iterable[str]) -> tuple[str, ...]:
    """Return `value` as a tuple of distinct texts."""
    names = tuple(value)
    if isinstance(value, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{argument} must be a sequence of texts, got {value!r}")
    if len(set(names)) < len(names):
        duplicate = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{argument} must be distinct, got {duplicate!r} twice")
    return names
