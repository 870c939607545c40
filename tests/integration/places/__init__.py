"""A package, so that fixtures of its scope end with it: in a mere folder they last as long as the run."""
