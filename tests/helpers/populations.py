"""The models of federations, by their kind."""

from fairfl.theory.populations.continuous import ContinuousModel
from fairfl.theory.populations.federation import Federation
from fairfl.theory.populations.finite import FiniteModel


def finite_model(fed: Federation) -> FiniteModel:
    assert isinstance(fed.model, FiniteModel)
    return fed.model


def continuous_model(fed: Federation) -> ContinuousModel:
    assert isinstance(fed.model, ContinuousModel)
    return fed.model
