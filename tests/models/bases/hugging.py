"""Small models of transformers with seeded random weights, made from their configurations alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf
from torch import nn

_SMALL: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "attn_implementation": "eager",
}
_PLACES = {"max_position_embeddings": 32, "vocab_size": 99}


class _Outputs(nn.Module):
    """A model that takes its inputs in order and gives plain tensors."""

    def __init__(self, model: nn.Module, names: tuple[str, ...], field: str) -> None:
        super().__init__()
        self.model, self.names, self.field = model, names, field

    def forward(self, *values):
        return getattr(self.model(**dict(zip(self.names, values, strict=True)), return_dict=True), self.field)


def _words(rows: int = 2, length: int = 9) -> torch.Tensor:
    return torch.randint(5, 99, (rows, length))


def _mask(rows: int = 2, length: int = 9) -> torch.Tensor:
    mask = torch.ones(rows, length, dtype=torch.int64)
    mask[-1, 6:] = 0
    return mask


Entry = tuple[nn.Module, dict[str, torch.Tensor], str]


def _bert() -> Entry:
    model = hf.BertModel(hf.BertConfig(**_SMALL, **_PLACES))
    return model, {"input_ids": _words(), "attention_mask": _mask()}, "last_hidden_state"


def _distilbert() -> Entry:
    config = hf.DistilBertConfig(dim=32, n_layers=2, n_heads=4, hidden_dim=64, attn_implementation="eager", **_PLACES)
    model = hf.DistilBertForSequenceClassification(config)
    return model, {"input_ids": _words(), "attention_mask": _mask()}, "logits"


def _gpt2() -> Entry:
    config = hf.GPT2Config(
        n_embd=32, n_layer=2, n_head=4, n_positions=32, vocab_size=99, attn_implementation="eager", use_cache=False
    )
    # Without a mask it looks for sequences that are packed into one.
    return hf.GPT2LMHeadModel(config), {"input_ids": _words(), "attention_mask": _mask()}, "logits"


def _llama() -> Entry:
    config = hf.LlamaConfig(**_SMALL, **_PLACES, num_key_value_heads=2, use_cache=False)
    return hf.LlamaForCausalLM(config), {"input_ids": _words(), "attention_mask": _mask()}, "logits"


def _t5() -> Entry:
    config = hf.T5Config(
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        vocab_size=99,
        use_cache=False,
        attn_implementation="eager",
    )
    return hf.T5ForConditionalGeneration(config), {"input_ids": _words(), "decoder_input_ids": _words(2, 4)}, "logits"


def _vit() -> Entry:
    config = hf.ViTConfig(**_SMALL, image_size=16, patch_size=4)
    return hf.ViTModel(config), {"pixel_values": torch.randn(2, 3, 16, 16)}, "last_hidden_state"


def _resnet() -> Entry:
    config = hf.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_labels=5)
    return hf.ResNetForImageClassification(config), {"pixel_values": torch.randn(1, 3, 64, 64)}, "logits"


def _convnext() -> Entry:
    config = hf.ConvNextConfig(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_labels=5)
    return hf.ConvNextForImageClassification(config), {"pixel_values": torch.randn(1, 3, 64, 64)}, "logits"


def _mobilenet() -> Entry:
    config = hf.MobileNetV2Config(depth_multiplier=0.35, image_size=64, num_labels=5)
    return hf.MobileNetV2ForImageClassification(config), {"pixel_values": torch.randn(1, 3, 64, 64)}, "logits"


def _segformer() -> Entry:
    config = hf.SegformerConfig(
        hidden_sizes=[8, 16, 16, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 2, 4], decoder_hidden_size=16
    )
    return hf.SegformerForSemanticSegmentation(config), {"pixel_values": torch.randn(1, 3, 64, 64)}, "logits"


def _swin() -> Entry:
    config = hf.SwinConfig(image_size=32, patch_size=2, embed_dim=8, depths=[1, 2], num_heads=[2, 2], window_size=4)
    return hf.SwinModel(config), {"pixel_values": torch.randn(1, 3, 32, 32)}, "last_hidden_state"


def _wav2vec2() -> Entry:
    config = hf.Wav2Vec2Config(
        **_SMALL,
        vocab_size=20,
        conv_dim=(16, 16),
        conv_stride=(5, 2),
        conv_kernel=(10, 3),
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        num_feat_extract_layers=2,
    )
    return hf.Wav2Vec2ForCTC(config), {"input_values": torch.randn(1, 800)}, "logits"


def _mamba() -> Entry:
    config = hf.MambaConfig(hidden_size=16, num_hidden_layers=1, vocab_size=99, state_size=4, use_cache=False)
    return hf.MambaForCausalLM(config), {"input_ids": _words(1, 6)}, "logits"


MODELS: dict[str, Callable[[], Entry]] = {
    "bert": _bert,
    "distilbert": _distilbert,
    "gpt2": _gpt2,
    "llama": _llama,
    "t5": _t5,
    "vit": _vit,
    "resnet": _resnet,
    "convnext": _convnext,
    "mobilenet": _mobilenet,
    "segformer": _segformer,
    "swin": _swin,
    "wav2vec2": _wav2vec2,
    "mamba": _mamba,
}


def hugging(name: str) -> tuple[nn.Module, tuple[Any, ...]]:
    """A model by name, and its inputs in order."""
    torch.manual_seed(sum(name.encode()))
    model, inputs, field = MODELS[name]()
    return _Outputs(model.eval(), tuple(inputs), field).eval(), tuple(inputs.values())
