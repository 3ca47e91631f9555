"""All estimates of a run: strata, signatures, selection rates and warnings."""
