"""What is PUFE compared with? The base models and the rivals of the paper.

Those for one feature space after another are made of PUFE's parts. They differ in what predicts once a space has gone,
in what goes on learning, and in what weighs the experts:

| method | what predicts | what learns | an overlap with gaps | weights |
|---|---|---|---|---|
| NOGD | the current model | the current model | is of no use | - |
| ROGD | the old model, on recovered rows | both (ROGD-u), or the current one (ROGD-f) | is filled with zeros | - |
| FESL | both | both | is filled with zeros, with a warning | hedge (FESL-c), fixed share (FESL-s) |
| SF²EL | both | both, also without labels | is filled with zeros, with a warning | hedge |
| PUFE | both | both | is completed | AdaNormalHedge |

They assume what the paper assumes: features that are scaled already, keys that are absent only once they are gone, and
new keys that come all at once. During an overlap the old model predicts, on what is left of its features, and all
models rest.

The others have a weight for each key and know no feature spaces:

| method | setting | new keys | absent keys |
|---|---|---|---|
| OLSF | trapezoidal: keys are only ever added | start from 0 | have no vote |
| OLVF | haphazard: any keys in any sample | start from 0 | have no vote; which keys are there tells how far to step |
| OCDS | capricious: the same | start from 0 | are reconstructed from those that are there |
| OPID | no overlap, but some keys survive | start from 0, beside the old model of the survivors | have no vote |
| REFORM | the same | take over the weights of old keys that meant the same | have no vote |

Where the paper of a method was not at hand, its docstring says that it is recalled. No method is improved: none of them
scales features, and none has an intercept. They forget the keys that were not seen for longest, so that memory is
bounded.

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
