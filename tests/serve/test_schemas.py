"""What may be sent, and how little a wrong request costs."""

import pytest
from pydantic import ValidationError

from ssread.serve.schemas import Ask, Change, PredictAsk

#: Each fits into a request, and an error for every element would take the server seconds and gigabytes.
MANY = 100_000


@pytest.mark.parametrize(
    "body",
    [
        {"smiles": [1] * MANY},
        {"smiles": [""] * MANY},
        {"smiles": "C", "ids": [1] * MANY},
        {"graphs": [1] * MANY},
        {"smiles": "C", **{str(key): 1 for key in range(MANY)}},
    ],
    ids=["smiles", "empty smiles", "ids", "graphs", "keys"],
)
@pytest.mark.parametrize("form", [Ask, PredictAsk])
def test_many_wrong_values_are_one_error(form, body):
    with pytest.raises(ValidationError) as caught:
        form.model_validate(body)
    assert caught.value.error_count() == 1
    assert len(caught.value.errors()[0]["msg"]) < 300


def test_many_keys_of_a_change_are_one_error_too():
    with pytest.raises(ValidationError, match="'0' is not known here: send smiles, atom, element, coverage") as caught:
        Change.model_validate({str(key): 1 for key in range(MANY)})
    assert caught.value.error_count() == 1


@pytest.mark.parametrize("name", ["smiles", "ids", "graphs"])
def test_every_list_has_a_most(name):
    values = [{} if name == "graphs" else "C"] * 1_000_001
    with pytest.raises(ValidationError, match="at most 1000000 items"):
        Ask.model_validate({name: values})


def test_the_schema_tells_that_other_keys_are_refused():
    assert all(form.model_json_schema()["additionalProperties"] is False for form in (Ask, PredictAsk, Change))
