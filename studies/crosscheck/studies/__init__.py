"""The studies, a module each: see ``fairfl.studies.crosscheck.studies.all_studies``."""
