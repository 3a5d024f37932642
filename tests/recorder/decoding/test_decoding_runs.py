"""Decoding runs: the record, the sentences about it, and runs that cannot be compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.recorder.decoding.test_planted_faults import cache_of_the_wrong_layer
from tests.recorder.decoding.tiny import FIRST, PROMPT, made, recorded, speculative, torch, transformers
from workbench.recorder.decoding.rows import distance

pytestmark = pytest.mark.watch


class Numbers:
    """A tokenizer whose tokens are numbers."""

    def decode(self, tokens: list[int]) -> str:
        return " ".join(f"<{t}>" for t in tokens)


def test_a_recorded_run_gives_the_tokens_of_the_run_itself() -> None:
    model = made("Llama", "sdpa")
    torch.manual_seed(5)
    alone = model.generate(PROMPT, max_new_tokens=8, do_sample=True)
    torch.manual_seed(5)
    run = recorded(model, do_sample=True)
    assert np.array_equal(run.tokens[0], alone[0].numpy())
    assert [call.positions for call in run.calls] == [FIRST, *[1] * 7]
    assert torch.equal(alone, alone) and repr(run) == "<DecodingRecord 'LlamaForCausalLM': 8 tokens in 8 calls>"


def test_positions_of_a_speculative_run_follow_the_tokens_that_were_kept() -> None:
    model = made("GPT2", "sdpa")
    run = recorded(model, prompt_lookup_num_tokens=3, max_matching_ngram_size=1)
    whole = np.concatenate([run.tokens[0]])
    assert max(call.positions for call in run.calls[1:]) > 1
    for call in run.calls:
        assert call.ids[0, 0] == whole[call.start]


def test_sampling_is_told_from_a_fault_of_the_model() -> None:
    model = made("GPT2", "sdpa")
    torch.manual_seed(1)
    found = wb.diff(recorded(model), recorded(model, do_sample=True, temperature=3.0))
    assert found.first is None and found.choice is not None and found.choice.chosen_otherwise == "b"
    assert "b did not take the largest logit" in str(found)


def test_rows_of_a_batch_are_compared_with_their_own_padding() -> None:
    model = made("Llama")
    prompt = torch.tensor([[0, 0, 3, 4, 5], [3, 4, 5, 6, 7]])
    mask = (prompt != 0).long()
    one = recorded(model, prompt, attention_mask=mask)
    other = recorded(model, prompt, attention_mask=mask, use_cache=False)
    assert one.prompts == [3, 5]
    found = wb.diff(one, other)
    assert found.equal and found.compared > 600, str(found)


def test_repeated_tokens_are_a_recurrence() -> None:
    model = made("GPT2", "sdpa")

    def turning(module: Any, args: Any, output: Any) -> Any:
        ids = args[0] if args else None
        last = turning.ids[:, -1] if ids is None else ids[:, -1]
        output.logits[:] = 0
        output.logits[torch.arange(len(last)), -1, (last + 1) % 3] = 1.0
        return output

    def ids(module: Any, args: Any, named: Any) -> None:
        turning.ids = named["input_ids"]

    model.register_forward_pre_hook(ids, with_kwargs=True)
    model.register_forward_hook(turning)
    run = wb.record_decoding(model, PROMPT, max_new_tokens=20, do_sample=False, tokenizer=Numbers())
    again = run.states().repetition()
    assert again is not None and again.period == 3 and again.since == 1
    assert "every 3 generated tokens since generated token 1" in run.repeats and "<1>" in run.repeats
    assert run.repeats in str(run)


def test_a_cache_that_grows_is_a_list_with_a_bound() -> None:
    run = recorded(made("Llama", "sdpa"))
    # two layers, keys and values, two heads of four numbers, four bytes each
    assert run.cache_growth == (2 * 2 * 2 * 4 * 4, 2 * 2 * 2 * 4 * 4 * 12)
    assert "at the 64 positions of the model it has 8,192" in str(run)
    assert recorded(made("Llama", "sdpa"), use_cache=False).cache_growth is None


def test_a_fault_of_a_cache_is_not_one_of_the_layer_that_gives_the_keys() -> None:
    found = wb.diff(*cache_of_the_wrong_layer())
    modules, positions, distances = found.table()
    at = positions.index(FIRST)
    assert distances[modules.index("model.layers.1.self_attn.v_proj"), at] < 1e-9
    assert distances[modules.index("model.layers.1.self_attn"), at] > 0.1
    assert found.b.cache_growth == (128, 128 * 12)


def test_the_memory_is_foreseen_and_ends_the_record_but_not_the_run() -> None:
    model = made("GPT2", "sdpa")
    with pytest.warns(UserWarning, match="it will end near token"):
        run = recorded(model, memory=2**17, max_new_tokens=40)
    assert len(run.tokens[0]) == FIRST + 40 and run.bytes < 2**18
    assert any("The record ends in call" in note for note in run.notes)
    found = wb.diff(run, recorded(model))
    assert found.first is None and found.compared > 0


def test_a_model_that_has_no_number_left_is_told() -> None:
    model, wrong = made("Llama", "sdpa"), made("Llama", "sdpa")
    with torch.no_grad():
        wrong.model.layers[1].mlp.up_proj.weight[3] = float("nan")
    found = wb.diff(recorded(model), recorded(wrong))
    assert found.first.module == "model.layers.1.mlp.up_proj" and np.isnan(found.first.item[1])
    assert "no logit is finite" in str(found)
    assert not wb.diff(recorded(wrong), recorded(wrong)).rows


def test_an_infinity_in_only_one_run_is_a_difference_and_two_masks_are_not() -> None:
    assert distance(np.array([1.0, 2.0]), np.array([1.0, np.inf])) == (np.inf, np.inf)
    assert distance(np.array([1.0, -np.inf]), np.array([1.0, -1e38])) == (0.0, 0.0)


def test_models_of_other_depth_part_behind_the_last_common_layer() -> None:
    found = wb.diff(recorded(made("GPT2")), recorded(made("GPT2", num_hidden_layers=3)))
    assert found.first is not None and "Only b has transformer.h.2" in str(found)


def test_what_cannot_be_compared_is_refused_with_the_reason() -> None:
    run = recorded(made("GPT2", "sdpa"))
    cases = [
        (recorded(made("GPT2", "sdpa", vocab_size=32), PROMPT), "other-vocabulary"),
        (recorded(made("GPT2", "sdpa"), torch.tensor([[3, 4, 5]])), "other-prompts"),
        (recorded(made("GPT2", "sdpa"), torch.tensor([[3, 4, 5, 6, 8]])), "other-prompts"),
        (recorded(made("GPT2", "sdpa"), PROMPT.repeat(2, 1)), "other-batch"),
        ({"x": np.zeros(3)}, "not-comparable"),
    ]
    for other, slug in cases:
        with pytest.raises(wb.WorkbenchError) as error:
            wb.diff(run, other)
        assert error.value.slug == slug
        with pytest.raises(wb.WorkbenchError):
            wb.diff(other, run)


def test_what_cannot_be_recorded_is_refused_with_the_reason() -> None:
    model = made("GPT2", "sdpa")
    small = transformers.T5Config(vocab_size=16, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    cases: list[tuple[Any, Any, Any, str]] = [
        (model, "text", {}, "bad-prompt"),
        (model, torch.zeros(1, 3), {}, "bad-prompt"),
        (model, torch.zeros(1, 0, dtype=torch.int64), {}, "bad-prompt"),
        (torch.nn.Linear(2, 2), PROMPT, {}, "no-generate"),
        (lambda x: x, PROMPT, {}, "no-generate"),
        (transformers.T5ForConditionalGeneration(small), PROMPT, {}, "encoder-decoder"),
        (model, PROMPT, {"generate": lambda m, p: p}, "no-calls"),
        (model, PROMPT, {"num_beams": 2, "num_return_sequences": 2, "max_new_tokens": 3}, "bad-tokens"),
        (model, PROMPT, {"num_beams": 2, "max_new_tokens": 3}, "beams"),
    ]
    for model_, prompt, options, slug in cases:
        with pytest.raises(wb.WorkbenchError) as error:
            wb.record_decoding(model_, prompt, **options)
        assert error.value.slug == slug


def test_a_loop_of_ones_own_is_recorded_too() -> None:
    model = made("Llama", "sdpa")
    run = wb.record_decoding(model, PROMPT, generate=speculative)
    assert np.array_equal(run.tokens[0], recorded(model).tokens[0])


def test_the_table_has_the_distances_by_module_and_token() -> None:
    model, wrong = made("Llama"), made("Llama")
    wrong.model.layers[1].self_attn.scaling *= 1.25
    found = wb.diff(recorded(model), recorded(wrong))
    modules, positions, distances = found.table()
    assert positions[0] == 0 and np.nanmax(distances[modules.index("model.layers.0.mlp.down_proj")]) < 1e-9
    assert distances[modules.index("model.layers.1.self_attn"), 0] > 0.1
    assert found.figure().data[0].z.shape == distances.shape
    assert "model.layers.1.self_attn" in found._repr_html_()
