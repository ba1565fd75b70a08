"""Fair thresholds of a score for each group, as an estimator of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from fairfl._support.checks import Array, as_labels, pos_code
from fairfl.solvers.api import solve
from fairfl.solvers.schemes import LABELS, SchemeName
from fairfl.theory.populations.federation import Federation

FOLDS = 5


class FairThresholds(ClassifierMixin, BaseEstimator):
    """The most accurate rule of a score under a budget on the groups' disparity.

    A score is learned from X, people's own scores out of fold; then :func:`fairfl.solve` gives the
    scheme's optimal rule, thresholds for each group that may accept a share of the people at one of
    them.

    Parameters
    ----------
    scheme : "cfl", "lft_fedavg" or "lft_ensemble".
    eps : the budget: of "cfl" on the pooled disparity, of the others on each client's own; one
        number, or (I,) for the clients in sorted order.
    notion, difference, costs, sees, monotone : see :func:`fairfl.solve`; with sees="x" the rule
        needs no groups to decide.
    estimator : classifier of scikit-learn with ``predict_proba``, from which the score is;
        None: logistic regression on standardised features; "passthrough": X is the score, one
        column.
    levels, calibrate : see :meth:`fairfl.Federation.from_samples`, with its warnings.
    random_state : of ``predict``, unless it is given one.
    pos_label : the label that is y = 1, which costs and notions count from; None: the later in
        sorted order.

    Attributes
    ----------
    classes_ : (2,) the labels in sorted order.
    estimator_ : fitted to all rows; None with "passthrough".
    federation_, solution_ : what was solved, and its certified solution.
    rule_ : :class:`fairfl.Classifier` of the score; ``rule_.to_json()`` is what ``fairfl apply``
        reads.

    Notes
    -----
    ``fit`` without ``sensitive_features`` knows one group, and no budget binds.

    Examples
    --------
    >>> import numpy as np
    >>> import fairfl as ff
    >>> rng = np.random.default_rng(0)
    >>> sex, site = rng.choice(["f", "m"], 3000), rng.integers(0, 3, 3000)
    >>> X = rng.normal(size=(3000, 2)) + (sex == "m")[:, None]
    >>> y = rng.random(3000) < 1 / (1 + np.exp(-X.sum(axis=1)))
    >>> model = ff.FairThresholds("cfl", eps=0.02)
    >>> yes = model.fit(X, y, sensitive_features=sex, client=site).predict(
    ...     X, sensitive_features=sex, random_state=0
    ... )
    >>> bool(abs(yes[sex == "f"].mean() - yes[sex == "m"].mean()) < 0.06)
    True
    """

    def __init__(
        self,
        scheme: SchemeName = "cfl",
        eps: ArrayLike = 0.05,
        notion: str = "demographic_parity",
        *,
        estimator: Any = None,
        difference: str = "pairwise",
        costs: Any = (1.0, 1.0),
        sees: str = "xa",
        monotone: bool = False,
        levels: int | None = None,
        calibrate: str = "auto",
        random_state: Any = None,
        pos_label: Any = None,
    ) -> None:
        self.scheme, self.eps, self.notion, self.estimator = scheme, eps, notion, estimator
        self.difference, self.costs, self.sees = difference, costs, sees
        self.levels, self.calibrate, self.random_state = levels, calibrate, random_state
        self.pos_label, self.monotone = pos_label, monotone

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike | None = None,
        client: ArrayLike | None = None,
    ) -> FairThresholds:
        """Learn the score and the rule.

        Parameters
        ----------
        X : (n, d) features.  y : (n,) two labels.
        sensitive_features : (n,) groups, or (n, k), whose combinations are the groups.
        client : (n,) clients; None: all are one.
        """
        if self.scheme not in LABELS:
            raise ValueError(f"scheme must be one of {', '.join(LABELS)}, got {self.scheme!r}")
        if y is not None:  # of which scikit-learn has an error of its own
            as_labels("y", y)
        table: tuple[Any, Any] = X, y
        features, labels = validate_data(self, *table)
        check_classification_targets(labels)
        if (kind := type_of_target(labels)) != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {kind}."
            )
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y must hold two classes, got one class: {self.classes_[0]!r}")
        self._group_columns = [*getattr(sensitive_features, "columns", ())]
        groups = sensitive_features
        group = None if groups is None else self._rows(groups, len(codes))
        values = self.classes_.tolist()
        self._one = pos_code("y", values, self.pos_label, ordered=True)
        codes = (codes == self._one).astype(int)
        score = self._learn(features, codes)
        site = np.zeros(len(codes), int) if client is None else client
        self._one_group = group is None
        if group is None:  # everybody stands in two groups, so that no budget binds
            group = np.repeat([0, 1], len(codes))
            score, codes, site = (np.tile(column, 2) for column in (score, codes, site))
        self.federation_ = Federation.from_samples(
            score, codes, group, site, levels=self.levels, calibrate=self.calibrate
        )
        names = ("notion", "difference", "costs", "sees", "monotone")
        task: dict[str, Any] = {name: getattr(self, name) for name in names}
        self.solution_ = solve(self.federation_, self.scheme, self.eps, **task)
        self.rule_ = self.solution_.classifier
        return self

    def _learn(self, features: Any, codes: Any) -> Array:
        """The people's scores, from folds that do not hold them."""
        self.estimator_ = None
        if isinstance(self.estimator, str):
            return self._score(features)
        base: Any = self.estimator
        if base is None:
            base = make_pipeline(StandardScaler(), LogisticRegression())
        learned: Any = clone(base)
        self.estimator_ = learned.fit(features, codes)
        folds = min(FOLDS, int(np.bincount(codes).min()))
        if folds < 2:
            return self.estimator_.predict_proba(features)[:, 1]
        dealt = StratifiedKFold(folds, shuffle=True, random_state=0)
        chances: Any = cross_val_predict(base, features, codes, cv=dealt, method="predict_proba")
        return chances[:, 1]

    def _score(self, features: Any) -> Array:
        """The only column of the features, which is the score with ``passthrough``."""
        if self.estimator != "passthrough":
            raise ValueError(
                f"estimator must be a classifier, None or 'passthrough', got {self.estimator!r}"
            )
        if features.shape[1] != 1:
            raise ValueError(
                f"X must be the score, one column, with estimator='passthrough', got "
                f"{features.shape[1]} columns"
            )
        return features[:, 0]

    def predict_proba(self, X: ArrayLike, *, sensitive_features: ArrayLike | None = None) -> Array:
        """(n, 2) the chances of the two labels to be predicted."""
        check_is_fitted(self)
        people: Any = X
        features: Any = validate_data(self, people, reset=False)
        learned = self.estimator_
        score = self._score(features) if learned is None else learned.predict_proba(features)[:, 1]
        if self._one_group or self.sees == "x":
            chance = self.rule_(score, self.rule_.groups[0])
        elif sensitive_features is None:
            raise ValueError("sensitive_features must be given: the rule's thresholds are by group")
        else:
            chance = self.rule_(score, self._rows(sensitive_features, len(score)))
        chances = [1.0 - chance, chance]
        return np.column_stack(chances if self._one else chances[::-1])

    def predict(
        self, X: ArrayLike, *, sensitive_features: ArrayLike | None = None, random_state: Any = None
    ) -> Any:
        """(n,) labels; where the rule accepts a share, drawn from ``random_state``."""
        chance = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        state = self.random_state if random_state is None else random_state
        is_accepted = check_random_state(state).random_sample(len(chance)) < chance
        return self.classes_[is_accepted.astype(int)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = True  # a rule may accept a share
        return tags

    def _rows(self, groups: Any, count: int) -> Array:
        """Groups (count,), or (count, k), whose columns are those of ``fit``."""
        rows, columns = as_labels("sensitive_features", groups), self._group_columns
        if rows.ndim not in (1, 2) or len(rows) != count:
            raise ValueError(f"sensitive_features must have shape ({count},), got {rows.shape}")
        names = [*getattr(groups, "columns", columns)]
        if columns and names != columns:
            raise ValueError(
                f"sensitive_features must have the columns of fit in order, {columns}, got {names}"
            )
        return rows[:, 0] if rows.ndim == 2 and rows.shape[1] == 1 else rows
