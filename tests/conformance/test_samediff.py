"""Real SameDiff files equal the TensorFlow graphs that they were made from, and what libnd4j's own tests assert."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.conformance import corpora, samediff
from workbench.frontends.samediff.flatgraph import read_flatgraph

CORPUS = samediff.open_samediff()
MODERN = CORPUS.names("fb_modern") if CORPUS else []
OLD = CORPUS.names("fb_before_2019") if CORPUS else []
HAS_TWINS = CORPUS is not None and corpora.open_corpus() is not None

pytestmark = pytest.mark.skipif(CORPUS is None, reason=corpora.MISSING)


@pytest.fixture(scope="module")
def files() -> samediff.SameDiffCorpus:
    assert CORPUS is not None
    return CORPUS


def value(files, name: str, variable: str, **feeds) -> np.ndarray:
    return wb.load(files.modern(name), outputs=[variable]).run(feeds)[variable]


@pytest.mark.parametrize("name", samediff.TWINS)
@pytest.mark.skipif(not HAS_TWINS, reason=corpora.MISSING)
def test_a_file_equals_its_twin(files, name):
    result = samediff.compare(files, name)
    assert not result.problems
    assert result.outputs and result.intermediates or result.firings


@pytest.mark.skipif(not HAS_TWINS, reason=corpora.MISSING)
def test_every_file_with_frames_was_compared_firing_by_firing(files):
    counts = {
        name: samediff.compare(files, name).firings
        for name in ("simplewhile_1__ecl_c4fa26e", "while_iter1__kon_d81f0b4")
    }
    assert all(count > 20 for count in counts.values()), counts


@pytest.mark.skipif(not HAS_TWINS, reason=corpora.MISSING)
def test_the_comparison_sees_a_difference(files, monkeypatch):
    real = corpora.Corpus.trace

    def changed(self, name):
        trace = real(self, name)
        trace["while/add:0"][0] = trace["while/add:0"][0] + 1
        return trace

    monkeypatch.setattr(corpora.Corpus, "trace", changed)
    assert samediff.compare(files, "while_iter1__kon_d81f0b4").problems == ["while/add:0 fired other values"]


def test_every_file_of_today_loads(files):
    assert len(MODERN) == 18
    for name in MODERN:
        graph = wb.load(files.modern(name))
        assert graph.nodes and graph.outputs and graph.notes


@pytest.mark.parametrize("name", OLD)
def test_a_file_of_before_2019_is_refused(files, name):
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.load(files.bytes(f"fb_before_2019/{name}.fb"))
    assert caught.value.slug == "samediff-before-2019"
    assert "1.0.0-beta3" in caught.value.message and "sd.save" in caught.value.fix


def test_there_are_ninety_older_files():
    assert len(OLD) == 90


def test_values_that_libnd4j_asserts(files):
    conv = value(files, "channels_last_b1_k2_s1_d1_SAME_crelu__ecl_a906622", "conv2d/CRelu/Relu")
    assert conv.shape == (1, 5, 5, 6)
    split = value(files, "tensor_array_split_sz1_float32_nodynamic_noname_noshape__ecl_4e3cf40", "TensorArrayReadV3")
    # the second row stands in the file of identity_n_2 too
    assert np.allclose(split, [[0.77878559, 0.80119777, 0.72437465], [0.23089433, 0.72714126, 0.18039072]])
    stack = value(
        files, "tensor_array_stack_sz3-1_int32_dynamic_name_shape__ecl_4a5f830", "TensorArrayStack/TensorArrayGatherV3"
    )
    assert stack.dtype == np.int32 and stack.shape == (3, 2, 3)
    assert stack.ravel().tolist() == [7, 2, 9, 4, 3, 3, 8, 7, 0, 0, 6, 8, 7, 9, 0, 1, 1, 4]
    typed = value(files, "assert_type_rank2_int64__ecl_8d643d6", "Add")
    assert typed.dtype == np.int64 and typed.tolist() == [[1, 1], [1, 1]]
    for name in ("cond_true__ecl_003f786", "cond_true__kon_75a354c"):
        assert value(files, name, "cond/Merge").tolist() == [1, 2, 3, 4, 5]
    both = wb.load(files.modern("identity_n_2__ecl_d850a44"))
    assert list(both.outputs) == ["IdentityN", "IdentityN:1"]
    assert np.array_equal(both.run()["IdentityN"], split)
    assert value(files, "reduce_all_rank2_d0_keep__ecl_cc92e49", "All").tolist() == [[True, False, False, False]]
    for name in ("reduce_dim_false__ecl_14ffce6", "reduce_dim_false__ecl_4bcded4", "reduce_dim_false__ecl_71b90a1"):
        assert value(files, name, "Sum").tolist() == [3, 3, 3]
    assert value(files, "reduce_dim_true__ecl_f82931d", "Sum").tolist() == [[3], [3], [3]]
    assert value(files, "scalar_float32__ecl_adaa7ed", "Add") == 2


def test_a_placeholder_with_a_stored_array(files):
    """libnd4j's test feeds what the file holds for the placeholders."""
    raw = files.modern("non2d_1__ecl_fe7e6ad")
    stored = {n: v.array for n, v in read_flatgraph(raw).variables.items() if v.kind == 3}
    assert np.allclose(wb.load(raw).run(stored)["output"], [[5.42746449]])


