"""Central fair learning: one classifier for the pooled law (FedFB, lemma 7 on laws; one sort on a
finite X).
"""
