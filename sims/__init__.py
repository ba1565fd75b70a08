"""The simulator: data, models, engine and algorithms. Only what needs torch imports it.

What a file of one's own needs can be had from here: ``from fairfl.sims import FederatedData``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairfl.sims.data.federated.data import FederatedData as FederatedData
    from fairfl.sims.data.federated.sources import register as register
    from fairfl.sims.engine import Aggregate as Aggregate
    from fairfl.sims.engine import Algorithm as Algorithm
    from fairfl.sims.engine import Softmax as Softmax
    from fairfl.sims.models.builders import register_model as register_model

_WHERE = {
    "FederatedData": "data.federated.data",
    "register": "data.federated.sources",
    "register_model": "models.builders",
    **dict.fromkeys(("Aggregate", "Algorithm", "Softmax"), "engine"),
}


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
