"""Work on a GPU recorded once and launched as a whole from then on."""

from collections.abc import Callable

import torch

__all__ = ["Recorder"]


class Recorder:
    """Runs pieces of work, each again and again; on a GPU the second time and later as one launch of a CUDA graph.

    The first run of a piece is an ordinary one: it compiles kernels and warms libraries up. The second is recorded. A
    piece reads and writes tensors that stay where they are, and looks at no value. Where recording fails it is said in
    a sentence, and everything goes on launch by launch.

    Args:
        device: Where the work happens; nothing is recorded unless it is a GPU.
        say: Told the sentence.
    """

    def __init__(self, device: torch.device, say: Callable[[str], None]):
        self._say = say
        self._recording = device.type == "cuda"
        self._pieces: dict[object, torch.cuda.CUDAGraph | None] = {}
        self._pool = torch.cuda.graph_pool_handle() if self._recording else None
        self._stream = torch.cuda.Stream(device) if self._recording else None

    def run(self, name: object, work: Callable[[], None]) -> None:
        """Does a piece of work; the same name stands for the same work until :meth:`forget`."""
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
        """Drops all recordings: what they read and wrote is about to go."""
        if self._recording:
            torch.cuda.synchronize()
        self._pieces.clear()
        self._pool = torch.cuda.graph_pool_handle() if self._recording else None

    def _aside(self, work: Callable[[], None]) -> None:
        """An ordinary run on the stream that recordings are made on."""
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
            self._say(f"The work on the GPU cannot be recorded ({_first_line(error)}); it is launched piece by piece.")
            return None
        return graph


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
