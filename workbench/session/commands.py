"""The commands that step, run and go back; each waits until the worker thread has carried it out."""

from __future__ import annotations

from workbench.debugger import Stop
from workbench.session.worker import Worker


class Commands(Worker):
    """Stepping, running and going back: each command returns the :class:`workbench.Stop` at its end."""

    def run(self, wait: bool = True) -> Stop | None:
        """Run to the end, a breakpoint or a pause. Without ``wait`` it returns at once."""
        if wait:
            return self._command("run")
        self.post("run")
        return None

    def resume(self, wait: bool = True) -> Stop | None:
        """Run on; the same as :meth:`run`."""
        if wait:
            return self._command("resume")
        self.post("resume")
        return None

    def step(self, n: int = 1) -> Stop:
        """Fire the next ``n`` nodes; constants and loop invariants go along silently."""
        return self._command("step", n=n)

    def step_back(self, n: int = 1) -> Stop:
        """Back by ``n`` nodes, by exact replay."""
        return self._command("step_back", n=n)

    def step_over(self, n: int = 1) -> Stop:
        """Fire the next ``n`` nodes of this frame; a frame that opens on the way runs to its end, as part of one."""
        return self._command("step_over", n=n)

    def step_back_over(self, n: int = 1) -> Stop:
        """Back by ``n`` nodes of this frame (or those around it); frames inside it are passed over."""
        return self._command("step_back_over", n=n)

    def next_iteration(self, n: int = 1) -> Stop:
        """To the beginning of the next iteration of the innermost open loop, or out of it."""
        return self._command("next_iteration", n=n)

    def previous_iteration(self, n: int = 1) -> Stop:
        """To the beginning of the iteration before, ``n`` times."""
        return self._command("previous_iteration", n=n)

    def step_into(self) -> Stop:
        """On, until a frame opens."""
        return self._command("step_into")

    def step_out(self) -> Stop:
        """On, until the innermost open frame is left."""
        return self._command("step_out")

    def step_back_out(self) -> Stop:
        """Back to the node before the innermost open frame was entered."""
        return self._command("step_back_out")

    def next_branch(self, name: str | None = None) -> Stop:
        """On to the next flip: in front of a Switch that goes another way than last time in this activation of its
        loop, be it any or the one that ``name`` (a Switch or its predicate) means. The end of a loop is one."""
        return self._command("next_branch", name=name)

    def previous_branch(self, name: str | None = None) -> Stop:
        """Back to the last flip (see :meth:`next_branch`); breakpoints are passed over."""
        return self._command("previous_branch", name=name)

    def run_to_branch(self, name: str | None = None, side: bool | None = None) -> Stop:
        """On to the next firing of a Switch (any, or the one that is meant) that goes to this ``side`` (or to any)."""
        return self._command("run_to_branch", name=name, side=side)

    def run_to(self, name: str, iteration: int | tuple[int, ...] | None = None) -> Stop:
        """To the firing of ``name``, forwards or back."""
        return self._command("run_to", name=name, iteration=iteration)

    def reverse_continue(self) -> Stop:
        """Back to the last place where a breakpoint was hit."""
        return self._command("reverse_continue")

    def restart(self) -> Stop:
        """Back to the beginning; breakpoints stay."""
        return self._command("restart")

    def pause(self, wait: bool = True, timeout: float | None = None) -> Stop | None:
        """End the running command and all that wait for their turn; any thread. Returns the stop, or None without
        ``wait``."""
        self._halt()
        return self.wait(timeout) if wait else None
