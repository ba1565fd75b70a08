"""CFL: one classifier for the pooled law; lemma 7 of FedFB in closed form on laws, one sort on a finite X."""
