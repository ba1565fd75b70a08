"""The studies, a module each: see ``fairfl.studies.crosscheck.registry``."""
