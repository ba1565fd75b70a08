"""Central fair learning: one classifier for the pooled law (FedFB, lemma 7)."""
