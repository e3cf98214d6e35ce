"""NVIDIA's Multi-Process Service (MPS), which lets processes use a GPU at the same time instead of by turns."""

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache

__all__ = ["MultiProcessService", "multi_process_service"]

CONTROL = "nvidia-cuda-mps-control"

#: Seconds that the service may take to start, and that its users may take to end before it ends.
SECONDS = 30

#: Waits until the process at the other end of its standard input ends, for whatever reason; then stops the service.
WATCHER = f'cat > /dev/null; echo "quit -t {SECONDS}" | {CONTROL}; rm -rf "$CUDA_MPS_PIPE_DIRECTORY"'


@dataclass
class MultiProcessService:
    """The service, if there is one.

    Attributes:
        running: Whether processes with this environment compute at the same time.
        environment: What a process needs in its environment before it uses CUDA for the first time; empty if the
            service was running before, or does not run.
        problem: Why the service could not be started, in a sentence; empty where the machine has no such service.
    """

    running: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    _watcher: subprocess.Popen[bytes] | None = None

    def give_up(self, why: str) -> None:
        """Stops a service that we started and that turned out to be useless."""
        if self._watcher is not None and self._watcher.stdin is not None:
            self._watcher.stdin.close()
            self._watcher.wait(2 * SECONDS)
        self.running, self.environment, self._watcher = False, {}, None
        self.problem = f"NVIDIA's Multi-Process Service cannot be used ({why}): stacks of models take turns."


@lru_cache(maxsize=1)
def multi_process_service() -> MultiProcessService:
    """Starts the service, once for this process, where the machine has it and it is not running already.

    It stops when this process ends, also by Ctrl-C or if it is killed. Its folder is a temporary one, so that it serves
    nobody else.
    """
    if shutil.which(CONTROL) is None:
        return MultiProcessService()
    if _is_running():
        return MultiProcessService(running=True)
    folder = tempfile.mkdtemp(prefix="ssread-mps-")
    environment = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
    # Each process chooses among all GPUs by itself; a choice that the service made, too, would change their numbers.
    own = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"} | environment
    nowhere = subprocess.DEVNULL
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", WATCHER],
        stdin=subprocess.PIPE,
        stdout=nowhere,
        stderr=nowhere,
        env=own,
        start_new_session=True,  # Ctrl-C ends this process, not the watcher
    )
    service = MultiProcessService(running=True, environment=environment, _watcher=watcher)
    try:
        with tempfile.TemporaryFile() as said:  # not a pipe, which the service would hold open
            command = [CONTROL, "-d"]
            done = subprocess.run(command, stdin=nowhere, stdout=said, stderr=said, env=own, timeout=SECONDS)
            said.seek(0)
            why = " ".join(said.read().decode(errors="replace").split())
        if done.returncode != 0:
            service.give_up(why or f"{CONTROL} ended with {done.returncode}")
    except (OSError, subprocess.TimeoutExpired) as error:
        service.give_up(str(error))
    return service


def _is_running() -> bool:
    """Whether a service that processes of this environment use is there."""
    try:
        command = subprocess.run([CONTROL], input=b"get_server_list\n", capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return command.returncode == 0 and b"Cannot find" not in command.stdout + command.stderr
