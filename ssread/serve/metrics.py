"""What the server counts, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ssread.serve.jobs import Kind

__all__ = ["Metrics"]

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def make(kind, name: str, about: str, labels: tuple[str, ...] = (), **more):  # type: ignore[no-untyped-def]
            return kind(f"ssread_{name}", about, labels, registry=self.registry, **more)

        self._requests = make(Counter, "requests_total", "Answered requests", ("route", "status"))
        self._seconds = make(Histogram, "request_seconds", "Time to answer", ("route",), buckets=SECONDS)
        self._batches = make(Histogram, "batch_items", "Items of a batch", ("model", "what"), buckets=SIZES)
        self._restarts = make(Counter, "worker_restarts_total", "Worker processes that had to be started again")
        self._under_way = make(Gauge, "requests_under_way", "Requests not answered yet")

    def begin(self) -> None:
        """Counts a request that arrived."""
        self._under_way.inc()

    def end(self, route: str, status: int, seconds: float) -> None:
        """Counts a request that was answered."""
        self._under_way.dec()
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, kind: Kind, size: int) -> None:
        """Counts a batch that a worker took."""
        self._batches.labels(kind.model, kind.what).observe(size)

    def restart(self) -> None:
        """Counts a worker that had to be started again."""
        self._restarts.inc()

    def text(self) -> bytes:
        """All of it in the format of Prometheus."""
        return generate_latest(self.registry)
