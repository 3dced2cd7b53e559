from ..values import Array
from .forms import Hedge, Linear, TaskForm
from .plain import *  # noqa: F403 -- the compiled functions have the same signatures

def ask(views: Array, limit: float, experts: Linear, hedge: Hedge, task: TaskForm) -> tuple[Array, Array, Array, Array, Array]: ...
def play(
    inputs: Array,
    learn_from: int,
    predictions: Array,
    mixture: Array,
    target: Array,
    weight: float,
    experts: Linear,
    hedge: Hedge,
    task: TaskForm,
) -> None: ...
