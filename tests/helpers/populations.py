"""Federations that several tests solve, and the models of federations by their kind."""

from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel

FIGURE_5 = ((3.0, 5.0), (1.0, -1.0))
"""FedFB's figures 4 (c) and 5: means by client and group, standard deviation 1."""


def figure_5(q: tuple[float, float]) -> Federation:
    """The two clients of FedFB's figure 5, with shares q of group 1."""
    return Federation.normal(FIGURE_5, 1.0, q)


def finite_model(fed: Federation) -> FiniteModel:
    assert isinstance(fed.model, FiniteModel)
    return fed.model


def continuous_model(fed: Federation) -> ContinuousModel:
    assert isinstance(fed.model, ContinuousModel)
    return fed.model
