"""Questions of the home page: one's own, what was said of the answers, and what found nothing."""

from knowledge.questions.kept import (
    OpenQuestion,
    close_question,
    find_open_question,
    forget_questions,
    keep_questions,
    keeps_questions,
    note_question,
    open_questions,
    own_questions,
    prune_questions,
    rate_answer,
    save_question,
)
from knowledge.questions.owners import (
    Owned,
    ask_owner,
    own_requests,
    owned_collections,
    prune_requests,
    reply_to_request,
    requests_to,
    takes_requests,
    withdraw_request,
)
