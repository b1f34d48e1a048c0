"""The language survey: accepted kernels compute what CPython does; refusals name the construct."""

from __future__ import annotations

from pathlib import Path

import pytest

from psyclone_storage.storage.core.device import DeviceKind, use_device
from survey.survey import SURVEY, by_python, computed, is_near, loaded, outcome_of

OF_RUN_TIME_EXTENT = (
    "array_of_run_time_extent",
    "array_of_no_elements",
    "array_of_run_time_extents",
    "array_of_run_time_extent_in_conditions",
    "array_mean_of_no_elements",
)
REFUSED = {
    "offset_conditional_expression": "is no distance from a point",
    "offset_runtime": "is no distance from a point",
    "helper_early_return_in_loop": "returns from within a loop",
    "helper_lambda": "'square' is no function",
    "table_array_sum_in_kernel": "'A + A' has no elements",
    "table_array_product_in_kernel": "'(A * 2)[1]' has no elements",
    "table_tuple_with_index_of_two": "'W[0, 1]' is no number of a table",
    "table_tuple_with_index_of_two_at_run_time": "'W[0, step - 3]' is no number of a table",
    "helper_tuple_by_condition": "'chosen' returns a tuple, which is no number",
    "length_of_computed_items": "'(old[0, 0], 0.0)' are computed, but only its length is used",
    "local_arrays_too_large": "With 'b', local arrays have more than 131072 elements",
    "local_array_too_large": "'np.zeros((3, 50000))' has more than 131072 elements",
    "bits_flag": "is a number, not a condition",
    "while_true": "'while' statements without a provable bound",
    "while_unbounded": "'while' statements without a provable bound",
    "while_else": "'else' clauses of loops",
    "for_else": "'else' clauses of loops",
    "loop_counter_afterwards": "'k' may have no value here",
    "loop_of_items_with_the_name_of_an_outer_one": "'weight' counts the loop around",
    "function_sign": "'np.sign' is no function",
    "function_round": "'round' is no function",
    "function_sum_builtin": "'sum' is no function",
    "table_of_narrow_integers": "'W': its elements are integers of type 'int8'",
    "table_of_unsigned_integers": "'W': its elements are integers of type 'uint8'",
    "table_with_nan": "'W': its element [1][1] is nan",
    "table_with_large_integer": "'W': its element [1] has more than 32 bits",
    "table_of_single": "'W': its elements are reals of type 'float32'",
    "number_of_single": "'G': it is a number of type 'float32'",
    "number_of_small_integer": "'N': it is a number of type 'uint8'",
    "bits_shift_beyond": "'1 << 31' is more than an integer in a kernel can be",
    "bits_shift_beyond_in_sum": "'5 << 30' is more than an integer in a kernel can be",
    "table_of_helper_with_infinity": "'W': its element [1] is -inf",
    "table_dictionary": "'W': it is a dictionary",
    "local_array_negative_index_in_local": "'n' is negative",
    "local_array_negative_index_written": "'m' is negative",
    "array_scaled": "operations on whole arrays are not supported",
    "array_table_sum": "'sum' is no function",
    "refused_try": "'try' statements",
    "refused_with": "'with' statements",
    "refused_comprehension": "'sum' is no function",
    "refused_generator": "'sum' is no function",
    "refused_dictionary": "Dictionaries",
    "refused_lambda": "'lambda' expressions",
    "refused_walrus": "Assignment expressions (':=')",
    "refused_match": "'match' statements",
    "refused_assert": "'assert' statements",
    "refused_delete": "'del' statements",
    "refused_global": "'global' statements",
    "refused_nested_function": "Function definitions",
    "refused_text": "Texts",
    "refused_print": "Calls whose value is not used",
    "refused_complex": "Complex numbers",
    "refused_raise": "'raise' statements",
    "refused_import": "'import' statements",
    "refused_starred": "Starred targets",
    "refused_identity": "'step is 3' compares no numbers",
    "refused_tuple_of_itself": "'most' is an item of the tuple that is assigned to it",
    "refused_tuple_in_itself": "'most' is an item of the tuple that is assigned to it",
    "helper_with_empty_tuple": "'limited' returns a tuple, which is no number",
    "refused_product_of_tuples": "'x @ (1, 2)' multiplies two tuples or lists",
    "refused_array_after_tuple": "'w' is a tuple and is given an array",
    "refused_difference_of_tuples": "'at' returns a tuple, which is no number",
    "refused_product_of_tuple": "'(0, 1) @ 0' has no elements",
    "iterator_element": "'enumerate(W)' has no elements",
    "iterator_length": "'zip(W, W)' is an iterator, which has no length",
    "iterator_used_twice": "'enumerate(W)' is an iterator",
    "iterator_keyword": "Loops over 'enumerate(W, begin=1)'",
    **dict.fromkeys(OF_RUN_TIME_EXTENT, "cuda: G005 'work_code' has no form in CUDA"),
    "array_section_at_run_time": "'np.sum(w[:step])' is not supported",
    "array_sum_of_expression": "'np.sum(2.0 * w)' is not supported",
    "array_section_of_tuple_in_two_dimensions": "'np.sum(T[:, 0])' is not supported",
    "tuple_as_offset_after_branch": "'i, j' is no distance from a point",
    "loop_over_assigned_array": "'w' is assigned in a loop over its elements",
    "array_full_of_reals_as_integers": "'old[0, 0]' is a real number, and the elements are not",
    "loop_to_the_largest_integer": "leaves the integers of a kernel at the end",
    "while_to_a_large_limit": "counts too far for the integers of a kernel",
    "table_of_own_range": "'np.sum(w)' is not supported",
    "function_clip_by_keywords": "'np.clip' takes 3 arguments by order",
    "function_max_with_key": "'max((1.0, old[0, 0]), key=abs)' is not supported",
    "array_full_of_large_integer": "'3.0e9' is more than an integer in a kernel can be",
    "set_element": "'{1.0}' has no elements",
    "set_loop": "Loops over '{2, 1}'",
    "refused_comprehension_element": "Comprehensions are not supported",
    "refused_dictionary_element": "Dictionaries are not supported",
    "refused_called_lambda": "'lambda' expressions are not supported",
    "refused_slice_of_slice": "Slices here are not supported",
    "refused_no_number_of_the_module": "A kernel cannot read 'G': it is None",
    "refused_method_of_list": "'a.sum' is no function",
    "refused_equality_of_array": "Only '==' and '!=' of tuples",
    "refused_list_in_chained_assignment": "Only '==' and '!=' of tuples",
    "refused_list_after_tuple_in_loop": "'t' is a tuple and is given a list",
    "refused_list_in_result_of_function": "Only '==' and '!=' of tuples",
    "refused_alias_in_chained_assignment": "'a' is an array",
    "refused_alias_of_row": "'a' has 2 dimensions, not 1",
    "refused_array_without_extents": "'fill_value=3' is no argument for arrays",
    "refused_sum_of_ragged_table": "'np.sum(U)' is not supported",
    "helper_without_value_in_branch": "'limited' may end without a value",
}


