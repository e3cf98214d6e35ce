import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread.train.stacked_adam import StackedAdam

SHAPES = {"weight": (3, 2), "bias": (3,), "scale": ()}


def draw(generator: torch.Generator, models: int) -> dict[str, torch.Tensor]:
    return {n: torch.randn(models, *s, generator=generator, dtype=torch.float64) for n, s in SHAPES.items()}


@given(
    seed=st.integers(0, 2**20),
    decay=st.sampled_from([0.0, 0.1]),
    activity=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=6),
)
def test_every_model_moves_as_by_an_optimizer_of_its_own(seed, decay, activity):
    """Also one that sits steps out, and whoever is left out of the stack half-way."""
    generator = torch.Generator().manual_seed(seed)
    start, rates = draw(generator, 3), torch.tensor([0.1, 0.01, 0.001], dtype=torch.float64)
    stacked = StackedAdam(start, 1.0, decay)
    stacked.set_learning_rate(rates)
    alone = [[start[name][model].clone().requires_grad_() for name in SHAPES] for model in range(3)]
    singles = [torch.optim.Adam(own, lr=float(rates[m]), weight_decay=decay) for m, own in enumerate(alone)]
    models = list(range(3))
    for step, active in enumerate(activity):
        if step == len(activity) // 2 + 1:
            models = [2, 0]
            stacked = stacked.select(torch.tensor(models))
        gradients = draw(generator, 3)
        for name, parameter in stacked.parameters.items():
            parameter.grad = gradients[name][models].clone()
        stacked.step(torch.tensor(active)[models])
        for model in models:
            if active[model]:
                for name, parameter in zip(SHAPES, alone[model], strict=True):
                    parameter.grad = gradients[name][model].clone()
                singles[model].step()
        for place, model in enumerate(models):
            for name, parameter in zip(SHAPES, alone[model], strict=True):
                torch.testing.assert_close(stacked.parameters[name][place], parameter, rtol=1e-12, atol=1e-12)


def test_parameters_begin_where_a_gpu_reads_in_one_go():
    stacked = StackedAdam({"a": torch.zeros(3, 5), "b": torch.zeros(3, 7)}, 0.1, 0.0)
    first, second = stacked.parameters.values()
    assert (second.data_ptr() - first.data_ptr()) % 256 == 0
