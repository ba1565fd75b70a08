"""Data for the simulator: samples with a client, synthetic or public. No torch here."""

from fairfl.sims.data.federated.data import PARTS, FederatedData
from fairfl.sims.data.federated.population import sample
from fairfl.sims.data.federated.sources import SOURCES, load_federated
from fairfl.sims.data.federated.synthetic import synthetic

__all__ = ["PARTS", "SOURCES", "FederatedData", "load_federated", "sample", "synthetic"]
