from .plain import *  # noqa: F403 -- the compiled functions have the same signatures
