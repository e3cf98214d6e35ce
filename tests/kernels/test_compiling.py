"""The kernels compile for GPUs, also on machines without one: the compiler is part of Triton."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="Triton is not installed")

COMPILE = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from ssread.kernels import adam, messages, norm, products, read

def compile(kernel, warps, numbers, **constants):
    names = kernel.arg_names
    kind = {n: "constexpr" if n in constants else numbers.get(n, "*fp32") for n in names}
    aligned = {(p,): [["tt.divisibility", 16]] for p, n in enumerate(names) if kind[n][0] == "*" or n == "D"}
    constexprs = {(names.index(n),): value for n, value in constants.items()}
    source = ASTSource(fn=kernel, signature=kind, constexprs=constexprs, attrs=aligned)
    for capability in (80, 90):
        compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps})
        # Triton turns sums over products of three dimensions into matrix products; small ones of these are wrong.
        assert not (kernel.__module__.endswith("messages") and "dot" in compiled.asm["ttir"]), kernel

sizes = {"M": "i32", "PART": "i32"}
sizes |= {"N": "i32", "E": "i32", "D": "i32", "F": "i32", "K": "i32", "P": "i32", "gamma": "fp32", "eps": "fp32"}
sizes |= {"dropout": "fp32", "start": "*i64", "other": "*i64", "edge": "*i64", "positions": "*i64", "seed": "*i64"}
for channels in (1, 16, 32, 128, 512):
    for tile, kernel, more in (
        (messages.FORWARD, messages._forward, {}), (messages.BACKWARD, messages._backward, {"TILES": 8})
    ):
        rows = min(max(tile[0] // channels, 1), messages.MAX_ROWS)
        compile(kernel, tile[1], sizes, ROWS=rows, CHANNELS=channels, FEATURES=0, RELU=True, SCALE=True, WEIGHT=False,
                OWN=1, ORDER=False, **more)
        compile(kernel, tile[1], sizes, ROWS=rows, CHANNELS=channels, FEATURES=1, RELU=True, SCALE=False,
                WEIGHT=True, OWN=2, ORDER=True, **more)
    rows = max(2048 // channels, 1)
    compile(norm._apply, 4, sizes, ROWS=rows, CHANNELS=channels, RELU=True, DROPOUT=True)
    rows = max(rows // 2, 1)
    compile(norm._backward_sums, 1, sizes, ROWS=rows, CHANNELS=channels, RELU=True, DROPOUT=True, TILES=8)
    compile(read._reduce, 1, sizes, ROWS=max(min(512 // channels, 32), 1), CHANNELS=channels, ALIGNED=True, HOW=2)
    rows = max(min(4096 // channels, 32), 1)
    compile(read._reduce_backward, 1, sizes, ROWS=rows, CHANNELS=channels, ALIGNED=True, HOW=2)
for out in (16, 64):
    compile(read._align, 4, sizes, ROWS=64, CHANNELS=32, POSITIONS=out)
    compile(products._times, 4, sizes, ROWS=64, IN=32, OUT=out, BIAS=True)
    compile(products._sum_of_outer, 4, sizes, ROWS=32, OUT=2 * out, IN=out, SUMS=True)
entries = {"owner": "*i32", "active": "*i32", "N": "i32"}
numbers = ("decay", "beta2", "one_minus_beta1", "one_minus_beta2", "eps")
compile(adam._adam, 4, entries | dict.fromkeys(numbers, "fp32"), BLOCK=adam.BLOCK)
print("compiled")
"""


@pytest.mark.slow
def test_every_kernel_compiles_for_ampere_and_hopper():
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run([sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "compiled", done.stderr[-2000:]
