"""FedFB's published numbers: tables 1, 2, 4, 5, 6 and 7."""

from __future__ import annotations

from fairfl.studies.printed_numbers import printed

MEASURES = ("Acc.", "DP disp.")

TABLE_1 = printed(
    """
    Synthetic | FedAvg | .886 ± .003 | .406 ± .009
    Synthetic | LFT+Ensemble | .727 ± .194 | .248 ± .194
    Synthetic | LFT+FedAvg | .823 ± .102 | .305 ± .131
    Synthetic | FedFB | .725 ± .012 | .051 ± .018
    Synthetic | CFL | .726 ± .009 | .028 ± .016
    Adult | FedAvg | .829 ± .012 | .153 ± .022
    Adult | LFT+Ensemble | .825 ± .008 | .034 ± .028
    Adult | LFT+FedAvg | .801 ± .043 | .123 ± .071
    Adult | FedFB | .804 ± .001 | .028 ± .001
    Adult | CFL | .814 ± .002 | .010 ± .004
    COMPAS | FedAvg | .655 ± .009 | .167 ± .037
    COMPAS | LFT+Ensemble | .620 ± .019 | .088 ± .055
    COMPAS | LFT+FedAvg | .595 ± .005 | .059 ± .009
    COMPAS | FedFB | .606 ± .019 | .086 ± .029
    COMPAS | CFL | .616 ± .033 | .036 ± .028
    Bank | FedAvg | .898 ± .001 | .026 ± .003
    Bank | LFT+Ensemble | .892 ± .002 | .014 ± .006
    Bank | LFT+FedAvg | .893 ± .000 | .017 ± .001
    Bank | FedFB | .883 ± .000 | .000 ± .000
    Bank | CFL | .883 ± .000 | .000 ± .000
    """,
    MEASURES,
)

TABLE_2 = printed(
    """
    Synthetic, low | FedFB | .669 ± .040 | .058 ± .042
    Synthetic | FedFB | .725 ± .012 | .051 ± .018
    Synthetic, high | FedFB | .703 ± .012 | .013 ± .008
    Synthetic, low | CFL | .726 ± .009 | .028 ± .016
    Synthetic | CFL | .726 ± .009 | .028 ± .016
    Synthetic, high | CFL | .726 ± .009 | .028 ± .016
    """,
    MEASURES,
)

TABLE_4 = printed(
    """
    Synthetic | FedAvg | .884 ± .001 | .419 ± .006
    Synthetic | LFT+Ensemble | .712 ± .198 | .266 ± .175
    Synthetic | LFT+FedAvg | .789 ± .138 | .301 ± .192
    Synthetic | FedFB | .756 ± .001 | .085 ± .001
    Synthetic | CFL | .709 ± .001 | .011 ± .001
    Adult | FedAvg | .837 ± .007 | .144 ± .015
    Adult | LFT+Ensemble | .819 ± .006 | .032 ± .031
    Adult | LFT+FedAvg | .828 ± .002 | .098 ± .008
    Adult | FedFB | .820 ± .000 | .002 ± .001
    Adult | CFL | .800 ± .003 | .016 ± .003
    COMPAS | FedAvg | .658 ± .006 | .149 ± .022
    COMPAS | LFT+Ensemble | .606 ± .018 | .089 ± .058
    COMPAS | LFT+FedAvg | .577 ± .003 | .053 ± .003
    COMPAS | FedFB | .600 ± .003 | .059 ± .003
    COMPAS | CFL | .587 ± .003 | .032 ± .002
    Bank | FedAvg | .900 ± .000 | .026 ± .001
    Bank | LFT+Ensemble | .888 ± .005 | .008 ± .007
    Bank | LFT+FedAvg | .892 ± .000 | .013 ± .000
    Bank | FedFB | .890 ± .001 | .011 ± .002
    Bank | CFL | .883 ± .000 | .000 ± .000
    """,
    MEASURES,
)

TABLE_5 = printed(
    """
    Synthetic, 2 clients | FedAvg | .879 ± .004 | .360 ± .013
    Synthetic, 2 clients | LFT+Ensemble | .780 ± .090 | .161 ± .157
    Synthetic, 2 clients | LFT+FedAvg | .866 ± .002 | .429 ± .017
    Synthetic, 2 clients | FedFB | .679 ± .007 | .047 ± .012
    Synthetic, 2 clients | CFL | .668 ± .028 | .063 ± .035
    Synthetic | FedAvg | .886 ± .003 | .406 ± .009
    Synthetic | LFT+Ensemble | .727 ± .194 | .248 ± .194
    Synthetic | LFT+FedAvg | .823 ± .102 | .305 ± .131
    Synthetic | FedFB | .725 ± .012 | .051 ± .018
    Synthetic | CFL | .726 ± .009 | .028 ± .016
    Synthetic, 4 clients | FedAvg | .879 ± .003 | .382 ± .005
    Synthetic, 4 clients | LFT+Ensemble | .720 ± .192 | .246 ± .180
    Synthetic, 4 clients | LFT+FedAvg | .608 ± .367 | .491 ± .102
    Synthetic, 4 clients | FedFB | .705 ± .004 | .005 ± .003
    Synthetic, 4 clients | CFL | .670 ± .035 | .064 ± .020
    """,
    MEASURES,
)

TABLE_6 = printed(
    "\n".join(
        f"{data}, {level} | {objective} | {accuracy} | {spd}"
        for data, objective, accuracies, gaps in (
            ("Adult", "FairFed", ".775 .794 .819 .824 .824", ".021 .037 .061 .065 .065"),
            ("Adult", "FedFB", ".799 .769 .772 .822 .769", ".042 .034 .038 .063 .060"),
            ("COMPAS", "FairFed", ".594 .586 .608 .636 .640", ".048 .040 .072 .108 .115"),
            ("COMPAS", "FedFB", ".668 .655 .665 .672 .666", ".006 .011 .026 .032 .004"),
        )
        for level, accuracy, spd in zip(
            ("0.1", "0.2", "0.5", "10", "5000"), accuracies.split(), gaps.split(), strict=True
        )
    ),
    ("Acc.", "|SPD|"),
)

TABLE_7 = printed(
    """
    Synthetic | FedFB | .725 ± .012 | .051 ± .018
    Adult | FedFB | .804 ± .001 | .028 ± .001
    COMPAS | FedFB | .616 ± .033 | .036 ± .028
    Bank | FedFB | .883 ± .000 | .000 ± .000
    Synthetic | AgnosticFair | .655 ± .028 | .028 ± .033
    Adult | AgnosticFair | .790 ± .012 | .032 ± .016
    COMPAS | AgnosticFair | .612 ± .037 | .096 ± .046
    Bank | AgnosticFair | .883 ± .000 | .000 ± .000
    """,
    MEASURES,
)
"""On COMPAS FedFB's line is CFL's in table 1."""
