"""Every op that libnd4j declares and every op class of ND4J is computed, refused with a reason, or never in a graph."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.frontends.flatbytes import BIG, CONSTANT, LITTLE, SameDiff, raw_array, shape_info, string_buffer
from tests.frontends.test_samediff_ops import ALL, Case, ints, run, scalar
from workbench.errors import LoadError, UnknownOpError
from workbench.frontends.samediff.rules import FLAT_RULES, rule_of
from workbench.frontends.samediff.rules.names import REFUSED, SYNONYMS, UNWRITTEN, plain, refusal
from workbench.frontends.samediff.strings import strings_of

#: names of nd4j-op-def.pbtxt of deeplearning4j, which lists them all
NAMES = """
Assert BinaryMinimalRelativeError BinaryRelativeError ClipByValue Conditional ExternalErrorsFn Floor Log1p
ParallelConcat Pow Pow_bp Reciprocal RelativeError Return Scope Switch Where While _geluderivative _mishderivative
_powderivative _precise_geluderivative _sigmoidderivative _swishderivative _tanhderivative abs
absolute_difference_loss absolute_difference_loss_grad acos acosh ada_delta_updater ada_grad_updater ada_max_updater
adam_updater add add_bp add_scalar adjust_contrast adjust_contrast_v2 adjust_hue adjust_saturation all alpha_dropout
alpha_dropout_bp amax amax_pairwise amean amin amin_pairwise ams_grad_updater and and_scalar any apply_sgd
applygradientdescent argamax argamin argmax argmin asin asinh assign assign_bp asum atan atanh avgpool2d avgpool2d_bp
avgpool3dnew avgpool3dnew_bp axpy barnes_edge_forces barnes_gains barnes_symmetrized batch_to_space
batch_to_space_nd batched_gemm batchnorm batchnorm_bp betainc biasadd biasadd_bp bincount bitcast
bits_hamming_distance bitwise_and bitwise_or bitwise_xor bool_not boolean_and boolean_not boolean_or boolean_xor
broadcast_amax broadcast_amin broadcast_dynamic_shape broadcast_equalto broadcast_greaterthan
broadcast_greaterthanorequal broadcast_lessthan broadcast_lessthanorequal broadcast_max broadcast_min
broadcast_notequal broadcast_to broadcastadd broadcastcopy broadcastdiv broadcastgradientargs broadcastmul
broadcastrdiv broadcastrsub broadcastsub car cas cast cbow ceil cell_contains check_numerics choice cholesky choose
clip_by_global_norm clipbyavgnorm clipbyavgnorm_bp clipbynorm clipbynorm_bp clipbyvalue clone_list col2im
compare_and_bitpack compat_sparse_to_dense compat_string_split concat concat_bp confusion_matrix conv1d conv1d_bp
conv2d conv2d_bp conv2d_input_bp conv3dnew conv3dnew_bp copy cos cosh cosine_distance_loss cosine_distance_loss_grad
cosinedistance cosinesimilarity countNonZero countZero create create_list crelu crelu_bp crop_and_resize cross cube
cube_bp cubederivative cumprod cumprod_bp cumsum cumsum_bp cyclic_rshift_bits cyclic_shift_bits decode_bitmap
decode_threshold deconv2d deconv2d_bp deconv2d_tf deconv3d deconv3d_bp deconv3d_tf depth_to_space depthwise_conv2d
depthwise_conv2d_bp diag diag_part digamma dilation2d distribution_bernoulli distribution_binomial
distribution_binomial_ex distribution_gaussian distribution_lognormal distribution_truncated distribution_uniform
div_scalar divide divide_bp divide_no_nan dot dot_product_attention dot_product_attention_bp draw_bounding_boxes
dropout dropout_bp dropout_inverted dynamic_bidirectional_rnn dynamic_partition dynamic_partition_bp dynamic_rnn
dynamic_stitch elu elu_bp embedding_lookup encode_bitmap encode_threshold enter entropy eps eps_scalar equals
equals_scalar equals_with_eps erf erfc euclidean evaluate_reduction_shape exit exp expand_dims expm1 expose
extract_image_patches eye fake_quant_with_min_max_args fake_quant_with_min_max_vars
fake_quant_with_min_max_vars_per_channel fill fill_as firas_sparse first_index flatten flatten_2d floor floordiv
floordiv_bp floormod floormod_bp fmod fmod_scalar fused_batch_norm gather gather_list gather_nd gelu get_seed
gradientbackwards greater greater_equal greaterthan_scalar greaterthanorequal_scalar grid_free gru gruCell gruCell_bp
gru_bp hammingdistance hard_sigmoid hard_sigmoidderivative hardsigmoid hardsigmoid_bp hardtanh hardtanh_bp
hardtanhderivative hashcode hasinf hasnan hinge_loss hinge_loss_grad histogram histogram_fixed_width hsv_to_rgb
huber_loss huber_loss_grad identity identity_bp identity_n igamma igammac im2col im2col_bp image_resize in_top_k
invert_permutation is_non_decreasing is_numeric_tensor is_strictly_increasing isfinite isinf ismax isnan
jaccarddistance knn_mindistance l2_loss last_index layer_norm layer_norm_bp leakyrelu leakyreluderivative less
less_equal lessthan_scalar lessthanorequal_scalar lgamma lin_space linspace_random listdiff log log1p log_loss
log_loss_grad log_matrix_determinant log_poisson_loss log_poisson_loss_grad log_softmax log_softmax_bp log_x logdet
logentropy logsigmoid loop_cond lrelu lrelu_bp lrn lrn_bp lstm lstmBlock lstmBlockCell lstmCell lstmLayer
lstmLayerCell lstmLayerCellBp lstmLayer_bp lstsq lu manhattan match_condition match_condition_transform matmul
matmul_bp matrix_band_part matrix_determinant matrix_diag matrix_diag_part matrix_inverse matrix_set_diag
max_pairwise max_pool_with_argmax max_scalar maximum maximum_bp maxout maxpool2d maxpool2d_bp maxpool3dnew
maxpool3dnew_bp mean_pairwssqerr_loss mean_pairwssqerr_loss_grad mean_sqerr_loss mean_sqerr_loss_grad merge mergeadd
mergeadd_bp mergeavg mergeavg_bp mergemax mergemax_bp mergemaxindex mergesum meshgrid meta_postulate meta_predicate
meta_predicate_inverted meta_reduce min_pairwise minimum minimum_bp mirror_pad mish mod mod_bp moments mul_scalar
multi_head_dot_product_attention multi_head_dot_product_attention_bp multiply multiply_bp nadam_updater neg
nesterovs_updater next_iteration non_max_suppression non_max_suppression_overlaps non_max_suppression_v3 noop norm
normalize_moments not not_equals not_scalar notequals_scalar nth_element old_assign onehot oneminus ones_as or
or_scalar order pad parallel_stack percentile permute pick_list placeholder pnormpool2d pnormpool2d_bp
pointwise_conv2d polygamma pooling3dpool3dnew_bp pow pow_pairwise precise_gelu prelu prelu_bp print_affinity
print_variable probablistic_merge qr random_bernoulli random_crop random_exponential random_gamma random_multinomial
random_normal random_poisson random_shuffle randomnormal randomuniform range rank rational_tanh
rational_tanh_derivative rationaltanh rationaltanh_bp rdiv_scalar read_list realdiv realdiv_bp rectified_tanh
rectified_tanh_derivative rectifiedtanh rectifiedtanh_bp reduce_dot_bp reduce_logsumexp reduce_max reduce_max_bp
reduce_mean reduce_mean_bp reduce_min reduce_min_bp reduce_norm1 reduce_norm1_bp reduce_norm2 reduce_norm2_bp
reduce_norm_max reduce_norm_max_bp reduce_normmax reduce_prod reduce_prod_bp reduce_sqnorm reduce_sqnorm_bp
reduce_stdev reduce_stdev_bp reduce_sum reduce_sum_bp reduce_variance reduce_variance_bp relu relu6 relu6_bp relu_bp
relu_layer remainder remainder_scalar repeat replace_nans reshape reshapeas resize_area resize_bicubic
resize_bilinear resize_images resize_nearest_neighbor restorev2 reverse reverse_bp reverse_sequence reverse_v2
reversedivide reversedivide_bp reversemod reversemod_bp reversesubtract reversesubtract_bp rgb_to_grs rgb_to_hsv
rgb_to_yiq rgb_to_yuv rint rms_prop_updater roll round rshift_bits rsqrt rsub_scalar savev2 scalar_min scatter_add
scatter_div scatter_list scatter_max scatter_min scatter_mul scatter_nd scatter_nd_add scatter_nd_sub
scatter_nd_update scatter_sub scatter_upd scatter_update sconv2d sconv2d_bp segment_max segment_max_bp segment_mean
segment_mean_bp segment_min segment_min_bp segment_prod segment_prod_bp segment_sum segment_sum_bp select selu
selu_bp seluderivative sequence_mask set set_scalar set_seed setrange setvalorless_scalar sgd_updater shannonentropy
shape_of shapes_of shift_bits sigm_cross_entropy_loss sigm_cross_entropy_loss_grad sigmoid sigmoid_bp sign sin sinh
size size_at size_list skipgram slice slice_bp softmax softmax_bp softmax_cross_entropy_loss
softmax_cross_entropy_loss_grad softmax_cross_entropy_loss_with_logits softmax_cross_entropy_loss_with_logits_grad
softplus softplus_bp softsign softsign_bp softsignderivative solve solve_ls somepoolingpool2d somepoolingpool2d_bp
space_to_batch space_to_batch_nd space_to_depth sparse_softmax_cross_entropy_loss_with_logits
sparse_softmax_cross_entropy_loss_with_logits_grad split split_list split_string split_v sqrt sqrtm square
squaredsubtract squaredsubtract_bp squeeze sru sruCell sru_bi sru_bi_bp sru_bp stabilize stack stack_list standardize
standardize_bp static_bidirectional_rnn static_rnn std step stop_gradient strided_slice strided_slice_bp sub_scalar
subtract subtract_bp sufficient_statistics svd swish switch tan tanderivative tanh tanh_bp tear tensorarrayv3
tensorarraywritev3 tensordot tensormmul tensormmul_bp test_output_reshape test_scalar testcustom testop2i2o
testreduction tf_atan2 thresholdedrelu thresholdedrelu_bp tile tile_bp tile_to_shape tile_to_shape_bp timesoneminus
to_double to_float16 to_float32 to_int32 to_int64 to_uint32 to_uint64 toggle_bits top_k trace transpose tri
triangular_solve triu triu_bp truncatediv unique unique_with_counts unsorted_segment_max unsorted_segment_max_bp
unsorted_segment_mean unsorted_segment_mean_bp unsorted_segment_min unsorted_segment_min_bp unsorted_segment_prod
unsorted_segment_prod_bp unsorted_segment_sqrt_n unsorted_segment_sqrt_n_bp unsorted_segment_sum
unsorted_segment_sum_bp unstack unstack_list upsampling2d upsampling2d_bp upsampling3d upsampling3d_bp var
weighted_cross_entropy_with_logits where_np write_list xor xor_scalar xw_plus_b xw_plus_b_bp yiq_to_rgb yuv_to_rgb
zero_fraction zeros_as zeros_like zeroslike zeta
""".split()
#: other spellings that files have: DECLARE_SYN of libnd4j, and names of ND4J's classes -> the op
SPELLED = {
    **{"stridedslice": "strided_slice", "StridedSlice": "strided_slice", "set": "assign", "copy": "assign"},
    **{"Sub": "sub", "Mul": "mul", "Div": "div", "RSub": "reversesubtract"},
    **{"RDiv": "reversedivide", "RealDiv": "realdiv", "mMul": "matmul", "mmul": "matmul", "gemm": "matmul"},
    **{"pack": "stack", "Pack": "stack", "unpack": "unstack", "concat_v2": "concat", "concatv2": "concat"},
    **{"floor": "Floor", "log1p": "Log1p"},
    **{"Cast": "cast", "BitCast": "bitcast", "MatrixDiag": "matrix_diag", "ClipByValue": "clipbyvalue"},
    **{"MaxPool2D": "maxpool2d", "AvgPool2D": "avgpool2d", "bias_add": "biasadd", "LRN": "lrn"},
    **{
        "local_response_normalization": "lrn",
        "InvertPermutation": "invert_permutation",
        "band_part": "matrix_band_part",
    },
    **{"polyGamma": "polygamma", "betaInc": "betainc", "add_n": "mergeadd", "addn": "mergeadd"},
    **{"MergeMaxIndex": "mergemaxindex", "reshape_as": "reshapeas", "ScatterAdd": "scatter_add"},
    **{"ScatterUpdate": "scatter_upd", "not_equal": "not_equals", "TensorArrayV3": "create_list"},
    **{"tensorarraysizev3": "size_list", "TensorArrayGatherV3": "gather_list", "TensorArrayReadV3": "read_list"},
    **{"tensorarrayconcatv3": "stack_list", "TensorArrayScatterV3": "scatter_list", "tensorarraysplitv3": "split_list"},
    **{"Enter": "enter", "NextIteration": "next_iteration", "LoopCond": "loop_cond", "Identity": "identity"},
}
X = np.float32([[1.5, -2.0, 3.0], [0.25, 4.5, -6.0]])
Y = np.float32([[2.0, 0.5, -1.0], [3.0, 4.5, 1.0]])
IDS = np.int32([0, 0, 2, 2])
ROWS = np.float32([[1, 2], [3, 4], [5, 6], [7, 9]])
SQUARE = np.float32([[4, 1, 0], [1, 3, 1], [0, 1, 2]])


def test_every_name_is_computed_refused_or_in_no_graph():
    assert len(NAMES) == len(set(NAMES)) > 600
    refused = [n for names in REFUSED.values() for n in names.split()]
    listed = [*refused, *UNWRITTEN]
    assert len(listed) == len(set(listed))
    for name in NAMES:
        kinds = [rule_of(name) is not None, name in refused, name in UNWRITTEN]
        assert sum(kinds) == 1, (name, kinds)
    assert set(listed) <= set(NAMES) and not set(listed) & set(FLAT_RULES)
    # imports.md says so
    assert (sum(rule_of(n) is not None for n in NAMES), len(refused), len(UNWRITTEN)) == (330, 353, 21)


def test_spellings_lead_to_the_same_rule():
    for name, op in SPELLED.items():
        assert rule_of(name) is not None and rule_of(name) is rule_of(op), name
    assert all(target in FLAT_RULES for target in SYNONYMS.values())
    same = {}
    for name in FLAT_RULES:
        same.setdefault(plain(name), set()).add(name)
    assert {n for names in same.values() if len(names) > 1 for n in names} <= {
        "Assert", "assert", "ClipByValue", "clipbyvalue", "Pow", "pow", "hard_sigmoid", "hardsigmoid",
        "lin_space", "linspace",
    }  # fmt: skip


def test_a_refusal_says_why():
    for op, why in (("dropout", "random numbers"), ("relu_bp", "a step of training"), ("While", "no graph holds")):
        sd = SameDiff()
        sd.constant("x", X)
        sd.op(op, "y", ["x"])
        with pytest.raises(UnknownOpError) as caught:
            wb.load(sd.bytes())
        assert why.split()[-1] in caught.value.message and refusal(op) in caught.value.message
    assert refusal("nobody_knows") == ""


CASES = [
    Case("stridedslice", (X,), X[0:2, 1:3], ints(0, 0, 0, 0, 0, 0, 1, 2, 3, 1, 1)),
    Case("assign", (X, np.float32(7)), np.full_like(X, 7)),
    Case("old_assign", (X,), X),
    Case("set_scalar", (X,), np.full_like(X, 2), scalar(np.float32(2))),
    Case("max_pairwise", (X, Y), np.maximum(X, Y)),
    Case("hardtanh", (X,), np.clip(X, -1, 1)),
    Case("rectified_tanh", (X,), np.maximum(np.tanh(X), 0)),
    Case("logsigmoid", (X,), -np.log1p(np.exp(-X))),
    Case("mish", (X,), X * np.tanh(np.log1p(np.exp(X)))),
    Case("timesoneminus", (X,), X * (1 - X)),
    Case("thresholdedrelu", (X,), np.where(X > 1, X, 0), {"floats": [1.0]}),
    Case("replace_nans", (np.float32([1, np.nan]),), [1, 5], {"floats": [5.0]}),
    Case("dot", (X, Y), (X * Y).sum(1), {"op_class": 16, "dimensions": [1]}),
    Case("euclidean", (X, Y), np.sqrt(((X - Y) ** 2).sum()), {"op_class": 16, "dimensions": [ALL]}),
    Case("manhattan", (X, Y), np.abs(X - Y).sum(0), {"op_class": 16, "dimensions": [0]}),
    Case(
        "cosinesimilarity",
        (X, Y),
        (X * Y).sum(1) / np.sqrt((X * X).sum(1) * (Y * Y).sum(1)),
        {"op_class": 16, "dimensions": [1]},
    ),
    Case(
        "cosinedistance",
        (X, Y),
        1 - (X * Y).sum() / np.sqrt((X * X).sum() * (Y * Y).sum()),
        {"op_class": 16, "dimensions": [ALL]},
    ),
    Case("entropy", (Y**2,), -(Y**2 * np.log(Y**2)).sum(1), {"op_class": 5, "dimensions": [1]}),
    Case("argamax", (X,), np.abs(X).argmax(1), {"dimensions": [1]}, "int64"),
    Case("hasnan", (np.float32([1, np.nan]),), True, {"op_class": 8, "dimensions": [ALL]}, "bool"),
    Case("mergemax", (X, Y), np.maximum(X, Y)),
    Case("mergeavg", (X, Y), (X + Y) / 2),
    Case("mergemaxindex", (X, Y), (Y > X).astype(np.int32), {}, "int32"),
    Case("axpy", (X, Y), 2 * X + Y, {"floats": [2.0]}),
    Case("clipbynorm", (X,), X / np.linalg.norm(X), {"floats": [1.0]}),
    Case("clipbynorm", (X,), X, {"floats": [100.0]}),
    Case("to_int32", (X,), X.astype(np.int32), {}, "int32"),
    Case("segment_sum", (ROWS, IDS), [[4, 6], [0, 0], [12, 15]]),
    Case("segment_max", (ROWS, np.int32([0, 0, 1, 1])), [[3, 4], [7, 9]]),
    Case("unsorted_segment_sum", (ROWS, IDS), [[4, 6], [0, 0], [12, 15]], ints(3)),
    Case("scatter_add", (np.zeros((3, 2), np.float32), np.int32([2, 0]), ROWS[:2]), [[3, 4], [0, 0], [1, 2]]),
    Case("scatter_upd", (np.ones((3, 2), np.float32), np.int32([2, 0]), ROWS[:2]), [[3, 4], [1, 1], [1, 2]]),
    Case("roll", (ROWS,), np.roll(ROWS, 1, 0), ints(1, 0)),
    Case("embedding_lookup", (ROWS, np.int32([3, 1])), ROWS[[3, 1]]),
    Case("eye", (), np.eye(2, 3), ints(2, 3), "float32"),
    Case("tri", (), np.tri(3, 4, 1), ints(3, 4, 1), "float32"),
    Case("triu", (SQUARE,), np.triu(SQUARE, -1), ints(-1)),
    Case("trace", (SQUARE,), np.trace(SQUARE)),
    Case("matrix_inverse", (SQUARE,), np.linalg.inv(SQUARE)),
    Case("matrix_determinant", (SQUARE,), np.linalg.det(SQUARE)),
    Case("cholesky", (SQUARE,), np.linalg.cholesky(SQUARE)),
    Case("solve", (SQUARE, ROWS[:3]), np.linalg.solve(SQUARE, ROWS[:3])),
    Case("reshapeas", (X, np.zeros((3, 2))), X.reshape(3, 2)),
    Case("size_at", (X,), 3, ints(-1), "int64"),
    Case("flatten", (X, Y), np.concatenate([X.ravel(), Y.ravel()]), ints(99)),
    Case("toggle_bits", (np.int32([5, -1]),), [~5, 0], {}, "int32"),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{k}-{case.op}" for k, case in enumerate(CASES)])
def test_values(case):
    value = run(case)
    expected = np.asarray(case.expected)
    assert value.shape == expected.shape and np.allclose(value, expected, rtol=1e-4, atol=1e-5), (value, expected)


def test_moments_are_two_outputs():
    sd = SameDiff()
    sd.constant("x", X)
    sd.op("moments", ["mean", "variance"], ["x"], dimensions=[1])
    found = wb.load(sd.bytes()).run()
    assert np.allclose(found["mean"], X.mean(1)) and np.allclose(found["variance"], X.var(1))


TEXTS = [[b"a", b"", b"longer"], [b"one"], [b"", b""], [b"\xc3\xa4\xe2\x82\xac", b"x" * 300]]


def layouts(texts: list[bytes]) -> dict[str, tuple[bytes, bool]]:
    """Buffers of strings as versions of ND4J wrote them, and the byte order in the array."""
    found = {}
    for big in (False, True):
        for counted in (False, True):
            data = string_buffer(texts, int(big), counted)
            found[f"{big} {counted}"] = data, big
            found[f"{big} {counted}, said to be the other"] = data, not big
        for width in (2, 4):
            order = "big" if big else "little"
            found[f"{order} lengths of {width}"] = b"".join(len(t).to_bytes(width, order) + t for t in texts), True
    return found


@pytest.mark.parametrize("texts", TEXTS, ids=range(len(TEXTS)))
def test_layouts_of_strings(texts):
    for name, (data, big) in layouts(texts).items():
        if not (name.startswith(("big l", "little l")) and not any(texts)):
            assert strings_of(data, big, name, len(texts)).tolist() == texts, name
        for cut in (data[:-1], data + b"\0"):
            try:  # another reading, or an error; never a crash
                strings_of(cut, big, name, len(texts))
            except LoadError as error:
                assert error.slug == "bad-tensor"


def test_a_string_constant_of_another_layout_is_read():
    sd = SameDiff()
    texts = [b"yes", b"or no"]
    sd.variable(
        "x", CONSTANT, "string", array=raw_array(shape_info((2,)), string_buffer(texts, LITTLE, False), 50, BIG)
    )
    sd.op("identity", "y", ["x"])
    assert wb.load(sd.bytes()).run()["y"].tolist() == texts


def test_what_closes_a_tensor_array_is_no_result():
    sd = SameDiff()
    for name, value in (("size", np.int32(1)), ("at", np.int32(0)), ("x", X)):
        sd.constant(name, value)
    sd.op("tensorarrayv3", ["handle", "flow"], ["size"])
    sd.op("TensorArrayWriteV3", "written", ["handle", "at", "x", "flow"])
    sd.op("read_list", "y", ["handle", "at", "written"])
    sd.op("tensorarrayclosev3", "Variable", ["handle"])
    graph = wb.load(sd.bytes())
    assert list(graph.outputs) == ["y"] and np.array_equal(graph.run()["y"], X)
    with pytest.raises(LoadError) as caught:
        wb.load(sd.bytes(), outputs=["Variable"])
    assert caught.value.slug == "no-such-output"
