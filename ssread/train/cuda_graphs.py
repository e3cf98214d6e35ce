"""GPU work that is recorded once and then launched as a whole."""

from collections.abc import Callable

import torch

__all__ = ["Recorder"]


class Recorder:
    """Runs pieces of work repeatedly; on a GPU, from the second time on, as one launch of a CUDA graph.

    The first run of a piece is an ordinary one: it compiles kernels and warms up libraries. The second is recorded. A
    piece must read and write tensors that stay in place, and must not depend on their values. If recording fails, the
    work continues with ordinary launches.

    Args:
        device: Where the work runs; it is recorded on a GPU only.
        say: Called with a sentence if recording fails.
    """

    def __init__(self, device: torch.device, say: Callable[[str], None]):
        self._say = say
        self._recording = device.type == "cuda"
        self._pieces: dict[object, torch.cuda.CUDAGraph | None] = {}
        self._pool = torch.cuda.graph_pool_handle() if self._recording else None
        self._stream = torch.cuda.Stream(device) if self._recording else None

    def run(self, name: object, work: Callable[[], None]) -> None:
        """Runs a piece of work; a name must mean the same work until :meth:`forget`."""
        if not self._recording:
            work()
            return
        graph = self._pieces.get(name)
        if name not in self._pieces:
            self._pieces[name] = None
            self._aside(work)
            return
        if graph is None:
            graph = self._record(work)
            if graph is None:
                work()
                return
            self._pieces[name] = graph
        graph.replay()

    def forget(self) -> None:
        """Drops all recordings; call it before the tensors they use are freed."""
        if self._recording:
            torch.cuda.synchronize()
        self._pieces.clear()
        self._pool = torch.cuda.graph_pool_handle() if self._recording else None

    def _aside(self, work: Callable[[], None]) -> None:
        """Runs work without recording it, on the stream that is recorded on."""
        assert self._stream is not None
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            work()
        torch.cuda.current_stream().wait_stream(self._stream)

    def _record(self, work: Callable[[], None]) -> torch.cuda.CUDAGraph | None:
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
                work()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            self._recording = False
            self._pieces.clear()
            self._say(f"GPU work cannot be recorded as a CUDA graph ({_first_line(error)}); training is slower.")
            return None
        return graph


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
