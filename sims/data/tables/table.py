"""A table of people: features, label, group and client of every row, and the codes' names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from fairfl.sims.data.checks import frozen


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table of people, ready for a federation: n rows, d features, k groups, I clients.

    Parameters
    ----------
    name : the name under which the data set is registered, or of its file.
    features : (n, d) finite numbers; n >= 1.
    label : (n,) 0 or 1; 1 is the favourable outcome, ``label_names`` what they were in the file.
    group, client : (n,) codes into `group_names` and `client_names`. A name may have no row.
    is_test : (n,) True for the rows held out for testing, False for the training rows.
    note : what was done to the published data, in a sentence or two.
    columns : of a file of your own, by role: the columns that made it.
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
        for name in ("features", "label", "group", "client", "is_test"):
            # the only way to set a field of a frozen dataclass
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        rows = f"{len(self)} rows ({int(self.is_test.sum())} test), "
        rows += f"{self.features.shape[1]} features"
        names = f"groups {self.group_names}, clients {self.client_names}"
        return f"Dataset({self.name!r}: {rows}, {names})"

    def select(self, mask: NDArray[np.bool_]) -> "Dataset":
        """The rows where `mask` (n,) is true, at least one; codes and names stay as they are."""
        fields = ("features", "label", "group", "client", "is_test", "by", "weight")
        rows = [name for name in fields if getattr(self, name) is not None]
        return replace(self, **{name: getattr(self, name)[mask] for name in rows})

    def binary_groups(
        self, zero: Sequence[str], one: Sequence[str], names: tuple[str, str]
    ) -> "Dataset":
        """Two groups with `names`: `zero` and `one` are the groups merged, and rows of others are
        left out. The features stay as they are: a sensitive attribute among them keeps its finer
        codes.
        """
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
