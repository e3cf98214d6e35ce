"""Adam's kernel against the plain update of the optimizer, and against torch's Adam."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("triton", reason="Triton is not installed")

from ssread import kernels
from ssread.kernels.adam import BLOCK, adam_update
from ssread.train.stacked_adam import StackedAdam


def run(fused: bool, where: str, seed: int, sizes: list[int], activity: list[list[bool]], decay: float) -> list:
    """The weights of a stack of models after every step, by the kernel or by plain torch code."""
    generator = torch.Generator().manual_seed(seed)
    models = len(activity[0])

    def draw() -> dict[str, torch.Tensor]:
        return {f"{i}": torch.randn(models, n, generator=generator).to(where) for i, n in enumerate(sizes)}

    optimizer = StackedAdam(draw(), 0.1, decay)
    optimizer.set_learning_rate(torch.linspace(0.01, 0.1, models))
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_DEVICES", {where} if fused else set())
        patch.setattr(kernels, "missing", lambda: None)
        patch.setattr(kernels, "_failure", None)
        for active in activity:
            gradients = draw()
            for name, parameter in optimizer.parameters.items():
                parameter.grad = gradients[name]
            optimizer.step(torch.tensor(active, device=where))
            found.append([parameter.detach().clone() for parameter in optimizer.parameters.values()])
    return found


@st.composite
def activities(draw: st.DrawFn) -> list[list[bool]]:
    """Which of some models take part in every step."""
    models = draw(st.integers(1, 4))
    return draw(st.lists(st.lists(st.booleans(), min_size=models, max_size=models), min_size=1, max_size=4))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    sizes=st.lists(st.sampled_from([1, 3, 64, 200, 511, 1025]), min_size=1, max_size=3),
    activity=activities(),
    decay=st.sampled_from([0.0, 0.1]),
)
def test_the_kernel_takes_the_same_steps_as_plain_torch(where, seed, sizes, activity, decay):
    fused, plain = (run(by_kernel, where, seed, sizes, activity, decay) for by_kernel in (True, False))
    for step, (ours, theirs) in enumerate(zip(fused, plain, strict=True)):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6, msg=lambda text, step=step: f"{step}: {text}")
    still = [model for model in range(len(activity[0])) if not any(active[model] for active in activity)]
    first = run(True, where, seed, sizes, activity[:1], decay)[0]
    for model in still:  # models that sit out every step do not move by a single bit
        assert all(torch.equal(last[model], begin[model]) for last, begin in zip(fused[-1], first, strict=True))


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_every_entry_is_updated_once_and_nothing_beyond_the_end(where, count):
    """Against the formula, in double precision; the guard after the end must not change."""
    generator = torch.Generator().manual_seed(count)
    guarded = [torch.randn(count + 64, generator=generator).to(where) for _ in range(4)]
    guarded[3].abs_()
    w, g, m, v = (tensor[:count].double() for tensor in guarded)
    before = [tensor[count:].clone() for tensor in guarded]
    owner = torch.randint(3, (count,), generator=generator, dtype=torch.int32).to(where)
    step_size, correction = torch.tensor([[0.1, 0.2, 0.3], [0.5, 0.7, 0.9]], device=where)
    active = torch.tensor([True, False, True], device=where)
    arguments = (owner, step_size, correction, active, 0.01, (0.9, 0.999), 1e-8)
    adam_update(*(tensor[:count] for tensor in guarded), *arguments)
    moves, which = active[owner.long()], owner.long()
    gradient = g + 0.01 * w
    means, squares = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient.square()
    moved = w - step_size.double()[which] * means / (squares.sqrt() / correction.double()[which] + 1e-8)
    for ours, old, new in zip((guarded[0], guarded[2], guarded[3]), (w, m, v), (moved, means, squares), strict=True):
        torch.testing.assert_close(ours[:count].double(), torch.where(moves, new, old), rtol=1e-5, atol=1e-6)
    for tensor, guard in zip(guarded, before, strict=True):
        assert torch.equal(tensor[count:], guard)


def test_a_single_model_is_torchs_adam(where):
    weight = torch.randn(5, 7, device=where)
    alone = weight.clone().requires_grad_()
    single = torch.optim.Adam([alone], lr=0.1, weight_decay=0.1)
    stacked = StackedAdam({"weight": weight.unsqueeze(0)}, 0.1, 0.1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "_DEVICES", {where})
        patch.setattr(kernels, "missing", lambda: None)
        for _ in range(4):
            gradient = torch.randn_like(weight)
            stacked.parameters["weight"].grad, alone.grad = gradient.unsqueeze(0).clone(), gradient.clone()
            stacked.step(torch.tensor([True], device=where))
            single.step()
    torch.testing.assert_close(stacked.parameters["weight"][0], alone, rtol=1e-5, atol=1e-6)
