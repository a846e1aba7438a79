"""Pages and endpoints of `eval-assets serve`, and the pages that work without it."""

from eval_assets.server.app import lead_token, make_app, rater_links
from eval_assets.server.lead_pages import LeadSources
from eval_assets.server.offline import offline_page

__all__ = ["LeadSources", "lead_token", "make_app", "offline_page", "rater_links"]
