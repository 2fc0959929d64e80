"""What `conformance/run` consists of: installing, asking, comparing, naming causes, and reporting."""
