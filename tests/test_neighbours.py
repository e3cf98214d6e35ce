import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssread import kernels
from ssread.neighbours import Neighbours

graphs = st.tuples(st.integers(1, 7), st.integers(0, 20), st.booleans(), st.booleans(), st.integers(0, 2**31))


def draw(graph: tuple[int, int, bool, bool, int]) -> tuple[Neighbours, torch.Tensor, torch.Tensor | None]:
    """Directed edges in any order, repeated ones and self-loops among them."""
    nodes, edges, in_order, weighted, seed = graph
    generator = torch.Generator().manual_seed(seed)
    source, target = torch.randint(nodes, (2, edges), generator=generator)
    if in_order:
        source = source.sort().values
    weight = torch.rand(edges, generator=generator, dtype=torch.float64) if weighted else None
    values = torch.randn(nodes, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    return Neighbours(source, target, nodes), values, weight


@given(graphs)
def test_sum_is_the_product_with_the_adjacency_matrix(graph):
    neighbours, values, weight = draw(graph)
    matrix = torch.zeros(len(values), len(values), dtype=torch.float64)
    for edge, (s, t) in enumerate(zip(neighbours.source, neighbours.target, strict=True)):
        matrix[t, s] += 1 if weight is None else weight[edge]
    torch.testing.assert_close(neighbours.sum(values, weight), matrix @ values)


@given(graphs)
def test_gradient_is_that_of_gathering_and_scattering(graph):
    neighbours, values, weight = draw(graph)
    upstream = torch.randn_like(values)

    def plain(values: torch.Tensor) -> torch.Tensor:  # under vmap the messages are gathered and scattered
        return torch.func.vmap(lambda v: neighbours.sum(v, weight))(values.unsqueeze(0))[0]

    (ours,) = torch.autograd.grad(neighbours.sum(values, weight), values, upstream)
    (expected,) = torch.autograd.grad(plain(values), values, upstream)
    torch.testing.assert_close(ours, expected)


def test_gradcheck():
    neighbours, values, weight = draw((5, 12, False, True, 0))
    assert torch.autograd.gradcheck(lambda v: neighbours.sum(v, weight), (values,))


def test_half_precision_takes_the_plain_way():
    neighbours, values, weight = draw((5, 12, False, True, 0))
    half = neighbours.sum(values.bfloat16(), weight.bfloat16())
    torch.testing.assert_close(half.double(), neighbours.sum(values, weight), atol=0.05, rtol=0.05)


@given(
    graphs,
    st.booleans(),
    st.sampled_from(["nothing", "root", "factor"]),
    st.sampled_from(["nothing", "given", "learning"]),
)
def test_messages_and_their_gradients_are_those_of_plain_code(graph, scaled, own, edges):
    neighbours, x, _ = draw(graph)
    shift, root = (torch.randn(3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    factor = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    scale = neighbours.inverse_root_degree.double() if scaled else None
    parts = (root if own == "root" else None, factor if own == "factor" else None)
    features = torch.randn(len(neighbours.source), 2, dtype=torch.float64, requires_grad=edges == "learning")
    table = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    kinds = () if edges == "nothing" else (features, table)

    def plain() -> torch.Tensor:  # under vmap the messages are gathered and scattered
        lifted = torch.func.vmap(lambda v: neighbours.messages(v, shift, scale, *parts, *kinds))
        return lifted(x.unsqueeze(0))[0]

    upstream = torch.randn_like(x)
    learning = [part for part in (x, shift, *parts, *kinds) if part is not None and part.requires_grad]
    ours, expected = neighbours.messages(x, shift, scale, *parts, *kinds), plain()
    torch.testing.assert_close(ours, expected)
    for one, other in zip(
        torch.autograd.grad(ours, learning, upstream), torch.autograd.grad(expected, learning, upstream), strict=True
    ):
        torch.testing.assert_close(one, other)


def messages_with_features(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The messages of a graph whose edges have features, and the gradients of all that learns."""
    neighbours, x, _ = draw((6, 20, False, False, 1))
    generator = torch.Generator().manual_seed(2)
    shapes = {"shift": (3,), "root": (3,), "features": (20, 2), "table": (2, 3)}
    drawn = {name: torch.randn(*shape, generator=generator).to(dtype) for name, shape in shapes.items()}
    learning = [x.detach().to(dtype), drawn["shift"], drawn["root"], drawn["table"]]
    x, shift, root, table = (tensor.requires_grad_() for tensor in learning)
    scale = neighbours.inverse_root_degree.to(dtype)
    total = neighbours.messages(x, shift, scale, root, None, drawn["features"], table)
    return total.detach(), list(torch.autograd.grad(total.square().sum(), learning))


def test_edges_with_features_without_numba(monkeypatch):
    compiled, gradients = messages_with_features()
    monkeypatch.setattr(kernels, "compiled_messages", lambda: None)
    plain, expected = messages_with_features()
    torch.testing.assert_close(compiled, plain)
    torch.testing.assert_close(gradients, expected)


def test_works_inside_a_transform_of_other_tensors():
    """Here torch refuses a function without ``setup_context``, although no tensor it gets is vmapped."""
    neighbours, values, weight = draw((5, 12, False, True, 0))
    shift = torch.randn(3, dtype=torch.float64, requires_grad=True)

    def both() -> torch.Tensor:
        return neighbours.sum(values, weight) + neighbours.messages(values, shift, None, None, None)

    factors = torch.randn(2, dtype=torch.float64)
    together = torch.func.vmap(lambda factor: factor * both())(factors)
    torch.testing.assert_close(together, factors.view(2, 1, 1) * both())
    ours = torch.autograd.grad(together.sum(), [values, shift])
    expected = torch.autograd.grad(factors.sum() * both().sum(), [values, shift])
    torch.testing.assert_close(ours, expected)


def test_errors_of_torch_are_not_hidden():
    neighbours = Neighbours(torch.tensor([0]), torch.tensor([1]), 2)
    with pytest.raises(RuntimeError, match="embedding_bag"):
        neighbours.sum(torch.randn(2, 3), torch.ones(1, dtype=torch.float64))
