"""Data for the simulator: samples with a client, synthetic or from public sources. No file here imports torch."""

from importlib import import_module
from pkgutil import iter_modules

from fairfl.sims.data.federated.data import PARTS, ByClient, FederatedData
from fairfl.sims.data.federated.population import sample
from fairfl.sims.data.federated.quadratic import Quadratics
from fairfl.sims.data.federated.registry import SOURCES, load_federated
from fairfl.sims.data.federated.synthetic import synthetic

__all__ = ["PARTS", "SOURCES", "ByClient", "FederatedData", "Quadratics", "load_federated", "sample", "synthetic"]

for _module in iter_modules(__path__):  # a source registers itself when its file is imported
    import_module(f"{__name__}.{_module.name}")