@pytest.mark.parametrize("start, end", [(-4.0, -1.0), (-9.0, -3.0)])
def test_the_loop_that_conditional_tests_run(files, start, end):
    feeds = {"input_0": np.full((2, 2), start, np.float32), "input_1": np.float32(1)}
    assert value(files, "simplewhile_1__ecl_c4fa26e", "output", **feeds).tolist() == [[end, end], [end, end]]


def test_the_predictions_of_a_trained_network(files, tmp_path):
    path = tmp_path / "model.zip"  # as sd.save names its files, which are no archives
    path.write_bytes(files.bytes(f"{samediff.MOON}/model.fb"))
    graph = wb.load(path, outputs=["out"])
    moons = files.moons()
    got = graph.run({"in": moons[:, 1:].astype(np.float32)})["out"]
    assert got.shape == (len(moons), 2) and np.allclose(got.sum(axis=1), 1, atol=1e-6)
    expected = samediff.nd4j_binary(files.bytes(f"{samediff.MOON}/predictions/output_0_out.bin"))
    assert expected.shape == (1, 2) and np.allclose(got[:1], expected, rtol=1e-6)
    assert np.allclose(got[0], [0.404113, 0.595887], atol=1e-6)


def test_the_notes_of_a_trained_network(files):
    graph = wb.load(files.bytes(f"{samediff.MOON}/model.fb"))
    assert list(graph.outputs) == ["out", "loss"]
    notes = "\n".join(graph.notes)
    assert "VARIABLE: w0, b0, w1, b1." in notes and "PLACEHOLDER: in, label." in notes
    assert "Loss variables: loss." in notes
    assert "updater Nesterovs(learningRate 0.005, momentum 0.9)" in notes
    assert "regularization WeightDecay(coeff 0.001, applyLR true)" in notes
    loss = graph.run({"in": [[0.5, -0.25]], "label": [[0.0, 1.0]]})
    assert np.allclose(loss["loss"], -np.log([loss["out"][0, 1], 1 - loss["out"][0, 0]]).mean(), rtol=1e-5)


@pytest.mark.skipif(not HAS_TWINS, reason=corpora.MISSING)
def test_a_file_and_the_graph_that_it_came_from_do_not_differ(files):
    corpus = corpora.open_corpus()
    assert corpus is not None
    ours, theirs = wb.load(files.modern("simplewhile_1__ecl_c4fa26e")), corpus.graph("simplewhile_1")
    item = corpus.item("simplewhile_1")
    sessions = [
        wb.Session(ours, {k.removesuffix(":0"): v for k, v in item.inputs.items()}),
        wb.Session(theirs, item.inputs),
    ]
    for session in sessions:
        session.run()
    found = wb.diff(*sessions)
    assert found.equal, found


#: loops in loops, TensorArrays, branches, and loops that are left in several ways
WRITTEN = ("simplewhile_nested", "while1/iter_3", "simple_while", "simple_cond", "case/cond_2", "cond/cond_false")


@pytest.mark.skipif(not HAS_TWINS, reason=corpora.MISSING)
def test_graphs_that_are_written_as_samediff_equal_the_record(files):
    """``python -m tests.conformance.samediff`` compares all of them."""
    written = samediff.translated()
    assert len(written) >= 68
    for name in WRITTEN:
        found = samediff.compare_bytes(written[name], name)
        assert not found.problems and found.firings, name
