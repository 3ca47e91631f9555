"""A package of somebody else: a protocol, a model, an instrument and a measure for tiltmeter."""
