"""Loops of PyTorch, Lightning, Keras, scikit-learn, JAX and emcee: `make test-watch`."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest

import workbench as wb
from workbench.recorder.adapters import (
    emcee_values,
    follow_optimizer,
    jax_record,
    keras_callback,
    lightning_callback,
    optimistix_verbose,
    partial_fits,
)

pytestmark = pytest.mark.watch
os.environ.setdefault("KERAS_BACKEND", "torch")


def quiet(name: str) -> wb.Watch:
    return wb.watch(name)


def data():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(96, 4)).astype(np.float32)
    return x, (x @ np.array([1.0, -2.0, 0.5, 0.0], np.float32))[:, None]


def test_a_torch_optimizer():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    x, y = map(torch.as_tensor, data())
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watch, losses, norms = quiet("torch"), [], []
    handle = follow_optimizer(watch, optimizer, loss=lambda: loss)
    for _ in range(12):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        losses.append(float(loss.detach()))
        norms.append(float(torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))))
        optimizer.step()
    handle.remove()
    optimizer.step()
    assert watch.calls == 12 and watch["loss"].values.tolist() == losses
    assert np.allclose(watch["grad_norm"].values, norms, rtol=1e-5) and set(watch["lr"].values) == {0.1}


def test_a_tensor_is_recorded_as_it_is():
    torch = pytest.importorskip("torch")
    watch = quiet("tensors")
    w = torch.ones(3, requires_grad=True)
    for _ in range(3):
        watch(loss=(w * w).sum(), w=w)
    assert watch["loss"].values.tolist() == [3.0] * 3 and watch["w"].values.shape == (3, 3), watch.report()


def test_a_lightning_trainer(tmp_path):
    lightning = pytest.importorskip("lightning")
    torch = pytest.importorskip("torch")

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
            self.seen = []

        def training_step(self, batch, index):
            loss = torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])
            self.seen.append(float(loss))
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.05)

    x, y = map(torch.as_tensor, data())
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)
    watch, model = quiet("lightning"), Model()
    options = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "accelerator": "cpu"}
    trainer = lightning.Trainer(
        max_epochs=2, callbacks=[lightning_callback(watch)], default_root_dir=tmp_path, **options
    )
    trainer.fit(model, loader)
    assert watch.calls == 24 == trainer.global_step and np.allclose(watch["loss"].values, model.seen)
    assert watch["global_step"].values.tolist() == list(range(1, 25)) and watch.state == "finished"
    stopped = quiet("stopped")
    stopped.request_stop()
    trainer = lightning.Trainer(
        max_epochs=2, callbacks=[lightning_callback(stopped)], default_root_dir=tmp_path, **options
    )
    trainer.fit(Model(), loader)
    assert stopped.calls < 24


def test_a_keras_model():
    keras = pytest.importorskip("keras")
    x, y = data()
    for every, count in (("batch", 24), ("epoch", 2)):
        model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
        model.compile(optimizer="sgd", loss="mse")
        watch = quiet(every)
        history = model.fit(x, y, batch_size=8, epochs=2, verbose=0, callbacks=[keras_callback(watch, every)])
        assert watch.calls == count and watch.state == "finished"
        assert np.isclose(watch["loss"].values[-1], history.history["loss"][-1])
    stopped = quiet("stopped")
    stopped.request_stop()
    model.fit(x, y, batch_size=8, epochs=2, verbose=0, callbacks=[keras_callback(stopped)])
    assert stopped.calls < 24
    with pytest.raises(wb.WorkbenchError):
        keras_callback(watch, "year")


def test_partial_fits_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    x, y = data()
    batches = [(x[k : k + 8], y[k : k + 8, 0]) for k in range(0, 96, 8)]
    watch, one, two = quiet("sgd"), linear_model.SGDRegressor(random_state=0), linear_model.SGDRegressor(random_state=0)
    assert partial_fits(watch, one, batches, scored=(x, y[:, 0])) is one
    weights, scores = [], []
    for batch in batches:
        two.partial_fit(*batch)
        weights.append(two.coef_.copy())
        scores.append(two.score(x, y[:, 0]))
    assert np.array_equal(one.coef_, two.coef_) and watch.calls == 12 and watch.state == "finished"
    assert np.allclose(watch["change"].values, [np.linalg.norm(b - a) for a, b in pairwise(weights)])
    assert watch["score"].values.tolist() == scores


def test_a_compiled_loop_of_jax():
    jax = pytest.importorskip("jax")
    watch = quiet("jax")
    record = jax_record(watch)

    @jax.jit
    def solve(start):
        def body(state):
            k, x = state
            new = (x + 2.0 / x) / 2
            record(k=k, x=new, error=abs(new - x), pair=jax.numpy.stack([x, new]))
            return k + 1, new

        return jax.lax.while_loop(lambda state: state[0] < 6, body, (0, start))

    count, x = solve(1.0)
    jax.effects_barrier()
    assert watch.calls == int(count) == 6 and watch["k"].values.tolist() == list(range(6))
    assert watch["x"].values[-1] == float(x) and watch["pair"].values.shape == (6, 2)
    assert watch.names == ["k", "x", "error", "pair"] and watch["k"].values.dtype.kind == "i"


def test_a_loop_of_optax():
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    watch = quiet("optax")
    record = jax_record(watch)
    optimizer = optax.adam(0.1)

    @jax.jit
    def step(w, state):
        value, g = jax.value_and_grad(lambda w: ((w - 3.0) ** 2).sum())(w)
        record(loss=value, grad_norm=optax.global_norm(g))
        updates, state = optimizer.update(g, state)
        return optax.apply_updates(w, updates), state, value

    w, losses = jax.numpy.zeros(2), []
    state = optimizer.init(w)
    for _ in range(10):
        w, state, value = step(w, state)
        losses.append(float(value))
    jax.effects_barrier()
    assert watch["loss"].values.tolist() == losses


@pytest.mark.parametrize("solver", ["LevenbergMarquardt", "Dogleg", "BFGS"])
def test_solvers_of_optimistix(solver):
    optimistix, jnp = pytest.importorskip("optimistix"), pytest.importorskip("jax.numpy")
    import jax

    watch = quiet(solver)
    made = getattr(optimistix, solver)(rtol=1e-5, atol=1e-5, verbose=optimistix_verbose(watch))
    if solver == "BFGS":
        found = optimistix.minimise(lambda y, _: ((y - 2.0) ** 4).sum(), made, jnp.zeros(2))
    else:
        found = optimistix.least_squares(
            lambda y, _: jnp.stack([10 * (y[1] - y[0] ** 2), 1 - y[0]]), made, jnp.zeros(2)
        )
    jax.effects_barrier()
    assert watch.calls == int(found.stats["num_steps"]) and watch.calls > 1, watch.names


def test_steps_of_emcee():
    emcee = pytest.importorskip("emcee")
    sampler = emcee.EnsembleSampler(8, 2, lambda p: -0.5 * float((p**2).sum()))
    start = np.random.default_rng(1).normal(size=(8, 2))
    watch = wb.watch(sampler.sample(start, iterations=25), value=emcee_values)
    for _ in watch:
        pass
    assert watch.calls == 25 == sampler.iteration
    assert np.allclose(watch["log_prob"].values, sampler.get_log_prob().mean(axis=1))
    assert np.allclose(watch["centre"].values, sampler.get_chain().mean(axis=1))
