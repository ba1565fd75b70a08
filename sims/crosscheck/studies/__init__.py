"""The studies, a module each: see ``fairfl.sims.crosscheck.registry``."""
