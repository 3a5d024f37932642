"""Names of the outputs of TensorFlow's ops with more than one output, as used in bodies of functions.

A body names a tensor ``node:output:index``: output name, and index within it. Ops with one output need no entry. In
``name*attr`` the attribute (a number, or a list of types) determines the number of tensors. Source: the public op
definitions, https://www.tensorflow.org/api_docs/python/tf/raw_ops (TensorFlow 2.21).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_TABLE = """
sampled_candidates true_expected_count sampled_expected_count: AllCandidateSampler FixedUnigramCandidateSampler
    LearnedUnigramCandidateSampler LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler
    UniformCandidateSampler
dx dm dv db dg: BatchNormWithGlobalNormalizationGrad
e v: BatchSelfAdjointEigV2 Eig SelfAdjointEigV2
s u v: BatchSvd Svd
i cs f o ci co h: BlockLSTM BlockLSTMV2 LSTMBlockCell
x_grad cs_prev_grad h_prev_grad w_grad wci_grad wcf_grad wco_grad b_grad: BlockLSTMGrad BlockLSTMGradV2
r0 r1: BroadcastGradientArgs
row_ptrs col_inds values: CSRSparseMatrixComponents
indices values dense_shape: CSRSparseMatrixToSparseTensor
decoded_indices*top_paths decoded_values*top_paths decoded_shape*top_paths log_probability: CTCBeamSearchDecoder
decoded_indices decoded_values decoded_shape log_probability: CTCGreedyDecoder
loss gradient: CTCLoss CTCLossV2
nmsed_boxes nmsed_scores nmsed_classes valid_detections: CombinedNonMaxSuppression
output output_h output_c reserve_space: CudnnRNN
input_backprop input_h_backprop input_c_backprop params_backprop: CudnnRNNBackprop CudnnRNNBackpropV2
    CudnnRNNBackpropV3
weights*num_params biases*num_params: CudnnRNNParamsToCanonical
weights*num_params_weights biases*num_params_biases: CudnnRNNParamsToCanonicalV2
output output_h output_c reserve_space host_reserved: CudnnRNNV2 CudnnRNNV3
output min max histogram: CustomAggregator
result_indices result_values result_shape: DenseToDenseSetOperation DenseToSparseSetOperation
    SparseToSparseSetOperation
sparse_indices sparse_values sparse_shape: DeserializeManySparse DeserializeSparse TakeManySparseFromTensorsMap
backprops_wrt_input backprop_wrt_min backprop_wrt_max: FakeQuantWithMinMaxVarsGradient
    FakeQuantWithMinMaxVarsPerChannelGradient
output row_pooling_sequence col_pooling_sequence: FractionalAvgPool FractionalMaxPool
y batch_mean batch_variance reserve_space_1 reserve_space_2: FusedBatchNorm FusedBatchNormV2
x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4: FusedBatchNormGrad FusedBatchNormGradV2
x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5: FusedBatchNormGradV3
y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3: FusedBatchNormV3
r u c h: GRUBlockCell
output segments: IsotonicRegression
cs_prev_grad dicfo wci_grad wcf_grad wco_grad: LSTMBlockCellGrad
out idx: ListDiff
sign log_abs_determinant: LogMatrixDeterminant
lu p: Lu
output argmax: MaxPoolWithArgmax
output value_index: Merge RefMerge
nearest_center_indices nearest_center_distances: NearestNeighbors
selected_indices valid_outputs: NonMaxSuppressionV4
selected_indices selected_scores valid_outputs: NonMaxSuppressionV5
q r: Qr
input_backprop input_min_backprop input_max_backprop: QuantizeAndDequantizeV4Grad
output output_min output_max: QuantizeDownAndShrinkRange QuantizeV2 QuantizedConcat QuantizedConcatV2
    QuantizedReshape Requantize RequantizePerChannel
z min_z max_z: QuantizedAdd QuantizedMul
output min_output max_output: QuantizedAvgPool QuantizedConv2D QuantizedConv2DPerChannel QuantizedDepthwiseConv2D
    QuantizedMaxPool
output min_out max_out: QuantizedBiasAdd
y y_min y_max: QuantizedInstanceNorm
out min_out max_out: QuantizedMatMul
activations min_activations max_activations: QuantizedRelu QuantizedRelu6 QuantizedReluX
resized_images out_min out_max: QuantizedResizeBilinear
output_value_rowids output_values empty_row_indicator reverse_index_map: RaggedFillEmptyRows
d_values d_default_value: RaggedFillEmptyRowsGrad SparseFillEmptyRowsGrad
output_nested_splits*OUTPUT_RAGGED_RANK output_dense_values: RaggedGather
rt_nested_splits rt_dense_values: RaggedRange
output_false output_true: RefSwitch Switch
output_min output_max: RequantizationRange RequantizationRangePerChannel
begin size bboxes: SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 StatelessSampleDistortedBoundingBox
loss backprop: SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits
indices values shape: SparseAccumulatorTakeGradient StringSplit StringSplitV2
sum_indices sum_values sum_shape: SparseAdd
a_val_grad b_val_grad: SparseAddGrad
output_indices output_values output_shape: SparseConcat SparseReduceMaxSparse SparseReduceSumSparse SparseSlice
output_indices output_values empty_row_indicator reverse_index_map: SparseFillEmptyRows
output_indices output_values: SparseReorder SparseSparseMaximum SparseSparseMinimum
output_indices output_shape: SparseReshape
output sorted_unique_indices: SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2
output_indices*num_split output_values*num_split output_shape*num_split: SparseSplit
ngrams ngrams_splits: StringNGrams
value lengths: TensorArrayConcat TensorArrayConcatV2 TensorArrayConcatV3
grad_handle flow_out: TensorArrayGradV3 TensorArrayGradWithShape
handle flow: TensorArrayV3
tensor lengths: TensorListConcat TensorListConcatV2
output_handle tensor: TensorListPopBack
sparse_indices sparse_values sparse_dense_shape: RaggedTensorToSparse
keys values: LookupTableExport LookupTableExportV2
values indices: TopK TopKV2
topk topk_indices: TopKUnique TopKWithUnique
row_splits char_values: UnicodeDecode
row_splits char_values char_to_byte_starts: UnicodeDecodeWithOffsets
y idx: Unique UniqueV2
y idx count: UniqueWithCounts UniqueWithCountsV2
"""


def _read(table: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    outputs: tuple[str, ...] = ()
    for line in table.strip().splitlines():
        head, colon, ops = line.partition(":")
        if colon:
            outputs = tuple(head.split())
        for op in (ops if colon else line).split():
            found[op] = outputs
    return found


OUTPUTS = _read(_TABLE)


def first_of(outputs: Sequence[str], name: str, attrs: Mapping[str, Any]) -> int | None:
    """Index of the first tensor of the output ``name``; None if there is no such output."""
    at = 0
    for entry in outputs:
        label, star, attr = entry.partition("*")
        if label == name:
            return at
        count = attrs.get(attr) if star else 1
        at += len(count) if isinstance(count, list) else count if isinstance(count, int) else 1
    return None
