"""Who the clients are: federations, laws, regression functions, classifiers, notions of fairness."""
