"""Typed certificates, stored as JSON: each verifies itself from its data alone."""

from fairfl.claims.certificates.algebra import Beside, Decomposition, SymbolicZero
from fairfl.claims.certificates.base import ClaimCertificate, Rejected, from_json, weakest
from fairfl.claims.certificates.kernel_proof import KernelProof
from fairfl.claims.certificates.property_run import PropertyRun
from fairfl.claims.certificates.replay import Counterexample, Witness

__all__ = [
    "Beside",
    "ClaimCertificate",
    "Counterexample",
    "Decomposition",
    "KernelProof",
    "PropertyRun",
    "Rejected",
    "SymbolicZero",
    "Witness",
    "from_json",
    "weakest",
]
