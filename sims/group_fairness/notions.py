"""The notions by name."""

from __future__ import annotations

from fairfl.sims.group_fairness.client_parity import ClientParity
from fairfl.sims.group_fairness.fedfb_as_printed import PrintedOdds, PrintedOpportunity
from fairfl.sims.group_fairness.notion import Notion
from fairfl.sims.group_fairness.opportunity import EqualisedOdds, EqualOpportunity
from fairfl.sims.group_fairness.parity import DemographicParity

NOTIONS: dict[str, Notion] = {
    notion.name: notion
    for notion in (
        DemographicParity(),
        EqualOpportunity(),
        EqualisedOdds(),
        ClientParity(),
        PrintedOpportunity(),
        PrintedOdds(),
    )
}
""""dp", "eo", "eodds" as in ``theory.populations.notions``, "cp", client parity; as printed."""