def test_most_kernels_are_accepted() -> None:
    assert len(SURVEY) >= 150
    assert len(SURVEY) - len(REFUSED) >= 120
    assert REFUSED.keys() <= SURVEY.keys()


@pytest.mark.parametrize("name", [*SURVEY])
def test_kernel(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of threads differs from kernel to kernel; the command tries all three."""
    monkeypatch.setenv("PSYCLONE_STORAGE_CFLAGS", "-O1")
    use_device(DeviceKind.EMULATED)
    found = outcome_of(SURVEY[name], tmp_path, orders=str(len(name) % 3))
    if name in REFUSED:
        assert REFUSED[name] in found.refused[0]
    else:
        assert not found.refused
        assert not found.different


@pytest.mark.parametrize("name", OF_RUN_TIME_EXTENT)
def test_functions_of_arrays_whose_extent_a_scalar_gives(name: str, tmp_path: Path) -> None:
    """CUDA has no local arrays of such extents."""
    found = outcome_of(SURVEY[name], tmp_path, targets=("c", "numpy"))
    assert not found.refused
    assert not found.different


@pytest.mark.parametrize("target", ["c", "numpy"])
def test_numbers_of_the_module_are_those_of_each_invoke(target: str, tmp_path: Path) -> None:
    """For another integer in an offset the kernel is compiled again."""
    kernel = SURVEY["module_numbers_in_sequences"]
    module = loaded(kernel, tmp_path)
    for number, size in ((2.5, 3), (-4.0, 3), (-4.0, 2)):
        setattr(module, "G", number)  # noqa: B010 - the type of a module has no such name
        setattr(module, "N", size)  # noqa: B010
        for one, other in zip(by_python(module), computed(module, target), strict=True):
            assert is_near(one, other, kernel.tolerance)
