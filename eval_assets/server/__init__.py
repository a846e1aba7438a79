"""Pages and endpoints of `eval-assets serve`, and the pages that work without it."""

from eval_assets.server.app import lead_token, make_app, rater_links
from eval_assets.server.lead_pages import LeadSources
from eval_assets.server.offline import offline_page
from eval_assets.server.results import Results, make_results_app

__all__ = [
    "LeadSources",
    "Results",
    "lead_token",
    "make_app",
    "make_results_app",
    "offline_page",
    "rater_links",
]
