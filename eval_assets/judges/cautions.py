"""What to know of judges before their scores are believed: nothing here stops a run."""

from collections.abc import Iterable, Mapping, Sequence

from eval_assets.judges.models import UNKNOWN_FAMILY, abilities_of, shared_family
from eval_assets.judges.rater import LiveJudge


def cautions(
    judges: Sequence[LiveJudge],
    *,
    models_under_test: Iterable[str],
    overrides: Mapping[str, Mapping[str, bool | str]],
) -> list[str]:
    """What speaks against taking the judges' scores at face value, one sentence each.

    Judges of one family share errors, so that their agreement says less; a judge favours answers of
    its own family (self-preference).

    Args:
        judges: The judges.
        models_under_test: Models whose responses they rate.
        overrides: Abilities by model, which go before the table that ships.
    """
    models = [judge.model.endpoint.model for judge in judges]
    found = [
        f"{' and '.join(members)} are of one family, {family}: they are not independent"
        for family, members in shared_family(models, overrides=overrides).items()
    ]
    tested = sorted(set(models_under_test))
    for judge in judges:
        model = judge.model
        family = model.abilities.family
        own = [name for name in tested if abilities_of(name, overrides=overrides).family == family]
        if own and family != UNKNOWN_FAMILY:
            found.append(
                f"{model.id} is of the family of {', '.join(own)}, {family}, and may favour it"
            )
        if model.left_out:
            found.append(
                f"{model.endpoint.model} takes no {', '.join(model.left_out)}: {model.id} is asked "
                "without"
            )
        if model.price is None:
            found.append(f"the price of {model.endpoint.model} is not known, and so is its cost")
    return found
