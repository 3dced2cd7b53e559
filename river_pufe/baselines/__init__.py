"""What is PUFE compared with? The base models and the rivals of the paper.

Base models and FESL are made of PUFE's parts. They differ in what predicts once a feature space has gone, in what goes
on learning, and in what weighs the experts:

| method | what predicts | what learns | an overlap with gaps | weights |
|---|---|---|---|---|
| NOGD | the current model | the current model | is of no use | - |
| ROGD | the old model, on recovered rows | both (ROGD-u), or the current one (ROGD-f) | is filled with zeros | - |
| FESL | both | both | is filled with zeros, with a warning | hedge (FESL-c), fixed share (FESL-s) |
| PUFE | both | both | is completed | AdaNormalHedge |

They assume what the paper assumes: features that are scaled already, keys that are absent only once they are gone, and
new keys that come all at once. During an overlap the old model predicts, on what is left of its features, and all
models rest.

"""

from __future__ import annotations

from .fesl import FESLClassifier, FESLRegressor
from .nogd import NOGDClassifier, NOGDRegressor
from .ocds import OCDSClassifier
from .olsf import OLSFClassifier
from .olvf import OLVFClassifier
from .opid import OPIDClassifier, OPIDRegressor
from .reform import REFORMClassifier, REFORMRegressor
from .rogd import ROGDClassifier, ROGDRegressor
from .sf2el import SF2ELClassifier, SF2ELRegressor
from .zeros import Zeros

__all__ = [
    "FESLClassifier",
    "FESLRegressor",
    "NOGDClassifier",
    "NOGDRegressor",
    "OCDSClassifier",
    "OLSFClassifier",
    "OLVFClassifier",
    "OPIDClassifier",
    "OPIDRegressor",
    "REFORMClassifier",
    "REFORMRegressor",
    "ROGDClassifier",
    "ROGDRegressor",
    "SF2ELClassifier",
    "SF2ELRegressor",
    "Zeros",
]
