"""Scores that the ledger already holds the replies for: nobody is asked."""

from collections.abc import Sequence

from eval_assets.judges.calling.budget import Budget
from eval_assets.judges.calling.live_model import LiveModel
from eval_assets.judges.calling.session import RequestOptions, open_clients
from eval_assets.judges.judging_plan import Unit, plan_judging
from eval_assets.judges.prompts.prompt import PromptTemplate
from eval_assets.judges.replicates import JudgeScore
from eval_assets.judges.replies import Reading
from eval_assets.ledger import Ledger
from eval_assets.raters import Judge

_NOT_IN_LEDGER = Reading("missing", error="the ledger holds no reply")


async def stored_scores(
    units: Sequence[Unit], judge: LiveModel[Judge], ledger: Ledger, *, template: PromptTemplate
) -> list[tuple[JudgeScore, tuple[str, ...]]]:
    """Return a judge's scores with a prompt, as far as the ledger holds the replies.

    Args:
        units: What was rated.
        judge: Who rated it; no key is needed.
        ledger: Ledger of replies.
        template: The prompt.

    Returns:
        The score of each unit, `missing` if there is no reply, and the keys of its requests.
    """
    options = RequestOptions(api_keys={judge.id: ""})
    async with open_clients([judge], ledger, budget=Budget(0.0), options=options) as [client]:
        plan = await plan_judging(units, client, template=template)
        plan.leave(lambda _: _NOT_IN_LEDGER)
        return [(plan.score(unit), plan.call_keys(unit)) for unit in units]
