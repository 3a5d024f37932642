"""Names of ops: the names in ND4J's classes, libnd4j's declarations and their synonyms of ops with a rule, and the
reasons why other ops have none.

A file has the name returned by the class of an op, which over the years was libnd4j's own, one of its synonyms, or that
of TensorFlow. libnd4j accepts all of them, so names are compared without case and underscores. Source:
nd4j-op-def.pbtxt (every op that libnd4j declares and every class of ND4J's), DECLARE_SYN of
libnd4j/include/ops/declarable/generic, of deeplearning4j.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Rule = TypeVar("Rule")

#: synonym -> name of the rule
SYNONYMS: dict[str, str] = {
    **dict.fromkeys(("set", "copy", "old_assign"), "assign"),
    "add_n": "mergeadd",
    **dict.fromkeys(("gemm", "gemv"), "matmul"),
    "pack": "stack",
    **dict.fromkeys(("concat_v2", "ParallelConcat"), "concat"),
    "unpack": "unstack",
    "reverse_v2": "reverse",
    "band_part": "matrix_band_part",
    "bias_add": "biasadd",
    "local_response_normalization": "lrn",
    "not_equal": "not_equals",
    "RSub": "reversesubtract",
    "RDiv": "reversedivide",
    "iamax": "argamax",
    "iamin": "argamin",
    "reduce_normmax": "reduce_norm_max",
    "max_pairwise": "maximum",
    "min_pairwise": "minimum",
    "pow_pairwise": "Pow",
    "scalar_min": "min_scalar",
    "ScatterUpdate": "scatter_upd",
    "create_list": "tensorarrayv3",
    "stack_list": "tensorarrayconcatv3",
    **{f"{n}_list": f"tensorarray{n}v3" for n in ("write", "read", "gather", "scatter", "split", "size")},
}

#: reason why ops have no rule -> their names
REFUSED: dict[str, str] = {
    "a gradient or another step of training: save the graph that computes the result": """
        Pow_bp _geluderivative _mishderivative _powderivative _precise_geluderivative _sigmoidderivative
        _swishderivative _tanhderivative absolute_difference_loss_grad ada_delta_updater ada_grad_updater
        ada_max_updater adam_updater add_bp alpha_dropout_bp ams_grad_updater apply_sgd applygradientdescent assign_bp
        avgpool2d_bp avgpool3dnew_bp batchnorm_bp biasadd_bp broadcastgradientargs clipbyavgnorm_bp clipbynorm_bp
        concat_bp conv1d_bp conv2d_bp conv2d_input_bp conv3dnew_bp cosine_distance_loss_grad crelu_bp cube_bp
        cubederivative cumprod_bp cumsum_bp deconv2d_bp deconv3d_bp depthwise_conv2d_bp divide_bp
        dot_product_attention_bp dropout_bp dynamic_partition_bp elu_bp floordiv_bp floormod_bp gradientbackwards
        gruCell_bp gru_bp hard_sigmoidderivative hardsigmoid_bp hardtanh_bp hardtanhderivative hinge_loss_grad
        huber_loss_grad identity_bp im2col_bp layer_norm_bp leakyreluderivative log_loss_grad log_poisson_loss_grad
        log_softmax_bp lrelu_bp lrn_bp lstmLayerCellBp lstmLayer_bp matmul_bp maximum_bp maxpool2d_bp maxpool3dnew_bp
        mean_pairwssqerr_loss_grad mean_sqerr_loss_grad mergeadd_bp mergeavg_bp mergemax_bp minimum_bp mod_bp
        multi_head_dot_product_attention_bp multiply_bp nadam_updater nesterovs_updater pnormpool2d_bp
        pooling3dpool3dnew_bp prelu_bp rational_tanh_derivative rationaltanh_bp realdiv_bp rectified_tanh_derivative
        rectifiedtanh_bp reduce_dot_bp reduce_max_bp reduce_mean_bp reduce_min_bp reduce_norm1_bp reduce_norm2_bp
        reduce_norm_max_bp reduce_prod_bp reduce_sqnorm_bp reduce_stdev_bp reduce_sum_bp reduce_variance_bp relu6_bp
        relu_bp reverse_bp reversedivide_bp reversemod_bp reversesubtract_bp rms_prop_updater sconv2d_bp
        segment_max_bp segment_mean_bp segment_min_bp segment_prod_bp segment_sum_bp selu_bp seluderivative
        sgd_updater sigm_cross_entropy_loss_grad sigmoid_bp slice_bp softmax_bp softmax_cross_entropy_loss_grad
        softmax_cross_entropy_loss_with_logits_grad softplus_bp softsign_bp softsignderivative somepoolingpool2d_bp
        sparse_softmax_cross_entropy_loss_with_logits_grad squaredsubtract_bp sru_bi_bp sru_bp standardize_bp
        strided_slice_bp subtract_bp tanderivative tanh_bp tensormmul_bp thresholdedrelu_bp tile_bp tile_to_shape_bp
        triu_bp unsorted_segment_max_bp unsorted_segment_mean_bp unsorted_segment_min_bp unsorted_segment_prod_bp
        unsorted_segment_sqrt_n_bp unsorted_segment_sum_bp upsampling2d_bp upsampling3d_bp xw_plus_b_bp
    """,
    "it draws from ND4J's own random numbers, which are nobody else's": """
        alpha_dropout choice distribution_bernoulli distribution_binomial distribution_binomial_ex
        distribution_gaussian distribution_lognormal distribution_truncated distribution_uniform dropout
        dropout_inverted get_seed linspace_random probablistic_merge random_bernoulli random_crop random_exponential
        random_gamma random_multinomial random_normal random_poisson random_shuffle randomnormal randomuniform set_seed
    """,
    "a layer that is recurrent or attends: write it by cells, or import the model that it was made from": """
        dot_product_attention dynamic_bidirectional_rnn dynamic_rnn gru gruCell lstm lstmBlock lstmBlockCell lstmCell
        lstmLayerCell multi_head_dot_product_attention sru sruCell sru_bi static_bidirectional_rnn static_rnn
    """,
    "no op here does the same": """
        BinaryMinimalRelativeError BinaryRelativeError RelativeError adjust_contrast adjust_contrast_v2 adjust_hue
        adjust_saturation amax_pairwise amin_pairwise and_scalar batch_to_space batched_gemm bincount
        bits_hamming_distance car cas cell_contains choose clip_by_global_norm clipbyavgnorm col2im
        compare_and_bitpack compat_string_split confusion_matrix conv1d cosine_distance_loss create crop_and_resize
        cyclic_rshift_bits cyclic_shift_bits decode_bitmap decode_threshold deconv2d deconv2d_tf deconv3d deconv3d_tf
        dilation2d draw_bounding_boxes encode_bitmap encode_threshold eps eps_scalar equals_with_eps
        evaluate_reduction_shape fake_quant_with_min_max_args fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_per_channel fill_as firas_sparse first_index flatten_2d fused_batch_norm
        hammingdistance hashcode histogram histogram_fixed_width hsv_to_rgb im2col image_resize in_top_k
        is_non_decreasing is_numeric_tensor is_strictly_increasing ismax jaccarddistance knn_mindistance last_index
        log_matrix_determinant log_poisson_loss logdet logentropy lstsq lu match_condition match_condition_transform
        max_pool_with_argmax maxout mean_pairwssqerr_loss meshgrid non_max_suppression non_max_suppression_overlaps
        non_max_suppression_v3 norm normalize_moments not_scalar nth_element or_scalar percentile pick_list
        pnormpool2d pointwise_conv2d precise_gelu qr rationaltanh rational_tanh remainder remainder_scalar repeat
        resize_area resize_bicubic resize_images rgb_to_grs rgb_to_hsv rgb_to_yiq rgb_to_yuv scatter_div scatter_max
        scatter_min scatter_mul scatter_update sconv2d sequence_mask setrange setvalorless_scalar shannonentropy
        shapes_of solve_ls space_to_batch split_string sqrtm stabilize sufficient_statistics svd tear tensordot
        tensormmul tile_to_shape triangular_solve unsorted_segment_mean unsorted_segment_sqrt_n upsampling2d
        upsampling3d weighted_cross_entropy_with_logits xor_scalar yiq_to_rgb yuv_to_rgb zero_fraction clone_list
        unstack_list
    """,
    "the second array stands along an axis whose place depends on the first one's rank": """
        broadcast_amax broadcast_amin broadcast_equalto broadcast_greaterthan broadcast_greaterthanorequal
        broadcast_lessthan broadcast_lessthanorequal broadcast_max broadcast_min broadcast_notequal broadcastadd
        broadcastcopy broadcastdiv broadcastmul broadcastrdiv broadcastrsub broadcastsub
    """,
    "it computes by other code of the machine that trained: word vectors, nearest neighbours": """
        barnes_edge_forces barnes_gains barnes_symmetrized cbow skipgram
    """,
}

#: names of ND4J and libnd4j that never occur in a graph: bases and parts of other ops, tests, and ops executed when a
#: graph is built, saved or fed
UNWRITTEN = """
    Conditional ExternalErrorsFn Return Scope While expose grid_free meta_postulate meta_predicate
    meta_predicate_inverted meta_reduce placeholder print_affinity restorev2 savev2 somepoolingpool2d
    test_output_reshape test_scalar testcustom testop2i2o testreduction
""".split()

_WHY = {name: why for why, names in REFUSED.items() for name in names.split()}
_WHY.update(dict.fromkeys(UNWRITTEN, "no graph holds such an op"))


def plain(name: str) -> str:
    """A name without the differences between libnd4j's, ND4J's and TensorFlow's spellings."""
    return name.lower().replace("_", "")


_PLAIN_SYNONYMS = {plain(name): rule for name, rule in SYNONYMS.items()}


def found(name: str, rules: Mapping[str, Rule], by_plain: Mapping[str, Rule]) -> Rule | None:
    """The rule for an op of this name, or None; ``by_plain`` are the rules by their plain names."""
    if name in rules:
        return rules[name]
    if name in _WHY:
        return None
    other = SYNONYMS.get(name, _PLAIN_SYNONYMS.get(plain(name)))
    return rules.get(other) if other is not None and plain(name) not in by_plain else by_plain.get(plain(name))


def refusal(name: str) -> str:
    """The reason why an op has no rule; "" for an unknown op."""
    return _WHY.get(name, "")
